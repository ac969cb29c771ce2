"""Agreement of two annotators, for every pair: kappas and correlations, and their means."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from dissensus.agreement.estimates import (
    BLOCK,
    Estimate,
    Totals,
    Weights,
    disagreement,
    masi_distance,
    measure,
    numbers,
    pairs_within,
    ratio,
)
from dissensus.annotations import Annotations
from dissensus.annotations.annotations import slices
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import MultiLabel, Nominal, by_value

FEW = 2_000_000  # pairs of rows below which a second thread costs more than it gains
DENSE = 1 << 18  # entries below which a plain table is quicker than a sparse one, or than kernels
MOST_BYTES = 4 << 30  # of a matrix over pairs of annotators
Correlation = Literal["pearson", "concordance", "spearman"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Rows sorted by item and, within an item, by annotator."""

    order: np.ndarray  # (n_rows,) rows of the annotations
    item: np.ndarray  # (n_rows,)
    annotator: np.ndarray  # (n_rows,)
    end: np.ndarray  # (n_rows,) where the rows of the same item end
    begin: np.ndarray  # (n_annotators + 1,) where each annotator's rows begin in `mine`
    mine: np.ndarray  # (n_rows,) rows of here, one annotator after another
    n_items: int
    n_pairs: int  # of rows about the same item
    repeats: bool

    @classmethod
    def of(cls, annotations: Annotations, purpose: str) -> Pairs:
        """Sort the rows, by counting."""
        from dissensus.annotations.sorting import grouped

        codes = annotations.annotator_codes(purpose)
        by_annotator, by_item, mine = np.empty((3, len(codes)), np.int64)
        grouped(codes, annotations.n_annotators, by_annotator)
        first = grouped(annotations.item[by_annotator], annotations.n_items, by_item)
        order = by_annotator[by_item]
        item, annotator = annotations.item[order], codes[order].astype(np.uint32)
        begin = grouped(annotator, annotations.n_annotators, mine)
        size = np.diff(first)
        n_pairs = int((size * (size - 1)).sum()) // 2
        repeats = annotations.repeats
        end = first[1:][item]
        return cls(order, item, annotator, end, begin, mine, len(size), n_pairs, repeats)

    @property
    def n_annotators(self) -> int:
        return len(self.begin) - 1

    @property
    def rows(self) -> tuple[np.ndarray, ...]:
        """What every kernel reads."""
        return self.begin, self.mine, self.end, self.item, self.annotator

    def kappas(
        self, answer: np.ndarray, disagreement: np.ndarray, pooled: bool = False
    ) -> PairMeasure:
        """Kappa of each pair, for codes `answer` (n_rows,) in the order of the annotations."""
        from dissensus.agreement import kernels

        code, n_values = answer[self.order].astype(np.uint32), len(disagreement)
        least = disagreement[disagreement > 0].min(initial=np.inf) / 4  # counts are whole numbers
        settings = code, disagreement, least, pooled
        plain = bool((disagreement == 1.0 - np.eye(n_values)).all())
        words = self.n_annotators**2 / 2 * (3 if plain else n_values + 2) * n_values
        if self.repeats or words * (self.n_items / 64 + 1) > 4 * self.n_pairs:
            return PairMeasure(self, kernels.kappa_by_rows, settings)
        n_words = self.n_items // 64 + 1
        chose = np.zeros((self.n_annotators, n_values, n_words), np.uint64)
        answered = np.zeros((self.n_annotators, n_words), np.uint64)
        kernels.mark(self.item, self.annotator, code, chose, answered)
        bits = chose, answered, disagreement, plain, pooled
        return PairMeasure(self, kernels.kappa_by_rows, settings, bits)


@dataclass(frozen=True, eq=False)
class PairMeasure:
    """A value for each pair of annotators: as a matrix, or its mean over pairs (an `Estimate`)."""

    pairs: Pairs
    kernel: Any
    settings: tuple[Any, ...]  # of the kernel
    bits: tuple[Any, ...] | None = None  # settings of `kappa_by_bits`, if items are not left out

    def matrix(self) -> np.ndarray:
        """The value of each pair, (n_annotators, n_annotators); 1 on the diagonal."""
        n = self.pairs.n_annotators
        check_size((n, n), f"a matrix over the pairs of {n:,} annotators")
        values = np.full((n, n), np.nan)
        self._run(values)
        np.fill_diagonal(values, 1.0)
        return values

    def value(self) -> float:
        """The mean over the pairs that have a value."""
        sums, _ = self._run(np.empty((0, 0)))
        return float(ratio(sums[:1], sums[1:])[0])

    def without_each(self) -> np.ndarray:
        """The same without each item, (n_items,)."""
        sums, changes = self._run(np.empty((0, 0)), leave_out=True)
        return ratio(*(sums + changes).T)

    def _run(self, matrix: np.ndarray, leave_out: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Fill the matrix, if it has room; the sum of all values and how many there are, (2,); and
        how much these change without each item, (n_items, 2)."""
        from dissensus.agreement import kernels

        by_bits: Any = kernels.kappa_by_bits
        step = 1 if self.pairs.n_pairs < FEW else n_threads()
        sums = np.zeros((self.pairs.n_annotators, 2))
        changes = np.zeros((step, self.pairs.n_items if leave_out else 0, 2))
        settings = (*self.pairs.rows, *self.settings, matrix, sums)

        def work(first: int) -> None:
            if self.bits is None or leave_out:
                self.kernel(first, step, *settings, changes[first])
            else:
                by_bits(first, step, *self.bits, matrix, sums)

        if step == 1:
            work(0)
        else:
            with ThreadPoolExecutor(step) as pool:
                list(pool.map(work, range(step)))
        return sums.sum(axis=0), changes.sum(axis=0)


# ---- counts of pairs of answers ----


def kappas_of_tables(tables: np.ndarray, apart: np.ndarray, pooled: bool = False) -> np.ndarray:
    """The kappa of each table of pairs of answers (n, n_values, n_values); nan where undefined."""
    kappas = np.empty(len(tables))
    for some in slices(len(tables), max(1, BLOCK // apart.size)):
        part = tables[some]
        one, other = part.sum(axis=2), part.sum(axis=1)  # (n, n_values)
        if pooled:
            one = other = (one + other) / 2
        observed = (part * apart).sum(axis=(1, 2)) * part.sum(axis=(1, 2))
        expected = ((one @ apart) * other).sum(axis=1)
        kappas[some] = 1.0 - ratio(observed, expected)
    return kappas


def prepare_pair_counts(
    annotations: Annotations, weights: Weights = None, pooled: bool = False
) -> PairCounts:
    """Mean kappa over pairs of annotators as sums over items, without repeats.

    Args:
        pooled: with one share of answers for both annotators, as Scott has it.
    """
    apart = disagreement(weights, annotations.scale, "Cohen's kappa")
    order = np.lexsort((annotations.annotator_codes("Cohen's kappa"), annotations.item))
    return PairCounts(annotations.take(order), apart, pooled)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Mean kappa over pairs of annotators (a `Summable`).

    The table of counts has (n_annotators, n_annotators, n_values, n_values) numbers.
    """

    rows: Annotations  # by item and, within an item, by annotator
    apart: np.ndarray  # (n_values, n_values) how far apart two values are
    pooled: bool

    def totals(self, weights: np.ndarray | None = None) -> Totals:
        """How often two annotators gave two values to one item, the first annotator first."""
        both = np.zeros(self.rows.n_annotators**2 * self.apart.size)
        for a, key in self._keys(BLOCK):
            times = None if weights is None else weights[self.rows.item[a]]
            both += np.bincount(key, times, minlength=len(both))
        return [both.reshape(-1, *self.apart.shape)]

    def value(self, totals: Totals | None = None) -> float:
        (both,) = self.totals() if totals is None else totals
        kappas = kappas_of_tables(both, self.apart, self.pooled)
        n_defined = np.array(np.count_nonzero(~np.isnan(kappas)))
        return float(ratio(np.nansum(kappas), n_defined))

    def without_each(self, totals: Totals | None = None) -> np.ndarray:
        (both,) = self.totals() if totals is None else totals
        kappas, n_items = kappas_of_tables(both, self.apart, self.pooled), self.rows.n_items
        change, n_more = np.zeros(n_items), np.zeros(n_items)
        for a, key in self._keys(BLOCK // self.apart.size):
            key, place = np.unique(key, return_inverse=True)  # few kinds are left out of a pair
            pair, cell = np.divmod(key, self.apart.size)
            without = both[pair]
            without.reshape(len(key), -1)[np.arange(len(key)), cell] -= 1
            new = kappas_of_tables(without, self.apart, self.pooled)
            place, old = place.reshape(-1), kappas[pair]
            moved = (np.nan_to_num(new) - np.nan_to_num(old))[place]
            change += np.bincount(self.rows.item[a], moved, minlength=n_items)
            defined = ((~np.isnan(new)).astype(float) - ~np.isnan(old))[place]
            n_more += np.bincount(self.rows.item[a], defined, minlength=n_items)
        return ratio(np.nansum(kappas) + change, np.count_nonzero(~np.isnan(kappas)) + n_more)

    def _keys(self, at_once: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The first row of each two about an item, and a number for their annotators and values."""
        annotator = self.rows.annotator_codes("Cohen's kappa").astype(np.int64)
        answer, n_values = self.rows.answer, len(self.apart)
        for a, b in pairs_within(self.rows.item, at_once):
            pair = annotator[a] * self.rows.n_annotators + annotator[b]
            yield a, (pair * n_values + answer[a]) * n_values + answer[b]


def common_items(annotations: Annotations) -> np.ndarray:
    """How many items two annotators share, (n_annotators, n_annotators); own ones, the diagonal.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "yes")]
        >>> common_items(Annotations.from_rows(rows)).tolist()
        [[2, 1], [1, 1]]
    """
    annotator, n = annotations.annotator_codes("counting common items"), annotations.n_annotators
    check_size((n, n), f"a matrix over the pairs of {n:,} annotators")
    if n * annotations.n_items <= DENSE:
        answered = np.zeros((n, annotations.n_items))
        answered[annotator, annotations.item] = 1
        return (answered @ answered.T).astype(np.int64)
    from scipy.sparse import csr_array

    shape = (n, annotations.n_items)
    answered = csr_array((np.ones(len(annotator)), (annotator, annotations.item)), shape)
    answered.data[:] = 1  # however often an annotator answered an item
    return np.asarray((answered @ answered.T).toarray(), dtype=np.int64)


def check_size(shape: tuple[int, ...], what: str) -> None:
    """Refuse what would fill the memory, before it does."""
    size = 8 * int(np.prod(shape, dtype=float))
    if size > MOST_BYTES:
        raise DataError(
            f"{what} takes {size / 2**30:,.0f} GiB, more than {MOST_BYTES >> 30}; "
            "select fewer annotators"
        )


def n_threads() -> int:
    """The cores that this process may use, at most 8."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(allowed or 1, 8))


BINARY = 1.0 - np.eye(2)
MOST_SETS = 5_000  # different ones, of which each two are compared


# ---- kappas ----


def cohen_kappa(
    annotations: Annotations, first: str, second: str, weights: Weights = None
) -> float:
    """Agreement of two annotators on the items both answered, beyond chance.

    1 is perfect agreement, 0 what their own shares of answers would give by chance. nan where
    undefined: they have no item in common, or both always gave one and the same answer.

    Args:
        first, second: the names of two annotators.
        weights: None for nominal answers; a name such as "linear" for levels of an ordinal
            scale (`disagreement` has all names); or distances between values, (n_values, n_values).

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(cohen_kappa(Annotations.from_rows(rows), "ann", "bob"), 4)
        0.4

    Reference: Cohen (1960), doi:10.1177/001316446002000104; weighted: Cohen (1968),
    doi:10.1037/h0026256.
    """
    return float(kappa_matrix(two(annotations, first, second), weights)[0, 1])


def kappa_matrix(annotations: Annotations, weights: Weights = None) -> np.ndarray:
    """Cohen's kappa of every pair of annotators, (n_annotators, n_annotators).

    The diagonal is 1. nan where undefined: no common items, or both always gave one and the same
    answer. Pairs with few common items are noisy; `common_items` says how many they have. If one
    answered an item twice, both answers are compared with the other's.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> kappa_matrix(Annotations.from_rows(rows)).round(4).tolist()
        [[1.0, 0.4], [0.4, 1.0]]
    """
    n_annotators, n_values = annotations.n_annotators, annotations.scale.n_columns
    width = n_annotators * n_values  # of a small table, kernels take longer to load than to run
    if annotations.repeats or width * max(annotations.n_items, width) > DENSE:
        return prepare_mean_kappa(annotations, weights).matrix()
    apart = disagreement(weights, annotations.scale, "Cohen's kappa")
    chosen = np.zeros((annotations.n_items, n_annotators, n_values))
    chosen[annotations.item, annotations.annotator_codes("Cohen's kappa"), annotations.answer] = 1
    flat = chosen.reshape(len(chosen), width)
    both = (flat.T @ flat).reshape(n_annotators, n_values, n_annotators, n_values)
    tables = both.transpose(0, 2, 1, 3).reshape(n_annotators**2, n_values, n_values)
    kappas = kappas_of_tables(tables, apart).reshape(n_annotators, n_annotators)
    np.fill_diagonal(kappas, 1.0)
    return kappas


def mean_kappa(annotations: Annotations, weights: Weights = None) -> float:
    """Cohen's kappa, mean over the pairs of annotators that have one (Light's kappa).

    Every pair counts the same. nan where no pair has one.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(mean_kappa(Annotations.from_rows(rows)), 4)
        0.4

    Reference: Light (1971), doi:10.1037/h0031643.
    """
    return prepare_mean_kappa(annotations, weights).value()


def prepare_mean_kappa(
    annotations: Annotations, weights: Weights = None, pooled: bool = False
) -> PairMeasure:
    """Kappa of each pair; `pooled`: with one share of answers for both, as Scott has it."""
    what = "Scott's pi" if pooled else "Cohen's kappa"
    apart = disagreement(weights, annotations.scale, what)
    return Pairs.of(annotations, what).kappas(annotations.answer, apart, pooled)


def two(annotations: Annotations, first: str, second: str) -> Annotations:
    """Only the answers of these two annotators."""
    codes = annotations.annotators.codes([first, second], "annotator")
    return annotations.select_annotators(codes, Names([first, second]))


def pi_matrix(annotations: Annotations, weights: Weights = None) -> np.ndarray:
    """Scott's pi of every pair of annotators, (n_annotators, n_annotators); 1 on the diagonal.

    As Cohen's kappa, but chance takes the answers of both together: two annotators who lean to
    different answers have a lower pi than kappa.

    Reference: Scott (1955), doi:10.1086/266577.
    """
    return prepare_mean_kappa(annotations, weights, pooled=True).matrix()


# ---- of multi-label answers ----


def kappa_per_value(annotations: Annotations) -> dict[str, float]:
    """Cohen's kappa of "was this value chosen?", mean over pairs of annotators, by value.

    nan for a value where no pair has a kappa: one that is always chosen, or never.

    Example:
        >>> scale = MultiLabel(("joy", "fear"))
        >>> rows = [("t1", "ann", "joy"), ("t1", "bob", "joy, fear"), ("t2", "ann", "fear"),
        ...         ("t2", "bob", "fear"), ("t3", "ann", ""), ("t3", "bob", "")]
        >>> kappas = kappa_per_value(Annotations.from_rows(rows, scale))
        >>> {value: round(kappa, 4) for value, kappa in kappas.items()}
        {'joy': 1.0, 'fear': 0.4}
    """
    means = [kappas.value() for kappas in _each_value(annotations)]
    return dict(zip(_scale(annotations).values, means, strict=True))


@measure
def mean_kappa_per_value(annotations: Annotations) -> Estimate:
    """The mean of `kappa_per_value` over the values that have one.

    Example:
        >>> scale = MultiLabel(("joy", "fear"))
        >>> rows = [("t1", "ann", "joy"), ("t1", "bob", "joy, fear"), ("t2", "ann", "fear"),
        ...         ("t2", "bob", "fear"), ("t3", "ann", ""), ("t3", "bob", "")]
        >>> round(mean_kappa_per_value(Annotations.from_rows(rows, scale)), 4)
        0.7

    Reference: SeedBERT's agreement on a multiple-selection question: each emotion a binary
    question, kappa averaged over emotions.
    """
    return _MeanOverValues(_each_value(annotations))


def masi_kappa_matrix(annotations: Annotations) -> np.ndarray:
    """Cohen's kappa of every pair of annotators, weighted by how far apart two sets are (MASI).

    (n_annotators, n_annotators). 1 is perfect agreement, 0 what the shares of their sets would give
    by chance; sets that overlap disagree in part. nan where undefined, as of `kappa_matrix`.

    Example:
        >>> scale = MultiLabel(("joy", "fear"))
        >>> rows = [("t1", "ann", "joy"), ("t1", "bob", "joy, fear"), ("t2", "ann", "fear"),
        ...         ("t2", "bob", "fear"), ("t3", "ann", ""), ("t3", "bob", "")]
        >>> masi_kappa_matrix(Annotations.from_rows(rows, scale)).round(4).tolist()
        [[1.0, 0.6842], [0.6842, 1.0]]

    Reference: Passonneau (2006), Measuring agreement on set-valued items (MASI) for semantic and
    pragmatic annotation; Cohen (1968), doi:10.1037/h0026256.
    """
    _scale(annotations)
    empty = np.zeros(1, dtype=annotations.answer.dtype)  # a scale needs a value
    sets = np.unique(np.concatenate([annotations.answer, empty]))
    if len(sets) > MOST_SETS:
        raise DataError(
            f"kappa of sets compares all pairs of sets, {len(sets):,} different ones are more than "
            f"{MOST_SETS:,}; select fewer annotators or items"
        )
    code = np.searchsorted(sets, annotations.answer)
    named = replace(annotations, scale=Nominal(tuple(map(str, sets))), answer=code)
    return kappa_matrix(named, masi_distance(sets[:, None], sets[None]))


@dataclass(frozen=True, eq=False)
class _MeanOverValues:
    """The mean of the kappas that are defined (an `Estimate`)."""

    each: list[PairMeasure]  # one for each value

    def value(self) -> float:
        return float(_mean(np.array([[kappas.value()] for kappas in self.each]))[0])

    def without_each(self) -> np.ndarray:
        return _mean(np.stack([kappas.without_each() for kappas in self.each]))


def _mean(values: np.ndarray) -> np.ndarray:
    """The mean over rows of what is defined, (n_columns,); nan where nothing is."""
    defined = ~np.isnan(values)
    return ratio(np.where(defined, values, 0.0).sum(axis=0), defined.sum(axis=0).astype(float))


def _each_value(annotations: Annotations) -> list[PairMeasure]:
    scale = _scale(annotations)
    pairs = Pairs.of(annotations, "kappa per value")
    return [pairs.kappas(one, BINARY) for one in by_value(annotations.answer, len(scale))]


def _scale(annotations: Annotations) -> MultiLabel:
    if not isinstance(annotations.scale, MultiLabel):
        raise DataError(f"kappa per value needs multi-label answers, not {annotations.scale.kind}")
    return annotations.scale


# ---- correlations ----


def correlation_matrix(annotations: Annotations) -> np.ndarray:
    """Pearson's r of every pair of annotators on the items both rated, (n_annotators,) * 2.

    Levels are read at their positions. Leniency does not count: an annotator who rates everything
    two points higher has r = 1. The diagonal is 1; nan where undefined: fewer than two common
    items, or one of the two always gave the same rating of them.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 7),
        ...         ("t3", "ann", 6), ("t3", "bob", 8)]
        >>> correlation_matrix(Annotations.from_rows(rows, Interval(0, 10))).round(4).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    return prepare_correlation(annotations).matrix()


def concordance_matrix(annotations: Annotations) -> np.ndarray:
    """Lin's concordance of every pair of annotators on the items both rated.

    Unlike a correlation it falls when an annotator rates higher, or uses more of the scale. The
    diagonal is 1; nan where undefined: fewer than two common items, or both constant.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 7),
        ...         ("t3", "ann", 6), ("t3", "bob", 8)]
        >>> concordance_matrix(Annotations.from_rows(rows, Interval(0, 10))).round(4).tolist()
        [[1.0, 0.5909], [0.5909, 1.0]]

    Reference: Lin (1989), doi:10.2307/2532051; variances divided by n, as there.
    """
    return prepare_correlation(annotations, "concordance").matrix()


def spearman_matrix(annotations: Annotations) -> np.ndarray:
    """Spearman's rho of every pair of annotators on the items both rated, (n_annotators,) * 2.

    How far apart ratings are does not count, only their order. The diagonal is 1; nan where
    undefined: fewer than two common items, or one of the two always gave the same rating of them.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 7),
        ...         ("t3", "ann", 6), ("t3", "bob", 6)]
        >>> spearman_matrix(Annotations.from_rows(rows, Interval(0, 10))).round(4).tolist()
        [[1.0, 0.5], [0.5, 1.0]]

    Reference: Spearman (1904), doi:10.2307/1412159.
    """
    return prepare_correlation(annotations, "spearman").matrix()


def prepare_correlation(annotations: Annotations, kind: Correlation = "pearson") -> PairMeasure:
    """A correlation of each pair's ratings of common items."""
    from dissensus.agreement import kernels

    of_ranks = kind == "spearman"
    name = "concordance" if kind == "concordance" else "correlation"
    what = f"a rank {name}" if of_ranks else f"a {name}"
    number = numbers(annotations.scale, annotations.answer, what)
    pairs = Pairs.of(annotations, what)
    number = number[pairs.order].astype(float)
    if of_ranks:
        return PairMeasure(pairs, kernels.rank_by_rows, (number,))
    largest = np.zeros(pairs.n_annotators)
    np.maximum.at(largest, pairs.annotator, np.abs(number))
    settings = number, (1e-13 * largest) ** 2, kind == "concordance"
    return PairMeasure(pairs, kernels.correlation_by_rows, settings)
