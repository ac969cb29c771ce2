"""Long tables: one row per answer -> Corpus."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dissensus.corpus import Corpus
from dissensus.errors import counted
from dissensus.readers.options import Options
from dissensus.readers.tables.answers import Answers, described
from dissensus.readers.tables.assembly import Assembled, assembled
from dissensus.readers.tables.column_names import first_named
from dissensus.readers.tables.column_roles import Choice, choose
from dissensus.readers.tables.notes import amounts, remarks, told_parts
from dissensus.readers.tables.rows import Rows


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


# ---- answers ----


# ---- contents and attributes ----


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
