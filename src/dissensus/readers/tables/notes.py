"""Notes: how a table was read, and what was left out or may be a mistake, a line each."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.errors import counted, cut, listed
from dissensus.readers.tables.answers import described, spelling_key
from dissensus.readers.tables.assembly import Assembled
from dissensus.readers.tables.column_names import (
    NAMES,
    first_named,
    has_word_of_answers,
    is_derived,
    is_one_annotator,
    plain,
)
from dissensus.readers.tables.column_roles import ColumnRoles
from dissensus.readers.tables.forms import LONG, VOTES, WIDE, Form
from dissensus.readers.tables.rows import MISSING, Rows
from dissensus.readers.tables.structure import BY_NAME

LONGEST_NAME = 40  # letters of a column's name
MOST_NAMES = 8  # annotators that a note names
MOST_LOOKED_AT = 20_000  # items or annotators that are compared
FEWEST_ITEMS = 10  # with several answers each: fewer may all agree by chance


def with_notes(corpus: Corpus, rows: Rows, notes: Iterable[str]) -> Corpus:
    """The corpus with these notes, each of which begins with the name of the file."""
    return replace(corpus, notes=tuple(f"{rows.name}: {note}" for note in notes))


# ---- how a table was read ----


def table_notes(rows: Rows, form: Form, assembled: Assembled) -> list[str]:
    """How a table was read, as it was before it had a row for each answer."""
    roles, votes, is_long, is_wide = form.roles, form.votes, form.kind == LONG, form.kind == WIDE
    reasons = dict(roles.reasons) if is_long else {}
    if is_wide and form.layout.answer is None:
        named = form.layout.annotators or all(map(is_one_annotator, form.headers))
        why = BY_NAME if named else "has values of the other columns"
        reasons = roles.reasons | {name: ("annotator", why) for name in form.headers}
    further = {"seconds": roles.seconds, "count": roles.count if is_long else None}
    further |= {"response": roles.response, "split": roles.split}
    parts = [f"{role} = {column}" for role, column in roles.shown.items()]
    parts += [f"gold = {column}" for column in roles.gold.values()]
    parts += [f"{role} = {column}" for role, column in further.items() if column]
    line = [f"{form.kind}; {', '.join([*_shape(rows, form, assembled), *parts])}"]
    others = {name: kind for kind, of in assembled.others.items() for name in of}
    derived = [name for name in others if is_wide and is_derived(name)]
    line += votes.remarks if votes else ()
    line += [f"not annotators: {', '.join(derived)}"] if derived else []
    known = (*derived, *reasons, votes and votes.total)
    also = {name: kind for name, kind in others.items() if name not in known}
    names = [f"{name} (of the {kind})" if is_long else name for name, kind in also.items()]
    if is_long and rows.unnamed:
        names.append(f"{counted(rows.unnamed, 'column')} without a name, left out")
    line += [f"also {', '.join(names)}"] if names else []
    return [
        "; ".join([*line, amounts(assembled.corpus)]),
        *_reasons(reasons),
        *(_of_long_table(form.rows, roles, assembled, rows.columns) if is_long else ()),
        *remarks(assembled),
        *_of_other_columns(rows, is_wide, assembled),
    ]


def _shape(rows: Rows, form: Form, assembled: Assembled) -> list[str]:
    """Where the items, annotators and answers are, an entry each."""
    roles, question = form.roles, form.roles.question
    scales = {name: described(part.scale) for name, part in assembled.answers.items()}
    item = roles.item if roles.item is not None else " + ".join(roles.shown.values())
    if form.kind == LONG:
        answers = [f"answer = {name} ({scale})" for name, scale in scales.items()]
        if question is not None:
            each = "; ".join(f"{name}, {scale}" for name, scale in scales.items())
            answers = [f"question = {question}, answer = {roles.answer[0]} ({each})"]
        annotator = f"annotator = {roles.annotator}" if roles.annotator else "no annotators"
        return [f"item = {item}", annotator, *(answers or ["no answers"])]
    if item not in rows.columns:
        item = "the row number" if rows.index is None else "the column without a name"
    what = {VOTES: "counts", WIDE: "annotators"}.get(form.kind, "items")
    (scale, *more) = scales.values()
    columns = f"{what} = {_names(form.headers)}" + ("" if more else f" ({scale})")
    first = f"annotator = {roles.annotator}" if what == "items" else f"item = {item}"
    questions = ", ".join(f"{name} ({scale})" for name, scale in scales.items())
    total = form.votes.total if form.votes else None
    return [
        *(first, columns),
        *([f"questions = {questions}"] if more else []),
        *([f"their sum = {total}"] if total else []),
    ]


def _names(names: Iterable[str]) -> str:
    """Names of columns: the first few, cut where they are long."""
    cut_names = [cut(name, LONGEST_NAME) for name in names]
    more = f", ... ({len(cut_names)} in total)" if len(cut_names) > MOST_NAMES else ""
    return ", ".join(cut_names[:MOST_NAMES]) + more


def amounts(corpus: Corpus) -> str:
    """How much was read."""
    n_answers = sum(annotations.n_answers for annotations in corpus.questions.values())
    n_annotators = corpus.n_annotators
    by = f" by {counted(n_annotators, 'annotator')}" if n_annotators else ""
    return f"{counted(n_answers, 'answer')}{by} on {counted(corpus.n_items, 'item')}"


def _reasons(reasons: Mapping[str, tuple[str, str]]) -> list[str]:
    """What columns were taken for and why, a line each; the first note names the others."""
    together = defaultdict(list)
    for name, (part, why) in reasons.items():
        if why != BY_NAME:
            together[part, why].append(name)
    lines = [f"  {part} = {_names(names)}: {why}" for (part, why), names in together.items()]
    return ["\n".join(["columns recognised by what they contain", *lines])] if lines else []


def _of_long_table(
    rows: Rows, roles: ColumnRoles, assembled: Assembled, in_file: Collection[str]
) -> Iterator[str]:
    """Answers that are to be chosen or not read, counts that are not used, rows without answers."""
    if roles.choose and all(name in in_file for name in roles.answer):
        n_answers = counted(len(roles.answer), "column")
        yield f"{n_answers} look like answers, each is a question; to choose: {roles.choose}"
    name = first_named("count", rows, roles.used)
    counts = None if name is None else rows.columns[name].numbers()
    if counts is not None and roles.annotator is None and roles.count is None:
        wrong = np.flatnonzero(~((counts >= 0) & (counts % 1 == 0)))
        why = "every item has one row"
        if len(wrong):
            row = int(wrong[0])
            why = f"{rows.place(row)} contains {rows.columns[str(name)][row] or ''!r}"
        yield f"{name!r} is not used as a count, because {why}: every row is one answer"
    for question, column in assembled.answers.items():
        if len(column.blank):
            n_blank, first = counted(len(column.blank), "row"), rows.place(int(column.blank.min()))
            yield f"{question}: {n_blank} without an answer left out, the first in {first}"


def _of_other_columns(rows: Rows, is_wide: bool, assembled: Assembled) -> Iterator[str]:
    """Columns that are attributes, but have names of answers, annotators or counts."""
    for kind, name in ((kind, name) for kind, of in assembled.others.items() for name in of):
        lists = name in rows.columns and rows.columns[name].is_like_lists
        what, how = "", "name it to read it instead (answer=, --answer)"
        if lists and has_word_of_answers(name):
            what = "answers"
        elif plain(name) in NAMES["annotator"]:
            what, how = "annotators", "if it names those who answered, use annotator= (--annotator)"
        elif is_wide and plain(name) in NAMES["count"] and rows.columns[name].numbers() is not None:
            what, how = "a count", "if a row stands for several items, repeat it that often"
        if what:
            yield f"{name!r} is called like {what}, but is an attribute of the {kind}; {how}"


# ---- checks of what was read ----


def remarks(assembled: Assembled) -> list[str]:
    """What was kept apart, left out or may be a mistake, a line each."""
    corpus, answers = assembled.corpus, assembled.answers
    annotators = [] if corpus.annotators.is_range else list(corpus.annotators)
    spellings = defaultdict(list)
    for name in annotators[:MOST_LOOKED_AT]:
        spellings[spelling_key(name)].append(name)
    media = [one for one in corpus.contents.values() if one.kind not in ("text", "features")]
    return [
        *(f"{name}: {note}" for name, part in answers.items() for note in part.notes),
        *corpus.notes,
        *(
            f"{name}: {counted(n_answers, 'repeated answer')} left out"
            for name, reason, n_answers in corpus.left_out
            if reason == "repeated answer"
        ),
        *(
            f"{name}: nobody disagrees about any of {n_items} items; are these labels of the "
            "items, not answers of annotators?"
            for name, part in answers.items()
            if (n_items := _n_unanimous(corpus[name])) and (part.stored != part.stored[0]).any()
        ),
        *(note for contents in media for note in _missing_files(contents)),
        *(
            f"{name!r} is read as the name of an annotator; is it a missing value?"
            for name in annotators
            if name.casefold() in MISSING
        ),
        *(
            f"annotators {listed(names)} are spelled alike; are they the same?"
            for names in spellings.values()
            if len(names) > 1
        ),
    ]


def _n_unanimous(answers: Annotations) -> int:
    """How many items have several answers, if all answers to each are the same and these are not
    few; else 0."""
    if answers.answer.ndim > 1 or answers.annotator is None:
        return 0
    looked_at = answers.item < MOST_LOOKED_AT
    item, answer = answers.item[looked_at], answers.answer[looked_at]
    order = np.lexsort((answer, item))
    item, answer = item[order], answer[order]
    again = item[1:] == item[:-1]
    n_items = len(np.unique(item[1:][again]))
    agree = n_items >= FEWEST_ITEMS and (answer[1:] == answer[:-1])[again].all()
    return n_items if agree else 0


def _missing_files(contents: Contents) -> Iterator[str]:
    """About media files that do not exist."""
    paths = contents.values.to_pylist() if pa.types.is_string(contents.values.type) else []
    missing = [path for path in paths if not os.path.isfile(path)]
    advice = "commands that read them need --skip-bad"
    if len(missing) == len(contents):
        advice = "put them there before a command reads them"
    if missing:
        n_files = counted(len(contents), f"{contents.kind} file")
        yield f"{len(missing)} of {n_files} missing, the first: {missing[0]}; {advice}"
