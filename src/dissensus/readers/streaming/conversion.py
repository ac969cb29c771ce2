"""Conversion: a streamed table -> a corpus folder in the order of items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations, block_bounds
from dissensus.corpus import Corpus, LeftOut
from dissensus.corpus.corpus import ROWS_AT_ONCE
from dissensus.corpus.folder import write_corpus
from dissensus.errors import DataError
from dissensus.folders import writing
from dissensus.names import Names
from dissensus.plain_files import compression
from dissensus.progress import Advance, progress
from dissensus.readers.files import stem
from dissensus.readers.options import Options
from dissensus.readers.streaming.batches import (
    Batches,
    DelimitedFile,
    NotStreamedError,
    parquet_batches,
)
from dissensus.readers.streaming.coded_rows import CodedRows, RowCoder, first_table
from dissensus.readers.streaming.facts import Facts, ItemBlocks, StreamedQuestion, ValueFacts
from dissensus.readers.streaming.first_rows import StreamedColumns, streamed_columns
from dissensus.readers.streaming.json_lines import JsonLinesFile
from dissensus.readers.streaming.runs import RunWriter
from dissensus.readers.streaming.streamed_answers import StreamedAnnotations, ValueCodes
from dissensus.readers.tables.answers import Answers, answers_of
from dissensus.readers.tables.assembly import (
    Assembled,
    check_scales,
    contents_of,
    gold_labels,
    gold_notes,
    role_columns,
    typed_cells,
)
from dissensus.readers.tables.inferred_scales import order_notes_of
from dissensus.readers.tables.long import copies_note
from dissensus.readers.tables.notes import amounts_of, recognised, remarks, unanswered
from dissensus.readers.tables.rows import Rows
from dissensus.scales import Ordinal

WHOLE = 256 << 20  # bytes of a file that is read as a whole
UNPACKED = 6  # how many times its size a compressed file is expected to be
FIRST_ROWS = 500_000  # in which the roles of columns are recognised


@dataclass(frozen=True)
class Converted:
    """What was written."""

    corpus: Corpus  # without answers
    n_answers: int
    questions: tuple[str, ...]


def is_large(path: Path) -> bool:
    """Whether a file is too large to be read as a whole."""
    if not path.is_file():
        return False
    times = (
        UNPACKED if compression(_packed_start(path)) or path.suffix in (".parquet", ".pq") else 1
    )
    return times * path.stat().st_size > WHOLE


def _packed_start(path: Path) -> bytes:
    """The first bytes of a file as they are; none if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(16)
    except OSError:
        return b""


def convert_by_item(path: Path, file_format: str, out: Path, options: Options) -> Converted:
    """Write a long table as a corpus folder in the order of items, without loading it.

    A table that has to be read as a whole is refused with a `NotStreamedError`.

    Args:
        file_format: "csv", "jsonl" or "parquet"; no other one is streamed.
    """
    if file_format == "csv":
        batches = DelimitedFile(path, options.encoding).batches()
    elif file_format == "jsonl":
        batches = JsonLinesFile(path, options.encoding).batches()
    elif file_format == "parquet" and not compression(_packed_start(path)):
        batches = parquet_batches(path)
    else:
        raise NotStreamedError(f"its format is {file_format}")
    if options.corpus is not None:
        raise DataError(f"{path}: contains one corpus; leave out corpus={options.corpus!r}")
    with writing(out, "corpus") as folder:
        columns, coded = _coded(path, batches, options, folder.with_name("runs"))
        bounds = block_bounds(
            np.r_[0, np.cumsum(coded.runs.sizes)], 1 + coded.runs.n_rows // ROWS_AT_ONCE
        )
        blocks = ItemBlocks(coded, coded.runs.blocks(bounds), columns, options.repeats)
        n_steps = len(blocks) * (1 + len(blocks.questions))
        with progress("sorting", n_steps) as advance:
            facts = Facts.collect(blocks, advance)
            table = _Table(path, batches, blocks, facts, options, advance)
            corpus, questions = table.corpus()
            write_corpus(corpus, folder, questions)
        n_answers = sum(question.n_rows for question in questions.values())
        return Converted(corpus, n_answers, tuple(questions))


def _coded(
    path: Path, batches: Batches, options: Options, folder: Path
) -> tuple[StreamedColumns, CodedRows]:
    """Read the file once: its columns, and all rows in runs."""
    parts = batches.parts()
    first, n_first = [], 0
    for arrays in parts:
        first.append(arrays)
        n_first += len(arrays[0])
        if n_first >= FIRST_ROWS:
            break
    if not first:
        raise DataError(f"{path}: column names, but no rows")
    arrays = [pa.chunked_array(column) for column in zip(*first, strict=True)]
    rows = first_table(path, batches, arrays)
    columns = streamed_columns(rows, options)
    names = [name.strip() for name in batches.names]
    coder = RowCoder(path, columns, batches, names, RunWriter(folder))
    with progress("reading", path.stat().st_size) as advance:
        done = 0
        for arrays in _all(first, parts):
            coder.add(arrays)
            advance(batches.position() - done)
            done = batches.position()
    return columns, coder.coded()


def _all(first: list[list[Any]], rest: Iterator[list[Any]]) -> Iterator[list[Any]]:
    """The first batches, which are not kept, and the rest."""
    while first:
        yield first.pop(0)
    yield from rest


@dataclass(frozen=True, eq=False)
class _Table:
    """A table whose rows are in runs, and facts about them."""

    path: Path
    batches: Batches
    blocks: ItemBlocks
    facts: Facts
    options: Options
    advance: Advance

    def corpus(self) -> tuple[Corpus, dict[str, StreamedAnnotations]]:
        """The corpus without answers, and the answers in blocks."""
        columns, values = self.blocks.columns, self.blocks.coded.values
        roles = columns.roles
        items = values[columns.item].names
        annotators = Names.range(0)
        if roles.annotator is not None:
            annotators = values[roles.annotator].names
        by_name = {question.name: question for question in self.blocks.questions}
        check_scales(str(self.path), by_name, self.options)
        answers = {name: self._answers(question) for name, question in by_name.items()}
        read = {
            name: self._annotations(question, answers[name], items, annotators)
            for name, question in by_name.items()
        }
        questions = {name: question.with_repeats_applied() for name, question in read.items()}
        gold, notes = self._gold(answers, items)
        corpus = Corpus.build(
            self.options.name or stem(self.path.name),
            items,
            {},
            annotators=annotators,
            contents={
                role: contents_of(self._rows(name, None), name, self.facts.of_items[name])
                for role, name in roles.shown.items()
            },
            item_attributes={name: self._cells(name) for name in columns.others["item"]},
            annotator_attributes={
                name: typed_cells(self._cells(name)) for name in columns.others["annotator"]
            },
            gold=gold,
            splits={"official": self._cells(roles.split)} if roles.split else {},
            left_out=self._left_out(read, questions),
            notes=notes,
            columns=role_columns(roles),
        )
        all_notes = self._notes(Assembled(corpus, answers, columns.others), questions)
        notes = tuple(f"{self.path.name}: {note}" for note in all_notes)
        left_out = corpus.left_out + self._copied()
        return replace(corpus, notes=notes, left_out=left_out), questions

    def _annotations(
        self, question: StreamedQuestion, answers: Answers, items: Names, annotators: Names
    ) -> StreamedAnnotations:
        """The answers to a question."""
        counts = self.facts.answers[question.name].counts
        return StreamedAnnotations(
            answers.scale,
            items,
            annotators,
            int(counts[answers.rows].sum()),
            self.blocks.blocks.bounds,
            self.blocks.columns.roles.annotator is None,
            self.options.repeats == "keep",
            rows=self.blocks,
            facts=self.facts,
            question=question,
            codes=ValueCodes.of(answers, len(counts)),
            rule=self.options.repeats,
            path=str(self.path),
            place=self.batches.place,
            advance=self.advance,
        )

    def _rows(self, column: str, facts: ValueFacts | None) -> Rows:
        """A table with a row for each value of a column; its place is where it occurs first."""

        def place(code: int) -> str:
            return self.batches.place(0 if facts is None else int(facts.first[code]))

        return Rows(
            {column: self.blocks.coded.values[column]},
            str(self.path),
            self.path.name,
            place=place,
            folder=self.path.resolve().parent,
            commas=self.batches.commas,
        )

    def _answers(self, question: StreamedQuestion) -> Answers:
        """The values of a column as answers: which are, and what they are on the scale."""
        facts, column = self.facts.answers[question.name], question.column
        every, rows = np.arange(len(facts.counts)), self._rows(column, facts)
        return answers_of(rows, column, question.name, every, self.options, counts=facts.counts)

    def _cells(self, column: str) -> Any:
        """The cell of each item, or of each annotator, as Arrow strings."""
        if column in self.facts.of_items:
            codes = self.facts.of_items[column]
        else:
            annotators = self.blocks.coded.values[str(self.blocks.columns.roles.annotator)]
            codes = self.facts.of_annotators[column].codes(len(annotators.values))
        values = self.blocks.coded.values[column].values
        return values.take(pa.array(codes, mask=codes < 0))

    def _gold(
        self, answers: dict[str, Answers], items: Names
    ) -> tuple[dict[str, Annotations], tuple[str, ...]]:
        """Gold labels by question, and notes about them."""
        gold: dict[str, Annotations] = {}
        notes: tuple[str, ...] = ()
        for name, column in self.blocks.columns.roles.gold.items():
            facts, scale = self.facts.gold[column], answers[name].scale
            counts, rows = facts.counts, self._rows(column, facts)
            every = np.arange(len(counts))
            labels = gold_labels(rows, column, name, scale, every, self.options, counts)
            values = ValueCodes.of(labels, len(counts))
            codes = self.facts.of_items[column]
            item = np.flatnonzero(values.is_answer[codes])
            answer = values.stored[codes[item]]
            gold[name] = Annotations.from_arrays(item, None, answer, labels.scale, items=items)
            notes += gold_notes(column, labels)
        return gold, notes

    def _left_out(
        self, read: dict[str, StreamedAnnotations], kept: dict[str, StreamedAnnotations]
    ) -> tuple[LeftOut, ...]:
        """Rows without an answer, and rows that the rule for repeats drops."""
        left = []
        for name, question in read.items():
            if question.n_without:
                left.append(LeftOut(name, "no answer", question.n_without))
            if n_dropped := question.n_rows - kept[name].n_rows:
                left.append(LeftOut(name, "repeated answer", n_dropped))
        return tuple(left)

    def _copied(self) -> tuple[LeftOut, ...]:
        """Answers in rows that repeat another one."""
        n_copied = self.facts.n_copied.items()
        return tuple(LeftOut(name, "repeated row", n) for name, n in n_copied if n)

    def _notes(self, assembled: Assembled, questions: dict[str, StreamedAnnotations]) -> list[str]:
        """What was recognised, and what is to be known about the table."""
        n_answers = sum(question.n_rows for question in questions.values())
        amounts = amounts_of(n_answers, assembled.corpus)
        unnamed = sum(not name.strip() for name in self.batches.names)
        notes = recognised(unnamed, self.blocks.columns.roles, assembled, amounts)
        for name, question in questions.items():
            if question.n_without:
                place = self.batches.place(question.first_without)
                notes.append(unanswered(name, question.n_without, place))
        notes += remarks(assembled, {name: self._unordered(q) for name, q in questions.items()})
        copied = np.concatenate(self.facts.copied)
        if len(copied):
            notes.append(copies_note(len(copied), self.batches.place(int(copied.min()))))
        return notes + self.blocks.coded.notes

    def _unordered(self, question: StreamedAnnotations) -> list[str]:
        """A note if the order of whole numbers says nothing."""
        scale, counts = question.scale, self.facts.levels.get(question.question.name)
        if not isinstance(scale, Ordinal) or counts is None:
            return []
        codes = np.flatnonzero(question.codes.is_answer[:-1])
        by_level = np.zeros((len(counts), len(scale.values)))
        np.add.at(by_level.T, question.codes.stored[codes], counts[:, codes].T)
        return order_notes_of(scale, by_level)
