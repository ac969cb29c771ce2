"""The table of answers to one question."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError, counted, did_you_mean, listed
from dissensus.names import Names, OfNames, first_null, new_codes, order_of, same, string_array
from dissensus.scales import (
    Interval,
    MultiLabel,
    Nominal,
    Ordinal,
    Scale,
    as_numbers,
    by_value,
    infer_scale,
)
from dissensus.tables import MOST_ROWS, html_rows, to_frame

PAIRS = 1 << 22  # that are sorted together, and rows that are looked at together
BLOCK = 1 << 20  # rows that are counted together
MOST_FALLS = 0.45  # of the keys: numbers in long runs are sorted faster by merging
Repeats = Literal["error", "keep", "first", "last", "mean"]


def in_order(keys: np.ndarray) -> np.ndarray:
    """Whole numbers from the smallest to the largest; those in order already are not copied.

    Example:
        >>> in_order(np.array([3, 1, 2])).tolist()
        [1, 2, 3]
    """
    n_falls = np.count_nonzero(keys[1:] < keys[:-1])
    if not n_falls:
        return keys
    return np.sort(keys, kind="stable" if n_falls < MOST_FALLS * len(keys) else "quicksort")


def count_pairs(one: np.ndarray, other: np.ndarray) -> int:
    """How many pairs of codes are distinct, counted in blocks of the first code.

    Example:
        >>> count_pairs(np.array([0, 1, 0, -1]), np.array([2, 0, 2, 0]))
        3
    """
    if not len(one):
        return 0
    width = int(other.max()) + 2
    bounds = np.linspace(int(one.min()), int(one.max()) + 1, len(one) // PAIRS + 2).astype(np.int64)
    n_distinct: Any = 0
    for first, last in itertools.pairwise(bounds.tolist()):
        rows: Any = slice(None)
        if len(bounds) > 2:
            rows = np.concatenate([
                start + np.flatnonzero((part >= first) & (part < last))
                for start, part in ((at, one[at : at + PAIRS]) for at in range(0, len(one), PAIRS))
            ])  # fmt: skip
        ordered = in_order(one[rows].astype(np.int64) * width + other[rows])
        n_distinct += np.count_nonzero(ordered[1:] != ordered[:-1]) + min(len(ordered), 1)
    return int(n_distinct)


def tally(
    codes: np.ndarray, n: int, weight: np.ndarray | None = None, kind: Any = np.int64
) -> np.ndarray:
    """How often each code occurs, or the sum of its weights, (n,); in the memory of the result.

    Example:
        >>> tally(np.array([2, 0, 2]), 4).tolist()
        [1, 0, 2, 0]
    """
    if len(codes) <= PAIRS:
        return np.bincount(codes, weight, minlength=n)
    total = np.zeros(n, kind if weight is None else np.float64)
    for rows in slices(len(codes), BLOCK):
        one = total.dtype.type(1) if weight is None else weight[rows]
        np.add.at(total, codes[rows].astype(np.intp), one)
    return total


def slices(n: int, step: int) -> Iterator[slice]:
    """So many at a time.

    Example:
        >>> [(part.start, part.stop) for part in slices(5, 2)]
        [(0, 2), (2, 4), (4, 6)]
    """
    return (slice(begin, begin + step) for begin in range(0, n, step))


@dataclass(frozen=True, eq=False)
class Repeated:
    """Rows by pair of item and annotator, where a pair has several."""

    order: np.ndarray  # (n_rows,) rows, one pair after another
    starts: np.ndarray  # (n_pairs,) where each begins in `order`
    sizes: np.ndarray  # (n_pairs,) how many rows it has

    @classmethod
    def find(cls, item: np.ndarray, annotator: np.ndarray, n_annotators: int) -> Repeated | None:
        """None if every pair has one row."""
        if count_pairs(item, annotator) == len(item):
            return None
        key = item.astype(np.int64) * max(n_annotators, 1) + annotator
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(key[order]) > 0])  # where another pair begins
        return cls(order, starts, np.diff(np.r_[starts, len(key)]))

    @property
    def first(self) -> np.ndarray:
        """The first row of each pair, (n_pairs,)."""
        return self.order[self.starts]

    @property
    def last(self) -> np.ndarray:
        """The last row of each pair, (n_pairs,)."""
        return self.order[self.starts + self.sizes - 1]

    @property
    def pair(self) -> np.ndarray:
        """The pair of each row, (n_rows,)."""
        pair = np.empty(len(self.order), dtype=np.int64)
        pair[self.order] = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return pair

    def several(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows of pairs with several, which of these pairs they are of, and 1 / its number of
        rows."""
        several = self.sizes > 1
        sizes = self.sizes[several]
        rows = self.order[np.repeat(several, self.sizes)]
        return rows, np.repeat(np.arange(len(sizes)), sizes), np.repeat(1 / sizes, sizes)

    def means(self, values: np.ndarray) -> np.ndarray:
        """The mean of a column over the rows of each pair, (n_pairs,)."""
        return np.add.reduceat(values[self.order], self.starts) / self.sizes


def coded(values: Any, names: Names | None, what: str) -> tuple[np.ndarray, Names]:
    """Codes and their names, from codes or from names."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        if names is None:
            names = Names.range(int(values.max()) + 1 if values.size else 0)
        if values.size and not 0 <= values.min() <= values.max() < len(names):
            raise DataError(
                f"{what} codes run from 0 to {len(names) - 1}, found {values.min()} to "
                f"{values.max()}; leave out the rows of missing answers"
            )
        return values, names
    if names is not None:
        return names.codes(values, what), names
    try:
        names, codes = Names.encode(values)
    except DataError:
        raise DataError(f"row {first_null(string_array(values)) + 1} has no {what}") from None
    return codes, names


def scaled(answer: Any, scale: Scale | None) -> tuple[np.ndarray, Scale]:
    """Stored answers and their scale."""
    if scale is not None and isinstance(answer, np.ndarray) and answer.dtype.kind in "iuf":
        if isinstance(scale, Interval) and answer.dtype.kind != "f":
            answer = answer.astype(float)
        scale.check(answer)
        return answer, scale
    if isinstance(scale, MultiLabel):
        if isinstance(answer, np.ndarray) and all(isinstance(mask, int) for mask in answer):
            scale.check(answer)
            return answer, scale
        return scale.encode(answer), scale
    try:
        texts = string_array(answer)
    except DataError:
        raise DataError("answers that are lists of values need a multi-label scale") from None
    if texts.null_count:
        raise DataError(f"row {first_null(texts) + 1} has no answer; leave such rows out")
    if scale is None:
        if not len(texts):
            raise DataError("no answers: a scale cannot be inferred, declare one")
        scale = infer_scale(texts.unique().to_pylist())
    return scale.encode(texts), scale


def numbers(name: str, values: Any | None, dtype: type) -> np.ndarray | None:
    """A column of numbers, whole ones where the type is; None stays None."""
    if values is None:
        return None
    column = np.asarray(values)
    if column.dtype.kind not in "iuf":
        raise DataError(f"{name} must be numbers, found {column.dtype}")
    if dtype is np.int64 and column.dtype.kind == "f":
        whole = np.isfinite(column) & (column == np.floor(column))
        large = np.abs(column) >= 2.0**63
        for wrong, why in ((~whole, ", not a whole number"), (large, "; it must be below 2**63")):
            if wrong.any():
                row = int(wrong.argmax())
                raise DataError(f"row {row + 1}: {name} is {column[row]:g}{why}")
    return column.astype(dtype, copy=False)


def arrow(values: Any) -> Any:
    """Any values as one Arrow array."""
    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks()
    return values if isinstance(values, pa.Array) else pa.array(values, from_pandas=True)


def level_of(answer: np.ndarray, scale: Scale) -> np.ndarray:
    """Ratings as codes of an ordinal or nominal scale whose values spell those numbers."""
    assert isinstance(scale, Nominal | Ordinal)
    levels = scale.positions if isinstance(scale, Ordinal) else as_numbers(scale.values)
    if levels is None:
        raise DataError(f"numbers cannot be read as {listed(scale.values, 20)}")
    positions = np.array(levels)
    codes = np.abs(answer[:, None] - positions).argmin(axis=1).astype(np.int32)
    off = positions[codes] != answer
    if off.any():
        raise DataError(
            f"{answer[off.argmax()]:g} is none of the levels {listed(scale.values, 20)} "
            f"({int(off.sum())} such answers)"
        )
    return codes


Ties = Literal["first", "last", "random", "drop"]
Labels = tuple[np.ndarray, np.ndarray]  # rows that have a label, and the label of each


def check_ties(ties: Ties) -> None:
    """Refuse an unknown rule."""
    if ties not in get_args(Ties):
        raise DataError(f"no rule {ties!r} for ties; there are first, last, random and drop")


def most_frequent(counts: np.ndarray) -> np.ndarray:
    """The values of each row (n, n_values) that no other outnumbers, as booleans."""
    return counts == counts.max(axis=1, keepdims=True)


def middle(counts: np.ndarray) -> np.ndarray:
    """The levels of each row (n, n_values) from one middle answer to the other, as booleans.

    Example:
        >>> middle(np.array([[1.0, 0, 0, 1], [1, 1, 1, 0]])).astype(int).tolist()
        [[1, 1, 1, 1], [0, 1, 0, 0]]
    """
    cumulated = counts.cumsum(axis=1)
    total = cumulated[:, -1:]
    low = (2 * cumulated >= total).argmax(axis=1)[:, None]
    high = (2 * cumulated > total).argmax(axis=1)[:, None]
    level = np.arange(counts.shape[1])
    return (low <= level) & (level <= high)


def one_of(best: np.ndarray, ties: Ties, seed: int) -> Labels:
    """One of the best values of each row, (n, n_values) booleans."""
    rows = np.arange(len(best))
    if ties == "drop":
        rows = np.flatnonzero(best.sum(axis=1) == 1)
        best = best[rows]
    if ties == "last":
        return rows, best.shape[1] - 1 - best[:, ::-1].argmax(axis=1)
    if ties == "random":
        return rows, (best * np.random.default_rng(seed).random(best.shape)).argmax(axis=1)
    return rows, best.argmax(axis=1)


def above_half(share: np.ndarray, ties: Ties, seed: int) -> Labels:
    """The set of values that more than half of each row's annotators chose, as booleans.

    One at exactly one half is out, and in if `ties` is "last"; at "random" a coin decides.
    """
    rows, chosen, even = np.arange(len(share)), share > 0.5, share == 0.5
    if ties == "last":
        chosen = chosen | even
    elif ties == "random":
        chosen = chosen | (even & (np.random.default_rng(seed).random(share.shape) < 0.5))
    elif ties == "drop":
        rows = np.flatnonzero(~even.any(axis=1))
    return rows, chosen[rows]


COLUMNS = ("item", "annotator", "answer", "count", "response", "seconds")
MOST_CELLS = 1_000_000_000  # of a table of items x values


@dataclass(frozen=True, eq=False)
class Annotations(OfNames):
    """One row per answer; a missing answer is a missing row.

    Build it with `from_arrays`, `from_rows` or `from_table`, which check it once.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "yes")]
        >>> annotations = Annotations.from_rows(rows)
        >>> annotations.n_rows, annotations.scale.values, annotations.counts().tolist()
        (3, ('no', 'yes'), [[1.0, 1.0], [0.0, 1.0]])
    """

    item: np.ndarray  # (n_rows,) codes into items
    annotator: np.ndarray | None  # (n_rows,) codes into annotators; None: unknown
    answer: np.ndarray  # (n_rows,) codes, numbers or bit masks, as the scale says
    scale: Scale
    items: Names
    annotators: Names
    count: np.ndarray | None = None  # (n_rows,) anonymous annotators who gave this answer
    response: np.ndarray | None = None  # (n_rows,) links rows of several questions
    seconds: np.ndarray | None = None  # (n_rows,) time taken
    extra: dict[str, Any] = field(default_factory=dict)  # (n_rows,) each, never read by dissensus
    repeats: bool = False  # whether an annotator may answer an item more than once

    def __repr__(self) -> str:
        annotators = "unknown annotators"
        if self.annotator is not None:
            annotators = counted(len(self.annotators), "annotator")
        return (
            f"<Annotations: {counted(self.n_answers, 'answer')} by {annotators} on "
            f"{counted(len(self.items), 'item')}, {self.scale.kind}>"
        )

    @classmethod
    def from_arrays(
        cls,
        item: Any,
        annotator: Any | None,
        answer: Any,
        scale: Scale | None = None,
        *,
        items: Names | None = None,
        annotators: Names | None = None,
        count: Any | None = None,
        response: Any | None = None,
        seconds: Any | None = None,
        extra: dict[str, Any] | None = None,
        repeats: Repeats = "error",
    ) -> Annotations:
        """Annotations from one array per column; columns are copied only if necessary.

        Args:
            item: integer codes, or names.
            annotator: integer codes, or names; None if annotators are unknown.
            answer: integers are codes into the scale's values, texts are the values themselves;
                numbers on an interval scale; bit masks or sets on a multi-label scale.
            scale: inferred if left out (`infer_scale`); integers are then taken as values.
            items, annotators: what the codes stand for; "0", "1", ... if left out.
            count: how many anonymous annotators gave this answer.
            response: a number shared by the answers of one annotator at one time, over all
                questions.
            repeats: what to do with several rows of one annotator on one item.
        """
        item, items = coded(item, items, "item")
        if annotator is None:
            annotators = Names.range(0) if annotators is None else annotators
        else:
            annotator, annotators = coded(annotator, annotators, "annotator")
        answer, scale = scaled(answer, scale)
        annotations = cls(
            item,
            annotator,
            answer,
            scale,
            items,
            annotators,
            count=numbers("count", count, np.int64),
            response=numbers("response", response, np.int64),
            seconds=numbers("seconds", seconds, np.float64),
            extra={name: arrow(column) for name, column in (extra or {}).items()},
        )
        annotations._check_lengths()
        return annotations._with_repeats(repeats)

    @classmethod
    def from_rows(
        cls, rows: Iterable[tuple[Any, ...]], scale: Scale | None = None, **options: Any
    ) -> Annotations:
        """Annotations from (item, annotator, answer) tuples; each is read as a name or value."""
        triples = list(rows)
        if not triples:
            raise DataError("no rows; at least one is needed")
        for row in triples:
            if len(row) != 3:
                raise DataError(f"a row must be (item, annotator, answer), found {row!r}")
        item, annotator, answer = zip(*triples, strict=True)
        return cls.from_arrays(
            string_array(list(item)), string_array(list(annotator)), list(answer), scale, **options
        )

    @classmethod
    def from_table(
        cls,
        table: Any,
        item: str = "item",
        annotator: str | None = "annotator",
        answer: str = "answer",
        scale: Scale | None = None,
        **options: Any,
    ) -> Annotations:
        """Annotations from a pandas, polars or Arrow table in long form.

        Ordered categories of pandas or Arrow are an ordinal scale, unless a scale is given.

        Example:
            >>> import pyarrow as pa
            >>> table = pa.table({"task": ["t1"], "worker": ["ann"], "label": ["yes"]})
            >>> Annotations.from_table(table, "task", "worker", "label").n_rows
            1
        """
        import narwhals as nw

        frame = nw.from_native(table, eager_only=True)
        arrow = frame.to_arrow()
        wanted = [name for name in (item, annotator, answer) if name is not None]
        missing = [name for name in wanted if name not in arrow.column_names]
        if missing:
            guess = did_you_mean(missing[0], arrow.column_names)
            raise DataError(f"no column {missing}{guess}; the table has {arrow.column_names}")
        order = None if frame.implementation.is_polars() else order_of(arrow[answer])
        if scale is None and order is not None:  # an Enum of polars names values without order
            scale = Ordinal(order)
        return cls.from_arrays(
            string_array(arrow[item]),
            None if annotator is None else string_array(arrow[annotator]),
            arrow[answer],
            scale,
            **options,
        )

    # ---- sizes and columns ----

    @property
    def n_rows(self) -> int:
        """Rows of the table; a row with a count is several answers."""
        return len(self.item)

    @property
    def n_answers(self) -> int:
        """The number of answers: rows, or the sum of the counts."""
        return self.n_rows if self.count is None else int(self.count.sum())

    @property
    def weight(self) -> np.ndarray:
        """How many answers each row is, (n_rows,)."""
        return np.ones(self.n_rows) if self.count is None else self.count.astype(float)

    @cached_property
    def repeated(self) -> Repeated | None:
        """The rows of each annotator on each item; None if nobody answered an item twice."""
        if self.annotator is None or not self.repeats:
            return None
        return Repeated.find(self.item, self.annotator, self.n_annotators)

    @property
    def votes(self) -> np.ndarray:
        """How many votes each row is, (n_rows,): as `weight`, but the answers of one annotator to
        an item share one vote."""
        votes = self.weight
        if self.repeated is not None:
            votes[self.repeated.order] = np.repeat(1 / self.repeated.sizes, self.repeated.sizes)
        return votes

    def per_item(self) -> np.ndarray:
        """Answers per item, (n_items,)."""
        return tally(self.item, self.n_items, self.count).astype(np.int64, copy=False)

    def voters(self) -> np.ndarray:
        """Annotators per item, (n_items,); every anonymous answer is by another one.

        Example:
            >>> rows = [("t1", "ann", "yes"), ("t1", "ann", "no"), ("t1", "bob", "yes")]
            >>> annotations = Annotations.from_rows(rows, repeats="keep")
            >>> annotations.per_item().tolist(), annotations.voters().tolist()
            ([3], [2])
        """
        if self.repeated is None:
            return self.per_item()
        return np.bincount(self.item[self.repeated.first], minlength=self.n_items)

    @cached_property
    def small_voters(self) -> np.ndarray:
        """`voters` in as few bytes as they need; not to be multiplied."""
        if self.repeated is None:
            n = tally(self.item, self.n_items, self.count, np.int32)
        else:
            n = self.voters()
        return n.astype(np.min_scalar_type(int(n.max(initial=0))))

    def per_annotator(self) -> np.ndarray:
        """Answers per annotator, (n_annotators,)."""
        return tally(self.annotator_codes("counting rows per annotator"), self.n_annotators)

    def annotator_codes(self, purpose: str) -> np.ndarray:
        """The annotator codes; an error says what they are needed for."""
        if self.annotator is None:
            raise DataError(f"{purpose} needs known annotators; these answers are anonymous")
        return self.annotator

    def answers(self) -> list[Any]:
        """The answers as users write them."""
        return self.scale.decode(self.answer)

    def to_table(self) -> pa.Table:
        """An Arrow table with names, for pandas, polars or a file: one row per answer.

        Columns are item, annotator (if known), answer, and count, seconds and further columns if
        there are any.

        Example:
            >>> Annotations.from_rows([("t1", "ann", "yes")]).to_table().to_pylist()
            [{'item': 't1', 'annotator': 'ann', 'answer': 'yes'}]
        """
        columns = {"item": self.items.array.take(pa.array(self.item))}
        if self.annotator is not None:
            columns["annotator"] = self.annotators.array.take(pa.array(self.annotator))
        columns["answer"] = self.scale.column(self.answer)
        further = {"count": self.count, "seconds": self.seconds}
        columns |= {name: pa.array(c) for name, c in further.items() if c is not None}
        columns |= {name: column for name, column in self.extra.items() if name not in columns}
        return pa.table(columns)

    def to_pandas(self) -> Any:
        """One row per answer as a pandas DataFrame, with the columns of `to_table`."""
        return to_frame(self.to_table())

    def _repr_html_(self) -> str:
        """The first answers, for notebooks."""
        first = self.take(np.arange(min(self.n_rows, MOST_ROWS))).to_table()
        return html_rows(first, repr(self).strip("<>"), self.n_rows)

    # ---- distributions and labels ----

    def counts(self) -> np.ndarray:
        """How many annotators gave each value, (n_items, n_columns); ratings by bin of the grid.

        An annotator who answered an item twice is half for each answer.
        """
        return self.small_counts.astype(float)

    @cached_property
    def small_counts(self) -> np.ndarray:
        """`counts` in as few bytes as they need: sums over items are made of some at a time."""
        if isinstance(self.scale, MultiLabel):
            raise DataError(
                "counts() needs one value per answer; multi-label answers have marginals()"
            )
        self._check_counts()
        width, halves = self.scale.n_columns, self.repeated is not None
        counts = np.zeros(self.n_items * width, float if halves else self.small_voters.dtype)
        votes = self.votes if halves else self.count
        for rows in slices(self.n_rows, BLOCK):
            answer = self.answer[rows]
            bins = self.scale.bins(answer) if isinstance(self.scale, Interval) else answer
            one = counts.dtype.type(1) if votes is None else votes[rows].astype(counts.dtype)
            np.add.at(counts, self.item[rows].astype(np.intp) * width + bins, one)
        return counts.reshape(self.n_items, width)

    def _check_counts(self) -> None:
        """Refuse a table of counts that does not fit into memory, before memory is taken."""
        cells = self.n_items * self.scale.n_columns
        if cells > MOST_CELLS:
            raise DataError(
                f"{self.n_items:,} items x {self.scale.n_columns:,} values take "
                f"{cells * 8 / 1e9:,.0f} GB to count, more than {MOST_CELLS * 8 / 1e9:.0f} GB; are "
                "these answers free texts? Choose other questions (--question), or use fewer "
                "values or items"
            )

    def marginals(self) -> np.ndarray:
        """How many annotators chose each value of a multi-label scale, (n_items, n_values)."""
        if not isinstance(self.scale, MultiLabel):
            raise DataError(f"marginals() are for multi-label answers; {self.scale.kind}: counts()")
        self._check_counts()
        chosen, votes = np.empty((self.n_items, len(self.scale))), self.votes
        for value, on in enumerate(by_value(self.answer, len(self.scale))):
            chosen[:, value] = np.bincount(self.item, votes * on, minlength=self.n_items)
        return chosen

    def distribution(self) -> np.ndarray:
        """The share of each value in an item's votes, (n_items, n_columns); nan without any."""
        total = self.voters()[:, None].astype(float)
        chosen = self.marginals() if isinstance(self.scale, MultiLabel) else self.counts()
        return np.divide(chosen, total, out=np.full_like(chosen, np.nan), where=total > 0)

    def majority(self, ties: Ties = "first", seed: int = 0) -> Annotations:
        """The most frequent answer of each item, as annotations without annotators.

        An annotator's answers to an item share one vote.

        Args:
            ties: among the answers that tie take the first or last value of the scale, one at
                random, or drop the item. Items without answers have no row.
        """
        if not isinstance(self.scale, Nominal | Ordinal):
            raise DataError(f"a majority needs nominal or ordinal answers, not {self.scale.kind}")
        check_ties(ties)
        return self._one_of(most_frequent(self.counts()), ties, seed)

    def consensus(self, ties: Ties = "first", seed: int = 0) -> Annotations:
        """One answer per item, as annotations without annotators.

        Nominal: the most frequent. Ordinal: the median (the levels between the two middle
        answers tie). Interval: the mean. Multi-label: the values above one half (one at exactly
        one half is out, in if `ties` is "last"). Items without answers have no row.
        """
        check_ties(ties)
        if isinstance(self.scale, Nominal):
            return self.majority(ties, seed)
        if isinstance(self.scale, Ordinal):
            return self._one_of(middle(self.counts()), ties, seed)
        items = self._answered()
        if isinstance(self.scale, MultiLabel):
            rows, answer = above_half(self.distribution()[items], ties, seed)
            return self._gold(items[rows], self.scale.pack(answer))
        sums = np.bincount(self.item, self.votes * self.answer, minlength=self.n_items)
        return self._gold(items, sums[items] / self.voters()[items])

    def _answered(self) -> np.ndarray:
        """The items (codes) with answers."""
        return np.flatnonzero(self.per_item())

    def _one_of(self, best: np.ndarray, ties: Ties, seed: int) -> Annotations:
        """One label per item out of its best values, (n_items, n_values) booleans."""
        items = self._answered()
        rows, answer = one_of(best[items], ties, seed)
        return self._gold(items[rows], answer)

    def _gold(self, items: np.ndarray, answer: np.ndarray) -> Annotations:
        return Annotations(
            items, None, answer.astype(self.scale.dtype), self.scale, self.items, Names.range(0)
        )

    # ---- other scales, fewer rows ----

    def to(self, scale: Scale) -> Annotations:
        """The same answers on another scale: ratings 0-10 as levels, levels as numbers.

        Example:
            >>> rows = [("t1", "ann", "1"), ("t1", "bob", "3")]
            >>> levels = Annotations.from_rows(rows, Ordinal(("1", "2", "3")))
            >>> levels.to(Interval(1, 3)).answer.tolist()
            [1.0, 3.0]
        """
        if scale == self.scale:
            return self
        if isinstance(self.scale, MultiLabel) or isinstance(scale, MultiLabel):
            raise DataError(f"{self.scale.kind} answers cannot be read as {scale.kind}")
        if isinstance(scale, Interval) and isinstance(self.scale, Interval):
            answer = self.answer
        elif isinstance(scale, Interval) and isinstance(self.scale, Ordinal):
            answer = np.array(self.scale.positions)[self.answer]
        elif isinstance(self.scale, Interval):
            answer = level_of(self.answer, scale)
        else:
            answer = scale.encode(self.answers())
        scale.check(answer)
        return replace(self, answer=answer, scale=scale)

    def take(self, rows: np.ndarray) -> Annotations:
        """The rows at these positions, or where this mask is true; items and annotators stay."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        columns = {name: getattr(self, name) for name in COLUMNS}
        taken = {name: column[rows] for name, column in columns.items() if column is not None}
        at = pa.array(rows) if self.extra else None
        extra = {name: column.take(at) for name, column in self.extra.items()}
        return replace(self, **taken, extra=extra)

    def select_items(self, codes: np.ndarray, items: Names) -> Annotations:
        """Only these items, renumbered in this order; `items` are their names."""
        new = new_codes(codes, self.n_items)
        kept = self.take(new[self.item] >= 0)
        return replace(kept, item=new[kept.item], items=items)

    def select_annotators(self, codes: np.ndarray, annotators: Names) -> Annotations:
        """Only these annotators, renumbered in this order; `annotators` are their names."""
        new = new_codes(codes, self.n_annotators)
        own = self.annotator_codes("selecting annotators")
        kept = self.take(new[own] >= 0)
        return replace(kept, annotator=new[kept.annotator_codes("")], annotators=annotators)

    def on(self, items: Names, annotators: Names) -> Annotations:
        """The same rows with codes into these longer lists of names."""
        if items is self.items and annotators is self.annotators:
            return self
        item = items.codes(self.items, "item")[self.item]
        if self.annotator is None:
            return replace(self, item=item, items=items, annotators=annotators)
        annotator = annotators.codes(self.annotators, "annotator")[self.annotator]
        return replace(self, item=item, annotator=annotator, items=items, annotators=annotators)

    def equals(self, other: Annotations) -> bool:
        """Whether both have the same rows in the same order, with the same names and scale."""
        return same(self, other)

    # ---- checks ----

    def _check_lengths(self) -> None:
        for name in COLUMNS:
            column = getattr(self, name)
            if column is not None and column.shape != (self.n_rows,):
                raise DataError(f"{self.n_rows} items but {len(column)} entries in {name}")
        for name, column in self.extra.items():
            if len(column) != self.n_rows:
                raise DataError(f"{self.n_rows} items but {len(column)} entries in {name!r}")
        if self.count is not None:
            if self.annotator is not None:
                raise DataError(
                    "counts are for anonymous answers; known annotators have one row each"
                )
            if (self.count < 1).any():
                raise DataError(f"a count must be 1 or more, found {self.count.min()}")

    def _with_repeats(self, rule: Repeats) -> Annotations:
        """Apply the rule for several rows of one annotator on one item."""
        if rule not in get_args(Repeats):
            known = ", ".join(get_args(Repeats))
            raise DataError(f"no rule {rule!r} for repeats; there are {known}")
        if rule == "keep":
            return replace(self, repeats=True)
        if self.annotator is None:
            return self
        repeated = Repeated.find(self.item, self.annotator, self.n_annotators)
        if repeated is None:
            return self
        if rule == "error":
            raise DataError(self._repeats_message(repeated))
        if rule == "mean" and not isinstance(self.scale, Interval):
            raise DataError(f"the mean of repeats is for ratings, not {self.scale.kind} answers")
        chosen = repeated.last if rule == "last" else repeated.first
        kept = self.take(np.sort(chosen))
        if rule == "mean":
            order = np.argsort(chosen, kind="stable")
            kept = replace(kept, answer=repeated.means(self.answer)[order])
        return kept

    def _repeats_message(self, repeated: Repeated) -> str:
        """The number of repeated pairs, an example, and what to do."""
        several = np.flatnonzero(repeated.sizes > 1)
        row = repeated.first[several[0]]
        annotator = self.annotators[self.annotator_codes("repeats")[row]]
        return (
            f"annotator {annotator!r} answered item {self.items[self.item[row]]!r} "
            f"{int(repeated.sizes[several[0]])} times ({len(several)} such pairs); keep one row "
            "each, or say what to do with repeats (--repeats): keep, first, last"
            + (" or mean" if isinstance(self.scale, Interval) else "")
        )
