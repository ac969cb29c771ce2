"""Each annotator against the others on the same items: disagreement, kappa, and what is usual."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from dissensus.agreement.estimates import numbers, ratio
from dissensus.annotations import Annotations
from dissensus.scales import MultiLabel, Nominal, by_value, has_value, set_sizes

ENTRIES = 1 << 17  # of a block of annotators; bounds the memory
MOST_ENTRIES = 2_000_000  # numbers to find who goes together; of larger tables a sample of items
MOST_VALUES = 32  # likewise, that are told apart
MOST_STEPS = 60  # likewise
FITS = 3  # of items and annotators in turn


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
        chosen = [np.flatnonzero(on) for on in by_value(self.answer, self.width)]
        sizes = [len(rows) for rows in chosen]
        return np.concatenate(chosen), np.repeat(np.arange(self.width), sizes)


@dataclass(frozen=True, eq=False)
class AgainstRest:
    """How annotators compare with the rest, (n_annotators,) each; nan where undefined.

    Disagreement is in the units of `Vectors`. Intervals are about other items of the same kind,
    answered by the annotator and by the same others.
    """

    items: np.ndarray  # answered by others too
    observed: np.ndarray  # mean disagreement with the others, over items
    observed_error: np.ndarray  # standard error
    expected: np.ndarray  # by chance: the same answers, given to other items of the annotator
    kappa: np.ndarray  # 1 - observed / expected
    kappa_low: np.ndarray  # 95 % interval
    kappa_high: np.ndarray


@dataclass(frozen=True, eq=False)
class Relation:
    """How the answers of annotators go with those of the rest, (n_annotators,) each but the first.

    Correlations, so that neither how high somebody rates nor how much of the scale they use counts.
    Standard errors are over the items of an annotator. nan where undefined.
    """

    by_item: np.ndarray  # (n_items,) what an item adds to `items` times `own`, of all annotators
    items: np.ndarray  # answered by others too
    own: np.ndarray  # correlation with one of the others, drawn for each item
    own_error: np.ndarray
    usual: np.ndarray  # correlation of two of the others on the same items
    below_half: np.ndarray  # how far `own` lies below half of `usual`, in standard errors
    below_most: np.ndarray  # the same of two thirds
    gap: np.ndarray  # Fisher's z of `own` less that of `usual`
    gap_error: np.ndarray


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
    kappa. For its interval see `share_interval`.

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
    vectors = Vectors.of(annotations, equal)
    results = [np.full(annotations.n_annotators, np.nan) for _ in range(7)]
    results[0] = np.zeros(annotations.n_annotators)
    for sums in _blocks(annotations, vectors, reference, same):
        for result, values in zip(results, _against(sums, vectors), strict=True):
            result[sums.codes] = values
    return AgainstRest(*results)


def relation_to_rest(
    annotations: Annotations, reference: np.ndarray | None = None, same: np.ndarray | None = None
) -> Relation:
    """Correlate each annotator's answers with those of the others on the same items.

    Answers are vectors (`Vectors`): the correlation is the covariance with one of the others,
    divided by the standard deviations of both. Of ratings and levels, what an annotator adds to
    all of them is taken off before. Where items have only one other answer, what is usual there is
    what is usual on all items. Arguments as in `against_rest`.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 7)]
        >>> relation_to_rest(Annotations.from_rows(rows, Interval(0, 10))).own.tolist()
        [1.0, 1.0]
    """
    vectors = Vectors.of(annotations)
    if vectors.kind == "number":
        vectors = replace(vectors, answer=_without_offsets(annotations, vectors.answer))
    results = np.full((8, annotations.n_annotators), np.nan)
    results[0] = 0
    by_item, n_rows = np.zeros((2, annotations.n_items))
    for sums in _blocks(annotations, vectors, reference, same):
        values, products = _related(sums, vectors)
        for result, column in zip(results, values, strict=True):
            result[sums.codes] = column
        by_item += np.bincount(sums.of_item, products, minlength=len(by_item))
        n_rows += np.bincount(sums.of_item, minlength=len(by_item))
    by_item[n_rows == 0] = np.nan
    return Relation(by_item, *results)


def _without_offsets(annotations: Annotations, number: np.ndarray) -> np.ndarray:
    """Numbers less what each annotator adds to all items: a fit of items and annotators."""
    annotator, item = annotations.annotator_codes("a comparison with the rest"), annotations.item
    own = np.maximum(annotations.per_annotator(), 1)
    size = np.maximum(annotations.per_item(), 1)
    offset = np.zeros(annotations.n_annotators)
    for _ in range(FITS):
        centred = number - offset[annotator]
        middle = np.bincount(item, centred, minlength=len(size)) / size
        offset = np.bincount(annotator, number - middle[item], minlength=len(own)) / own
    return np.asarray(number - offset[annotator])


@dataclass(frozen=True, eq=False)
class _Items:
    """Sums over the reference answers of each item; sparse, item by item."""

    size: np.ndarray  # (n_items,) reference answers
    squares: np.ndarray  # (n_items,) sum of squared lengths
    length: np.ndarray  # (n_items,) squared length of the sum
    begin: np.ndarray  # (n_items + 1,) where an item's entries begin
    dimension: np.ndarray  # (n_entries,)
    total: np.ndarray  # (n_entries,) sum of the numbers in this dimension
    usual: float  # correlation of two reference answers to the same item

    @classmethod
    def of(cls, annotations: Annotations, vectors: Vectors, kept: np.ndarray) -> _Items:
        n_items = annotations.n_items
        item = annotations.item.astype(np.int64)
        rows, dimension = vectors.entries()
        used = kept[rows]
        rows, dimension = rows[used], dimension[used]
        key, number = item[rows] * vectors.width + dimension, vectors.at(rows, dimension)
        if n_items * vectors.width <= 4 * len(key):  # a place for each value of each item
            total = np.bincount(key, number, minlength=n_items * vectors.width)
            key = np.flatnonzero(np.bincount(key, minlength=len(total)))
            total = total[key]
        else:
            key, place = np.unique(key, return_inverse=True)
            total = np.bincount(place, number, minlength=len(key))
        of_item, dimension = np.divmod(key, vectors.width)
        begin = np.searchsorted(of_item, np.arange(n_items + 1))
        size = np.bincount(item[kept], minlength=n_items).astype(float)
        squares = np.bincount(item[kept], vectors.squares()[kept], minlength=n_items)
        length = np.bincount(of_item, total**2, minlength=n_items)
        several = size > 1
        n, m = max(int(np.count_nonzero(several)), 1), size[several]
        middle = np.bincount(dimension, total / np.maximum(size, 1)[of_item] * several[of_item]) / n
        centre = float(middle @ middle)
        spread = float((squares[several] / m).sum()) / n - centre
        product = float(((length[several] - squares[several]) / (m * (m - 1))).sum()) / n - centre
        usual = product / spread if spread > 0 else float("nan")
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


def _slices(annotator: np.ndarray, entries: np.ndarray) -> Iterator[slice]:
    """Slices of whole annotators with about `ENTRIES` entries; annotators rise."""
    if not annotator.size:
        return
    starts = np.flatnonzero(np.diff(annotator, prepend=-1))
    before = np.concatenate([[0], np.cumsum(entries)])[starts]
    cuts = starts[np.flatnonzero(np.diff(before // ENTRIES, prepend=-1))]
    for begin, stop in zip(cuts, [*cuts[1:], len(annotator)], strict=True):
        yield slice(int(begin), int(stop))


@dataclass(frozen=True, eq=False)
class _Sums:
    """Some annotators' answers and those of the others; (n_rows,) unless said."""

    codes: np.ndarray  # (n_codes,) the annotators
    who: np.ndarray  # codes into `codes`
    of_item: np.ndarray
    n: np.ndarray  # (n_codes,) rows
    others: np.ndarray  # answers
    square: np.ndarray  # squared length of the own answer
    spread: np.ndarray  # mean squared length of the others' answers
    product: np.ndarray  # own answer x mean of the others
    length: np.ndarray  # squared length of the sum of the others
    own_own: np.ndarray  # own answer x own mean over items
    own_rest: np.ndarray  # own answer x mean of the others over items
    rest_own: np.ndarray  # mean of the others x own mean over items
    rest_rest: np.ndarray  # mean of the others x their mean over items
    own_length: np.ndarray  # (n_codes,) squared length of the own mean over items
    rest_length: np.ndarray  # (n_codes,)
    means: np.ndarray  # (n_codes,) own mean x mean of the others
    usual: float

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Over the items of each annotator, (n_codes,)."""
        return np.asarray(np.bincount(self.who, values) / self.n)

    def error(self, values: np.ndarray) -> np.ndarray:
        """The standard error of a mean of 0, (n_codes,)."""
        free = np.where(self.n > 1, self.n - 1, np.nan)
        return np.asarray(np.sqrt(np.bincount(self.who, values**2) / free / self.n))


def _blocks(
    annotations: Annotations,
    vectors: Vectors,
    reference: np.ndarray | None,
    same: np.ndarray | None,
) -> Iterator[_Sums]:
    """The sums of all annotators who share items, some annotators at a time."""
    annotator = annotations.annotator_codes("a comparison with the rest").astype(np.int64)
    if reference is None:
        reference = np.ones(annotations.n_annotators, dtype=bool)
    items = _Items.of(annotations, vectors, reference[annotator])
    own = _own_rows(annotations, annotator, reference, same)
    order = np.argsort(annotator, kind="stable")
    order = order[items.size[annotations.item[order]] > (own[order] >= 0)]
    square = vectors.squares()
    for rows in _slices(annotator[order], np.diff(items.begin)[annotations.item[order]]):
        yield _sums(vectors, square, items, annotations.item, annotator, own, order[rows])


def _sums(
    vectors: Vectors,
    square: np.ndarray,
    items: _Items,
    item: np.ndarray,
    annotator: np.ndarray,
    own: np.ndarray,
    rows: np.ndarray,
) -> _Sums:
    fresh = np.diff(annotator[rows], prepend=-1) != 0  # rows are sorted by annotator
    codes, who = annotator[rows[fresh]], np.cumsum(fresh) - 1
    of_item, own_row = item[rows], own[rows]
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

    spelled, at = replace(vectors, answer=vectors.answer[rows]).entries()
    number, at = vectors.at(rows[spelled], at), who[spelled] * vectors.width + at

    def over_own(values: np.ndarray) -> np.ndarray:
        return np.bincount(spelled, number * values[at], minlength=len(rows))

    mean_answer = np.bincount(at, number, minlength=size) / np.repeat(n, vectors.width)
    mean_rest = np.bincount(table, rest, minlength=size) / np.repeat(n, vectors.width)

    def dot(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.asarray((first * second).reshape(len(codes), -1).sum(axis=1))

    return _Sums(
        codes,
        who,
        of_item,
        n,
        others,
        square[rows],
        (items.squares[of_item] - own_square) / others,
        over_row(answer * rest),
        items.length[of_item] - 2 * over_row(total * own_answer) + own_square,
        over_own(mean_answer),
        over_own(mean_rest),
        over_row(mean_answer[table] * rest),
        over_row(mean_rest[table] * rest),
        dot(mean_answer, mean_answer),
        dot(mean_rest, mean_rest),
        dot(mean_answer, mean_rest),
        items.usual,
    )


def _against(sums: _Sums, vectors: Vectors) -> list[np.ndarray]:
    """The fields of `AgainstRest`."""
    n, who = sums.n, sums.who
    squares = sums.square + sums.spread
    observed = squares - 2 * sums.product
    seen, total = sums.mean(observed), sums.mean(squares)
    expected = total - 2 * sums.means
    expected = np.where(expected > 1e-9 * total, expected, np.nan)
    share = seen / expected
    # the same without each item
    left = np.maximum(n - 1, 1)[who]
    products = (n**2 * sums.means)[who] - n[who] * (sums.own_rest + sums.rest_own) + sums.product
    chance = (n * total)[who] - squares - 2 * products / left
    defined = chance > 1e-9 * (n * total)[who]
    without = share[who]
    np.divide((n * seen)[who] - observed, chance, out=without, where=defined)
    kappa = np.where(np.abs(1.0 - share) > 1e-12, 1.0 - share, 0.0)
    unit, ratings = vectors.unit, vectors.kind == "number"
    step = 1.0 / n if ratings else 1.0 / (n * unit * expected)
    low, high = _jackknife(who, kappa, 1.0 - without, step, ratings)
    fixed = (n < 2) | (sums.mean(sums.square) - sums.own_length < 1e-9 * total)  # 0 by rule
    low, high = (np.where(fixed, np.nan, end) for end in (low, high))
    error = sums.error(observed - seen[who])
    return [n, unit * seen, unit * error, unit * expected, kappa, low, high]


def _related(sums: _Sums, vectors: Vectors) -> tuple[list[np.ndarray], np.ndarray]:
    """The fields of `Relation`, and what each row adds to `items` times `own`."""
    n, who = sums.n, sums.who
    product = sums.product - sums.own_rest - sums.rest_own + sums.means[who]
    own_spread = sums.square - 2 * sums.own_own + sums.own_length[who]
    spread = sums.spread - 2 * sums.rest_rest + sums.rest_length[who]
    first, second = sums.mean(own_spread), sums.mean(spread)
    size = np.sqrt(np.maximum(first, 0.0) * np.maximum(second, 0.0))
    size = np.where(size > 1e-9 * sums.mean(sums.square + sums.spread), size, np.nan)
    first, second = (np.where(np.isnan(size), np.nan, one) for one in (first, second))
    pairs = ratio(sums.length - sums.others * sums.spread, sums.others * (sums.others - 1))
    pairs = pairs - 2 * sums.rest_rest + sums.rest_length[who]
    pairs = np.where(sums.others > 1, pairs, sums.usual * spread)
    own, usual = sums.mean(product) / size, sums.mean(pairs) / second
    # how much an item changes each of them, times n
    changes = product / size[who] - own[who] / 2 * (own_spread / first[who] + spread / second[who])
    usual_changes = (pairs - usual[who] * spread) / second[who]
    single = 1.0 / n if vectors.kind == "number" else 1.0 / (n * size)
    error = np.hypot(sums.error(changes), single)

    def below(share: float) -> np.ndarray:
        """At least what a single item would change, so that equal values are no certainty."""
        spread = np.hypot(sums.error(changes - share * usual_changes), single)
        return np.asarray((share * usual - own) / spread)

    most = 1.0 - 1.0 / (2 * n)
    inside, around = np.clip(own, -most, most), np.clip(usual, -most, most)
    gap = np.arctanh(inside) - np.arctanh(around)
    gap_error = np.hypot(
        sums.error(changes / (1 - inside**2)[who] - usual_changes / (1 - around**2)[who]), 1.0 / n
    )
    fields = [n, own, error, usual, below(1 / 2), below(2 / 3), gap, gap_error]
    return fields, np.nan_to_num(product / size[who])


def mean_above_zero(values: np.ndarray) -> float:
    """The p-value of Student's test whether a mean lies above 0; 1 without variation."""
    from scipy.special import stdtr

    n = len(values)
    error = float(values.std(ddof=1)) / np.sqrt(n) if n > 1 else 0.0
    return float(stdtr(n - 1, -values.mean() / error)) if error > 0 else 1.0


def share_interval(
    share: np.ndarray, variance: np.ndarray, freedom: np.ndarray, step: np.ndarray, steps: float
) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's 95 % interval of shares, or of means of shares, also of rare ones and few items.

    The variance is taken to be in proportion to share x (1 - share), as that of a count. Near 0
    and 1 its estimate says little, so that the change by some more items is added to it. The width
    is Student's t instead of the normal quantile.

    Args:
        variance: of the share, estimated from items.
        freedom: degrees of freedom of the variance.
        step: how much one item can change the share.
        steps: the number of items added.

    Example:
        >>> ends = share_interval(np.array([1.0]), np.array([0.0]), np.array([19]), 1 / 20, 0.5)
        >>> [end.round(2).tolist() for end in ends]  # 20 of 20
        [[0.82], [1.0]]

    Reference: Wilson (1927), doi:10.1080/01621459.1927.10502953.
    """
    from scipy.special import stdtrit

    share = np.clip(share, 0.0, 1.0)
    one = share * (1 - share)
    factor = stdtrit(freedom, 0.975) ** 2 * (variance + steps * step**2) / (one + steps * step)
    middle = (share + factor / 2) / (1 + factor)
    half = np.sqrt(factor * one + factor**2 / 4) / (1 + factor)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def _jackknife(
    who: np.ndarray, value: np.ndarray, without: np.ndarray, step: np.ndarray, ratings: bool
) -> tuple[np.ndarray, np.ndarray]:
    """A 95 % interval of kappas or correlations, from the values without each item.

    (1 - value) / 2 has a `share_interval`. The jackknife variance of ratings depends on few items
    if they are skewed; its degrees of freedom are those that its fourth moment says.

    Args:
        who: the annotator of each row, (n_rows,).
        value: (n_codes,).
        without: the value of the annotator without the item of a row, (n_rows,).
        step: how much one item can change the value, (n_codes,).
    """
    n = np.bincount(who, minlength=len(value)).astype(float)

    def total(values: np.ndarray) -> np.ndarray:
        return np.bincount(who, values, minlength=len(value)).astype(float, copy=False)

    change = (without - (total(without) / np.maximum(n, 1))[who]) / 2
    squares, freedom = total(change**2), np.maximum(n - 1, 1)
    if ratings:
        uneven = total(change**4) - squares**2 / np.maximum(n, 1)
        freedom = np.fmin(freedom, np.fmax(ratio(2 * squares**2, uneven), 1.0))
    variance = squares * (n - 1) / np.maximum(n, 1)
    low, high = share_interval((1 - value) / 2, variance, freedom, step / 2, 1 + ratings)
    return 1 - 2 * high, 1 - 2 * low


@dataclass(frozen=True, eq=False)
class RatingsAgainstRest:
    """Ratings or levels compared with the mean of the others', (n_annotators,) each."""

    correlation: np.ndarray
    correlation_low: np.ndarray  # 95 % interval
    correlation_high: np.ndarray
    leniency: np.ndarray  # how much higher than the others
    leniency_error: np.ndarray  # standard error


def ratings_against_rest(
    annotations: Annotations, reference: np.ndarray, same: np.ndarray | None = None
) -> RatingsAgainstRest:
    """Correlation of ratings or levels with the mean of the others', and how much higher they are.

    nan where undefined; arguments as in `against_rest`. With every annotator in the reference,
    they are `correlation_with_rest` and `leniency`.
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

    def sums(values: np.ndarray) -> np.ndarray:
        return np.bincount(who, values, minlength=n).astype(float, copy=False)

    leniency = ratio(sums(number - rest), items)
    apart = sums((number - rest - leniency[who]) ** 2)
    error = np.sqrt(ratio(apart, items * (items - 1)))
    number, rest = number - ratio(sums(number), items)[who], rest - ratio(sums(rest), items)[who]
    least = 1e-24 * ratio(sums(np.abs(number) + np.abs(rest)), items) ** 4 * items**2

    def correlation(first: np.ndarray, second: np.ndarray, both: np.ndarray, least: np.ndarray,
                    undefined: np.ndarray) -> np.ndarray:  # fmt: skip
        spread = first * second
        value = np.array(undefined)
        defined = spread > least  # else nothing but rounding
        np.divide(both, np.sqrt(np.where(defined, spread, 1.0)), out=value, where=defined)
        return np.clip(value, -1.0, 1.0)

    first, second, both = sums(number**2), sums(rest**2), sums(number * rest)
    value = correlation(first, second, both, least, np.full(n, np.nan))
    part = (items / np.maximum(items - 1, 1))[who]  # the same sums without each item
    without = correlation(
        first[who] - part * number**2,
        second[who] - part * rest**2,
        both[who] - part * number * rest,
        least[who],
        value[who],
    )
    with np.errstate(divide="ignore"):
        low, high = _jackknife(who, value, without, 1.0 / items, ratings=True)
    few = items < 4
    low[few], high[few] = np.nan, np.nan
    return RatingsAgainstRest(value, low, high, leniency, error)


def first_answers(annotations: Annotations) -> Annotations:
    """Only the first of an annotator's answers to an item."""
    if not annotations.repeats or annotations.annotator is None:
        return annotations
    key = annotations.annotator.astype(np.int64) * max(annotations.n_items, 1) + annotations.item
    return annotations.take(np.sort(np.unique(key, return_index=True)[1]))


# ---- who goes together ----


def coherence(annotations: Annotations, kept: np.ndarray) -> tuple[float, np.ndarray]:
    """How much each annotator goes with those who go together most, and whether anybody does.

    The weights of annotators are the leading eigenvector of the matrix of their correlations: a
    factor that the largest group of alike annotators shares, found from the pairs who agree and not
    from the mean of all. To tell it from chance, the weights are found on one half of the items
    and tested on the other: if all annotators answer independently of one another, the weighted
    products of their answers have a mean of 0 there.

    Args:
        kept: who is looked at, (n_annotators,).

    Returns:
        The p-value of "all answer independently"; and the correlation of each annotator with the
        group, in proportion, (n_annotators,): negative for who contradicts it, nan if left out.

    Example:
        >>> generator = np.random.default_rng(0)
        >>> answer = generator.integers(0, 2, (6, 100))
        >>> answer[3:] = answer[3]  # three annotators agree
        >>> annotator, item = np.divmod(np.arange(600), 100)
        >>> crowd = Annotations.from_arrays(item, annotator, answer.ravel())
        >>> p_value, weight = coherence(crowd, np.ones(6, dtype=bool))
        >>> p_value < 0.001, (weight > 0.5 * weight.max()).tolist()
        (True, [False, False, False, True, True, True])
    """
    crowd = _Crowd.of(annotations, kept)
    half = np.random.default_rng(0).random(annotations.n_items) < 0.5
    p_values = [crowd.of_items(one).tested(crowd.of_items(~one).leading()) for one in (half, ~half)]
    weight = crowd.loadings(crowd.leading())
    return min(1.0, 2 * min(p_values)), weight


class _Crowd:
    """Answers as vectors of each annotator, with a mean of 0 and a summed squared length of 1."""

    def __init__(self, annotator: np.ndarray, item: np.ndarray, vector: np.ndarray, n: int) -> None:
        from scipy.sparse import csr_array

        self.annotator, self.item, self.raw, self.n = annotator, item, vector, n
        size = np.maximum(np.bincount(annotator, minlength=n), 1)
        self.size = size
        columns = [
            column - (np.bincount(annotator, column, minlength=n) / size)[annotator]
            for column in vector.T
        ]
        centred = np.stack(columns, axis=1)
        length = np.sqrt(np.bincount(annotator, (centred**2).sum(axis=1), minlength=n))
        least = 1e-9 * np.sqrt(np.bincount(annotator, (vector**2).sum(axis=1), minlength=n))
        factor = np.divide(1.0, length, out=np.zeros(n), where=length > least)
        self.vector = centred * factor[annotator][:, None]
        items, place = np.unique(item, return_inverse=True)
        self.place = place.reshape(-1)
        shape = (len(items), len(item))
        self.by_item = csr_array((np.ones(len(item)), (self.place, np.arange(len(item)))), shape)

    @classmethod
    def of(cls, annotations: Annotations, kept: np.ndarray) -> _Crowd:
        annotator = annotations.annotator_codes("finding who goes together")
        vectors = Vectors.of(annotations)
        width = min(vectors.width, MOST_VALUES)
        rows = np.flatnonzero(kept[annotator])
        if len(rows) * width > MOST_ENTRIES:
            chance = np.random.default_rng(1).random(annotations.n_items)
            rows = rows[chance[annotations.item[rows]] < MOST_ENTRIES / (len(rows) * width)]
        if vectors.kind == "nominal":
            rank = np.argsort(np.argsort(-np.bincount(vectors.answer, minlength=vectors.width)))
            code = np.minimum(rank[vectors.answer[rows]], MOST_VALUES - 1)
            vector = (code[:, None] == np.arange(width)).astype(float)
        else:
            vector = vectors.at(rows[:, None], np.arange(width)[None])
        return cls(annotator[rows], annotations.item[rows], vector, annotations.n_annotators)

    def of_items(self, chosen: np.ndarray) -> _Crowd:
        rows = chosen[self.item]
        return _Crowd(self.annotator[rows], self.item[rows], self.raw[rows], self.n)

    def _with_rest(self, weight: np.ndarray) -> np.ndarray:
        """The weighted sum of correlations with all annotators, oneself included."""
        own = weight[self.annotator][:, None] * self.vector
        rest = (self.by_item @ own)[self.place]
        return np.bincount(self.annotator, (rest * self.vector).sum(axis=1), minlength=self.n)

    def leading(self) -> np.ndarray:
        """The leading eigenvector of the correlations, by power iteration; mostly positive."""
        weight = 1.0 + 0.1 * np.random.default_rng(2).random(self.n)
        for _ in range(MOST_STEPS):
            new = self._with_rest(weight)
            length = float(np.linalg.norm(new))
            if not length:
                return new
            new /= length
            done = np.abs(new - weight).max() < 1e-4
            weight = new
            if done:
                break
        positive = weight[weight > 0] @ weight[weight > 0] >= 0.5
        return weight if positive else -weight

    def tested(self, weight: np.ndarray) -> float:
        """The p-value of a mean of 0 of the weighted products, over items."""
        own = weight[self.annotator][:, None] * self.vector
        total = ((self.by_item @ own) ** 2).sum(axis=1) - self.by_item @ (own**2).sum(axis=1)
        several = self.by_item.sum(axis=1) > 1
        return mean_above_zero(total[several])

    def loadings(self, weight: np.ndarray) -> np.ndarray:
        """The mean correlation with the others, each with weight and sign."""
        one = np.where((self.vector**2).any(axis=1), 1.0, 0.0) / np.sqrt(self.size)[self.annotator]
        share = np.abs(weight)[self.annotator] * one
        others = (self.by_item @ share)[self.place] - share
        exposed = np.bincount(self.annotator, others * one, minlength=self.n)
        diagonal = np.bincount(self.annotator, (self.vector**2).sum(axis=1), minlength=self.n)
        above = self._with_rest(weight) - weight * diagonal
        return np.divide(above, exposed, out=np.full(self.n, np.nan), where=exposed > 0)
