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
    """Agreement of pairs, and the shares of values of each annotator (a `Summable`)."""

    annotations: Annotations
    annotators: np.ndarray  # (n_rows,) codes
    agree: np.ndarray  # (n_values, n_values) how much two values agree
    counts: Counted

    def totals(self, weights: np.ndarray | None = None) -> list[np.ndarray]:
        """Agreeing pairs, items with pairs, and each annotator's answers by value."""
        agreeing, several, item = self.counts.agreeing, self.counts.several, self.annotations.item
        shape = (self.annotations.n_annotators, len(self.agree))
        at = self.annotators.astype(np.int64) * shape[1] + self.annotations.answer
        times = self.votes if weights is None else self.votes * weights[item]
        counts = np.bincount(at, times, minlength=shape[0] * shape[1]).reshape(shape)
        weights = np.ones(len(several)) if weights is None else weights
        return [np.array(weights @ agreeing), np.array(weights @ several), counts.astype(float)]

    def value(self, totals: list[np.ndarray] | None = None) -> float:
        agreeing, several, counts = self.totals() if totals is None else totals
        share = shares(counts)
        total = share.sum(axis=0)
        own = np.einsum("gk,kl,gl->", share, self.agree, share)
        chance = _chance(total @ self.agree @ total - own, _n_answering(counts))
        return float(_beyond(ratio(agreeing, several), chance))

    def without_each(self, totals: list[np.ndarray] | None = None) -> np.ndarray:
        """For each annotator of an item: their shares, without their answers to it."""
        agreeing, several, counts = self.totals() if totals is None else totals
        item, answer, n_items = (
            self.annotations.item,
            self.annotations.answer,
            self.annotations.n_items,
        )
        share, size, votes, g = shares(counts), counts.sum(axis=1), self.votes, self.annotators
        own = np.einsum("gk,kl,gl->g", share, self.agree, share)
        left = size[g] - 1  # other items of the annotator
        scale = np.where(left > 1e-9, 1 / np.maximum(left, 1e-9), 0.0)
        moved = np.where(left > 1e-9, scale, -1.0)[:, None] * share[g]
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
        gone = np.bincount(item, votes * (left <= 1e-9), minlength=n_items)
        total = share.sum(axis=0) + change
        products = ((total @ self.agree) * total).sum(axis=1) - own.sum() - fall
        chance = _chance(products, _n_answering(counts) - gone)
        observed = ratio(agreeing - self.counts.agreeing, several - self.counts.several)
        return _beyond(observed, chance)

    @property
    def votes(self) -> np.ndarray:
        """Of each row, (n_rows,): the answers of an annotator to an item share one."""
        return self.annotations.votes


def shares(counts: np.ndarray) -> np.ndarray:
    """The share of each value among an annotator's answers, (n_annotators, n_values)."""
    size = counts.sum(axis=1)
    return counts / np.where(size > 0, size, 1.0)[:, None]


def _n_answering(counts: np.ndarray) -> int:
    return int(np.count_nonzero(counts.sum(axis=1)))


def _chance(products: np.ndarray, n_annotators: np.ndarray | int) -> np.ndarray:
    """Agreement of two annotators by chance, mean over pairs, from its sum over ordered pairs."""
    n = np.asarray(n_annotators, dtype=float)
    return ratio(np.asarray(products), n * (n - 1))


def _beyond(observed: np.ndarray, chance: np.ndarray) -> np.ndarray:
    left = 1.0 - chance
    return ratio(observed - chance, np.where(left > 1e-12, left, 0.0))
