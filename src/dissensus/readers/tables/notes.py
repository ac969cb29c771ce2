"""Notes: what a reader recognised, kept apart or left out, a line each."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.errors import counted, listed
from dissensus.names import Names
from dissensus.readers.tables.annotator_columns import is_derived
from dissensus.readers.tables.answers import MISSING, Answers, described
from dissensus.readers.tables.assembly import Assembled, short_text
from dissensus.readers.tables.column_names import NAMES, first_named, plain
from dissensus.readers.tables.column_roles import ColumnRoles
from dissensus.readers.tables.inferred_scales import order_notes, ordered_words_note
from dissensus.readers.tables.rows import Rows
from dissensus.readers.tables.vote_columns import Votes

NAMES_WIDTH = 28  # letters of the names in the table of columns
MOST_NAMES = 8  # annotators that a note names
MOST_LISTED = 20  # columns that are taken for the same, in the table of columns


def with_notes(corpus: Corpus, rows: Rows, notes: Iterable[str]) -> Corpus:
    """The corpus with these notes, each of which begins with the name of the file."""
    return replace(corpus, notes=tuple(f"{rows.name}: {note}" for note in notes))


# ---- long tables ----


def long_notes(rows: Rows, roles: ColumnRoles, assembled: Assembled) -> list[str]:
    """What was recognised in a long table, and what is to be known about it."""
    return [
        _long_line(rows.unnamed, roles, assembled, amounts(assembled.corpus)),
        *reasons_table(roles.reasons),
        *_choice(roles),
        *_unread(roles),
        *_unused_counts(rows, roles),
        *_blank_rows(rows, assembled.answers),
        *remarks(assembled),
    ]


def _long_line(unnamed: int, roles: ColumnRoles, assembled: Assembled, amounts: str) -> str:
    """One line: the role of each column, and how much was read."""
    scales = {name: described(part.scale) for name, part in assembled.answers.items()}
    if roles.question is None:
        answers = [f"answer = {name} ({scale})" for name, scale in scales.items()]
    else:
        each = "; ".join(f"{name}, {scale}" for name, scale in scales.items())
        answers = [f"question = {roles.question}, answer = {roles.answer[0]} ({each})"]
    item = roles.item if roles.item is not None else " + ".join(roles.shown.values())
    annotator = "no annotators" if roles.annotator is None else f"annotator = {roles.annotator}"
    parts = [f"item = {item}", annotator, *(answers or ["no answers"]), *_other_roles(roles)]
    others = {} if roles.reasons else assembled.others  # the table has them
    also = [f"{name} (of the {kind})" for kind, names in others.items() for name in names]
    if unnamed:
        also.append(f"{counted(unnamed, 'column')} without a name, left out")
    more = f"; also {', '.join(also)}" if also else ""
    return f"long table; {', '.join(parts)}{more}; {amounts}"


def reasons_table(reasons: Mapping[str, tuple[str, str]]) -> list[str]:
    """A short table: each column, what it is taken for and why; none if names say all."""
    if not reasons:
        return []
    together: dict[tuple[str, str], list[str]] = {}
    for name, reason in reasons.items():
        together.setdefault(reason, []).append(short_name(name))
    for names in together.values():
        if len(names) > MOST_LISTED:
            names[MOST_NAMES:] = [f"... ({len(names)} in total)"]
    lines = [("column", "taken for", "why")]
    for (part, why), names in together.items():
        first, *rest = textwrap.wrap(", ".join(names), NAMES_WIDTH, break_on_hyphens=False)
        lines += [(first, part, why), *((more, "", "") for more in rest)]
    widths = [max(len(line[n]) for line in lines) for n in (0, 1)]
    texts = [f"  {a:<{widths[0]}}  {b:<{widths[1]}}  {why}".rstrip() for a, b, why in lines]
    return ["\n".join(["columns recognised by what they contain", *texts])]


def _choice(roles: ColumnRoles) -> list[str]:
    """The command that reads one of several columns of answers."""
    if not roles.choose:
        return []
    n_answers = counted(len(roles.answer), "column")
    return [f"{n_answers} look like answers, each is a question; to choose: {roles.choose}"]


def _unread(roles: ColumnRoles) -> list[str]:
    """Columns that are no questions, because another one is called so."""
    if not roles.unread:
        return []
    looks = "looks" if len(roles.unread) == 1 else "look"
    return [
        f"{listed(roles.unread, 5)} {looks} like answers, too, but only {listed(roles.answer, 5)} "
        "is read, by its name; name all of them to read them (answer=, --answer)"
    ]


def short_name(name: str, most: int = NAMES_WIDTH) -> str:
    """The name of a column for a table."""
    return name if len(name) <= most else f"{name[: most - 3]}..."


def _unused_counts(rows: Rows, roles: ColumnRoles) -> list[str]:
    """A column called like counts that cannot be one, with the first row that prevents it."""
    name = first_named("count", rows, roles.used)
    counts = None if name is None else rows.columns[name].numbers()
    if counts is None or roles.annotator is not None or roles.count is not None:
        return []
    wrong = np.flatnonzero(~((counts >= 0) & (counts % 1 == 0)))
    if not len(wrong):
        return [f"{name!r} is not used as a count: every item has one row, with one answer"]
    row = int(wrong[0])
    cell = repr(rows.columns[str(name)][row] or "")
    return [
        f"{name!r} is not used as a count, because {rows.place(row)} contains {cell}: every row is "
        "one answer; correct it if rows are votes"
    ]


def _blank_rows(rows: Rows, answers: dict[str, Answers]) -> list[str]:
    """Rows without an answer, a line per question."""
    return [
        f"{question}: {counted(len(column.blank), 'row')} without an answer left out, the first in "
        f"{rows.place(int(column.blank.min()))}"
        for question, column in answers.items()
        if len(column.blank)
    ]


# ---- tables with a row per item ----


def wide_notes(
    rows: Rows, roles: ColumnRoles, assembled: Assembled, annotators: Sequence[str]
) -> list[str]:
    """What was recognised in a wide table, and what is to be known about it."""
    scales = [described(assembled.corpus[name].scale) for name in roles.answer]
    names = ", ".join(annotators[:MOST_NAMES])
    more = f", ... ({len(annotators)} in total)" if len(annotators) > MOST_NAMES else ""
    parts = [_item_part(rows, roles), f"annotators = {names}{more}"]
    if len(scales) == 1:
        parts[-1] += f" ({scales[0]})"
    else:
        each = zip(roles.answer, scales, strict=True)
        parts.append(f"questions = {', '.join(f'{name} ({scale})' for name, scale in each)}")
    others = [name for names in assembled.others.values() for name in names]
    others = [] if roles.reasons else others  # the table has them
    derived = [name for name in others if is_derived(name)]
    also = [name for name in others if name not in derived]
    line = f"wide table; {', '.join([*parts, *_other_roles(roles)])}"
    line += f"; not annotators: {', '.join(derived)}" if derived else ""
    line += f"; also {', '.join(also)}" if also else ""
    counts = [name for name in assembled.others["item"] if plain(name) in NAMES["count"]]
    return [
        f"{line}; {amounts(assembled.corpus)}",
        *reasons_table(roles.reasons),
        *remarks(assembled),
        *(
            f"{name!r} is kept as an attribute of the items; if a row stands for {name!r} items "
            "with the same answers, repeat the row that often"
            for name in counts
            if rows.columns[name].numbers() is not None
        ),
    ]


def annotator_rows_notes(
    roles: ColumnRoles, assembled: Assembled, items: Sequence[str]
) -> list[str]:
    """What was recognised in a table with a row per annotator."""
    scale = described(assembled.corpus[roles.answer[0]].scale)
    names = ", ".join(short_name(name) for name in items[:MOST_NAMES])
    more = f", ... ({len(items)} in total)" if len(items) > MOST_NAMES else ""
    line = (
        f"a row for each annotator; annotator = {roles.annotator}, items = {names}{more} ({scale})"
    )
    others = [name for names in assembled.others.values() for name in names]
    line += f"; also {', '.join(others)}" if others else ""
    return [f"{line}; {amounts(assembled.corpus)}", *remarks(assembled)]


def votes_notes(rows: Rows, roles: ColumnRoles, assembled: Assembled, votes: Votes) -> list[str]:
    """What was recognised in a vote table, and what is to be known about it."""
    scale = described(assembled.corpus[roles.answer[0]].scale)
    parts = [_item_part(rows, roles), f"counts = {', '.join(votes.counts)} ({scale})"]
    parts += [f"their sum = {votes.total}"] if votes.total else []
    line = f"vote table; {', '.join([*parts, *_other_roles(replace(roles, count=None))])}"
    if votes.majority:
        line += f"; {votes.majority} is the majority, not an answer"
        line += f", except in {counted(votes.n_other, 'row')}" if votes.n_other else ""
    derived = (votes.total, votes.majority)
    others = [name for names in assembled.others.values() for name in names]
    also = [name for name in others if name not in derived]
    line += f"; also {', '.join(also)}" if also else ""
    return [f"{line}; {amounts(assembled.corpus)}", *remarks(assembled)]


def _item_part(rows: Rows, roles: ColumnRoles) -> str:
    """Where the items of a table with a row per item are named."""
    if roles.item in rows.columns:
        return f"item = {roles.item}"
    return f"item = {'the row number' if rows.index is None else 'the column without a name'}"


# ---- any table ----


def _other_roles(roles: ColumnRoles) -> list[str]:
    """The content and what else was recognised, an entry each."""
    parts = [f"{role} = {column}" for role, column in roles.shown.items()]
    parts += [f"gold = {column}" for column in roles.gold.values()]
    single = ("seconds", "count", "response", "split")
    return parts + [f"{role} = {getattr(roles, role)}" for role in single if getattr(roles, role)]


def amounts(corpus: Corpus) -> str:
    """How much was read."""
    n_answers = sum(annotations.n_answers for annotations in corpus.questions.values())
    n_annotators = corpus.n_annotators
    by = f" by {counted(n_annotators, 'annotator')}" if n_annotators else ""
    return f"{counted(n_answers, 'answer')}{by} on {counted(corpus.n_items, 'item')}"


def remarks(assembled: Assembled) -> list[str]:
    """What was kept apart, left out or may be a mistake, a line each."""
    corpus, answers = assembled.corpus, assembled.answers
    notes = [f"{name}: {note}" for name, column in answers.items() for note in column.notes]
    for name, column in answers.items():
        if column.inferred:
            notes += [f"{name}: {note}" for note in order_notes(corpus[name])]
            about_words = ordered_words_note(name, column.scale)
            notes += [f"{name}: {about_words}"] if about_words else []
    notes += corpus.notes  # of gold labels
    for name, reason, n_answers in corpus.left_out:
        if reason == "repeated answer":
            notes.append(f"{name}: {counted(n_answers, 'repeated answer')} left out")
    for name, column in answers.items():
        if (column.stored == column.stored[0]).all():
            value = column.scale.decode(column.stored[:1])[0]
            notes.append(f"{name}: every answer is {value!r}, so agreement is undefined")
    notes += [note for contents in corpus.contents.values() for note in _missing_files(contents)]
    notes += _doubtful_annotators(corpus.annotators)
    notes += _similar_names("annotators", corpus.annotators, case="case, ")
    notes += _similar_names("items", corpus.items)
    if corpus.n_annotators == 1:
        notes.append(f"{corpus.annotators[0]!r} is the only annotator, so agreement is undefined")
    return notes


def _missing_files(contents: Contents) -> list[str]:
    """Media files that do not exist."""
    if contents.kind in ("text", "features") or not pa.types.is_string(contents.values.type):
        return []
    missing = [path for path in contents.values.to_pylist() if not os.path.isfile(path)]
    if not missing:
        return []
    advice = "commands that read them need --skip-bad"
    if len(missing) == len(contents):
        advice = "put them there before a command reads them"
    return [
        f"{len(missing)} of {counted(len(contents), f'{contents.kind} file')} missing, the first: "
        f"{missing[0]}; {advice}"
    ]


def _doubtful_annotators(annotators: Names) -> list[str]:
    """Annotators whose name is a word for a missing value."""
    names = [] if annotators.is_range else annotators
    return [
        f"{name!r} is read as the name of an annotator; is it a missing value?"
        for name in names
        if name.casefold() in MISSING
    ]


def _similar_names(what: str, names: Names, case: str = "") -> list[str]:
    """Names that are written in several ways; with `case`, upper and lower case may differ too."""
    if names.is_range or not len(names):
        return []
    parts = (names.array.slice(at, 1 << 20) for at in range(0, len(names), 1 << 20))
    if all(_spelled_alike(part, bool(case)).equals(part) for part in parts):
        return []  # the quick way out for a million different items
    spelled = _spelled_alike(names.array, bool(case))
    counts = pc.value_counts(spelled)
    counts = counts.filter(pc.greater(counts.field("counts"), 1))
    if not len(counts):
        return []
    first = names.array.filter(pc.equal(spelled, counts.field("values")[0])).to_pylist()
    more = f" and {len(counts) - 1} more" if len(counts) > 1 else ""
    ways = f"{case}outer space, how accents are encoded or a number's '.0'"
    return [
        f"{what} {', '.join(map(short_text, first[:4]))}{more} differ only in {ways}; are they the "
        "same?"
    ]


def _spelled_alike(names: Any, lower: bool) -> Any:
    """Arrow strings without outer space, in one encoding, whole numbers whole, or in lower case."""
    names = pc.utf8_trim_whitespace(names)
    if not pc.all(pc.string_is_ascii(names)).as_py():
        names = pc.utf8_normalize(names, "NFC")
    if pc.any(pc.ends_with(names, ".0")).as_py():
        names = pc.replace_substring_regex(names, r"^(\d+)\.0$", r"\1")
    return pc.utf8_lower(names) if lower else names
