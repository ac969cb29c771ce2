"""Vote columns: counts of answers, a column for each value, recognised by their content.

The sum of counts is another column, or is the same in every row. A column that names the value with
the largest count is the majority, not the answer of an annotator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.errors import DataError, NoAnswersError, counted, listed
from dissensus.readers.layout import Layout
from dissensus.readers.tables.answers import listed_values
from dissensus.readers.tables.column_names import (
    BORDER,
    NAMES,
    WORDS,
    answer_named,
    families,
    plain,
)
from dissensus.readers.tables.rows import Rows

SAMPLE = 500  # distinct rows that the search for a sum looks at; the result is checked on all
FEW_ROWS = 5  # below this, a constant sum or a majority may be chance
MOST_WRONG = 0.1  # of the rows: exceptions to a total or a majority
ODD_SUMS = 0.01  # of the rows: exceptions to a constant sum
ROUNDED = 0.011  # how far shares may miss their sum
MOST_COUNTS = 500  # columns of numbers: more are not the counts of values
MOST_VALUES = 200  # of a majority, which may join those that tie: "A:D"
MOST_DIFFERENT = 20  # rows above which a column of different numbers is an id, not a count
_NUMBER_OF = re.compile(
    "(n|no|num|number|numberof|total|count)(of)?"
    "(answers?|responses?|annotators?|annotations?|votes?|raters?|ratings?|judge?ments?|labels?)"
)
Numbers = dict[str, np.ndarray]  # columns of numbers that are 0 or more, blanks as 0


@dataclass(frozen=True)
class Votes:
    """The columns of a vote table, and what is to be known about them."""

    counts: dict[str, str]  # column -> the value that it counts
    total: str | None  # the column of their sum
    majority: str | None
    remarks: tuple[str, ...]


def propose_votes(rows: Rows, layout: Layout) -> Layout | None:
    """A layout of counts; None if this is not a vote table. Shares with a majority are refused."""
    numbers = _numbers(rows, layout)
    if not 0 < len(numbers) <= MOST_COUNTS:
        return None
    counts = _counts(rows, _whole(numbers))
    _refuse_shares(rows, numbers)
    ordered = tuple(name for name in rows.columns if name in counts)
    return Layout(format="votes", answer=ordered) if counts else None


def votes_of(rows: Rows, layout: Layout) -> Votes:
    """The columns of a table that is known to contain votes."""
    if layout.annotator or layout.annotators or layout.question:
        raise DataError(
            f"{rows.path}: a vote table has no annotators; leave out annotator=, "
            "annotators= and question="
        )
    numbers = _whole(_numbers(rows, layout))
    counts = list(layout.answer or ())
    rows.check(counts)
    if others := [name for name in counts if name not in numbers]:
        raise DataError(f"{rows.path}: {listed(others)} does not contain counts: 0, 1, 2, ...")
    counts = counts or _counts(rows, numbers) or _summands(numbers)
    if not layout.answer and not _are_votes(_cells(numbers, counts)):
        raise DataError(
            f"{rows.path}: no columns of counts recognised in {listed(rows.columns, 5)}; name "
            "them (answer=, --answer)"
        )
    sums = _cells(numbers, counts).sum(axis=1)
    n_wrong = {name: int((sums != n).sum()) for name, n in numbers.items() if name not in counts}
    totals = [name for name, n in n_wrong.items() if _is_total(name, n, rows)]
    total = min(totals, key=n_wrong.__getitem__, default=None)
    majority, n_other = _majority(rows, numbers, counts, totals)
    ordered = tuple(name for name in rows.columns if name in counts)
    named = [] if majority is None else rows.columns[majority].values.to_pylist()
    values = _counted_values(ordered, (*listed_values(layout.scale), *named))
    remarks = []
    if majority is not None:
        wrong = f", except in {counted(n_other, 'row')}" if n_other else ""
        remarks.append(f"{majority} is the majority, not an answer{wrong}")
    if total is not None and n_wrong[total]:
        remarks.append(f"{total} is not their sum in {counted(n_wrong[total], 'row')}")
    return Votes(dict(zip(ordered, values, strict=True)), total, majority, tuple(remarks))


# ---- numbers ----


def _numbers(rows: Rows, layout: Layout) -> Numbers:
    """The columns of numbers, sorted, so that the order of columns does not matter."""
    kept = {}
    for name in sorted(set(rows.columns) - layout.of_items):
        n_values, numbers = len(rows.columns[name].values), rows.columns[name].numbers()
        numbers_rows = n_values == rows.n_rows > MOST_DIFFERENT
        if not n_values or numbers is None or numbers_rows:
            continue
        if np.nanmin(numbers) >= 0 and np.isfinite(np.nanmax(numbers)):
            kept[name] = np.nan_to_num(numbers)
    return kept


def _whole(numbers: Numbers) -> Numbers:
    return {name: one for name, one in numbers.items() if (one % 1 == 0).all()}


def _cells(numbers: Numbers, names: Iterable[str]) -> np.ndarray:
    """Columns side by side, (n_rows, n_names)."""
    columns = [numbers[name] for name in names]
    return np.stack(columns, axis=1) if columns else np.zeros((0, 0))


def _are_votes(cells: np.ndarray) -> bool:
    """Whether counts can be votes: some value has two; ranks 1, 2, 3 of every row are none."""
    if not cells.size or cells.max() < 2 or cells.shape[1] < 2:
        return False
    ordered = np.sort(cells, axis=1)
    ranks = (ordered == ordered[0]).all() and len(set(ordered[0].tolist())) == cells.shape[1]
    return not ranks or bool((cells == cells[0]).all())


# ---- columns whose sum is known ----


def _summands(numbers: Numbers, total: str | None = None) -> list[str]:
    """The columns whose sum is another one, by least squares; without it, those with one sum."""
    fits = {name: one for name, one in numbers.items() if name != total and np.ptp(one)}
    if total is not None:
        sums = numbers[total]
        fits = {n: one for n, one in fits.items() if (one > sums).mean() < MOST_WRONG}
        fits = {n: one for n, one in fits.items() if not (one == sums).all()}
    if len(fits) < 2:
        return []
    from scipy.optimize import nnls

    columns = _cells(fits, fits)
    sums = np.ones(len(columns)) if total is None else numbers[total]
    both = np.unique(np.c_[columns, sums], axis=0)  # whatever the order of rows is
    both = both[np.linspace(0, len(both) - 1, min(SAMPLE, len(both))).astype(int)]
    largest = columns.max(axis=0)
    try:
        weights = nnls(both[:, :-1] / largest, both[:, -1])[0] / largest
    except RuntimeError:  # it does not converge
        return []
    each = weights.max() if total is None else 1.0
    chosen = [name for name, weight in zip(fits, weights, strict=True) if weight > each / 2]
    return chosen if len(chosen) > 1 else []


def _is_number_of_answers(name: str) -> bool:
    """Whether a column counts the answers to an item, by its name: `count`, `numResponses`."""
    return plain(name) in NAMES["count"] or bool(_NUMBER_OF.fullmatch(plain(name)))


def _is_total(name: str, n_wrong: int, rows: Rows) -> bool:
    """Whether a column is the sum of counts; a few rows may be wrong if it is called so."""
    few = rows.n_rows >= FEW_ROWS and n_wrong <= MOST_WRONG * rows.n_rows
    return not n_wrong or (few and _is_number_of_answers(name))


def _counts(rows: Rows, numbers: Numbers) -> list[str]:
    """Columns whose sum is another one or the same in every row, and something shows that they are
    votes: their names or that of the sum, a majority, or that there are no other answers."""
    sums: list[tuple[float, list[str]]] = []
    for name in (*numbers, None):
        counts = _summands(numbers, name)
        cells = _cells(numbers, counts)
        if not _are_votes(cells) or (name is None and rows.n_rows < FEW_ROWS):
            continue
        total = cells.sum(axis=1)
        n_wrong = int((total != (np.median(total) if name is None else numbers[name])).sum())
        if n_wrong > ODD_SUMS * rows.n_rows if name is None else not _is_total(name, n_wrong, rows):
            continue
        shown = _counted_values(counts, ()) != tuple(counts)  # n_yes, n_no
        shown |= not answer_named(rows, counts) if name is None else _is_number_of_answers(name)
        if shown or _majority(rows, numbers, counts, [] if name is None else [name])[0]:
            sums.append((float(total.sum()), counts))
    return max(sums)[1] if sums else []


def _refuse_shares(rows: Rows, numbers: Numbers) -> None:
    """Refuse shares or percentages of answers, whose majority would be read as the answers."""
    names = _summands(numbers) if rows.n_rows >= FEW_ROWS else []
    if not names:
        return
    cells = _cells(numbers, names)
    sums, whole = cells.sum(axis=1), bool((cells % 1 == 0).all())
    one = 1 if sums[0] < 2 else 100
    majority, named = _majority(rows, numbers, names)[0], answer_named(rows, names)
    fits = (majority or not named) if whole else (majority and majority == named)
    fits = fits and not (whole and one == 1)  # boxes, one of which is ticked
    if not fits or (np.abs(sums - one) > (0 if whole else 2 * ROUNDED * one)).any():
        return
    which = otherwise = ""
    if majority is not None:
        which = f", and {majority!r} names the largest of them"
        otherwise = f"; or read {majority!r} as the only answer to each item (answer=, --answer)"
    raise NoAnswersError(
        f"{rows.path}: {listed(names)} have the same sum in every row, as percentages do{which}; "
        "they do not say how many annotators answered: write counts of answers, or, if these are "
        f'counts, use format="votes" (--format votes){otherwise}'
    )


# ---- the majority, and what is counted ----


def _majority(
    rows: Rows, numbers: Numbers, counts: Sequence[str], totals: Sequence[str] = ()
) -> tuple[str | None, int]:
    """The column that names the largest count of nearly every row without ties, by whatever names
    or codes; and the number of rows where it does not."""
    cells = _cells(numbers, counts)
    largest = cells == cells.max(axis=1, keepdims=True)
    single = largest.sum(axis=1) == 1
    winner = largest[single].argmax(axis=1)
    majorities = []
    for name in sorted(set(rows.columns) - {*counts, *totals}):
        column = rows.columns[name]
        if column.is_bytes or not 2 <= len(column.values) <= MOST_VALUES:
            continue
        table = np.zeros((len(column.values) + 1, len(counts)), dtype=np.int64)
        np.add.at(table, (column.codes[single], winner), 1)
        table = table[:-1][table[:-1].any(axis=1)]  # without blanks
        n_rows, n_wrong = int(table.sum()), int(table.sum() - table.max(axis=1, initial=0).sum())
        different = len(table) == len(set(table.argmax(axis=1).tolist())) > 1
        if different and n_rows >= FEW_ROWS and n_wrong <= MOST_WRONG * n_rows:
            majorities.append((n_wrong, name))
    return min(majorities)[::-1] if majorities else (None, 0)


def _counted_values(counts: Sequence[str], known: Iterable[str]) -> tuple[str, ...]:
    """What each column counts: its name, or what differs between the names if the rest is about
    counts (`n_hate`, `vote1`), or if values are known by it."""
    known = {plain(str(value)) for value in known}
    if len({plain(name) for name in counts} & known) > 1:
        return tuple(counts)
    for pattern, of in (one for way in families(counts) for one in way.items()):
        around = {word.casefold() for word in BORDER.split(pattern.replace("{}", " ")) if word}
        values = {plain(value) for value in of}
        if len(of) != len(counts) or len(values) != len(counts):
            continue
        if around <= WORDS["count"] or len(values & known) > 1:
            value_of = {name: value for value, name in of.items()}
            return tuple(value_of[name] for name in counts)
    return tuple(counts)
