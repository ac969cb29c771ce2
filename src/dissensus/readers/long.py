"""Long tables: one row per answer -> Corpus."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.errors import DataError, counted, listed
from dissensus.names import Names
from dissensus.readers.answers import NEVER, Answers, answers_of, described
from dissensus.readers.columns import (
    Choice,
    asked_groups,
    choose,
    first_named,
    items_of,
    kind_of,
)
from dissensus.readers.options import Options
from dissensus.readers.rows import Column, Rows
from dissensus.readers.text import stem


def long_table(rows: Rows, options: Options) -> Corpus:
    """Turn a table of texts into a corpus; its first note says what was recognised.

    Columns that have no part of their own become attributes of items or annotators where they
    are constant within each, and else facts carried along with the answers.
    """
    choice = choose(rows, options)
    built = assembled(rows, choice, options)
    said = [
        _recognised(choice, built, rows),
        *_count_remarks(rows, choice),
        *_blank_remarks(rows, built.answers),
        *remarks(built),
    ]
    return replace(built.corpus, notes=tuple(f"{rows.name}: {line}" for line in said))


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


# ---- answers ----


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


# ---- contents and attributes ----


def _contents(rows: Rows, column: str, items: Column) -> tuple[Contents, np.ndarray]:
    """The distinct contents of a column, and the code of each item's."""
    held = rows.columns[column]
    conflict = held.conflict(items.codes, len(items.values))
    if conflict is not None:
        first = held.per_group(items.codes, len(items.values))[items.codes[conflict]]
        raise DataError(
            f"{rows.at(conflict)}: item {_short(items[conflict])} has two contents in {column!r}: "
            f"{_short(held.values[int(first)].as_py())} and {_short(held[conflict])}"
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


# ---- what is said ----


def _recognised(choice: Choice, built: Assembled, rows: Rows) -> str:
    """One line: which column is what, and how much was read."""
    scales = {name: described(asked.scale) for name, asked in built.corpus.questions.items()}
    if choice.question is None:
        told = [f"answer = {name} ({scale})" for name, scale in scales.items()]
    else:
        each = "; ".join(f"{name}, {scale}" for name, scale in scales.items())
        told = [f"question = {choice.question}, answer = {choice.answer[0]} ({each})"]
    item = choice.item if choice.item is not None else " + ".join(choice.shown.values())
    who = "no annotators" if choice.annotator is None else f"annotator = {choice.annotator}"
    parts = [f"item = {item}", who, *(told or ["no answers"])]
    parts += told_parts(choice)
    also = [f"{name} (of the {kind})" for kind, names in built.others.items() for name in names]
    left = [f"{counted(rows.unnamed, 'column')} without a name, left out"] if rows.unnamed else []
    more = f"; also {', '.join(also + left)}" if also or left else ""
    return f"long table; {', '.join(parts)}{more}; {amounts(built.corpus)}"


def told_parts(choice: Choice) -> list[str]:
    """What was shown and what else was recognised, an entry each."""
    told = [f"{role} = {column}" for role, column in choice.shown.items()]
    told += [f"gold = {column}" for column in choice.gold.values()]
    others = ("seconds", "count", "response", "split")
    return told + [f"{part} = {getattr(choice, part)}" for part in others if getattr(choice, part)]


def amounts(corpus: Corpus) -> str:
    """How much was read."""
    n_answers = sum(asked.n_answers for asked in corpus.questions.values())
    people = f" by {counted(corpus.n_annotators, 'annotator')}" if corpus.n_annotators else ""
    return f"{counted(n_answers, 'answer')}{people} on {counted(corpus.n_items, 'item')}"


def _count_remarks(rows: Rows, choice: Choice) -> list[str]:
    """A column of counts that is none because of some rows: a line with the first of them."""
    name = first_named("count", rows, choice.used)
    counts = None if name is None else rows.columns[name].numbers()
    if counts is None or choice.annotator is not None or choice.count is not None:
        return []
    wrong = np.flatnonzero(~((counts >= 0) & (counts % 1 == 0)))
    if not len(wrong):
        return [f"{name!r} counts no answers, as every item has one row, with one answer"]
    row = int(wrong[0])
    found = repr(rows.columns[str(name)][row] or "")
    return [
        f"{name!r} counts no answers, as {rows.place(row)} holds {found}, so that every row is one "
        "answer; correct it if rows are votes"
    ]


def _blank_remarks(rows: Rows, answers: dict[str, Answers]) -> list[str]:
    """Rows without an answer, a line per question."""
    said = []
    for name, found in answers.items():
        if len(found.blank):
            blank = counted(len(found.blank), "row")
            place = rows.place(int(found.blank.min()))
            said.append(f"{name}: {blank} without an answer left out, the first in {place}")
    return said


def remarks(built: Assembled) -> list[str]:
    """What was kept apart, left out or is one-sided, a line each."""
    corpus, answers = built.corpus, built.answers
    said = [f"{name}: {note}" for name, found in answers.items() for note in found.notes]
    said += corpus.notes  # of gold labels
    for name, reason, n_answers in corpus.left_out:
        if reason == "repeated answer":
            said.append(f"{name}: {counted(n_answers, 'repeated answer')} left out")
    for name, found in answers.items():
        if (found.stored == found.stored[0]).all():
            value = found.scale.decode(found.stored[:1])[0]
            said.append(f"{name}: every answer is {value!r}, so agreement is undefined")
    said += [note for held in corpus.contents.values() for note in _missing_files(held)]
    said += _nobodies(corpus.annotators)
    said += _namesakes("annotators", corpus.annotators, case="case, ")
    said += _namesakes("items", corpus.items)
    if corpus.n_annotators == 1:
        said.append(f"{corpus.annotators[0]!r} is the only annotator, so agreement is undefined")
    return said


def _missing_files(held: Contents) -> list[str]:
    """Media that are not where the table says."""
    if held.kind in ("text", "features") or not pa.types.is_string(held.values.type):
        return []
    missing = [path for path in held.values.to_pylist() if not os.path.isfile(path)]
    if not missing:
        return []
    return [
        f"{len(missing)} of {counted(len(held), f'{held.kind} file')} missing, the first: "
        f"{missing[0]}; what reads them needs --skip-bad"
    ]


def _nobodies(people: Names) -> list[str]:
    """Annotators whose names are what programs write for nothing."""
    strange = [name for name in ([] if people.is_range else people) if name.casefold() in NEVER]
    return [f"{name!r} is taken for an annotator; is it nobody's name?" for name in strange]


def _namesakes(what: str, names: Names, case: str = "") -> list[str]:
    """Names that are written in several ways; where `case` is named, that may differ too."""
    if names.is_range or not len(names):
        return []
    spelled = _spelled_alike(names.array)
    spelled = pc.utf8_lower(spelled) if case else spelled
    if spelled.equals(names.array):
        return []  # the quick way out for a million different items
    counts = pc.value_counts(spelled)
    counts = counts.filter(pc.greater(counts.field("counts"), 1))
    if not len(counts):
        return []
    first = names.array.filter(pc.equal(spelled, counts.field("values")[0])).to_pylist()
    more = f" and {len(counts) - 1} more such" if len(counts) > 1 else ""
    ways = f"{case}outer space, how accents are encoded or a number's '.0'"
    return [
        f"{what} {', '.join(map(_short, first[:4]))}{more} differ only in {ways}; are they one?"
    ]


def _spelled_alike(names: Any) -> Any:
    """Arrow strings as they would be without outer space, in one encoding, whole numbers whole."""
    names = pc.utf8_trim_whitespace(names)
    if not pc.all(pc.string_is_ascii(names)).as_py():
        names = pc.utf8_normalize(names, "NFC")
    if pc.any(pc.ends_with(names, ".0")).as_py():
        names = pc.replace_substring_regex(names, r"^(\d+)\.0$", r"\1")
    return names


def _short(value: Any, most: int = 40) -> str:
    text = value if isinstance(value, str) else f"{len(value)} bytes"
    return repr(text if len(text) <= most else text[:most] + "...")
