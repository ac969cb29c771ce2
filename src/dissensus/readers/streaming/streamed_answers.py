"""Streamed answers: the answers to one question, from the runs of a streamed table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from dissensus.annotations import AnnotationBlocks, Annotations, Repeats
from dissensus.annotations.repeats import Repeated
from dissensus.errors import DataError
from dissensus.progress import Advance
from dissensus.readers.streaming.batches import NotStreamedError
from dissensus.readers.streaming.facts import Facts, ItemBlocks, ItemRows, StreamedQuestion
from dissensus.readers.tables.answers import Answers


@dataclass(frozen=True, eq=False)
class ValueCodes:
    """Which codes of a column are answers, and what they are on the scale."""

    is_answer: np.ndarray  # (n_values + 1,); the last is False, for blank cells
    stored: np.ndarray  # (n_values,)

    @classmethod
    def of(cls, answers: Answers, n_values: int) -> ValueCodes:
        """From the answers of a table with a row for each value."""
        is_answer = np.zeros(n_values + 1, dtype=bool)
        is_answer[answers.rows] = True
        stored = np.zeros(n_values, answers.stored.dtype)
        stored[answers.rows] = answers.stored
        return cls(is_answer, stored)


@dataclass(frozen=True, eq=False, repr=False)
class StreamedAnnotations(AnnotationBlocks):
    """The answers to one question in blocks of items, which are merged from runs."""

    rows: ItemBlocks = field(kw_only=True)
    facts: Facts = field(kw_only=True)
    question: StreamedQuestion = field(kw_only=True)
    codes: ValueCodes = field(kw_only=True)
    rule: Repeats = field(kw_only=True)
    path: str = field(kw_only=True)
    place: Callable[[int], str] = field(kw_only=True)
    advance: Advance = field(kw_only=True)

    def block(self, number: int) -> Annotations:
        rows = self.rows.rows(number)
        self.advance(1)
        chosen = self.question.rows(rows.columns)
        codes = rows.columns[self.question.column].codes[chosen]
        kept = chosen[self.codes.is_answer[codes]]
        self._check_annotators(rows, kept)
        try:
            return self._annotations(rows, kept, number)
        except DataError as error:
            raise DataError(f"{self.path}: {self.question.name}: {error}") from None

    def _check_annotators(self, rows: ItemRows, kept: np.ndarray) -> None:
        """Refuse an answer without an annotator if the others have one."""
        column = self.rows.columns.roles.annotator
        blank = np.empty(0, dtype=np.int64)
        if column is not None:
            blank = kept[rows.columns[column].codes[kept] < 0]
        if len(blank):
            place = self.place(int(rows.row[blank].min()))
            raise DataError(f"{self.path}, {place}: no annotator: {column!r} is blank")

    def _annotations(self, rows: ItemRows, kept: np.ndarray, number: int) -> Annotations:
        """The answers in these rows."""
        roles = self.rows.columns.roles
        annotator = None
        if roles.annotator is not None:
            annotator = rows.columns[roles.annotator].codes[kept].astype(np.int64)
        names = self.items.array.slice(rows.first, rows.n_items)
        at = pa.array(kept)
        extra = self.rows.columns.others["answer"]
        return Annotations.from_arrays(
            rows.item[kept].astype(np.int64),
            annotator,
            self.codes.stored[rows.columns[self.question.column].codes[kept]],
            self.scale,
            items=type(self.items).distinct(names),
            annotators=self.annotators,
            response=self._responses(rows, kept, number),
            seconds=self._seconds(rows, kept),
            extra={name: rows.columns[name].array().take(at) for name in extra},
            repeats=self.rule,
        )

    def _responses(self, rows: ItemRows, kept: np.ndarray, number: int) -> np.ndarray | None:
        """A number for the answers of one response: by its column, or the number of the row."""
        roles = self.rows.columns.roles
        if roles.response is not None:
            before = self.facts.n_responses[number]
            return np.asarray(before + rows.responses(roles.response)[kept])
        if len(roles.answer) == 1:
            return None
        row = rows.row[kept]
        return np.asarray(row - np.searchsorted(self._left_out, row))

    @cached_property
    def _left_out(self) -> np.ndarray:
        """The rows of the file that are left out, in order."""
        return np.sort(np.concatenate([self.rows.coded.blank, *self.facts.copied]))

    def _seconds(self, rows: ItemRows, kept: np.ndarray) -> np.ndarray | None:
        column = self.rows.columns.roles.seconds
        if column is None:
            return None
        numbers = rows.columns[column].numbers()
        if numbers is None:
            raise NotStreamedError(f"{column!r} does not only contain numbers")
        return np.asarray(numbers[kept])

    # ---- rows without an answer ----

    @property
    def n_without(self) -> int:
        """Rows without an answer."""
        facts = self.facts.answers[self.question.name]
        return facts.n_rows - int(facts.counts[self.codes.is_answer[:-1]].sum())

    @property
    def first_without(self) -> int:
        """The first row of the file without an answer."""
        facts = self.facts.answers[self.question.name]
        words = facts.first[~self.codes.is_answer[:-1]]
        return int(min(facts.first_blank, words.min(initial=facts.first_blank)))

    # ---- repeats ----

    def with_repeats_applied(self) -> StreamedAnnotations:
        """The same, with the number of rows that the rule for repeats leaves."""
        if not self.facts.repeats or self.rule == "keep":
            return self
        quiet = replace(self, advance=lambda steps, note="": None)
        if self.rule == "error":
            quiet._refuse_repeats()
            return self
        return replace(self, n_rows=sum(block.n_rows for _, block in quiet))

    def _refuse_repeats(self) -> None:
        """Refuse several answers of an annotator to an item, and say how many there are."""
        first: tuple[Annotations, Repeated] | None = None
        n_pairs = 0
        for _, block in replace(self, rule="keep"):
            annotator = block.annotator_codes("repeats")
            repeated = Repeated.find(block.item, annotator, block.n_annotators)
            if repeated is not None:
                first = first or (block, repeated)
                n_pairs += int((repeated.sizes > 1).sum())
        if first is not None:
            block, repeated = first
            message = block.repeats_message(repeated, n_pairs)
            raise DataError(f"{self.path}: {self.question.name}: {message}")
