"""Vote columns: which columns of a table count answers, recognised by their content.

The sum of counts is another column, or is the same in every row, or another column names the value
with the largest count. That column is the majority, not the answer of an annotator.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dissensus.errors import DataError, NoAnswersError, listed
from dissensus.readers.layout import Layout
from dissensus.readers.tables.annotator_columns import names_annotators
from dissensus.readers.tables.answers import declared_values
from dissensus.readers.tables.column_names import NAMES, answer_named, plain
from dissensus.readers.tables.rows import Column, Rows

MOST_ROWS = 20_000  # that are looked through for distinct ones
SAMPLE = 500  # distinct rows that the search for a sum looks at; the result is checked on all
MOST_STEPS = 5_000  # of the search for the columns that a sum has
MOST_SUBSETS = 12  # columns of which every subset is tried for a constant sum
FEW_ROWS = 5  # below this, a constant sum or an unnamed majority may be chance
MOST_SUMS = 0.8  # of the rows: a column that is the sum of others so often should always be
ALIKE = 0.9  # of the rows: a column that names the largest count so often is a majority
WHOLE = (1.0, 100.0)  # what shares and percentages sum to
COUNT_WORDS = frozenset("n num number nb no count counts vote votes freq frequency".split())
MOST_COUNTS = 500  # columns of numbers: more are not the counts of values
MOST_VALUES = 200  # of a majority, which may join those that tie: "A:D"
SAME_SUM = 0.99  # of the rows: a sum that is the same so often is the number of annotators
ALIKE_SUM = 0.95  # the same, if there is a majority column
MOST_DIFFERENT = 20  # rows above which a column of different numbers is an id, not a count
ROUNDED = 0.011  # how far shares may miss their sum
_NUMBER_OF = re.compile(
    "(n|no|num|number|numberof|total|count)(of)?"
    "(answers?|responses?|annotators?|annotations?|votes?|raters?|ratings?|judge?ments?|labels?)"
)
_DIGITS = re.compile(r"([^\W\d]+)(\d+)")
_PARTS = re.compile(r"[\s_.:/-]+")


@dataclass(frozen=True)
class Votes:
    """The columns of a vote table."""

    counts: tuple[str, ...]
    values: tuple[str, ...]  # what each of them counts
    total: str | None = None  # the column of their sum
    majority: str | None = None
    n_other: int = 0  # rows where the majority is not the value with the largest count


def find_votes(rows: Rows, options: Layout) -> Votes | None:
    """The columns of counts; None if this is not a vote table.

    Shares with a majority column are refused: they do not say how many answers there are.
    """
    if options.format == "votes":
        return _named_votes(rows, options)
    other_options = (
        options.annotator,
        options.annotators,
        options.answer,
        options.question,
        options.format,
    )
    if any(part is not None for part in other_options) or names_annotators(rows, options):
        return None
    taken = {name for name in (options.item, options.gold) if name} | set(options.text or ())
    table = _Numbers.of(rows, taken)
    if not 0 < len(table.names) <= MOST_COUNTS:
        return None
    whole = table.take([n for n in table.names if _is_count(table[n])])
    for find in (_by_total, _by_constant, _by_majority):
        votes = find(rows, whole, options)
        if votes is not None:
            return votes
    _refuse_sums(rows, whole)
    _refuse_shares(rows, table)
    return None


@dataclass(frozen=True, eq=False)
class _Numbers:
    """Columns of numbers that are 0 or more, blanks as 0."""

    names: list[str]  # sorted, so that the order of columns does not matter
    cells: np.ndarray  # (n_rows, n_names)

    @classmethod
    def of(cls, rows: Rows, taken: set[str]) -> _Numbers:
        kept = {}
        for name in sorted(set(rows.columns) - taken):
            n_values = len(rows.columns[name].values)
            if not n_values or n_values == rows.n_rows > MOST_DIFFERENT:  # numbers rows
                continue
            numbers = rows.columns[name].numbers()
            if numbers is None:
                continue
            if np.nanmin(numbers) >= 0 and np.isfinite(np.nanmax(numbers)):
                kept[name] = np.nan_to_num(numbers)
        cells = np.stack(list(kept.values()), axis=1) if kept else np.zeros((rows.n_rows, 0))
        return cls(list(kept), cells)

    def __getitem__(self, name: str) -> np.ndarray:
        return np.asarray(self.cells[:, self.names.index(name)])

    def take(self, names: Sequence[str]) -> _Numbers:
        return _Numbers(list(names), self.cells[:, [self.names.index(name) for name in names]])

    def without(self, names: Sequence[str]) -> _Numbers:
        return self.take([name for name in self.names if name not in names])

    @cached_property
    def sample(self) -> _Numbers:
        """Distinct rows, some of many, whatever their order is."""
        every = max(1, len(self.cells) // MOST_ROWS)
        distinct = np.unique(self.cells[::every], axis=0)
        chosen = np.linspace(0, len(distinct) - 1, min(SAMPLE, len(distinct))).astype(int)
        return _Numbers(self.names, distinct[chosen])


def _is_count(numbers: np.ndarray) -> bool:
    return bool((numbers % 1 == 0).all())


def _are_votes(cells: np.ndarray) -> bool:
    """Whether counts can be votes: some value has two; ranks 1, 2, 3 of every row are none."""
    if not cells.size or cells.max() < 2:
        return False
    ordered = np.sort(cells, axis=1)
    ranks = (ordered == ordered[0]).all() and len(set(ordered[0].tolist())) == cells.shape[1]
    return not ranks or len(np.unique(cells, axis=0)) < 2


def _by_total(rows: Rows, table: _Numbers, options: Layout) -> Votes | None:
    """Votes whose sum is another column: the number of answers, by its name or as all are alike,
    or next to a majority."""
    candidates = []
    sample = table.sample
    for name in table.names:
        total = table[name]
        if total.max() < 2 or table.cells.shape[1] < 3:
            continue
        counts = _summing(sample[name], sample.without([name]))
        if counts is None or not (table.take(counts).cells.sum(axis=1) == total).all():
            continue
        if not _are_votes(table.take(counts).cells):
            continue
        majority, n_other = _majority(rows, table.take(counts), {*counts, name})
        named = _is_number_of_answers(name)
        alike = total.min() == total.max() and rows.n_rows >= FEW_ROWS
        free = alike and answer_named(rows, {*counts, name}) is None
        if majority or named or free:
            rank = (majority is not None, named, float(total.sum()), -len(counts))
            votes = _votes(rows, table, counts, options, name, majority, n_other)
            candidates.append((rank, votes))
    return max(candidates, key=lambda one: one[0])[1] if candidates else None


def _refuse_sums(rows: Rows, table: _Numbers) -> None:
    """Refuse votes whose sum is another column in most rows, but not in all."""
    sample = table.sample
    generator = np.random.default_rng(0)
    size = max(FEW_ROWS, len(sample.cells) // 8)
    if rows.n_rows < FEW_ROWS or len(sample.cells) < size or len(table.names) < 3:
        return
    for name in filter(_is_number_of_answers, table.names):
        for _ in range(30 if table[name].max() > 1 else 0):
            some = _Numbers(table.names, generator.permutation(sample.cells)[:size])
            counts = _summing(some[name], some.without([name]))
            right = table.take(counts or []).cells.sum(axis=1) == table[name]
            if counts is None or right.mean() < MOST_SUMS:
                continue
            row = int((~right).argmax())
            cells = [f"{table[one][row]:g}" for one in counts]
            raise DataError(
                f"{rows.at(row)}: {' + '.join(map(repr, counts))} is {' + '.join(cells)}, but "
                f"{name!r} is {table[name][row]:g}; it is their sum in {int(right.sum())} of "
                f'{rows.n_rows} rows: correct the others, or use format="votes" (--format votes) '
                "and name the columns of counts (answer=, --answer)"
            )


def _by_constant(rows: Rows, table: _Numbers, options: Layout) -> Votes | None:
    """Votes without a column of their sum, which is the same in every row, up to a few."""
    if rows.n_rows < FEW_ROWS:
        return None
    for names in _constant_sums(table.sample):
        counts = table.take(names)
        sums = counts.cells.sum(axis=1)
        usual, share = _usual(sums)
        if share < ALIKE_SUM or usual < 2 or not _are_votes(counts.cells):
            continue
        majority, n_other = _majority(rows, counts, set(names))
        surely = share > SAME_SUM and answer_named(rows, names) is None
        if majority is None and not surely:
            continue
        if usual in WHOLE:
            _refuse_percentages(rows, names, majority)
            continue
        return _votes(rows, table, names, options, None, majority, n_other)
    return None


def _by_majority(rows: Rows, table: _Numbers, options: Layout) -> Votes | None:
    """Votes whose values are named by another column, the majority."""
    for name in sorted(rows.columns):
        if rows.columns[name].is_bytes or len(rows.columns[name].values) > len(table.names):
            continue
        values = {plain(str(value)) for value in rows.columns[name].values.to_pylist()}
        for short in _spellings([one for one in table.names if one != name]):
            counts = [column for column, value in short.items() if plain(value) in values]
            if len(counts) < 2 or len(counts) < len(values):
                continue
            counts = _of_one_kind(table, counts, short)
            cells = table.take(counts)
            if not _are_votes(cells.cells):
                continue
            majority, n_other = _majority(rows, cells, set(table.names) - {name}, by_name=True)
            if majority == name:
                return _votes(rows, table, counts, options, None, majority, n_other)
    return None


def _refuse_shares(rows: Rows, table: _Numbers) -> None:
    """Refuse shares of votes with a majority; other columns may be shares of anything."""
    names = [name for name in table.names if table[name].max() <= WHOLE[1]]
    if rows.n_rows < FEW_ROWS or all(_is_count(table[name]) for name in names):
        return
    shares = table.take([name for name in names if table[name].min() < table[name].max()])
    for whole in WHOLE:
        fits = [name for name in shares.names if shares[name].max() <= whole * 1.001]
        for counts in _constant_sums(shares.take(fits).sample, whole):
            sums = shares.take(counts).cells.sum(axis=1)
            if np.abs(sums - whole).max() > ROUNDED * whole:
                continue
            majority, n_other = _majority(rows, shares.take(counts), set(counts))
            if majority is not None and majority == answer_named(rows, counts):
                _refuse_percentages(rows, counts, majority)


def _refuse_percentages(rows: Rows, names: Sequence[str], majority: str | None) -> None:
    which = "" if majority is None else f", and {majority!r} names the largest of them"
    otherwise = (
        ""
        if majority is None
        else (f"; or read {majority!r} as the only answer to each item (answer=, --answer)")
    )
    raise NoAnswersError(
        f"{rows.path}: {listed(names)} have the same sum in every row, as percentages do{which}; "
        "they do not say how many annotators answered: write counts of answers, or, if these are "
        f'counts, use format="votes" (--format votes){otherwise}'
    )


def _named_votes(rows: Rows, options: Layout) -> Votes:
    """The columns of a table that is known to contain votes."""
    if options.annotator or options.annotators or options.question:
        raise DataError(
            f"{rows.path}: a vote table has no annotators; leave out annotator=, "
            "annotators= and question="
        )
    taken = {name for name in (options.item, options.gold) if name} | set(options.text or ())
    table = _Numbers.of(rows, taken)
    table = table.take([name for name in table.names if _is_count(table[name])])
    if options.answer:
        rows.check(options.answer)
        wrong = [name for name in options.answer if name not in table.names]
        if wrong:
            raise DataError(f"{rows.path}: {listed(wrong)} does not contain counts: 0, 1, 2, ...")
        majority, n_other = _majority(rows, table.take(options.answer), set(options.answer))
        return _votes(rows, table, options.answer, options, None, majority, n_other)
    guess = replace(options, format=None)
    votes = _by_total(rows, table, guess) or _by_majority(rows, table, guess)
    for names in () if votes else _constant_sums(table.sample):
        if _are_votes(table.take(names).cells):
            votes = _votes(
                rows, table, names, guess, None, *_majority(rows, table.take(names), set(names))
            )
            break
    if votes is None:
        raise DataError(
            f"{rows.path}: no columns of counts recognised in {listed(rows.columns, 40)}; name "
            "them (answer=, --answer)"
        )
    return votes


def _votes(
    rows: Rows,
    table: _Numbers,
    counts: Sequence[str],
    options: Layout,
    total: str | None,
    majority: str | None,
    n_other: int,
) -> Votes:
    """Columns in the order of the table, and what each counts."""
    known = set(map(plain, declared_values(options)))
    if majority is not None:
        known |= {plain(str(value)) for value in rows.columns[majority].values.to_pylist()}
    short = {name: name for name in counts}
    for spelled in _spellings(counts):
        names = {plain(value) for value in spelled.values()}
        affix = {word.casefold() for name in counts for word in _affixes(name, spelled[name])}
        if len(names) == len(counts) and (affix and affix <= COUNT_WORDS or len(names & known) > 1):
            short = spelled
            break
    ordered = [name for name in rows.columns if name in counts]
    values = tuple(short[name] for name in ordered)
    return Votes(tuple(ordered), values, total, majority, n_other)


def _affixes(name: str, value: str) -> list[str]:
    """The words that a column's name has around the value."""
    return [word for word in _PARTS.split(name.replace(value, " ", 1)) if word]


def _spellings(names: Sequence[str]) -> Iterator[dict[str, str]]:
    """Column -> the value that it counts: as it is called, or without what all names share."""
    yield {name: name for name in names}
    for first in (True, False):
        words: dict[str, list[str]] = {name: [w for w in _PARTS.split(name) if w] for name in names}
        groups: dict[str, dict[str, str]] = {}
        for name, parts in words.items():
            if len(parts) > 1:
                shared = parts[0] if first else parts[-1]
                rest = name.split(shared, 1)[1] if first else name.rsplit(shared, 1)[0]
                groups.setdefault(shared, {})[name] = rest.strip(" \t_.:/-") or name
        yield from (group for group in groups.values() if len(group) > 1)
    numbered: dict[str, dict[str, str]] = {}
    for name in names:
        if match := _DIGITS.fullmatch(name):  # vote0, vote1
            numbered.setdefault(match[1], {})[name] = match[2]
    yield from (group for group in numbered.values() if len(group) > 1)


def _of_one_kind(table: _Numbers, counts: list[str], short: dict[str, str]) -> list[str]:
    """With the other columns that share the counts' prefix or suffix."""
    if all(short[name] == name for name in counts):
        return counts
    return [name for name in short if name in table.names]


def _summing(total: np.ndarray, table: _Numbers) -> list[str] | None:
    """The columns whose sum this is, in every row; None if there are none."""
    fits = [n for n in table.names if table[n].any() and (table[n] <= total).all()]
    steps = itertools.count()

    def search(rest: np.ndarray, free: list[str], chosen: list[str]) -> list[str] | None:
        if not rest.any():
            return chosen if len(chosen) > 1 else None
        if next(steps) > MOST_STEPS:
            return None
        row = int(np.argmax(rest > 0))
        for name in [name for name in free if table[name][row] > 0]:
            free = [other for other in free if other != name]
            if (table[name] <= rest).all():
                summands = search(rest - table[name], free, [*chosen, name])
                if summands is not None:
                    return summands
        return None

    return search(total, fits, [])


def _constant_sums(table: _Numbers, whole: float | None = None) -> Iterator[list[str]]:
    """Sets of columns whose sum is the same in most rows, the largest first.

    Args:
        whole: what the sum is, up to rounding; any whole number if left out.
    """
    varied = [name for name in table.names if table[name].min() < table[name].max()]
    if len(table.cells) < 2 or len(varied) < 2:
        return
    alike = [list(group) for group in _spellings(varied) if 1 < len(group) < len(varied)]
    sets: Iterable[Sequence[str]] = [varied, *sorted(alike, key=len, reverse=True)]
    if len(varied) <= MOST_SUBSETS:
        sizes = range(len(varied), 1, -1)
        sets = (names for size in sizes for names in itertools.combinations(varied, size))
    for names in sets:
        sums = table.take(names).cells.sum(axis=1)
        if whole is None:
            same = _usual(sums)[1]
        else:
            same = float((np.abs(sums - whole) <= ROUNDED * whole).mean())
        if same >= ALIKE:
            yield list(names)


def _usual(sums: np.ndarray) -> tuple[float, float]:
    """The most frequent of these numbers, and the share of the rows that have it."""
    values, counts = np.unique(sums, return_counts=True)
    return float(values[counts.argmax()]), float(counts.max() / len(sums))


def _is_number_of_answers(name: str) -> bool:
    """Whether a column counts the answers to an item, by its name.

    Example:
        >>> [_is_number_of_answers(name) for name in ("count", "numResponses", "total", "name")]
        [True, True, False, False]
    """
    return plain(name) in NAMES["count"] or bool(_NUMBER_OF.fullmatch(plain(name)))


def _majority(
    rows: Rows, counts: _Numbers, taken: set[str], by_name: bool = False
) -> tuple[str | None, int]:
    """The column that names the largest count of nearly every row, by whatever names or codes;
    and the number of rows where it does not.

    Any of several largest counts will do. A value that occurs only at ties may mean a tie.

    Args:
        by_name: whether values must be called as the columns are.
    """
    cells = counts.cells
    largest = (cells == cells.max(axis=1, keepdims=True)) & (cells.max(axis=1) > 0)[:, None]
    majorities = []
    for name in sorted(set(rows.columns) - taken):
        column = rows.columns[name]
        if column.is_bytes or not 2 <= len(column.values) <= MOST_VALUES:
            continue
        n_right, n_rows_named = 0, 0
        used: list[int] = []
        for code, value in enumerate(column.values.to_pylist()):
            at = largest[(column.codes == code) & largest.any(axis=1)]
            if not len(at):
                continue
            if (at.sum(axis=1) > 1).all() and not _names_one(value, counts.names):
                continue  # "tie", or one of those that tie
            right = at.sum(axis=0)
            same = [n for n, one in enumerate(counts.names) if _is_named(value, one)]
            if by_name and not same:
                break
            best = same[0] if same and right[same[0]] == right.max() else int(right.argmax())
            n_right, n_rows_named, used = (
                n_right + int(right[best]),
                n_rows_named + len(at),
                [*used, best],
            )
        else:
            enough = by_name or rows.n_rows >= FEW_ROWS or _all_named(column, counts.names)
            if len(set(used)) == len(used) > 1 and n_right >= ALIKE * n_rows_named and enough:
                majorities.append((n_rows_named - n_right, name))
    return (min(majorities)[1], min(majorities)[0]) if majorities else (None, 0)


def _is_named(value: str, column: str) -> bool:
    """Whether a column is called as the value, alone or among its words."""
    words = [plain(word) for word in _PARTS.split(column)]
    return plain(value) != "" and plain(value) in (plain(column), words[0], words[-1])


def _names_one(value: str, columns: Sequence[str]) -> bool:
    return any(_is_named(value, column) for column in columns)


def _all_named(column: Column, columns: Sequence[str]) -> bool:
    return all(_names_one(value, columns) for value in column.values.to_pylist())
