"""Vote columns: counts of answers, a column for each value, next to one another.

Their sum is another column that is called so, or the same in every row.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.errors import DataError, counted, listed
from dissensus.readers.layout import Layout, UnclearError
from dissensus.readers.tables.answers import listed_values
from dissensus.readers.tables.column_names import (
    BORDER,
    WORDS,
    answer_named,
    families,
    plain,
    words_of,
)
from dissensus.readers.tables.rows import Rows

FEW_ROWS = 5  # below this, a constant sum may be chance
MOST_WRONG = 0.1  # of the rows: exceptions to a sum that is called so
ODD_SUMS = 0.01  # of the rows: exceptions to a constant sum
ROUNDED = {1: 0.022, 100: 2.2}  # sums of shares: how far they may miss it
MOST_COUNTS = 100  # columns of numbers: more are not the counts of values
MOST_DIFFERENT = 20  # rows above which a column of different numbers is an id, not a count
Numbers = dict[str, np.ndarray]  # columns of numbers that are 0 or more, blanks as 0


@dataclass(frozen=True)
class Votes:
    """The columns of a vote table, and what is to be known about them."""

    counts: dict[str, str]  # column -> the value that it counts
    total: str | None  # the column of their sum
    remarks: tuple[str, ...]


def propose_votes(rows: Rows, layout: Layout) -> Layout | None:
    """A layout of counts; None if this is not a vote table. Shares are asked about."""
    numbers = numbers_of(rows, layout)
    if not 1 < len(numbers) <= MOST_COUNTS:
        return None
    if counts := _counts(numbers):
        return Layout(format="votes", answer=tuple(counts))
    shares = _constant(numbers)
    cells = _cells(numbers, shares)
    boxes = shares and cells.max() <= 1 and (cells % 1 == 0).all()  # one of which is ticked
    if shares and not boxes and round(float(np.median(cells.sum(axis=1)))) in ROUNDED:
        raise _unclear(rows, "the sum is the same in every row of", shares)
    return None


def votes_of(rows: Rows, layout: Layout) -> Votes:
    """The columns of a table that is known to contain votes."""
    if layout.annotator or layout.annotators or layout.question:
        raise DataError(
            f"{rows.path}: a vote table has no annotators; leave out annotator=, "
            "annotators= and question="
        )
    numbers = numbers_of(rows, layout)
    rows.check(layout.answer or ())
    counts = list(layout.answer or _counts(numbers) or _constant(numbers))
    if others := [n for n in counts if n not in numbers or (numbers[n] % 1 != 0).any()]:
        raise DataError(f"{rows.path}: {listed(others)} does not contain counts: 0, 1, 2, ...")
    if not layout.answer and not are_votes(_cells(numbers, counts)):
        raise DataError(
            f"{rows.path}: no columns of counts recognised in {listed(rows.columns, 5)}; name "
            "them (answer=, --answer)"
        )
    sums = _cells(numbers, counts).sum(axis=1)
    n_wrong = {name: int((sums != n).sum()) for name, n in numbers.items() if name not in counts}
    totals = [name for name, n in n_wrong.items() if _is_total(name, n, len(sums))]
    total = min(totals, key=n_wrong.__getitem__, default=None)
    ordered = tuple(name for name in rows.columns if name in counts)
    values = _counted_values(ordered, listed_values(layout.scale))
    wrong = n_wrong[total] if total else 0
    remarks = (f"{total} is not their sum in {counted(wrong, 'row')}",) if wrong else ()
    return Votes(dict(zip(ordered, values, strict=True)), total, remarks)


def numbers_of(rows: Rows, layout: Layout) -> Numbers:
    """The columns of numbers that may be counts or shares."""
    kept = {}
    for name in (name for name in rows.columns if name not in layout.of_items):
        n_values, numbers = len(rows.columns[name].values), rows.columns[name].numbers()
        numbers_rows = n_values == rows.n_rows > MOST_DIFFERENT
        if not n_values or numbers is None or (numbers_rows and (numbers % 1 == 0).all()):
            continue
        if np.nanmin(numbers) >= 0 and np.isfinite(np.nanmax(numbers)):
            kept[name] = np.nan_to_num(numbers)
    return kept


def may_be_counts(rows: Rows, names: Sequence[str]) -> bool:
    """Whether columns may be counts of answers: whole numbers, among them 0."""
    numbers = numbers_of(rows, Layout())
    cells = _cells(numbers, names) if {*names} <= numbers.keys() else np.ones((0, 0))
    return are_votes(cells) and not cells.all()


def are_votes(cells: np.ndarray) -> bool:
    """Whether counts can be votes: some value has two; ranks 1, 2, 3 of every row are none."""
    if not cells.size or cells.max() < 2 or cells.shape[1] < 2 or (cells % 1 != 0).any():
        return False
    ordered = np.sort(cells, axis=1)
    ranks = (ordered == ordered[0]).all() and len(set(ordered[0].tolist())) == cells.shape[1]
    return not ranks or bool((cells == cells[0]).all())


def _cells(numbers: Numbers, names: Iterable[str]) -> np.ndarray:
    """Columns side by side, (n_rows, n_names)."""
    columns = [numbers[name] for name in names]
    return np.stack(columns, axis=1) if columns else np.zeros((0, 0))


# ---- columns whose sum is known ----


def _runs(numbers: Numbers, sums: np.ndarray | None, most_wrong: float) -> list[list[str]]:
    """The columns next to one another with these sums, or with the same in every row, the longest
    first."""
    names = list(numbers)
    up_to = np.cumsum([np.zeros(len(numbers[names[0]])), *numbers.values()], axis=0)
    found = []
    for first, end in itertools.combinations(range(len(names) + 1), 2):
        of_rows = up_to[end] - up_to[first]
        wanted = np.median(of_rows) if sums is None else sums
        whole = all((numbers[name] % 1 == 0).all() for name in names[first:end])
        slack = 0.5 if whole else ROUNDED.get(round(float(np.median(of_rows))), -1)
        off = np.abs(of_rows - wanted) > slack
        constant = [name for name in names[first:end] if not np.ptp(numbers[name])]
        if end - first > 1 and off.mean() <= most_wrong and not constant:
            found.append(names[first:end])
    return sorted(found, key=len, reverse=True)


def _constant(numbers: Numbers) -> list[str]:
    """The most columns that have the same sum in every row."""
    n_rows = len(next(iter(numbers.values()), ()))
    return next(iter(_runs(numbers, None, ODD_SUMS)), []) if n_rows >= FEW_ROWS else []


def _is_total(name: str, n_wrong: int, n_rows: int) -> bool:
    """Whether a column is the sum of counts; a few rows may be wrong if it is called so."""
    few = n_rows >= FEW_ROWS and n_wrong <= MOST_WRONG * n_rows
    return not n_wrong or (few and _is_number_of_answers(name))


def _is_number_of_answers(name: str) -> bool:
    """Whether a column counts the answers to an item, by its name: `count`, `numResponses`."""
    return not WORDS["count"].isdisjoint(words_of(name))


def _summed(whole: Numbers, named: bool) -> tuple[str, list[str]]:
    """A column that is the sum of counts, and these: that it is one is said by names, or not."""
    for name, sums in whole.items():
        others = {n: one for n, one in whole.items() if n != name}
        few = MOST_WRONG if _is_number_of_answers(name) and len(sums) >= FEW_ROWS else 0
        for counts in _runs(others, sums, few) if len(others) > 1 else ():
            said = _is_number_of_answers(name) or _counted_values(counts, ()) != tuple(counts)
            if said == named and are_votes(_cells(whole, counts)):
                return name, counts
    return "", []


def _counts(numbers: Numbers) -> list[str]:
    """Columns whose sum is one that is called so, or the same in every row."""
    whole = {name: one for name, one in numbers.items() if (one % 1 == 0).all()}
    if counts := _summed(whole, named=True)[1]:
        return counts
    counts = _constant(whole) if len(whole) > 1 else []
    cells = _cells(whole, counts)
    return counts if are_votes(cells) and np.median(cells.sum(axis=1)) != 100 else []


def ask_about_sums(rows: Rows, layout: Layout) -> None:
    """Refuse columns whose sum is another one, if no name says whether they are counts."""
    numbers = numbers_of(rows, layout)
    whole = {name: one for name, one in numbers.items() if (one % 1 == 0).all()}
    many = len(whole) > MOST_COUNTS or rows.n_rows < FEW_ROWS
    name, counts = ("", []) if many else _summed(whole, named=False)
    if counts:
        raise _unclear(rows, f"{name!r} is the sum of", counts)


def _unclear(rows: Rows, what: str, counts: Sequence[str]) -> UnclearError:
    """The error for columns that may be counts, with the layout of each way to read them."""
    answer = answer_named(rows, counts)
    ways = {f"if {answer!r} is the answer": Layout(answer=(answer,))} if answer else {}
    ways |= {
        "if they are counts of answers": Layout(format="votes", answer=tuple(counts)),
        "if each is an annotator": Layout(annotators=tuple(counts)),
        "if each is a question": Layout(answer=tuple(counts)),
    }
    return UnclearError.of(f"{rows.path}: {what} {listed(counts)}", rows.path, ways)


def _counted_values(counts: Sequence[str], known: Iterable[str]) -> tuple[str, ...]:
    """What each column counts: its name, or what differs between the names if the rest is about
    counts (`n_hate`, `vote1`), or if values are known by it."""
    known = {plain(str(value)) for value in known}
    for pattern, of in (one for way in families(counts) for one in way.items()):
        around = {word.casefold() for word in BORDER.split(pattern.replace("{}", " ")) if word}
        values = {plain(value) for value in of}
        if len(of) == len(counts) == len(values):
            if around <= WORDS["count"] or len(values & known) > 1:
                value_of = {name: value for value, name in of.items()}
                return tuple(value_of[name] for name in counts)
    return tuple(counts)
