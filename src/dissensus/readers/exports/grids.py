"""Grids: the cells of a sheet or of a file -> a named table, and several of them -> one corpus.

A workbook or a folder may contain a table for each annotator, parts of one table, or one table and
others that are not about answers. `grids_corpus` sees which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError, DissensusError, counted, listed
from dissensus.readers.delimited import of_two_rows
from dissensus.readers.exports.folders import short_names
from dissensus.readers.formats.survey import survey_corpus
from dissensus.readers.json_text import Place, text_array
from dissensus.readers.layout import Layout, matching, taken_without
from dissensus.readers.recognition import is_survey
from dissensus.readers.tables.cleaning import without_rejected
from dissensus.readers.tables.column_names import NAMES, candidates, plain
from dissensus.readers.tables.proposals import propose_annotators
from dissensus.readers.tables.rows import Rows, free_name, make_rows, numbered
from dissensus.readers.tables.shapes import table_corpus
from dissensus.scales import as_numbers

ROW = "{row}"  # stands for the number of a row in its file
AS_IT_IS = Layout()
MOST_BEFORE = 30  # rows that may stand above the column names
FULL = 0.7  # share of the usual number of cells that a row of column names has
FEW_ROWS = 10  # in which ratings may all be different, as items are
SAME_ITEMS = 0.3  # share of a table's items that another table must have too
Cells = list[str | None]


@dataclass(frozen=True)
class Grid:
    """A table of texts with the name of its sheet or file."""

    name: str
    header: tuple[str, ...]
    cells: list[Cells]  # as wide as the header
    numbers: list[int]  # of the row of names, and of those of `cells`
    above: int = 0  # rows before the column names
    remarks: int = 0  # rows with one cell, below a blank row at the end, that are left out

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(plain(name) for name in self.header)

    @property
    def places(self) -> list[str]:
        return [f"{self.name}, row {number}" for number in self.numbers[1:]]

    def column(self, name: str) -> list[str | None]:
        at = self.header.index(name)
        return [row[at] for row in self.cells]

    def rows(self, path: Path) -> Rows:
        return rows_of(path, self.header, self.cells, self.places)


# ---- from cells ----


def grid(
    name: str, rows: Iterable[Cells], named: bool = True, layout: Layout = AS_IT_IS
) -> Grid | None:
    """A table from all cells of a sheet; None if there are none.

    Blank rows and columns around it are left out. The column names are in the first row that is
    about as full as the rows after it: titles and remarks may stand above.

    Args:
        named: whether the table has column names; they are numbers otherwise.
        layout: may say in which rows they are, or give others.
    """
    filled = {n: row for n, row in enumerate(rows, start=1) if any(row) and n > layout.skip}
    if not filled:
        return None
    full = {number: sum(map(bool, row)) for number, row in filled.items()}
    last = max((number for number, size in full.items() if size > 1), default=0)
    has_remarks = sorted(full.values())[len(full) // 2] > 2 and last + 1 not in full
    remarks = sum(number > last for number in full) if has_remarks and layout.header != 0 else 0
    filled = dict([*filled.items()][: len(filled) - remarks])
    width, numbers = max(map(len, filled.values())), list(filled)
    padded = [[*row, *[None] * (width - len(row))] for row in filled.values()]
    names: Cells = [None] * width
    start = -1  # the row of names
    if named and layout.header != 0:
        start = 0 if layout.header or layout.skip else _header_row(padded)
        names = padded[start]
        if layout.header == 2 and len(padded) > 1:
            names, start = [*of_two_rows(*([c or "" for c in row] for row in padded[:2]))], 1
    below = padded[start + 1 :]
    kept = [at for at in range(width) if names[at] or any(row[at] for row in below)]
    header = tuple((names[at] or "").strip() for at in kept)
    if start < 0:
        header = layout.columns or tuple(f"column {number}" for number, _ in enumerate(kept, 1))
        if len(header) != len(kept):
            raise DataError(f"{name}: {len(kept)} columns, but {len(header)} names")
    cells = [[row[at] for at in kept] for row in below]
    return Grid(name, header, cells, [0, *numbers][start + 1 :], max(start, 0), remarks)


def _header_row(rows: list[Cells]) -> int:
    """The first row that is about as full as those after it."""
    full = [sum(cell is not None for cell in row) for row in rows]
    for number, size in enumerate(full[:MOST_BEFORE]):
        after = sorted(full[number + 1 : number + 1 + 50])
        usual = after[len(after) // 2] if after else 0
        if size >= FULL * usual and size >= min(2, max(full)):
            return number
    return 0


def looks_named(grids: Sequence[Grid]) -> bool:
    """Whether the first row of these tables, which share their columns, contains names.

    It does not if its cell in a column of answers occurs below as an answer.

    Example:
        >>> rows = [["see", "telic"], ["run", "atelic"], ["win", "telic"], ["eat", "telic"]]
        >>> looks_named([grid("ann", rows)])
        False
    """
    for one in grids:
        for at, name in enumerate(one.header):
            values = [row[at] for row in one.cells if row[at] is not None]
            if len(values) > 2 and len(set(values)) < len(values) and name in values:
                return False
    return True


def rows_of(
    path: Path, header: Sequence[str], cells: Sequence[Cells], places: list[str] | None = None
) -> Rows:
    """A table as `Rows`."""
    place: Place = "row {}".format if places is None else places.__getitem__
    arrays = [
        text_array(name, [row[at] for row in cells], path, place) for at, name in enumerate(header)
    ]
    facts = {} if places is None else {"place": place}
    folder = path.resolve().parent
    return make_rows(header, arrays, str(path), name=path.name, folder=folder, **facts)


# ---- several tables ----


def matched_corpus(
    path: Path, names: Iterable[str], table: Callable[[str], Rows], options: Layout, unit: str
) -> Corpus:
    """The rows of all tables whose names fit the pattern `files`, with its parts as columns."""
    names = list(names)
    matches = matching(str(options.files), names, str(path))
    if not matches:
        raise DataError(
            f"{path}: no {unit} is named like {options.files!r}; there are {listed(names, 5)}"
        )
    parts = [(table(name), texts) for name, texts in matches.items()]
    header = dict.fromkeys(name for rows, texts in parts for name in (*rows.columns, *texts))
    arrays = {
        name: [
            pa.array([texts[name]] * rows.n_rows)
            if name in texts
            else rows.columns[name].array()
            if name in rows.columns
            else pa.nulls(rows.n_rows, pa.string())
            for rows, texts in parts
        ]
        for name in header
    }
    sizes = [rows.n_rows for rows, _ in parts]
    if ROW in options.item_parts:
        arrays[ROW] = [numbered(size, first=1).array() for size in sizes]
    starts = np.cumsum([0, *sizes])
    files = list(matches)

    def place(row: int) -> str:
        at = int(np.searchsorted(starts, row, side="right")) - 1
        return f"{files[at]}, {parts[at][0].place(row - int(starts[at]))}"

    columns = [pa.chunked_array(chunks, pa.string()) for chunks in arrays.values()]
    rows = make_rows(
        list(arrays),
        columns,
        str(path),
        name=path.name,
        place=place,
        folder=path.resolve(),
        sets=frozenset().union(*(one.sets for one, _ in parts)),
        notes=tuple(dict.fromkeys(note for one, _ in parts for note in one.notes)),
    )
    item, annotator = (role if role in header else None for role in ("item", "annotator"))
    layout = Layout(item=item, annotator=annotator)
    return table_corpus(rows, layout.with_changes(**options.stated()))


def grids_corpus(path: Path, grids: Sequence[Grid], options: Layout, unit: str) -> Corpus:
    """The corpus in one or several tables.

    Args:
        unit: what a table is in: "sheet" or "file".
    """
    grids = [one for one in grids if one.cells]
    if not grids:
        raise DataError(f"{path}: no {unit} contains a table")
    by_name = {one.name: one for one in grids}
    if options.files is not None:
        return matched_corpus(path, by_name, lambda name: by_name[name].rows(path), options, unit)
    if options.corpus is not None:
        if options.corpus not in by_name:
            names = [one.name for one in grids]
            raise DataError(f"{path}: no {unit} {options.corpus!r}; there are {listed(names)}")
        grids = [one for one in grids if one.name == options.corpus]
        options = replace(options, corpus=None)
    tables = _Tables(path, options, unit)
    corpus = tables.corpus(tables.distinct(grids))
    notes = tuple(f"{path.name}: {note}" for note in tables.notes)
    return replace(corpus, notes=(*corpus.notes, *notes))


@dataclass
class _Tables:
    """Several tables of a workbook or a folder; notes are added while they are read."""

    path: Path
    options: Layout
    unit: str
    notes: list[str] = field(default_factory=list)

    def distinct(self, grids: Sequence[Grid]) -> list[Grid]:
        """The tables without those whose cells are all in another one."""
        kept: list[Grid] = []
        for one in grids:
            copy = next((k for k in kept if k.header == one.header and k.cells == one.cells), None)
            if copy is None:
                kept.append(one)
            else:
                self.notes.append(
                    f"{self.unit} {one.name!r} has the same cells as {copy.name!r} and is left "
                    "out; if both are annotators, they gave the same answers"
                )
        return kept

    def corpus(self, grids: list[Grid]) -> Corpus:
        if len(grids) == 1:
            corpus, notes = self.single(grids[0])
            self.notes += notes
            return corpus
        alike = _alike(grids)
        if len(alike) > 1:
            return self.joined(alike, [one for one in grids if one not in alike])
        return self.readable(grids)

    def single(self, one: Grid) -> tuple[Corpus, list[str]]:
        """The corpus in a table, and notes about it."""
        above = [f"{one.name}: the column names are in row {one.numbers[0]}"] if one.above else []
        if one.remarks:
            rows = counted(one.remarks, "row")
            above.append(f"{one.name}: {rows} of remarks below the table left out")
        stated = self.options.has_patterns or self.options.format is not None
        if not stated and not one.above and is_survey(one.header):
            return survey_corpus(self.path, one.header, one.cells, self.options), above
        return table_corpus(one.rows(self.path), self.options), above

    def readable(self, grids: Sequence[Grid]) -> Corpus:
        """The one table that contains answers; refused if there are none or several."""
        corpora: dict[str, tuple[Corpus, list[str]]] = {}
        errors: dict[str, DissensusError] = {}
        for one in grids:
            try:
                corpora[one.name] = self.single(one)
            except DissensusError as error:
                errors[one.name] = error
        if len(corpora) > 1:
            raise DataError(
                f"{self.path}: {listed(corpora)} are different tables of answers; choose one with "
                f"corpus=, --corpus {next(iter(corpora))!r}"
            )
        if not corpora:
            largest = max(grids, key=lambda one: len(one.cells))
            why = str(errors[largest.name]).removeprefix(f"{self.path}").lstrip(":, ")
            raise DataError(
                f"{self.path}: no {self.unit} of {listed([one.name for one in grids])} could be "
                f"read as answers. The largest, {largest.name!r}: {why}"
            )
        ((name, (corpus, above)),) = corpora.items()
        left = ", ".join(one.name for one in grids if one.name != name)
        self.notes[:0] = above
        self.notes.append(f"read from the {self.unit} {name!r}; not read: {left}")
        return corpus

    def joined(self, alike: list[Grid], others: list[Grid]) -> Corpus:
        """Tables with the same columns: parts of one table, or an annotator each."""
        unit, options = self.unit, self.options
        header = list(dict.fromkeys(name for one in alike for name in one.header))
        cells = []
        for one in alike:
            at = [one.header.index(name) if name in one.header else None for name in header]
            cells += [[None if n is None else row[n] for n in at] for row in one.cells]
        names = [one.name for one in alike]
        of_rows = [one.name for one in alike for _ in one.cells]
        places = [place for one in alike for place in one.places]

        def rows_with(more: dict[str, list[str | None]]) -> Rows:
            wide = [[*row, *values] for row, *values in zip(cells, *more.values(), strict=True)]
            return rows_of(self.path, [*header, *more], wide, places)

        if _names_annotators(rows_of(self.path, header, cells), options):
            self.notes.append(f"one table in {counted(len(alike), unit)}: {', '.join(names)}")
            corpus = table_corpus(rows_with({free_name(unit, header): [*of_rows]}), options)
        else:
            item, columns, others = self.items(alike, others, header)
            short = short_names(list(dict.fromkeys(names)))
            self.notes.append(f"an annotator in each {unit}: {', '.join(short.values())}")
            annotator = free_name("annotator", header)
            rows = rows_with({annotator: [short[name] for name in of_rows], **columns})
            with taken_without({annotator, *columns, *({item} - {*header})}):
                corpus = table_corpus(rows, replace(options, item=item, annotator=annotator))
            answered = [one.item for one in corpus.questions.values()]
            several = any(len(np.unique(items)) < len(items) for items in answered)
            if options.item is None and not (several and corpus.n_items > 1):
                raise DataError(
                    f"{self.path}: {counted(len(alike), unit)} with the same columns, but no two "
                    f"of them answer the same items, so the {unit}s are no annotators; name one "
                    f"{unit} (corpus=, --corpus) or the columns (item=, --item; annotator=, "
                    "--annotator)"
                )
        self.notes += [f"not read: {', '.join(one.name for one in others)}"] if others else []
        return corpus

    def items(
        self, alike: list[Grid], others: list[Grid], header: list[str]
    ) -> tuple[str, dict[str, list[str | None]], list[Grid]]:
        """The column that names the items, columns to add, and the tables that are still not read;
        adds a note if items are told by the numbers of their rows."""
        item = self.options.item or _item_column(alike, header)
        if item is not None:
            return item, {}, others
        item = free_name("item", header)
        sizes = {one.name: len(one.cells) for one in alike}
        size = len(alike[0].cells)
        if len(set(sizes.values())) > 1:
            sized = ", ".join(f"{name} {n}" for name, n in sizes.items())
            raise DataError(
                f"{self.path}: no column of {listed(header)} names the items, and the {self.unit}s "
                f"have different numbers of rows ({sized}); name the column (item=, --item)"
            )
        note = f"no column names the items: row 1 of every {self.unit} is item 1"
        columns: dict[str, list[str | None]] = {item: [str(n) for n in range(1, size + 1)]}
        same_size = next((one for one in others if len(one.cells) == size), None)
        if same_size is not None:
            note = f"row by row, the items are those of {self.unit} {same_size.name!r}"
            named = {n: n if n not in header else f"{same_size.name}.{n}" for n in same_size.header}
            columns |= {new: same_size.column(old) for old, new in named.items() if old}
        self.notes.append(note)
        others = [one for one in others if one is not same_size]
        return item, {name: column * len(alike) for name, column in columns.items()}, others


def _alike(grids: Sequence[Grid]) -> list[Grid]:
    """The tables that share their column names: the largest such group."""
    columns = Counter(one.columns for one in grids).most_common(1)[0][0]
    return [one for one in grids if one.columns == columns]


def _names_annotators(rows: Rows, options: Layout) -> bool:
    """Whether the tables have annotators themselves, as a column or as several."""
    if options.annotator is not None or options.annotators is not None:
        return True
    rows, _ = without_rejected(rows)
    named = [name for name in candidates("annotator", rows) if len(rows.columns[name].values) > 1]
    try:
        return bool(named) or propose_annotators(rows, options) is not None
    except DissensusError:
        return True  # refused as a wide table: `table_corpus` says why


def _item_column(alike: Sequence[Grid], header: Sequence[str]) -> str | None:
    """The column that names the items: distinct within a table, shared between tables."""
    fits = []
    for name in header:
        columns = [one.column(name) for one in alike if name in one.header]
        first, *rest = sets = [set(column) for column in columns]
        unique = all(len(s) == len(c) for s, c in zip(sets, columns, strict=True))
        if len(columns) == len(alike) and unique and not any(None in one for one in sets):
            shared = [len(first & other) / min(len(first), len(other)) for other in rest]
            if max(shared) >= SAME_ITEMS:
                fits.append((name, as_numbers([str(value) for value in columns[0]]) is None))
    known = [name for role in ("item", "text") for name, _ in fits if plain(name) in NAMES[role]]
    few = min(len(one.cells) for one in alike) < FEW_ROWS
    other = [name for name, is_word in fits if is_word or not few]  # few ratings may be distinct
    return next(iter([*known, *other]), None)
