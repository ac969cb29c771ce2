"""Vote columns: which columns of a table count answers, recognised by their content.

The sum of counts is another column, or is the same in every row. A column that names the value with
the largest count is the majority, not the answer of an annotator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dissensus.errors import DataError, NoAnswersError, listed
from dissensus.readers.layout import Layout
from dissensus.readers.tables.annotator_columns import names_annotators
from dissensus.readers.tables.answers import listed_values
from dissensus.readers.tables.column_names import NAMES, WORDS, answer_named, plain
from dissensus.readers.tables.rows import Column, Rows

MOST_ROWS = 20_000  # that are looked through for distinct ones
SAMPLE = 500  # distinct rows that the search for a sum looks at; the result is checked on all
FEW_ROWS = 5  # below this, a constant sum or an unnamed majority may be chance
NEARLY_ALL = 0.9  # of the rows: so many have to fit a total or a majority
SAME_SUM = 0.95  # of the rows, where something else shows that columns are counts
SAME_SUM_ALONE = 0.99
WHOLE = (1.0, 100.0)  # what shares and percentages sum to
ROUNDED = 0.011  # how far shares may miss their sum
MOST_COUNTS = 500  # columns of numbers: more are not the counts of values
MOST_VALUES = 200  # of a majority, which may join those that tie: "A:D"
MOST_DIFFERENT = 20  # rows above which a column of different numbers is an id, not a count
_NUMBER_OF = re.compile(
    "(n|no|num|number|numberof|total|count)(of)?"
    "(answers?|responses?|annotators?|annotations?|votes?|raters?|ratings?|judge?ments?|labels?)"
)
_DIGITS = re.compile(r"([^\W\d]+)(\d+)")
_SEPARATORS = re.compile(r"[\s_.:/-]+")


@dataclass(frozen=True)
class Votes:
    """The columns of a vote table, and the rows that contradict the sum or the majority."""

    counts: tuple[str, ...]
    values: tuple[str, ...]  # what each of them counts
    total: str | None = None  # the column of their sum
    n_other_sums: int = 0
    majority: str | None = None
    n_other: int = 0  # rows where the majority is not the value with the largest count


def propose_votes(rows: Rows, layout: Layout) -> Layout | None:
    """A layout of counts; None if this is not a vote table.

    Shares with a majority column are refused: they do not say how many answers there are.
    """
    if layout.format is not None or layout.states_answers or names_annotators(rows, layout):
        return None
    table = _Numbers.of(rows, layout)
    if not 0 < len(table.names) <= MOST_COUNTS:
        return None
    counts = (
        _by_total(rows, table.whole) or _by_constant(rows, table.whole) or _by_constant(rows, table)
    )
    if counts is None:
        return None
    return Layout(format="votes", answer=tuple(name for name in rows.columns if name in counts))


def votes_of(rows: Rows, layout: Layout) -> Votes:
    """The columns of a table that is known to contain votes."""
    if layout.annotator or layout.annotators or layout.question:
        raise DataError(
            f"{rows.path}: a vote table has no annotators; leave out annotator=, "
            "annotators= and question="
        )
    table = _Numbers.of(rows, layout).whole
    if layout.answer:
        rows.check(layout.answer)
        wrong = [name for name in layout.answer if name not in table.names]
        if wrong:
            raise DataError(f"{rows.path}: {listed(wrong)} does not contain counts: 0, 1, 2, ...")
        counts = list(layout.answer)
    else:
        counts = _by_total(rows, table) or _summands(table.sample)
        if not _are_votes(table.take(counts).cells):
            raise DataError(
                f"{rows.path}: no columns of counts recognised in {listed(rows.columns, 5)}; name "
                "them (answer=, --answer)"
            )
    wrong_sums = {name: table.n_other_sums(name, counts) for name in table.names}
    totals = [n for n in wrong_sums if n not in counts and _is_total(n, wrong_sums[n], rows)]
    total = min(totals, key=lambda name: wrong_sums[name], default=None)
    majority, n_other = _majority(rows, table.take(counts), {*counts, *totals})
    ordered = tuple(name for name in rows.columns if name in counts)
    values = _values(rows, ordered, listed_values(layout.scale), majority)
    return Votes(ordered, values, total, wrong_sums.get(total or "", 0), majority, n_other)


@dataclass(frozen=True, eq=False)
class _Numbers:
    """Columns of numbers that are 0 or more, blanks as 0."""

    names: list[str]  # sorted, so that the order of columns does not matter
    cells: np.ndarray  # (n_rows, n_names)

    @classmethod
    def of(cls, rows: Rows, layout: Layout) -> _Numbers:
        kept = {}
        for name in sorted(set(rows.columns) - {layout.item, layout.gold, *(layout.text or ())}):
            n_values = len(rows.columns[name].values)
            numbers = rows.columns[name].numbers() if n_values else None
            if numbers is None or n_values == rows.n_rows > MOST_DIFFERENT:  # numbers rows
                continue
            if np.nanmin(numbers) >= 0 and np.isfinite(np.nanmax(numbers)):
                kept[name] = np.nan_to_num(numbers)
        cells = np.stack(list(kept.values()), axis=1) if kept else np.zeros((rows.n_rows, 0))
        return cls(list(kept), cells)

    def __getitem__(self, name: str) -> np.ndarray:
        return np.asarray(self.cells[:, self.names.index(name)])

    def take(self, names: Sequence[str]) -> _Numbers:
        return _Numbers(list(names), self.cells[:, [self.names.index(name) for name in names]])

    def n_other_sums(self, name: str, counts: Sequence[str]) -> int:
        """The rows in which a column is not the sum of these."""
        return int((self.take(counts).cells.sum(axis=1) != self[name]).sum())

    @cached_property
    def whole(self) -> _Numbers:
        """The columns of whole numbers."""
        return self.take([name for name in self.names if (self[name] % 1 == 0).all()])

    @cached_property
    def sample(self) -> _Numbers:
        """Distinct rows, some of many, whatever their order is."""
        every = max(1, len(self.cells) // MOST_ROWS)
        distinct = np.unique(self.cells[::every], axis=0)
        chosen = np.linspace(0, len(distinct) - 1, min(SAMPLE, len(distinct))).astype(int)
        return _Numbers(self.names, distinct[chosen])


def _are_votes(cells: np.ndarray) -> bool:
    """Whether counts can be votes: some value has two; ranks 1, 2, 3 of every row are none."""
    if not cells.size or cells.max() < 2 or cells.shape[1] < 2:
        return False
    ordered = np.sort(cells, axis=1)
    ranks = (ordered == ordered[0]).all() and len(set(ordered[0].tolist())) == cells.shape[1]
    return not ranks or len(np.unique(cells, axis=0)) < 2


# ---- columns whose sum is known ----


def _summands(table: _Numbers, total: str | None = None) -> list[str]:
    """The columns whose sum is another one, by least squares; without it, those with one sum."""
    sums = np.ones(len(table.cells)) if total is None else table[total]
    fits = [n for n in table.names if n != total and np.ptp(table[n])]
    if total is not None:
        below = {name: (table[name] <= sums).mean() for name in fits}
        fits = [n for n in fits if below[n] > NEARLY_ALL and not (table[n] == sums).all()]
    if len(fits) < 2:
        return []
    from scipy.optimize import nnls

    columns = table.take(fits).cells
    largest = columns.max(axis=0)
    try:
        weights = nnls(columns / largest, sums)[0] / largest
    except RuntimeError:  # it does not converge
        return []
    each = weights.max() if total is None else 1.0
    chosen = [name for name, weight in zip(fits, weights, strict=True) if weight > each / 2]
    return chosen if len(chosen) > 1 else []


def _is_total(name: str, n_wrong: int, rows: Rows) -> bool:
    """Whether a column is the sum of counts; a few rows may be wrong if it is called so."""
    few = rows.n_rows >= FEW_ROWS and n_wrong <= (1 - NEARLY_ALL) * rows.n_rows
    return n_wrong == 0 or (few and _is_number_of_answers(name))


def _by_total(rows: Rows, table: _Numbers) -> list[str] | None:
    """Votes next to a column of their sum, which something shows to be one."""
    candidates = []
    for name in table.names:
        total = table[name]
        counts = _summands(table.sample, name) if total.max() > 1 else []
        fits = _is_total(name, table.n_other_sums(name, counts), rows)
        if not fits or not _are_votes(table.take(counts).cells):
            continue
        majority, _ = _majority(rows, table.take(counts), {*counts, name})
        named = _is_number_of_answers(name)
        alike = total.min() == total.max() and rows.n_rows >= FEW_ROWS
        if majority or named or (alike and answer_named(rows, {*counts, name}) is None):
            rank = (majority is not None, named, float(total.sum()), -len(counts))
            candidates.append((rank, counts))
    return max(candidates)[1] if candidates else None


def _by_constant(rows: Rows, table: _Numbers) -> list[str] | None:
    """Votes whose sum is the same in every row, up to a few; percentages are refused."""
    names = _summands(table.sample)
    cells = table.take(names).cells
    sums = cells.sum(axis=1)
    usual, whole = float(np.median(sums)), bool((cells % 1 == 0).all())
    same = float((np.abs(sums - usual) <= (0 if whole else 2 * ROUNDED * usual)).mean())
    if rows.n_rows < FEW_ROWS or not names or same < SAME_SUM:
        return None
    majority, _ = _majority(rows, table.take(names), set(names))
    named = answer_named(rows, names)
    of_whole = next((one for one in WHOLE if abs(usual - one) <= ROUNDED * one), None)
    if whole:
        alone = same > SAME_SUM_ALONE and named is None
        if usual < 2 or not _are_votes(cells) or not (majority or alone):
            return None
    elif of_whole is None or majority is None or majority != named:
        return None
    if of_whole is None:
        return names
    which = otherwise = ""
    if majority is not None:
        which = f", and {majority!r} names the largest of them"
        otherwise = f"; or read {majority!r} as the only answer to each item (answer=, --answer)"
    raise NoAnswersError(
        f"{rows.path}: {listed(names)} have the same sum in every row, as percentages do{which}; "
        "they do not say how many annotators answered: write counts of answers, or, if these are "
        f'counts, use format="votes" (--format votes){otherwise}'
    )


def _is_number_of_answers(name: str) -> bool:
    """Whether a column counts the answers to an item, by its name.

    Example:
        >>> [_is_number_of_answers(name) for name in ("count", "numResponses", "total", "name")]
        [True, True, False, False]
    """
    return plain(name) in NAMES["count"] or bool(_NUMBER_OF.fullmatch(plain(name)))


# ---- the majority, and what is counted ----


def _majority(rows: Rows, counts: _Numbers, taken: set[str]) -> tuple[str | None, int]:
    """The column that names the largest count of nearly every row, by whatever names or codes;
    and the number of rows where it does not.

    Any of several largest counts will do. A value that occurs only at ties may mean a tie.
    """
    cells = counts.cells
    largest = (cells == cells.max(axis=1, keepdims=True)) & (cells.max(axis=1) > 0)[:, None]
    majorities = []
    for name in sorted(set(rows.columns) - taken):
        column = rows.columns[name]
        if column.is_bytes or not 2 <= len(column.values) <= MOST_VALUES:
            continue
        used, n_wrong, n_rows = _largest_counts(column, largest, counts.names)
        values = column.values.to_pylist()
        all_named = all(any(_is_named(v, one) for one in counts.names) for v in values)
        enough = rows.n_rows >= FEW_ROWS or all_named
        if len(set(used)) == len(used) > 1 and n_wrong <= (1 - NEARLY_ALL) * n_rows and enough:
            majorities.append((n_wrong, name))
    return min(majorities)[::-1] if majorities else (None, 0)


def _largest_counts(
    column: Column, largest: np.ndarray, names: Sequence[str]
) -> tuple[list[int], int, int]:
    """The count that each value of a column stands for; how many rows are wrong, and in all."""
    used: list[int] = []
    n_wrong = n_rows = 0
    for code, value in enumerate(column.values.to_pylist()):
        at = largest[(column.codes == code) & largest.any(axis=1)]
        same = [n for n, one in enumerate(names) if _is_named(value, one)]
        if not len(at) or ((at.sum(axis=1) > 1).all() and not same):
            continue  # "tie", or one of those that tie
        right = at.sum(axis=0)
        best = same[0] if same and right[same[0]] == right.max() else int(right.argmax())
        used.append(best)
        n_wrong += len(at) - int(right[best])
        n_rows += len(at)
    return used, n_wrong, n_rows


def _is_named(value: str, column: str) -> bool:
    """Whether a column is called as the value, alone or among its words."""
    words = [plain(word) for word in _SEPARATORS.split(column)]
    return plain(value) != "" and plain(value) in (plain(column), words[0], words[-1])


def _values(
    rows: Rows, counts: Sequence[str], declared: Sequence[str], majority: str | None
) -> tuple[str, ...]:
    """What each column counts: its name, or what differs between the names."""
    named = [] if majority is None else rows.columns[majority].values.to_pylist()
    known = {plain(str(value)) for value in (*declared, *named)}
    for short in _spellings(counts):
        values = {plain(value) for value in short.values()}
        shared = " ".join(name.replace(value, " ", 1) for name, value in short.items())
        around = {word.casefold() for word in _SEPARATORS.split(shared) if word}
        counted = around and around <= WORDS["count"]
        if len(values) == len(counts) and (counted or len(values & known) > 1):
            return tuple(short[name] for name in counts)
    return tuple(counts)


def _spellings(names: Sequence[str]) -> Iterator[dict[str, str]]:
    """Column -> the value that it counts: as it is called, or without what all names share."""
    yield {name: name for name in names}
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for name in names:
        words = [word for word in _SEPARATORS.split(name) if word]
        if len(words) > 1:
            rest = name.split(words[0], 1)[1], name.rsplit(words[-1], 1)[0]
            for side, shared, value in zip("<>", (words[0], words[-1]), rest, strict=True):
                groups.setdefault((side, shared), {})[name] = value.strip(" \t_.:/-") or name
        if match := _DIGITS.fullmatch(name):  # vote0, vote1
            groups.setdefault(("#", match[1]), {})[name] = match[2]
    yield from (group for _, group in sorted(groups.items()) if len(group) > 1)
