"""Assembly: columns whose roles are known -> Corpus."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations, Repeats
from dissensus.contents import Contents, media_roots
from dissensus.corpus import Corpus, LeftOut
from dissensus.errors import DataError, cut, did_you_mean, listed
from dissensus.names import Names
from dissensus.readers.files import stem
from dissensus.readers.json_text import set_text
from dissensus.readers.layout import Layout
from dissensus.readers.tables.answers import LONGEST_SHOWN, Answers, answers_of
from dissensus.readers.tables.column_names import kind_of
from dissensus.readers.tables.column_roles import ColumnRoles, items_of, question_groups
from dissensus.readers.tables.dependence import owner, usual_cells
from dissensus.readers.tables.rows import Column, Rows, at_rows, combined, take_rows


@dataclass(frozen=True, eq=False)
class Assembled:
    """A corpus, and what its notes are about."""

    corpus: Corpus
    answers: dict[str, Answers]  # by question
    others: dict[str, list[str]]  # "item", "annotator" or "answer" -> its further columns


def assemble(rows: Rows, roles: ColumnRoles, options: Layout) -> Assembled:
    """Build a corpus from columns whose roles are known."""
    if options.corpus is not None:
        raise DataError(f"{rows.path}: contains one corpus; leave out corpus={options.corpus!r}")
    if options.repeats == "set":
        rows, options = _with_sets(rows, roles), replace(options, repeats="error")
    items = items_of(rows, roles.item, roles.shown)
    annotators = None if roles.annotator is None else rows.columns[roles.annotator]
    return _Assembly(rows, roles, options, items, annotators).assembled()


@dataclass(frozen=True, eq=False)
class _Assembly:
    """A table whose columns are made into a corpus."""

    rows: Rows
    roles: ColumnRoles
    options: Layout
    items: Column
    annotators: Column | None

    def assembled(self) -> Assembled:
        """The corpus, and what its notes are about."""
        rows, roles, items, annotators = self.rows, self.roles, self.items, self.annotators
        answers = self.answers()
        if annotators is not None:
            rows.check_texts([str(roles.annotator)], "annotators")
            for part in answers.values():
                blank = at_rows(annotators.codes, part.rows) < 0
                if blank.any():
                    row = int(part.rows[blank.argmax()])
                    raise DataError(f"{rows.at(row)}: no annotator: {roles.annotator!r} is blank")
        others: dict[str, list[str]] = {"item": [], "annotator": [], "answer": []}
        people = annotators if annotators is not None and annotators.is_filled else None
        for name, column in rows.columns.items():
            if name not in roles.used and not column.is_bytes:
                others[owner(column, items, people) or "answer"].append(name)
        questions = {
            name: self.annotations(name, part, others["answer"]) for name, part in answers.items()
        }
        left = []  # rows without an answer, and those that the rule for repeats dropped
        for name, part in answers.items():
            n_dropped = 0 if annotators is None else len(part.rows) - questions[name].n_rows
            left += [(name, "no answer", len(part.blank)), (name, "repeated answer", n_dropped)]
        gold, notes = self.gold(answers)
        columns = {"item": roles.item, "annotator": roles.annotator, **roles.shown}
        cells = rows.columns
        corpus = Corpus.build(
            self.options.name or stem(rows.name),
            items.names,
            questions,
            annotators=Names.range(0) if annotators is None else annotators.names,
            contents={role: self.contents(column) for role, column in roles.shown.items()},
            item_attributes={name: usual_cells(cells[name], items) for name in others["item"]},
            annotator_attributes={
                name: typed_cells(usual_cells(cells[name], people))
                for name in others["annotator"]
                if people is not None
            },
            gold=gold,
            splits={"official": usual_cells(cells[roles.split], items)} if roles.split else {},
            left_out=tuple(LeftOut(*one) for one in left if one[2]),
            notes=tuple(notes),
            columns={n: c for n, c in columns.items() if c is not None and not c.startswith("(")},
        )
        return Assembled(corpus, answers, others)

    def answers(self) -> dict[str, Answers]:
        """Question -> its answers: a question per column, or per value of the question column."""
        rows, roles, options = self.rows, self.roles, self.options
        every = np.arange(rows.n_rows, dtype=np.int32 if rows.n_rows < 1 << 31 else np.int64)
        parts = {column: (column, every) for column in roles.answer}
        if roles.question is not None:
            questions = rows.columns[roles.question]
            rows.check_filled(questions, "question", [roles.question])
            if len(roles.answer) != 1:
                raise DataError(
                    f"{rows.path}: a table with a question column has one column of answers, "
                    f"found {listed(roles.answer)}"
                )
            order = np.argsort(questions.codes, kind="stable")
            ends = np.cumsum(np.bincount(questions.codes))[:-1]
            chosen = zip(questions.values.to_pylist(), np.split(order, ends), strict=True)
            parts = {name: (roles.answer[0], part) for name, part in chosen}
        scales = options.scale if isinstance(options.scale, Mapping) else {}
        if strange := [name for name in scales if name not in parts]:
            raise DataError(
                f"{rows.path}: a scale for {listed(strange)}{did_you_mean(strange[0], parts)}; the "
                f"questions are {listed(parts)}"
            )
        return {
            name: answers_of(rows, column, name, part, options)
            for name, (column, part) in parts.items()
        }

    def annotations(self, name: str, answers: Answers, extra: list[str]) -> Annotations:
        """The answers to one question, with the extra columns that describe single answers."""
        rows, roles, annotators = self.rows, self.roles, self.annotators
        count = rows.columns[roles.count].numbers() if roles.count else None
        seconds = rows.columns[roles.seconds].numbers() if roles.seconds else None
        kept, stored = answers.rows, answers.stored
        if count is not None:
            voted = count[answers.rows] > 0
            kept, stored = kept[voted], stored[voted]
        response = self.responses()
        at = pa.array(kept)
        try:
            return Annotations.from_arrays(
                at_rows(self.items.codes, kept),
                None if annotators is None else at_rows(annotators.codes, kept),
                stored,
                answers.scale,
                items=self.items.names,
                annotators=None if annotators is None else annotators.names,
                count=None if count is None else count[kept],
                response=None if response is None else response[kept],
                seconds=None if seconds is None else seconds[kept],
                extra={name: rows.columns[name].array().take(at) for name in extra},
                repeats=cast(Repeats, self.options.repeats),
            )
        except DataError as error:
            if annotators is None or "--repeats" not in str(error):
                raise DataError(f"{rows.path}: {name}: {error}") from None
            taken = f"item = {roles.item or ' + '.join(roles.shown.values())}"
            raise DataError(
                f"{rows.path}: {taken}, annotator = {roles.annotator}: {name}: {error}; or set, if "
                "they are several values of one answer"
            ) from None

    def responses(self) -> np.ndarray | None:
        """A number per row for the answers that one annotator gave to one item at the same time."""
        n_rows = self.rows.n_rows
        if self.roles.response is None:
            return np.arange(n_rows) if len(self.roles.answer) > 1 else None
        responses = self.rows.columns[self.roles.response]
        alone = len(responses.values) + np.arange(n_rows)
        together = np.where(responses.codes < 0, alone, responses.codes).astype(np.int64)
        pairs = self.items.codes.astype(np.int64) * (len(responses.values) + n_rows) + together
        return np.unique(pairs, return_inverse=True)[1].reshape(-1)

    def gold(self, answers: dict[str, Answers]) -> tuple[dict[str, Annotations], list[str]]:
        """Gold labels, one per item, on the question's scale if they are on it; and their notes."""
        rows, roles, items = self.rows, self.roles, self.items
        gold = {}
        notes: list[str] = []
        for name, part in answers.items():
            column = roles.gold.get(roles.answer[0] if roles.question else name)
            if column is None:
                continue
            groups = question_groups(rows, items, roles.question)
            conflict = rows.columns[column].conflict(groups)
            if conflict is not None:
                where = f"{rows.at(conflict)}: item {items[conflict]!r}"
                raise DataError(f"{where} has two labels in {column!r}")
            every = np.sort(np.r_[part.rows, part.blank])
            same = Layout(scale=part.scale, merge_variants=self.options.merge_variants)
            try:
                labels = answers_of(rows, column, name, every, same, gold=True)
            except DataError:  # values that no annotator gave: a scale of their own
                labels = answers_of(rows, column, name, every, Layout(), gold=True)
            item, first = np.unique(items.codes[labels.rows], return_index=True)
            stored, scale = labels.stored[first], labels.scale
            gold[name] = Annotations.from_arrays(item, None, stored, scale, items=items.names)
            notes += [f"{column}: {note}" for note in labels.notes if "no answer" in note]
        return gold, notes

    def contents(self, column: str) -> tuple[Contents, np.ndarray]:
        """The distinct contents of a column, and the code of each item's content."""
        rows, items, cells = self.rows, self.items, self.rows.columns[column]
        codes, kind, conflict = cells.per_group(items), kind_of(column), cells.conflict(items)
        if conflict is not None:
            first = cells.values[int(codes[items.codes[conflict]])].as_py()
            raise DataError(
                f"{rows.at(conflict)}: item {short_text(items[conflict])} has two contents in "
                f"{column!r}: {short_text(first)} and {short_text(cells[conflict])}"
            )
        if kind == "text" or cells.is_bytes:
            rows.check_texts([column] if kind == "text" else [], "texts")
            return Contents(kind, cells.values), codes
        paths = [os.path.join(rows.folder, path.strip()) for path in cells.values.to_pylist()]
        contents, code = Contents.distinct(kind, paths, media_roots(rows.folder))  # may be missing
        return contents, np.r_[code, -1][codes]


def _with_sets(rows: Rows, roles: ColumnRoles) -> Rows:
    """The table with a row for each item and annotator, whose answers to a question are a set."""
    if roles.annotator is None:
        raise DataError(f'{rows.path}: repeats="set" (--repeats set) needs annotators')
    named = [items_of(rows, roles.item, roles.shown), rows.columns[roles.annotator]]
    named += [rows.columns[roles.question]] if roles.question else []
    groups = combined(named).codes
    is_first = np.zeros(rows.n_rows, dtype=bool)  # row of each item and annotator
    is_first[np.unique(groups, return_index=True)[1]] = True
    sets = {}
    for name in roles.answer:
        members: dict[int, dict[str, None]] = {group: {} for group in groups[is_first]}
        for group, value in zip(groups, rows.columns[name].array().to_pylist(), strict=True):
            members[group] |= {} if value is None else {value.strip(): None}
        texts = [set_text(list(one)) if one else None for one in members.values()]
        sets[name] = Column.of(pa.array(texts, pa.string()))
    return take_rows(rows, is_first).with_columns(sets, sets=rows.sets | {*roles.answer})


def typed_cells(cells: Any) -> Any:
    """Arrow strings as numbers, if each is spelled as a number is: not "007", not "1e3"."""
    for kind in (pa.int64(), pa.float64()):
        try:
            numbers = cells.cast(kind)
        except pa.ArrowInvalid:
            continue
        if cells.null_count < len(cells) and numbers.cast(cells.type).equals(cells):
            return numbers
    return cells


def short_text(value: Any) -> str:
    """A cell for a message, shortened."""
    return repr(cut(value if isinstance(value, str) else f"{len(value)} bytes", LONGEST_SHOWN))
