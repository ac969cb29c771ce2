"""Conger's kappa: agreement of several annotators beyond each one's own shares of answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.agreement.beyond_chance import Counted, counted
from dissensus.agreement.measure import Estimate, Undefined, ratio
from dissensus.agreement.row_pairs import own_disagreement
from dissensus.agreement.weights import Weights, disagreement
from dissensus.annotations import Annotations


def conger_kappa(annotations: Annotations, weights: Weights = None) -> float:
    """Cohen's kappa for any number of annotators, not the same on every item.

    1 is perfect agreement, 0 what chance gives if every annotator draws from their own shares of
    values; Fleiss' kappa takes shares of all annotators together. With two annotators who
    answered all items it is Cohen's kappa. nan where undefined: fewer than two annotators, no
    item has two of them, or all answers are the same.

    Args:
        weights: None for nominal answers; a name such as "linear" for levels; or distances.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(conger_kappa(Annotations.from_rows(rows)), 4)
        0.4

    Reference: Conger (1980), doi:10.1037/0033-2909.88.2.322; with gaps: Gwet (2014), Handbook of
    Inter-Rater Reliability, 4th edition.
    """
    return prepare_conger_kappa(annotations, weights).value()


def prepare_conger_kappa(annotations: Annotations, weights: Weights = None) -> Estimate:
    """`conger_kappa`, prepared to leave out items."""
    apart = disagreement(weights, annotations.scale, "Conger's kappa")
    annotators = annotations.annotator_codes("Conger's kappa")
    if not annotations.n_rows:
        return Undefined(annotations.n_items)
    return Conger(annotations, annotators, 1.0 - apart, counted(annotations, apart))


@dataclass(frozen=True, eq=False)
class Conger:
    """Agreement of pairs, and the shares of values of each annotator (an `Estimate`)."""

    annotations: Annotations
    annotators: np.ndarray  # (n_rows,) codes
    agree: np.ndarray  # (n_values, n_values) how much two values agree
    counts: Counted

    def value(self) -> float:
        share = self.share()
        total = share.sum(axis=0)
        own = np.einsum("gk,kl,gl->", share, self.agree, share)
        chance = _chance(total @ self.agree @ total - own, self._n_answering())
        observed = ratio(self.counts.agreeing.sum(), self.counts.several.sum())
        return float(_beyond(observed, chance))

    def without_each(self) -> np.ndarray:
        """For each annotator of an item: their shares, without their answers to it."""
        item, answer, n_items = (
            self.annotations.item,
            self.annotations.answer,
            self.annotations.n_items,
        )
        share, size, votes, g = self.share(), self.size(), self.votes, self.annotators
        own = np.einsum("gk,kl,gl->g", share, self.agree, share)
        left = size[g] - 1  # other items of the annotator
        scale = np.where(left > 0, 1 / np.maximum(left, 1), 0.0)
        moved = np.where(left > 0, scale, -1.0)[:, None] * share[g]
        change = np.zeros((n_items, len(self.agree)))
        np.add.at(change, item, votes[:, None] * moved)
        np.subtract.at(change, (item, answer), votes * scale)
        toward = (self.agree @ share.T).T[g, answer]  # how much the answer agrees with one's shares
        quadratic = (size[g] ** 2 * own[g] - 2 * size[g] * toward + 1) * scale**2
        fall = np.bincount(item, votes * (quadratic - own[g]), minlength=n_items)
        apart = 1.0 - self.agree
        fall = fall - own_disagreement(
            self.annotations, lambda a, b: apart[answer[a], answer[b]] * scale[a] ** 2, alone=True
        )
        gone = np.bincount(item, votes * (left == 0), minlength=n_items)
        total = share.sum(axis=0) + change
        products = ((total @ self.agree) * total).sum(axis=1) - own.sum() - fall
        chance = _chance(products, self._n_answering() - gone)
        agreeing, several = self.counts.agreeing, self.counts.several
        return _beyond(ratio(agreeing.sum() - agreeing, several.sum() - several), chance)

    @property
    def votes(self) -> np.ndarray:
        """Of each row, (n_rows,): the answers of an annotator to an item share one."""
        return self.annotations.votes

    def share(self) -> np.ndarray:
        """The share of each value among an annotator's votes, (n_annotators, n_values)."""
        shape = (self.annotations.n_annotators, len(self.agree))
        at = self.annotators.astype(np.int64) * shape[1] + self.annotations.answer
        counts = np.bincount(at, self.votes, minlength=shape[0] * shape[1]).reshape(shape)
        return counts / np.maximum(counts.sum(axis=1), 1)[:, None]

    def size(self) -> np.ndarray:
        """How many items each annotator answered, (n_annotators,)."""
        sums = np.bincount(self.annotators, self.votes, minlength=self.annotations.n_annotators)
        return np.round(sums)

    def _n_answering(self) -> int:
        return int(np.count_nonzero(self.size()))


def _chance(products: np.ndarray, n_annotators: np.ndarray | int) -> np.ndarray:
    """Agreement of two annotators by chance, mean over pairs, from its sum over ordered pairs."""
    n = np.asarray(n_annotators, dtype=float)
    return ratio(np.asarray(products), n * (n - 1))


def _beyond(observed: np.ndarray, chance: np.ndarray) -> np.ndarray:
    left = 1.0 - chance
    return ratio(observed - chance, np.where(left > 1e-12, left, 0.0))
