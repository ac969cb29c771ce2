"""Agreement of any number of annotators, as it is or beyond chance, with standard errors.

A kappa is (observed - chance) / (1 - chance) agreement. Observed is the share of an item's pairs of
answers that agree, mean over items; kappas differ in what chance is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dissensus.agreement.estimates import (
    UNKNOWN,
    Estimate,
    Formula,
    ItemAgreement,
    OfSums,
    Totals,
    equal_pairs,
    item_agreement,
    linearised,
    own_disagreement,
    ratio,
    undefined,
)
from dissensus.agreement.weights import Weights, disagreement
from dissensus.annotations import Annotations
from dissensus.scales import Interval

# from items' shares of values (n, n_values), their mean, and how much two values agree
# (n_values, n_values), to the agreement that chance gives, (n,)
Chance = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def percent_agreement(annotations: Annotations) -> float:
    """The share of pairs of answers about an item that are equal, mean over items.

    1 is perfect agreement; what chance gives is not taken off. Every item with two annotators or
    more counts the same, so that a few with very many answers do not outweigh the rest.
    Multi-label answers are equal if the whole sets are. An annotator is not compared with himself;
    one who answered an item twice counts half for each answer. nan where undefined: no item has two
    annotators, or the answers are ratings, which are hardly ever exactly equal (`mean_difference`
    is for them).

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t1", "cleo", "no")]
        >>> round(percent_agreement(Annotations.from_rows(rows)), 4)
        0.3333

    Reference: Fleiss (1971), doi:10.1037/h0031619, for any number of answers per item.
    """
    return prepare_percent_agreement(annotations).value()


def prepare_percent_agreement(annotations: Annotations) -> Estimate:
    """`percent_agreement`, prepared to leave out items."""
    if isinstance(annotations.scale, Interval):
        return undefined(annotations)
    return OfSums(equal_pairs(annotations), ratio)


def percent_formula(annotations: Annotations) -> Formula:
    """Of percent agreement: the mean over items has a standard error."""
    equal, several = equal_pairs(annotations)
    error, low, high, _, _ = linearised(equal[several > 0])
    return Formula(error, max(low, 0.0), high, "", math.nan)


def fleiss_kappa(annotations: Annotations, weights: Weights = None) -> float:
    """Agreement beyond chance of any number of annotators, not the same on every item.

    1 is perfect agreement, 0 what chance gives if all annotators drew from the same shares.
    Items may have different numbers of answers: agreement is the mean over items with two or
    more, shares the mean over all items, as Gwet has it; with equal numbers it is Fleiss' own
    formula. Annotators need not be known, so votes work. nan where undefined: no item has two
    answers, or all answers are the same.

    Args:
        weights: None for nominal answers; a name such as "linear" for levels; or distances.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(fleiss_kappa(Annotations.from_rows(rows)), 4)
        0.3333

    Reference: Fleiss (1971), doi:10.1037/h0031619; Gwet (2014), Handbook of Inter-Rater
    Reliability, 4th edition.
    """
    return beyond_chance(annotations, weights, chance=fleiss_chance).value()


def randolph_kappa(annotations: Annotations, weights: Weights = None) -> float:
    """Agreement beyond chance of any number of annotators; chance picks every value alike.

    1 is perfect agreement, 0 what blind choice among the scale's values gives. Unlike Fleiss'
    kappa it does not fall when one answer is rare; prefer it where annotators were not
    told how often to use a value. Values without answers count, so declare the scale. Also known as
    free-marginal kappa or the Brennan-Prediger coefficient. nan where undefined: no item has two
    answers, or the scale has one value only.

    Args:
        weights: None for nominal answers; a name such as "linear" for levels; or distances.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(randolph_kappa(Annotations.from_rows(rows)), 4)
        0.3333

    Reference: Randolph (2005), Free-marginal multirater kappa; Brennan and Prediger (1981),
    doi:10.1177/001316448104100307.
    """
    return beyond_chance(annotations, weights, chance=randolph_chance).value()


def gwet_ac(annotations: Annotations, weights: Weights = None) -> float:
    """Agreement beyond chance of any number of annotators; AC1, or AC2 with weights.

    1 is perfect agreement, 0 what chance gives if only answers to hard items are guesses. Prefer
    it to kappa and alpha where nearly all answers are the same and these fall to 0 although
    all annotators agree. Values without answers count, so declare the scale. Annotators need not
    be known. nan where undefined: no item has two answers, or the scale has one value only.

    Args:
        weights: None for nominal answers (AC1); a name such as "linear" for levels, or
            distances (AC2).

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(gwet_ac(Annotations.from_rows(rows)), 4)
        0.3333

    Reference: Gwet (2008), doi:10.1348/000711006X126600; AC2: Gwet (2014), Handbook of
    Inter-Rater Reliability, 4th edition.
    """
    return beyond_chance(annotations, weights, chance=gwet_chance).value()


# ---- Fleiss, Randolph, Gwet ----


def beyond_chance(annotations: Annotations, weights: Weights = None, *, chance: Chance) -> Estimate:
    """(observed - chance) / (1 - chance) agreement, prepared to leave out items."""
    apart = disagreement(weights, annotations.scale, NAMES[chance])

    def formula(
        agreeing: np.ndarray, several: np.ndarray, share: np.ndarray, answered: np.ndarray
    ) -> np.ndarray:
        share = ratio(share, answered[:, None])
        return _kappa(ratio(agreeing, several), chance(share, share, 1.0 - apart))

    return OfSums(item_agreement(annotations, apart), formula)


def beyond_chance_formula(
    annotations: Annotations, weights: Weights = None, *, chance: Chance
) -> Formula:
    """The standard error of a kappa; Gwet (2014), as in irrCAC."""
    apart = disagreement(weights, annotations.scale, "a kappa")
    counts = item_agreement(annotations, apart)
    answered = counts.answered > 0
    if not counts.several.any():
        return UNKNOWN
    share = counts.share[answered]
    by_chance = chance(share, share.mean(axis=0), 1.0 - apart)
    return _from_chance(counts.agreeing[answered], counts.several[answered], by_chance)


def fleiss_chance(share: np.ndarray, mean: np.ndarray, agree: np.ndarray) -> np.ndarray:
    """Two annotators draw from the shares of all answers."""
    return ((share @ agree) * mean).sum(axis=1)


def randolph_chance(share: np.ndarray, mean: np.ndarray, agree: np.ndarray) -> np.ndarray:
    """They pick every value alike."""
    return np.full(len(share), agree.mean())


def gwet_chance(share: np.ndarray, mean: np.ndarray, agree: np.ndarray) -> np.ndarray:
    """They pick every value alike where items are hard, as often as values vary."""
    n = len(agree)
    if n < 2:
        return np.ones(len(share))  # nothing is left beyond chance
    return np.asarray(agree.sum() / (n * (n - 1)) * (share * (1.0 - mean)).sum(axis=1))


NAMES: dict[Chance, str] = {
    fleiss_chance: "Fleiss' kappa",
    randolph_chance: "Randolph's kappa",
    gwet_chance: "Gwet's AC",
}


def _kappa(observed: np.ndarray, chance: np.ndarray) -> np.ndarray:
    left = 1.0 - chance
    return ratio(observed - chance, np.where(left > 1e-12, left, 0.0))


def _from_chance(agreeing: np.ndarray, several: np.ndarray, by_chance: np.ndarray) -> Formula:
    """From each item's agreement, whether it has pairs, and its part in what chance gives."""
    n, chance = len(agreeing), by_chance.mean()
    observed = agreeing.sum() / several.sum()
    if not 1.0 - chance > 1e-12:
        return UNKNOWN
    value = (observed - chance) / (1.0 - chance)
    each = n / several.sum() * (agreeing - chance * several) / (1.0 - chance)
    each = each - 2 * (1.0 - value) * (by_chance - chance) / (1.0 - chance)
    return linearised(each, value)


# ---- Conger ----


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
        return undefined(annotations)
    return Conger(annotations, annotators, 1.0 - apart, item_agreement(annotations, apart))


@dataclass(frozen=True, eq=False)
class Conger:
    """Agreement of pairs, and the shares of values of each annotator (a `Summable`)."""

    annotations: Annotations
    annotators: np.ndarray  # (n_rows,) codes
    agree: np.ndarray  # (n_values, n_values) how much two values agree
    counts: ItemAgreement

    def totals(self, weights: np.ndarray | None = None) -> Totals:
        """Agreeing pairs, items with pairs, and each annotator's answers by value."""
        weights = np.ones(self.annotations.n_items) if weights is None else weights
        shape = (self.annotations.n_annotators, len(self.agree))
        at = self.annotators.astype(np.int64) * shape[1] + self.annotations.answer
        times = self.annotations.votes * weights[self.annotations.item]
        counts = np.bincount(at, times, minlength=shape[0] * shape[1]).reshape(shape)
        sums = weights @ self.counts.agreeing, weights @ self.counts.several
        return [*map(np.array, sums), counts.astype(float)]

    def value(self, totals: Totals | None = None) -> float:
        agreeing, several, counts = self.totals() if totals is None else totals
        share = _shares(counts)
        total = share.sum(axis=0)
        own = np.einsum("gk,kl,gl->", share, self.agree, share)
        chance = _mean_over_pairs(total @ self.agree @ total - own, _n_answering(counts))
        return float(_kappa(ratio(agreeing, several), chance))

    def without_each(self, totals: Totals | None = None) -> np.ndarray:
        """For each annotator of an item: their shares, without their answers to it."""
        agreeing, several, counts = self.totals() if totals is None else totals
        item, answer, n_items = (
            self.annotations.item,
            self.annotations.answer,
            self.annotations.n_items,
        )
        share, size, g = _shares(counts), counts.sum(axis=1), self.annotators
        votes = self.annotations.votes
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
        chance = _mean_over_pairs(products, _n_answering(counts) - gone)
        observed = ratio(agreeing - self.counts.agreeing, several - self.counts.several)
        return _kappa(observed, chance)


def _shares(counts: np.ndarray) -> np.ndarray:
    """The share of each value among an annotator's answers, (n_annotators, n_values)."""
    size = counts.sum(axis=1)
    return counts / np.where(size > 0, size, 1.0)[:, None]


def _n_answering(counts: np.ndarray) -> int:
    return int(np.count_nonzero(counts.sum(axis=1)))


def _mean_over_pairs(products: np.ndarray, n_annotators: np.ndarray | int) -> np.ndarray:
    """Agreement of two annotators by chance, mean over pairs, from its sum over ordered pairs."""
    n = np.asarray(n_annotators, dtype=float)
    return ratio(np.asarray(products), n * (n - 1))


def conger_formula(annotations: Annotations, weights: Weights = None) -> Formula:
    """The standard error of Conger's kappa."""
    estimate = prepare_conger_kappa(annotations, weights)
    if not isinstance(estimate, Conger) or not math.isfinite(estimate.value()):
        return UNKNOWN
    answered = np.flatnonzero(annotations.per_item())
    return _from_chance(
        estimate.counts.agreeing[answered],
        estimate.counts.several[answered],
        _conger_chance(estimate)[answered],
    )


def _conger_chance(estimate: Conger) -> np.ndarray:
    """Each item's part in the agreement that chance gives, (n_items,); the mean is that."""
    annotations, counts = estimate.annotations, estimate.totals()[2]
    share, size = _shares(counts), counts.sum(axis=1)
    r, n_items = np.count_nonzero(size), np.count_nonzero(annotations.per_item())
    others = share.sum(axis=0) - share  # (n_annotators, n_values)
    toward = others @ estimate.agree  # (n_annotators, n_values)
    base = (toward * share).sum(axis=1)  # (n_annotators,)
    g = estimate.annotators
    moved = annotations.votes * n_items / size[g] * (toward[g, annotations.answer] - base[g])
    each = np.bincount(annotations.item, moved, minlength=annotations.n_items)
    return np.asarray((base.sum() + each) / (r * (r - 1)))
