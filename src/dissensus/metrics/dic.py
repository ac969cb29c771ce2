"""DIC: do predicted annotators agree with each other as much as the real ones do?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dissensus.agreement import common_items, kappa_matrix
from dissensus.agreement.pair_measures import DENSE
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.metrics.metric import ItemScores, common_pairs, require
from dissensus.prediction import Prediction

FEWEST = 30  # items that two annotators must have in common: with fewer, kappa is mostly noise
MOST_SHARES = 1 << 26  # of values, by pair of annotators, for the influence of items


class Dic(NamedTuple):
    """A difference of two matrices of kappa, and the number of pairs."""

    value: float  # Frobenius norm of the difference, each pair counted in both directions
    normalised: float  # the same as a root mean square over the pairs, to compare corpora by
    pairs: int  # of annotators compared
    left_out: int  # pairs with common items, but too few of them


def dic_of(prediction: Prediction, annotations: Annotations, at_least: int = FEWEST) -> Dic:
    """DIC, the Frobenius norm of the difference between the observed and the predicted kappas.

    0 where any two predicted annotators agree exactly as the real two do; `dic_floor` is what noise
    alone gives. nan where no two annotators have enough items in common. `normalised` is the norm
    over the root of the number of entries compared: the typical error of a kappa, which does not
    grow with the number of annotators.

    Kappa is Cohen's, unweighted, of two annotators on the items that both answered and for which
    both were predicted; for the predictions it is computed from the predicted answers to the same
    items. A pair with fewer than `at_least` (30) such items is left out of both matrices, and
    counted; Zhang et al. leave none out (1). Where two annotators always give the same answer kappa
    is undefined; DIC (and only DIC) takes it as 1. Repeated answers count as in `kappa_matrix`.

    Example:
        >>> from dissensus.prediction import ByAnnotator
        >>> rows = [("t1", "ann", "yes"), ("t2", "ann", "no"), ("t1", "bob", "yes"),
        ...         ("t2", "bob", "no"), ("t1", "cyd", "no")]
        >>> answers = Annotations.from_rows(rows)
        >>> same = ByAnnotator(answers.item, answers.annotator, answers.annotators, answers.answer)
        >>> mass = answers.distribution()
        >>> predicted = Prediction(answers.scale, answers.items, mass, mass.argmax(axis=1), same)
        >>> dic_of(predicted, answers, at_least=2)
        Dic(value=0.0, normalised=0.0, pairs=1, left_out=2)

    Reference: Zhang et al. (2025), arXiv:2503.15237.
    """
    answers, sides, compared = _both(prediction, annotations, at_least)
    left_out = _left_out(answers, compared)
    return _difference(kappa_matrix(sides[0]), kappa_matrix(sides[1]), compared, left_out)


def dic_by_item(prediction: Prediction, annotations: Annotations) -> ItemScores:
    """DIC plus the influence of each item on it: scores whose mean is DIC, for tests over items.

    The influence is the derivative of DIC by the weight of an item, through the kappas of both
    matrices. With fewer common items than `FEWEST`, kappas change too abruptly to have one. Nothing
    is returned where annotators repeat answers, or where DIC is undefined or 0.

    Reference: Hampel (1974), The influence curve and its role in robust estimation.
    """
    answers, sides, compared = _both(prediction, annotations, FEWEST)
    kappas = [np.nan_to_num(kappa_matrix(side), nan=1.0) for side in sides]
    apart = np.where(compared, kappas[0] - kappas[1], 0.0)  # (n_annotators, n_annotators)
    value = float(np.sqrt((apart**2).sum()))
    width = apart.size * answers.scale.n_columns
    if not value or answers.repeats or width > MOST_SHARES:
        return ItemScores(annotations.items)
    moved = _moved(sides[0], kappas[0], apart / value) - _moved(sides[1], kappas[1], apart / value)
    items = np.flatnonzero(answers.per_item())
    return ItemScores(answers.items.take(items), (value + len(items) * moved[items],))


def normalised_dic_by_item(prediction: Prediction, annotations: Annotations) -> ItemScores:
    """As `dic_by_item`, over the root of the number of compared entries."""
    items, parts = dic_by_item(prediction, annotations)
    n_entries = _both(prediction, annotations, FEWEST)[2].sum() if parts else 1
    return ItemScores(items, tuple(scores / np.sqrt(n_entries) for scores in parts))


def _both(
    prediction: Prediction, annotations: Annotations, at_least: int
) -> tuple[Annotations, tuple[Annotations, Annotations], np.ndarray]:
    """The answers that were predicted; the observed and the predicted ones of annotators who gave
    enough of them; which pairs of these are compared."""
    require(prediction, "DIC", "nominal", "ordinal")
    rows, pairs = common_pairs(prediction, annotations)
    answers = annotations.to(prediction.scale).take(rows)
    assert prediction.by_annotator is not None
    predicted = replace(answers, answer=prediction.by_annotator.value[pairs])
    kept = _often(answers, at_least)
    sides = _select(answers, kept), _select(predicted, kept)
    return answers, sides, _off_diagonal(common_items(sides[0]) >= max(at_least, 1))


def _moved(annotations: Annotations, kappa: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """How the weighted sum of all kappas changes with the weight of each item, (n_items,).

    Kappa of a pair is (o - e) / (1 - e): o the share of its common items with equal answers, e the
    sum over values of the product of both shares. An item with answers x and y changes o by
    (x = y) - o, and e by the other's shares of x and of y less 2 e, over the number of items.
    """
    from scipy.sparse import csr_array

    n, n_values = annotations.n_annotators, annotations.scale.n_columns
    item, annotator = annotations.item, annotations.annotator_codes("DIC")
    ones, n_items = np.ones(annotations.n_rows), annotations.n_items
    there = _present(annotations, float)
    column = annotator.astype(np.int64) * n_values + annotations.answer
    chosen = csr_array((ones, (item, column)), shape=(n_items, n * n_values))
    counts = (there.T @ chosen).toarray().reshape(n, n, n_values)  # of the second's values
    together = np.maximum(counts.sum(axis=2), 1)
    shares = counts / together[..., None]
    expected = (shares * shares.transpose(1, 0, 2)).sum(axis=2)
    varied = (weight != 0) & (expected < 1 - 1e-12)
    alone = np.where(varied, 1 - expected, 1.0)
    slope = np.where(varied, weight / (together * alone), 0.0)  # of a change of o
    back = 2 * slope * (1 - kappa)  # of a change of e: (1 - o) / (1 - e) is 1 - kappa
    level = slope * (kappa * alone + expected) - back * expected
    shares *= back[..., None]
    order = np.argsort(item, kind="stable")
    item, annotator, answer = item[order], annotator[order], annotations.answer[order]
    after = np.searchsorted(item, item, side="right") - np.arange(len(item)) - 1  # of the same item
    moved, rows = np.zeros(n_items), np.arange(len(item))
    for apart in range(1, int(after.max(initial=0)) + 1):
        rows = rows[after[rows] >= apart]
        first, second = annotator[rows], annotator[rows + apart]
        x, y = answer[rows], answer[rows + apart]
        change = 2 * (slope[first, second] * (x == y) - level[first, second])
        change -= shares[first, second, x] + shares[second, first, y]
        moved += np.bincount(item[rows], change, minlength=n_items)
    return moved


def dic_floor(
    annotations: Annotations, at_least: int = FEWEST, n_splits: int = 10, seed: int = 0
) -> Dic:
    """The DIC that noise alone gives: between two random halves of the answered items.

    A DIC below it does not distinguish predictions from the annotators themselves. Each half has
    half of the items, so that the floor is rather too high. The pairs are those of `dic`, with
    `at_least` common items; a pair without a common item in either half is left out there.

    Returns:
        Means over `n_splits` seeded splits of value and norm; pairs and left out as in `dic`.
    """
    if annotations.scale.kind not in ("nominal", "ordinal"):
        raise DataError(
            f"DIC is for nominal and ordinal answers, not for {annotations.scale.kind} ones"
        )
    annotations.annotator_codes("DIC")
    chosen = _select(annotations, _often(annotations, at_least))
    compared = _off_diagonal(common_items(chosen) >= max(at_least, 1))
    left_out = _left_out(annotations, compared)
    generator = np.random.default_rng(seed)
    halves = [_between_halves(chosen, compared, generator) for _ in range(n_splits)]
    values, norms = zip(*halves, strict=True)
    return Dic(float(np.mean(values)), float(np.mean(norms)), int(compared.sum()) // 2, left_out)


def _between_halves(
    annotations: Annotations, compared: np.ndarray, generator: np.random.Generator
) -> tuple[float, float]:
    answered = np.flatnonzero(annotations.per_item())
    first = np.zeros(annotations.n_items, dtype=bool)
    first[generator.permutation(answered)[: len(answered) // 2]] = True
    inside = first[annotations.item]
    halves = [annotations.take(rows) for rows in (inside, ~inside)]
    met = compared & (common_items(halves[0]) > 0) & (common_items(halves[1]) > 0)
    difference = _difference(kappa_matrix(halves[0]), kappa_matrix(halves[1]), met, 0)
    return difference.value, difference.normalised


def _difference(one: np.ndarray, other: np.ndarray, compared: np.ndarray, left_out: int) -> Dic:
    """`compared` marks entries of the matrices, off the diagonal, where both have items."""
    entries = int(compared.sum())
    if not entries:
        return Dic(float("nan"), float("nan"), 0, left_out)
    one, other = np.nan_to_num(one[compared], nan=1.0), np.nan_to_num(other[compared], nan=1.0)
    value = float(np.sqrt(((one - other) ** 2).sum()))
    return Dic(value, value / entries**0.5, entries // 2, left_out)


def _often(annotations: Annotations, at_least: int) -> np.ndarray:
    """The annotators with enough answers to have enough items in common with another."""
    return np.flatnonzero(annotations.per_annotator() >= max(at_least, 1))


def _select(annotations: Annotations, codes: np.ndarray) -> Annotations:
    if len(codes) == annotations.n_annotators:
        return annotations
    return annotations.select_annotators(codes, annotations.annotators.take(codes))


def _off_diagonal(entries: np.ndarray) -> np.ndarray:
    return entries & ~np.eye(len(entries), dtype=bool)


def _left_out(annotations: Annotations, compared: np.ndarray) -> int:
    """Pairs of annotators with a common item that are not among the compared ones."""
    if annotations.n_annotators * annotations.n_items <= DENSE:
        n_together = np.count_nonzero(common_items(annotations))
    else:
        together = _present(annotations, np.int64)
        n_together = (together.T @ together).nnz
    both = n_together - np.count_nonzero(annotations.per_annotator())
    return int(both - compared.sum()) // 2


def _present(annotations: Annotations, kind: type) -> Any:
    """A 1 where an annotator answered an item, sparse, (n_items, n_annotators)."""
    from scipy.sparse import csr_array

    ones: np.ndarray = np.ones(annotations.n_rows, dtype=kind)
    shape = (annotations.n_items, annotations.n_annotators)
    return csr_array((ones, (annotations.item, annotations.annotator_codes("DIC"))), shape=shape)
