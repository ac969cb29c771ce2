"""Facts: what all rows of a streamed table say about values, items and annotators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dissensus.annotations import Repeats, in_order
from dissensus.progress import Advance
from dissensus.readers.streaming.batches import NotStreamedError
from dissensus.readers.streaming.coded_rows import CodedRows
from dissensus.readers.streaming.first_rows import StreamedColumns
from dissensus.readers.streaming.runs import SortedBlocks
from dissensus.readers.tables.dependence import TOLERATED, usual_codes
from dissensus.readers.tables.extra_rows import copies
from dissensus.readers.tables.inferred_scales import MOST_ITEMS
from dissensus.readers.tables.rows import Column, Rows

MOST_LEVELS = 100  # values of an ordinal scale that is inferred, words for no answer included
NEVER = np.iinfo(np.int64).max  # the first row of what no row has


@dataclass(frozen=True, eq=False)
class ItemRows:
    """The rows of a block of items, without copies of rows."""

    first: int  # item
    item: np.ndarray  # (n_rows,) codes, from 0 in the block
    n_items: int
    row: np.ndarray  # (n_rows,) of the file
    columns: dict[str, Column]
    copied: np.ndarray  # rows of the file that were left out
    n_copied: dict[str, int]  # column -> filled cells of these rows
    repeats: bool  # whether an annotator has several of these rows for an item

    def items(self) -> Column:
        """The item of each row as a column."""
        return Column(np.arange(self.n_items), self.item)

    def responses(self, column: str) -> np.ndarray:
        """A number for the rows of an item with the same response; blank ones are alone."""
        cells = self.columns[column]
        alone = len(cells.values) + np.arange(len(self.row))
        together = np.where(cells.codes < 0, alone, cells.codes)
        pairs = self.item.astype(np.int64) * (len(cells.values) + len(self.row)) + together
        return np.unique(pairs, return_inverse=True)[1].reshape(-1)


class StreamedQuestion(NamedTuple):
    """A question, the column of its answers and, if a column names the question, its code."""

    name: str
    column: str
    code: int | None = None
    of: str | None = None  # the column that names the question

    def rows(self, columns: dict[str, Column]) -> np.ndarray:
        """The rows of these columns that are about the question."""
        if self.of is None:
            return np.arange(len(columns[self.column]))
        return np.flatnonzero(columns[self.of].codes == self.code)


@dataclass(frozen=True, eq=False)
class ItemBlocks:
    """A streamed table in blocks of items; copies of rows are left out."""

    coded: CodedRows
    blocks: SortedBlocks
    columns: StreamedColumns
    rule: Repeats

    def __len__(self) -> int:
        return len(self.blocks)

    @cached_property
    def questions(self) -> tuple[StreamedQuestion, ...]:
        """A question for each column of answers, or for each value of the question column."""
        roles = self.columns.roles
        if roles.question is None:
            return tuple(StreamedQuestion(name, name) for name in roles.answer)
        names = self.coded.values[roles.question].values.to_pylist()
        column = roles.answer[0]
        return tuple(
            StreamedQuestion(name, column, code, roles.question) for code, name in enumerate(names)
        )

    def __iter__(self) -> Iterator[ItemRows]:
        return map(self.rows, range(len(self)))

    def rows(self, number: int) -> ItemRows:
        """The rows of a block."""
        first, last = self.blocks.bounds[number : number + 2]
        table = self.blocks.block(number)
        row, item = table["row"].to_numpy(), table["item"].to_numpy() - first
        columns = self.coded.table(table)
        copied, n_copied = np.empty(0, np.int64), {one.name: 0 for one in self.questions}
        repeats = self._repeats(item, columns)
        if repeats and self.rule == "error":
            repeated = copies(Rows(columns, "", ""))
            copied = row[repeated]
            n_copied = {one.name: _n_copied(one, columns, repeated) for one in self.questions}
            kept = np.flatnonzero(~repeated)
            row, item = row[kept], item[kept]
            columns = {
                name: Column(column.values, column.codes[kept], column.is_encoded)
                for name, column in columns.items()
            }
            repeats = self._repeats(item, columns)
        return ItemRows(first, item, last - first, row, columns, copied, n_copied, repeats)

    def _repeats(self, item: np.ndarray, columns: dict[str, Column]) -> bool:
        """Whether an annotator has several of these rows for an item."""
        if self.columns.roles.annotator is None:
            return False
        annotators = columns[self.columns.roles.annotator]
        pairs = item.astype(np.int64) * (len(annotators.values) + 1) + annotators.codes + 1
        if self.columns.roles.question is not None:
            questions = columns[self.columns.roles.question]
            pairs = pairs * (len(questions.values) + 1) + questions.codes + 1
        ordered = in_order(pairs)
        return bool((ordered[1:] == ordered[:-1]).any())


def _n_copied(question: StreamedQuestion, columns: dict[str, Column], repeated: np.ndarray) -> int:
    """How many of the repeated rows have an answer to a question."""
    rows = question.rows(columns)
    return int((columns[question.column].codes[rows][repeated[rows]] >= 0).sum())


@dataclass
class ValueFacts:
    """How often each value of a column occurs, and where first."""

    counts: np.ndarray  # (n_values,)
    first: np.ndarray  # (n_values,) row of the file
    n_blank: int = 0
    first_blank: int = NEVER

    @classmethod
    def of(cls, n_values: int) -> ValueFacts:
        return cls(np.zeros(n_values, np.int64), np.full(n_values, NEVER))

    @property
    def n_rows(self) -> int:
        """Rows, with a value or blank."""
        return int(self.counts.sum()) + self.n_blank

    def add(self, codes: np.ndarray, row: np.ndarray) -> None:
        filled = codes >= 0
        if not filled.all():
            self.n_blank += int((~filled).sum())
            self.first_blank = min(self.first_blank, int(row[~filled].min()))
            codes, row = codes[filled], row[filled]
        self.counts += np.bincount(codes, minlength=len(self.counts))
        np.minimum.at(self.first, codes, row)


@dataclass
class UsualCells:
    """The most frequent cell of each annotator in a column."""

    n_values: int
    pairs: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    counts: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    first: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    def add(self, annotator: np.ndarray, codes: np.ndarray, row: np.ndarray) -> None:
        filled = (codes >= 0) & (annotator >= 0)
        pairs = annotator[filled].astype(np.int64) * self.n_values + codes[filled]
        self.pairs, group = np.unique(np.r_[self.pairs, pairs], return_inverse=True)
        counts = np.r_[self.counts, np.ones(len(pairs), np.int64)]
        self.counts = np.bincount(group, counts).astype(np.int64)
        first = np.full(len(self.pairs), NEVER)
        np.minimum.at(first, group, np.r_[self.first, row[filled]])
        self.first = first

    def codes(self, n_annotators: int) -> np.ndarray:
        """The code of each annotator, -1 if all cells are blank."""
        annotator, codes = np.divmod(self.pairs, max(self.n_values, 1))
        order = np.lexsort((self.first, -self.counts, annotator))
        best = order[np.unique(annotator[order], return_index=True)[1]]
        usual = np.full(n_annotators, -1, np.int64)
        usual[annotator[best]] = codes[best]
        return usual

    @property
    def n_unusual(self) -> int:
        """How many cells are not the most frequent of their annotator."""
        annotator = self.pairs // max(self.n_values, 1)
        starts = np.flatnonzero(np.diff(annotator, prepend=-1))
        usual = np.maximum.reduceat(self.counts, starts).sum() if len(starts) else 0
        return int(self.counts.sum() - usual)


@dataclass
class Facts:
    """What a pass over all rows collects."""

    answers: dict[str, ValueFacts]  # by question
    gold: dict[str, ValueFacts]  # by column
    of_items: dict[str, np.ndarray]  # column -> code of each item's cell, (n_items,)
    of_annotators: dict[str, UsualCells]
    n_unusual: dict[str, int]
    levels: dict[str, np.ndarray]  # question -> how often each code was given to the first items
    copied: list[np.ndarray] = field(default_factory=list)
    n_copied: dict[str, int] = field(default_factory=dict)
    n_responses: list[int] = field(default_factory=lambda: [0])  # before each block
    n_rows: int = 0
    repeats: bool = False

    @classmethod
    def collect(cls, blocks: ItemBlocks, advance: Advance) -> Facts:
        """Go through all blocks; a table that needs another reading is refused."""
        columns, values = blocks.columns, blocks.coded.values
        roles = columns.roles
        n_items = len(values[columns.item].values)
        of_items = [*roles.gold.values(), *roles.shown.values(), *columns.of_items]
        facts = cls(
            {q.name: ValueFacts.of(len(values[q.column].values)) for q in blocks.questions},
            {name: ValueFacts.of(len(values[name].values)) for name in roles.gold.values()},
            {name: np.full(n_items, -1, np.int32) for name in of_items},
            {name: UsualCells(len(values[name].values)) for name in columns.others["annotator"]},
            dict.fromkeys(columns.of_items, 0),
            {
                q.name: np.zeros((min(n_items, MOST_ITEMS), len(values[q.column].values)))
                for q in blocks.questions
                if len(values[q.column].values) <= MOST_LEVELS
            },
            n_copied={q.name: 0 for q in blocks.questions},
        )
        for rows in blocks:
            facts._add(rows, columns)
            facts._add_answers(rows, blocks.questions)
            advance(1)
        facts._check(columns)
        return facts

    def _add(self, rows: ItemRows, columns: StreamedColumns) -> None:
        roles, items = columns.roles, rows.items()
        part = slice(rows.first, rows.first + rows.n_items)
        self.n_rows += len(rows.row)
        self.repeats |= rows.repeats
        self.copied.append(rows.copied)
        for name, n_copied in rows.n_copied.items():
            self.n_copied[name] += n_copied
        for name, facts in self.gold.items():
            facts.add(rows.columns[name].codes, rows.row)
        for name, codes in self.of_items.items():
            column = rows.columns[name]
            codes[part] = usual_codes(column, items)
            unusual = (column.codes >= 0) & (codes[part][rows.item] != column.codes)
            if name in self.n_unusual:
                self.n_unusual[name] += int(unusual.sum())
            elif unusual.any():
                raise NotStreamedError(f"{name!r} differs between the rows of an item")
        for name, cells in self.of_annotators.items():
            annotators = rows.columns[str(roles.annotator)].codes
            cells.add(annotators, rows.columns[name].codes, rows.row)
        if roles.response is not None:
            n_responses = int(rows.responses(roles.response).max(initial=-1)) + 1
            self.n_responses.append(self.n_responses[-1] + n_responses)

    def _add_answers(self, rows: ItemRows, questions: tuple[StreamedQuestion, ...]) -> None:
        for question in questions:
            chosen = question.rows(rows.columns)
            codes = rows.columns[question.column].codes[chosen]
            self.answers[question.name].add(codes, rows.row[chosen])
            levels = self.levels.get(question.name)
            if levels is None or rows.first >= len(levels):
                continue
            item = rows.item[chosen] + rows.first
            there = (codes >= 0) & (item < len(levels))
            np.add.at(levels, (item[there], codes[there]), 1)

    def _check(self, columns: StreamedColumns) -> None:
        """Refuse attributes that are none, although the first rows look like it."""
        if self.n_rows > sum(facts.n_rows for facts in self.answers.values()):
            raise NotStreamedError(f"{columns.roles.question!r} is blank in some rows")
        unusual: dict[str, Any] = dict(self.n_unusual)
        unusual |= {name: cells.n_unusual for name, cells in self.of_annotators.items()}
        for name, n_unusual in unusual.items():
            if n_unusual > TOLERATED * self.n_rows:
                raise NotStreamedError(f"{name!r} is no attribute, as in its first rows")
