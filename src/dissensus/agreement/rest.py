"""Each annotator against the others on the same items: disagreement, kappa, and what is usual."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dissensus.agreement.measure import ratio
from dissensus.agreement.weights import numbers
from dissensus.annotations import Annotations
from dissensus.scales import MultiLabel, Nominal, has_value, set_sizes

ENTRIES = 1 << 22  # of a block of annotators; bounds the memory


@dataclass(frozen=True, eq=False)
class Vectors:
    """Answers as vectors: how much two answers disagree is their squared distance times `unit`.

    Nominal: one dimension per value, so that two different values disagree by 1. Levels and
    ratings: a number, so that they disagree by the squared difference. Multi-label: one dimension
    per value, so that two sets disagree by the number of values in which they differ.
    """

    kind: str
    answer: np.ndarray  # (n_rows,) codes, numbers or bit masks
    width: int  # dimensions
    unit: float

    @classmethod
    def of(cls, annotations: Annotations, equal: bool = False) -> Vectors:
        """The vectors of all rows; `equal`: any two different answers disagree by 1."""
        scale, answer = annotations.scale, annotations.answer
        if isinstance(scale, Nominal) or equal:
            values, code = np.unique(answer, return_inverse=True)
            return cls("nominal", code.reshape(-1), max(len(values), 1), 0.5)
        if isinstance(scale, MultiLabel):
            return cls("multi-label", answer, len(scale), 1.0)
        number = numbers(scale, answer, "a comparison with the rest")
        if number.size:
            number = number - number.mean()  # sums of squares keep their digits
        return cls("number", number, 1, 1.0)

    def at(self, row: np.ndarray, dimension: np.ndarray) -> np.ndarray:
        """The numbers of these rows in these dimensions; row -1 has 0."""
        answer = self.answer[row]
        if self.kind == "nominal":
            number = (answer == dimension).astype(float)
        elif self.kind == "multi-label":
            number = has_value(answer, dimension).astype(float)
        else:
            number = answer.astype(float)
        return np.where(row >= 0, number, 0.0)

    def squares(self) -> np.ndarray:
        """The squared length of each row, (n_rows,)."""
        if self.kind == "nominal":
            return np.ones(len(self.answer))
        if self.kind == "multi-label":
            return set_sizes(self.answer).astype(float)
        return self.answer**2

    def entries(self) -> tuple[np.ndarray, np.ndarray]:
        """The (row, dimension) pairs that may differ from 0."""
        rows = np.arange(len(self.answer))
        if self.kind == "nominal":
            return rows, self.answer
        if self.kind == "number":
            return rows, np.zeros(len(rows), dtype=np.int64)
        chosen = [np.flatnonzero(has_value(self.answer, value)) for value in range(self.width)]
        sizes = [len(rows) for rows in chosen]
        return np.concatenate(chosen), np.repeat(np.arange(self.width), sizes)


@dataclass(frozen=True, eq=False)
class AgainstRest:
    """How annotators compare with the rest, (n_annotators,) each; nan where undefined.

    Disagreement is in the units of `Vectors`. Standard errors are over the items of an annotator.
    """

    items: np.ndarray  # answered by others too
    observed: np.ndarray  # mean disagreement with the others, over items
    observed_error: np.ndarray
    expected: np.ndarray  # by chance: the same answers, given to other items of the annotator
    kappa: np.ndarray  # 1 - observed / expected
    kappa_error: np.ndarray
    above_chance: np.ndarray  # observed - expected, in standard errors; positive: contrary
    above_third: np.ndarray  # observed - what is a third of the way from usual to chance, likewise
    above_half: np.ndarray  # the same of half of the way
    excess: np.ndarray  # observed - what the others have among themselves on the same items
    excess_error: np.ndarray


def against_rest(
    annotations: Annotations,
    reference: np.ndarray | None = None,
    same: np.ndarray | None = None,
    equal: bool = False,
) -> AgainstRest:
    """Compare each annotator with the others on the same items.

    Kappa is Cohen's, of the annotator and one of the others drawn for each item: unweighted for
    nominal answers, with quadratic weights for levels, Lin's concordance for ratings, over all
    values together for sets. Where items have two answers by the same two annotators, it is their
    kappa.

    Args:
        reference: which annotators are the others, (n_annotators,); all if left out.
        same: annotators with the same number are not compared with one another, (n_annotators,);
            at most one of them may be in the reference.
        equal: whether any two different answers disagree by 1, whatever the scale.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> against_rest(Annotations.from_rows(rows)).kappa.round(4).tolist()
        [0.4, 0.4]
    """
    annotator = annotations.annotator_codes("a comparison with the rest").astype(np.int64)
    n = annotations.n_annotators
    reference = np.ones(n, dtype=bool) if reference is None else reference
    vectors = Vectors.of(annotations, equal)
    items = _Items.of(annotations, vectors, reference[annotator])
    own = _own_rows(annotations, annotator, reference, same)
    results = [np.full(n, np.nan) for _ in range(11)]
    results[0] = np.zeros(n)
    order = np.argsort(annotator, kind="stable")
    order = order[items.size[annotations.item[order]] > (own[order] >= 0)]
    for rows in _blocks(annotator[order], np.diff(items.begin)[annotations.item[order]]):
        codes, block = _compared(vectors, items, annotations.item, annotator, own, order[rows])
        for result, values in zip(results, block, strict=True):
            result[codes] = values
    return AgainstRest(*results)


@dataclass(frozen=True, eq=False)
class _Items:
    """Sums over the reference answers of each item; sparse, item by item."""

    size: np.ndarray  # (n_items,) reference answers
    squares: np.ndarray  # (n_items,) sum of squared lengths
    length: np.ndarray  # (n_items,) squared length of the sum
    begin: np.ndarray  # (n_items + 1,) where an item's entries begin
    dimension: np.ndarray  # (n_entries,)
    total: np.ndarray  # (n_entries,) sum of the numbers in this dimension
    usual: float  # mean over items of the mean disagreement of two reference answers

    @classmethod
    def of(cls, annotations: Annotations, vectors: Vectors, kept: np.ndarray) -> _Items:
        n_items = annotations.n_items
        item = annotations.item.astype(np.int64)
        rows, dimension = vectors.entries()
        used = kept[rows]
        rows, dimension = rows[used], dimension[used]
        key, place = np.unique(item[rows] * vectors.width + dimension, return_inverse=True)
        total = np.bincount(place, vectors.at(rows, dimension), minlength=len(key))
        of_item, dimension = np.divmod(key, vectors.width)
        begin = np.searchsorted(of_item, np.arange(n_items + 1))
        size = np.bincount(item[kept], minlength=n_items).astype(float)
        squares = np.bincount(item[kept], vectors.squares()[kept], minlength=n_items)
        length = np.bincount(of_item, total**2, minlength=n_items)
        apart = 2 * vectors.unit * ratio(size * squares - length, size * (size - 1))
        usual = float(np.nanmean(apart)) if np.isfinite(apart).any() else np.nan
        return cls(size, squares, length, begin, dimension, total, usual)


def _own_rows(
    annotations: Annotations, annotator: np.ndarray, reference: np.ndarray, same: np.ndarray | None
) -> np.ndarray:
    """The reference row on the item that an annotator is not compared with, (n_rows,); -1: none."""
    n = annotations.n_annotators
    own = np.where(reference[annotator], np.arange(len(annotator)), -1)
    if same is None:
        return own
    first = np.full(int(same.max(initial=-1)) + 1, -1)
    first[same[reference]] = np.flatnonzero(reference)
    stand_in = first[same[annotator]]
    rows = np.flatnonzero((stand_in >= 0) & (stand_in != annotator))
    if rows.size:
        key = annotations.item.astype(np.int64) * n + annotator
        order = np.argsort(key)
        wanted = annotations.item[rows].astype(np.int64) * n + stand_in[rows]
        at = np.minimum(np.searchsorted(key, wanted, sorter=order), len(key) - 1)
        own[rows] = np.where(key[order[at]] == wanted, order[at], -1)
    return own


def _blocks(annotator: np.ndarray, entries: np.ndarray) -> Iterator[slice]:
    """Slices of whole annotators with about `ENTRIES` entries; annotators rise."""
    if not annotator.size:
        return
    starts = np.flatnonzero(np.diff(annotator, prepend=-1))
    before = np.concatenate([[0], np.cumsum(entries)])[starts]
    cuts = starts[np.flatnonzero(np.diff(before // ENTRIES, prepend=-1))]
    for begin, stop in zip(cuts, [*cuts[1:], len(annotator)], strict=True):
        yield slice(int(begin), int(stop))


def _compared(
    vectors: Vectors,
    items: _Items,
    item: np.ndarray,
    annotator: np.ndarray,
    own: np.ndarray,
    rows: np.ndarray,
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The annotators of these rows, and the fields of `AgainstRest` for them."""
    codes, who = np.unique(annotator[rows], return_inverse=True)
    of_item, own_row = item[rows], own[rows]
    square = vectors.squares()
    own_square = np.where(own_row >= 0, square[own_row], 0.0)
    others = items.size[of_item] - (own_row >= 0)
    n = np.bincount(who).astype(float)

    sizes = np.diff(items.begin)[of_item]
    row = np.repeat(np.arange(len(rows)), sizes)
    entry = np.arange(len(row)) + np.repeat(items.begin[of_item] - np.cumsum(sizes) + sizes, sizes)
    dimension, total = items.dimension[entry], items.total[entry]
    answer = vectors.at(rows[row], dimension)
    own_answer = vectors.at(own_row[row], dimension)
    rest = (total - own_answer) / others[row]  # the mean of the others
    table = who[row] * vectors.width + dimension
    size = len(codes) * vectors.width

    def over_row(values: np.ndarray) -> np.ndarray:
        return np.bincount(row, values, minlength=len(rows))

    def mean(values: np.ndarray) -> np.ndarray:
        return np.bincount(who, values) / n

    spelled, at = _entries(vectors, rows)
    mean_answer = np.bincount(
        who[spelled] * vectors.width + at, vectors.at(rows[spelled], at), minlength=size
    ) / np.repeat(n, vectors.width)
    mean_rest = np.bincount(table, rest, minlength=size) / np.repeat(n, vectors.width)
    spread = (items.squares[of_item] - own_square) / others  # mean squared length of the others
    mean_square, mean_spread = mean(square[rows]), mean(spread)

    observed = square[rows] - 2 * over_row(answer * rest) + spread
    of_means = (mean_answer * mean_rest).reshape(len(codes), -1).sum(axis=1)
    expected = mean_square - 2 * of_means + mean_spread
    # disagreement of this answer with all others' answers, and of all own answers with the others'
    own_products = np.bincount(
        spelled,
        vectors.at(rows[spelled], at) * mean_rest[who[spelled] * vectors.width + at],
        minlength=len(rows),
    )
    one = square[rows] - 2 * own_products + mean_spread[who]
    other = mean_square[who] - 2 * over_row(mean_answer[table] * rest) + spread
    length = items.length[of_item] - 2 * over_row(total * own_answer) + own_square
    pairs = others * (others - 1)
    among = 2 * ratio(others * (items.squares[of_item] - own_square) - length, pairs)
    among = np.where(np.isnan(among), items.usual / vectors.unit, among)

    def tested(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard error."""
        middle = mean(values)
        variance = np.bincount(who, (values - middle[who]) ** 2) / np.where(n > 1, n - 1, np.nan)
        return middle, np.sqrt(variance / n)

    def in_errors(middle: np.ndarray, error: np.ndarray) -> np.ndarray:
        """At least what a single item would change, so that equal values are no certainty."""
        return middle / np.maximum(error, expected / n)

    seen, seen_error = tested(observed)
    varies = expected > 1e-9 * (mean_square + mean_spread)
    expected = np.where(varies, expected, np.nan)
    share = seen / expected
    change = one + other - 2 * expected[who]  # of `expected`, if the item had more weight
    kappa_error = tested((observed - share[who] * change) / expected[who])[1]
    chance = tested(observed - change)[1]

    def on_the_way(share: float) -> np.ndarray:
        """From what is usual to chance."""
        middle, error = tested(observed - (1 - share) * among - share * change)
        return in_errors(middle - share * expected, error)

    excess, excess_error = tested(observed - among)
    unit = vectors.unit
    return codes, [
        n,
        unit * seen,
        unit * seen_error,
        unit * expected,
        np.where(np.abs(1.0 - share) > 1e-12, 1.0 - share, 0.0),
        kappa_error,
        in_errors(seen - expected, chance),
        on_the_way(1 / 3),
        on_the_way(1 / 2),
        unit * excess,
        unit * excess_error,
    ]


def _entries(vectors: Vectors, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The entries of some rows, counted among them."""
    return Vectors(vectors.kind, vectors.answer[rows], vectors.width, vectors.unit).entries()


def ratings_against_rest(
    annotations: Annotations, reference: np.ndarray, same: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Correlation of ratings or levels with the mean of the others', and how much higher they are.

    (n_annotators,) each, nan where undefined; arguments as in `against_rest`. With every annotator
    in the reference, they are `correlation_with_rest` and `leniency`.
    """
    annotator = annotations.annotator_codes("a comparison with the rest").astype(np.int64)
    n, item = annotations.n_annotators, annotations.item
    number = numbers(annotations.scale, annotations.answer, "a comparison with the rest")
    kept = reference[annotator]
    own = _own_rows(annotations, annotator, reference, same)
    size = np.bincount(item[kept], minlength=annotations.n_items)[item] - (own >= 0)
    total = np.bincount(item[kept], number[kept], minlength=annotations.n_items)[item]
    rows = size > 0
    rest = (total - np.where(own >= 0, number[own], 0.0))[rows] / size[rows]
    who, number = annotator[rows], number[rows]
    items = np.bincount(who, minlength=n).astype(float)

    def mean(values: np.ndarray) -> np.ndarray:
        return ratio(np.bincount(who, values, minlength=n).astype(float, copy=False), items)

    leniency = mean(number - rest)
    number, rest = number - mean(number)[who], rest - mean(rest)[who]
    spread = mean(number**2) * mean(rest**2)
    least = 1e-24 * mean(np.abs(number) + np.abs(rest)) ** 4  # nothing but rounding
    with np.errstate(invalid="ignore"):
        correlation = ratio(mean(number * rest), np.sqrt(np.where(spread > least, spread, 0.0)))
    return np.clip(correlation, -1.0, 1.0), leniency


def first_answers(annotations: Annotations) -> Annotations:
    """Only the first of an annotator's answers to an item."""
    if not annotations.repeats or annotations.annotator is None:
        return annotations
    key = annotations.annotator.astype(np.int64) * max(annotations.n_items, 1) + annotations.item
    return annotations.take(np.sort(np.unique(key, return_index=True)[1]))
