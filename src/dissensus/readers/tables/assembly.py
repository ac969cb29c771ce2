"""Assembly: columns whose roles are known -> Corpus."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.errors import DataError, listed
from dissensus.names import Names
from dissensus.readers.files import stem
from dissensus.readers.options import Options
from dissensus.readers.tables.answers import Answers, answers_of
from dissensus.readers.tables.column_names import kind_of
from dissensus.readers.tables.column_roles import Choice, asked_groups, items_of
from dissensus.readers.tables.rows import Column, Rows


@dataclass(frozen=True, eq=False)
class Assembled:
    """A corpus, and what its notes are written from."""

    corpus: Corpus
    answers: dict[str, Answers]  # by question
    others: dict[str, list[str]]  # whose attribute the remaining columns are


def assembled(rows: Rows, choice: Choice, options: Options) -> Assembled:
    """Put a corpus together from columns whose parts are known."""
    if options.corpus is not None:
        raise DataError(f"{rows.path}: holds one corpus; leave out corpus={options.corpus!r}")
    items = items_of(rows, choice.item, choice.shown)
    people = None if choice.annotator is None else rows.columns[choice.annotator]
    answers = _answers(rows, choice, options)
    _check_people(rows, choice, people, answers)
    others = _others(rows, choice, items, people)
    questions = {
        name: _annotations(rows, choice, options, name, found, items, people, others["answer"])
        for name, found in answers.items()
    }
    contents = {role: _contents(rows, column, items) for role, column in choice.shown.items()}
    gold, gold_notes = _gold(rows, choice, options, answers, items)
    corpus = Corpus.build(
        options.name or stem(rows.name),
        Names(items.values),
        questions,
        annotators=Names.range(0) if people is None else Names(people.values),
        contents=contents,
        item_attributes={name: _first_of(rows, name, items) for name in others["item"]},
        annotator_attributes={
            name: _first_of(rows, name, people) for name in others["annotator"] if people
        },
        gold=gold,
        splits={"official": _first_of(rows, choice.split, items)} if choice.split else {},
        left_out=_left_out(answers, questions),
        notes=gold_notes,
    )
    return Assembled(corpus, answers, others)


def _answers(rows: Rows, choice: Choice, options: Options) -> dict[str, Answers]:
    """Question -> its answers: a question per column, or per value of the question's column."""
    every = np.arange(rows.n_rows)
    if choice.question is None:
        parts = {column: (column, every) for column in choice.answer}
    else:
        asked = rows.columns[choice.question]
        blank = asked.first_blank
        if blank is not None:
            raise DataError(f"{rows.at(blank)}: no question: {choice.question!r} is blank")
        if len(choice.answer) != 1:
            raise DataError(
                f"{rows.path}: with a column of questions there is one column of answers, "
                f"found {listed(choice.answer)}"
            )
        order = np.argsort(asked.codes, kind="stable")
        ends = np.cumsum(np.bincount(asked.codes))[:-1]
        names = asked.values.to_pylist()
        chosen = zip(names, np.split(order, ends), strict=True)
        parts = {name: (choice.answer[0], part) for name, part in chosen}
    if isinstance(options.scale, Mapping):
        strange = [name for name in options.scale if name not in parts]
        if strange:
            raise DataError(
                f"{rows.path}: a scale for {listed(strange)}; the questions are {listed(parts)}"
            )
    return {
        name: answers_of(rows, column, name, part, options)
        for name, (column, part) in parts.items()
    }


def _check_people(
    rows: Rows, choice: Choice, people: Column | None, answers: dict[str, Answers]
) -> None:
    """Refuse an answer of nobody, where the others are somebody's."""
    if people is None:
        return
    if people.is_bytes:
        raise DataError(f"{rows.path}: column {choice.annotator!r} holds bytes, not annotators")
    for found in answers.values():
        nobody = people.codes[found.rows] < 0
        if nobody.any():
            row = int(found.rows[nobody.argmax()])
            raise DataError(f"{rows.at(row)}: no annotator: {choice.annotator!r} is blank")


def _annotations(
    rows: Rows,
    choice: Choice,
    options: Options,
    name: str,
    found: Answers,
    items: Column,
    people: Column | None,
    carried: list[str],
) -> Annotations:
    count = rows.columns[choice.count].numbers() if choice.count else None
    seconds = rows.columns[choice.seconds].numbers() if choice.seconds else None
    kept = found.rows if count is None else found.rows[count[found.rows] > 0]
    stored = found.stored if count is None else found.stored[count[found.rows] > 0]
    response = _responses(rows, choice, items)
    at = pa.array(kept)
    try:
        return Annotations.from_arrays(
            items.codes[kept],
            None if people is None else people.codes[kept],
            stored,
            found.scale,
            items=Names(items.values),
            annotators=None if people is None else Names(people.values),
            count=None if count is None else count[kept],
            response=None if response is None else response[kept],
            seconds=None if seconds is None else seconds[kept],
            extra={name: rows.columns[name].array().take(at) for name in carried},
            repeats=options.repeats,
        )
    except DataError as error:
        raise DataError(f"{rows.path}: {name}: {error}") from None


def _responses(rows: Rows, choice: Choice, items: Column) -> np.ndarray | None:
    """A number per row for what one person said of one item at one time."""
    if choice.response is None:
        return np.arange(rows.n_rows) if len(choice.answer) > 1 else None
    given = rows.columns[choice.response]
    alone = len(given.values) + np.arange(rows.n_rows)
    together = np.where(given.codes < 0, alone, given.codes).astype(np.int64)
    pairs = items.codes.astype(np.int64) * (len(given.values) + rows.n_rows) + together
    return np.unique(pairs, return_inverse=True)[1].reshape(-1)


def _left_out(
    answers: dict[str, Answers], questions: dict[str, Annotations]
) -> tuple[LeftOut, ...]:
    """Rows that hold no answer, and rows that the rule for repeats dropped."""
    left = []
    for name, found in answers.items():
        if len(found.blank):
            left.append(LeftOut(name, "no answer", len(found.blank)))
        dropped = len(found.rows) - questions[name].n_rows
        if dropped and questions[name].annotator is not None:
            left.append(LeftOut(name, "repeated answer", dropped))
    return tuple(left)


def _gold(
    rows: Rows, choice: Choice, options: Options, answers: dict[str, Answers], items: Column
) -> tuple[dict[str, Annotations], tuple[str, ...]]:
    """Gold labels, one per item, on the question's scale if they are on it; and their notes."""
    gold = {}
    notes: tuple[str, ...] = ()
    for name, found in answers.items():
        column = choice.gold.get(choice.answer[0] if choice.question else name)
        if column is None:
            continue
        groups = asked_groups(rows, items, choice.question)
        conflict = rows.columns[column].conflict(groups.codes, len(groups.values))
        if conflict is not None:
            item = items[conflict]
            raise DataError(f"{rows.at(conflict)}: item {item!r} has two labels in {column!r}")
        asked = np.sort(np.r_[found.rows, found.blank])
        like = Options(scale=found.scale, merge_variants=options.merge_variants)
        try:
            labels = answers_of(rows, column, name, asked, like, gold=True)
        except DataError:  # labels that nobody answered: a scale of their own
            labels = answers_of(rows, column, name, asked, Options(), gold=True)
        item, first = np.unique(items.codes[labels.rows], return_index=True)
        gold[name] = Annotations.from_arrays(
            item, None, labels.stored[first], labels.scale, items=Names(items.values)
        )
        notes += tuple(f"{column}: {note}" for note in labels.notes if "no answer" in note)
    return gold, notes


def _contents(rows: Rows, column: str, items: Column) -> tuple[Contents, np.ndarray]:
    """The distinct contents of a column, and the code of each item's."""
    held = rows.columns[column]
    conflict = held.conflict(items.codes, len(items.values))
    if conflict is not None:
        first = held.per_group(items.codes, len(items.values))[items.codes[conflict]]
        raise DataError(
            f"{rows.at(conflict)}: item {short_text(items[conflict])} has two contents in "
            f"{column!r}: {short_text(held.values[int(first)].as_py())} and "
            f"{short_text(held[conflict])}"
        )
    codes = held.per_group(items.codes, len(items.values))
    kind = kind_of(column)
    if kind == "text" or held.is_bytes:
        if kind == "text" and held.is_bytes:
            raise DataError(f"{rows.path}: column {column!r} holds bytes, not texts")
        return Contents(kind, held.values), codes
    contents, code = Contents.distinct(kind, _files(rows, column, kind))
    return contents, np.r_[code, -1][codes]


def _files(rows: Rows, column: str, kind: str) -> list[str]:
    """The files that a column names, as absolute paths; one of them is there at least."""
    held = rows.columns[column]
    written = held.values.to_pylist()
    paths = [os.path.join(rows.folder, path.strip()) for path in written]
    if paths and not any(map(os.path.isfile, paths)):
        row = int((held.codes == 0).argmax())
        raise DataError(
            f"{rows.at(row)}: {kind} {written[0]!r} is no file in {rows.folder}, nor is any other; "
            f"put them there, or, if {column!r} holds names only, say item={column!r} "
            f"(--item {column})"
        )
    return paths


def _others(
    rows: Rows, choice: Choice, items: Column, people: Column | None
) -> dict[str, list[str]]:
    """Whose attribute each remaining column is: the item's, the annotator's or the answer's."""
    others: dict[str, list[str]] = {"item": [], "annotator": [], "answer": []}
    n_items = len(items.values)
    n_people = 0 if people is None else len(people.values)
    for name, column in rows.columns.items():
        if name in choice.used or column.is_bytes:
            continue
        of_person = (
            people is not None
            and people.first_blank is None
            and column.is_constant(people.codes, n_people)
        )
        if of_person and n_people < rows.n_rows == n_items:
            others["annotator"].append(name)  # of an item with one row, everything is constant
        elif column.is_constant(items.codes, n_items):
            others["item"].append(name)
        else:
            others["annotator" if of_person else "answer"].append(name)
    return others


def _first_of(rows: Rows, name: str, groups: Column) -> Any:
    """The entry of each group's first row, as Arrow strings, null where it is blank."""
    codes = rows.columns[name].per_group(groups.codes, len(groups.values))
    return rows.columns[name].values.take(pa.array(codes, mask=codes < 0))


def short_text(value: Any, most: int = 40) -> str:
    text = value if isinstance(value, str) else f"{len(value)} bytes"
    return repr(text if len(text) <= most else text[:most] + "...")
