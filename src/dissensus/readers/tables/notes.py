"""Notes: what was recognised in a table, kept apart or left out, a line each, and why."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.errors import counted
from dissensus.names import Names
from dissensus.readers.tables.answers import Answers, described
from dissensus.readers.tables.assembly import Assembled, short_text
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
from dissensus.readers.tables.proposals import Proposal
from dissensus.readers.tables.rows import MISSING, Rows
from dissensus.readers.tables.structure import BY_NAME

NAMES_WIDTH = 28  # letters of the names in the table of columns
MOST_NAMES = 8  # annotators that a note names
MOST_LISTED = 20  # columns that are taken for the same, in the table of columns
MOST_ITEMS = 20_000  # that are looked at
FEWEST_ITEMS = 10  # with several answers each: fewer may all agree by chance


def with_notes(corpus: Corpus, rows: Rows, notes: Iterable[str]) -> Corpus:
    """The corpus with these notes, each of which begins with the name of the file."""
    return replace(corpus, notes=tuple(f"{rows.name}: {note}" for note in notes))


# ---- what was recognised ----


def table_notes(rows: Rows, form: Form, assembled: Assembled, proposal: Proposal) -> list[str]:
    """What was recognised in a table as it was before it had a row for each answer."""
    roles, votes, is_long, is_wide = form.roles, form.votes, form.kind == LONG, form.kind == WIDE
    reasons = roles.reasons if is_long else {}
    if is_wide and form.layout.answer is None:
        reasons = _wide_reasons(form, assembled, proposal)
    further = {"seconds": roles.seconds, "count": roles.count if is_long else None}
    further |= {"response": roles.response, "split": roles.split}
    parts = [f"{role} = {column}" for role, column in roles.shown.items()]
    parts += [f"gold = {column}" for column in roles.gold.values()]
    parts += [f"{role} = {column}" for role, column in further.items() if column]
    line = [f"{form.kind}; {', '.join([*_shape(rows, form, assembled), *parts])}"]
    names = {n: kind for kind, of in assembled.others.items() for n in of if not reasons}
    line += votes.remarks if votes else ()
    derived = list(filter(is_derived, names)) if is_wide else []
    line += [f"not annotators: {', '.join(derived)}"] if derived else []
    known = (*derived, votes and votes.total, votes and votes.majority)
    also = [f"{n} (of the {kind})" if is_long else n for n, kind in names.items() if n not in known]
    if is_long and rows.unnamed:
        also.append(f"{counted(rows.unnamed, 'column')} without a name, left out")
    line += [f"also {', '.join(also)}"] if also else []
    return [
        "; ".join([*line, amounts(assembled.corpus)]),
        *_reasons_table(reasons),
        *(_of_long_table(form.rows, roles, assembled) if is_long else ()),
        *remarks(assembled),
        *_of_other_columns(rows, is_wide, assembled),
    ]


def _shape(rows: Rows, form: Form, assembled: Assembled) -> list[str]:
    """Where the items, annotators and answers are, an entry each."""
    roles, question = form.roles, form.roles.question
    scales = {name: described(part.scale) for name, part in assembled.answers.items()}
    questions = [f"{name} ({scale})" for name, scale in scales.items()]
    item = roles.item if roles.item is not None else " + ".join(roles.shown.values())
    if form.kind == LONG:
        answers = [f"answer = {one}" for one in questions] or ["no answers"]
        if question is not None:
            each = "; ".join(f"{name}, {scale}" for name, scale in scales.items())
            answers = [f"question = {question}, answer = {roles.answer[0]} ({each})"]
        annotator = f"annotator = {roles.annotator}" if roles.annotator else "no annotators"
        return [f"item = {item}", annotator, *answers]
    if item not in rows.columns:
        item = "the row number" if rows.index is None else "the column without a name"
    names = [*map(_short_name, form.headers[:MOST_NAMES])]
    if len(form.headers) > MOST_NAMES:
        names.append(f"... ({len(form.headers)} in total)")
    one = f" ({next(iter(scales.values()))})" if len(scales) == 1 else ""
    more = [] if one else [f"questions = {', '.join(questions)}"]
    if form.kind == VOTES:
        total = [f"their sum = {form.votes.total}"] if form.votes and form.votes.total else []
        return [f"item = {item}", f"counts = {', '.join(form.headers)}{one}", *more, *total]
    first, what = f"item = {item}", "annotators"
    if form.kind != WIDE:
        first, what = f"annotator = {roles.annotator}", "items"
    return [first, f"{what} = {', '.join(names)}{one}", *more]


def amounts(corpus: Corpus) -> str:
    """How much was read."""
    n_answers = sum(annotations.n_answers for annotations in corpus.questions.values())
    n_annotators = corpus.n_annotators
    by = f" by {counted(n_annotators, 'annotator')}" if n_annotators else ""
    return f"{counted(n_answers, 'answer')}{by} on {counted(corpus.n_items, 'item')}"


# ---- why ----


def _wide_reasons(
    form: Form, assembled: Assembled, proposal: Proposal
) -> dict[str, tuple[str, str]]:
    """Column -> what it is taken for, and why; empty if names say all."""
    named = all(map(is_one_annotator, form.headers))
    why = proposal.why or (BY_NAME if named else "has values of the other columns")
    reasons = form.roles.reasons | {name: ("annotator", why) for name in form.headers}
    if all(why == BY_NAME for _, why in reasons.values()):
        return {}
    for kind, names in assembled.others.items():
        for name in names:
            reasons[name] = (f"attribute of the {kind}", f"the same for each {kind}")
            if is_derived(name):
                reasons[name] = ("label of the item", "a summary or a model, by its name")
    if proposal.majority:
        reasons[proposal.majority] = ("label of the item", "the majority of the annotators")
    return reasons


def _reasons_table(reasons: Mapping[str, tuple[str, str]]) -> list[str]:
    """A short table: each column, what it is taken for and why; none if names say all."""
    if not reasons:
        return []
    together: dict[tuple[str, str], list[str]] = {}
    for name, reason in reasons.items():
        together.setdefault(reason, []).append(_short_name(name))
    lines = [("column", "taken for", "why")]
    for (part, why), names in together.items():
        if len(names) > MOST_LISTED:
            names[MOST_NAMES:] = [f"... ({len(names)} in total)"]
        first, *rest = textwrap.wrap(", ".join(names), NAMES_WIDTH, break_on_hyphens=False)
        lines += [(first, part, why), *((more, "", "") for more in rest)]
    widths = [max(len(line[n]) for line in lines) for n in (0, 1)]
    texts = [f"  {a:<{widths[0]}}  {b:<{widths[1]}}  {why}".rstrip() for a, b, why in lines]
    return ["\n".join(["columns recognised by what they contain", *texts])]


def _short_name(name: str) -> str:
    return name if len(name) <= NAMES_WIDTH else f"{name[: NAMES_WIDTH - 3]}..."


def _of_long_table(rows: Rows, roles: ColumnRoles, assembled: Assembled) -> Iterator[str]:
    """Answers that are to be chosen or not read, counts that are not used, rows without answers."""
    if roles.choose:
        n_answers = counted(len(roles.answer), "column")
        yield f"{n_answers} look like answers, each is a question; to choose: {roles.choose}"
    name = first_named("count", rows, roles.used)
    counts = None if name is None else rows.columns[name].numbers()
    if counts is not None and roles.annotator is None and roles.count is None:
        wrong = np.flatnonzero(~((counts >= 0) & (counts % 1 == 0)))
        if len(wrong):
            row = int(wrong[0])
            yield (
                f"{name!r} is not used as a count, because {rows.place(row)} contains "
                f"{rows.columns[str(name)][row] or ''!r}: every row is one answer; correct it if "
                "rows are votes"
            )
        else:
            yield f"{name!r} is not used as a count: every item has one row, with one answer"
    for question, column in assembled.answers.items():
        if len(column.blank):
            n_blank, first = counted(len(column.blank), "row"), rows.place(int(column.blank.min()))
            yield f"{question}: {n_blank} without an answer left out, the first in {first}"


def _of_other_columns(rows: Rows, is_wide: bool, assembled: Assembled) -> Iterator[str]:
    """Columns with names of counts, answers or annotators that are attributes."""
    for name in assembled.others["item"] if is_wide else ():
        if plain(name) in NAMES["count"] and rows.columns[name].numbers() is not None:
            yield (
                f"{name!r} is kept as an attribute of the items; if a row stands for {name!r} "
                "items with the same answers, repeat the row that often"
            )
    for kind, name in ((kind, name) for kind, of in assembled.others.items() for name in of):
        lists = name in rows.columns and rows.columns[name].is_like_lists
        if lists and has_word_of_answers(name):
            yield (
                f"{name!r} contains lists and is called like answers, but is read as an attribute "
                f"of the {kind}; name it to read it instead (answer=, --answer)"
            )
        if plain(name) in NAMES["annotator"]:
            yield (
                f"{name!r} is called like annotators, but is read as an attribute of the "
                f"{kind}; if it names those who answered, say so (annotator=, --annotator)"
            )


# ---- checks of what was read ----


def remarks(assembled: Assembled) -> list[str]:
    """What was kept apart, left out or may be a mistake, a line each."""
    corpus, answers = assembled.corpus, assembled.answers
    annotators = [] if corpus.annotators.is_range else list(corpus.annotators)
    media = [one for one in corpus.contents.values() if one.kind not in ("text", "features")]
    return [
        *(f"{name}: {note}" for name, part in answers.items() for note in part.notes),
        *corpus.notes,
        *(
            f"{name}: {counted(n_answers, 'repeated answer')} left out"
            for name, reason, n_answers in corpus.left_out
            if reason == "repeated answer"
        ),
        *(f"{q}: {note}" for q, part in answers.items() for note in _uniform(part, corpus[q])),
        *(note for contents in media for note in _missing_files(contents)),
        *(
            f"{name!r} is read as the name of an annotator; is it a missing value?"
            for name in annotators
            if name.casefold() in MISSING
        ),
        *_similar_names("annotators", corpus.annotators, case="case, "),
        *_similar_names("items", corpus.items),
        *(
            f"{name!r} is the only annotator, so agreement is undefined"
            for name in corpus.annotators
            if corpus.n_annotators == 1
        ),
    ]


def _uniform(part: Answers, answers: Annotations) -> Iterator[str]:
    """About answers that are all the same, everywhere or for each item."""
    if len(part.stored) and bool((part.stored == part.stored[0]).all()):
        value = part.scale.decode(part.stored[:1])[0]
        yield f"every answer is {value!r}, so agreement is undefined"
    elif part.stored.ndim == 1 and answers.annotator is not None:
        looked_at = answers.item < MOST_ITEMS
        item, answer = answers.item[looked_at], answers.answer[looked_at]
        order = np.lexsort((answer, item))
        item, answer = item[order], answer[order]
        again = item[1:] == item[:-1]
        n_items = len(np.unique(item[1:][again]))
        if n_items >= FEWEST_ITEMS and (answer[1:] == answer[:-1])[again].all():
            yield (
                f"nobody disagrees about any of {n_items} items; are these labels of the items, "
                "not answers of annotators?"
            )


def _missing_files(contents: Contents) -> Iterator[str]:
    """About media files that do not exist."""
    paths = contents.values.to_pylist() if pa.types.is_string(contents.values.type) else []
    missing = [path for path in paths if not os.path.isfile(path)]
    advice = "commands that read them need --skip-bad"
    if len(missing) == len(contents):
        advice = "put them there before a command reads them"
    if missing:
        yield (
            f"{len(missing)} of {counted(len(contents), f'{contents.kind} file')} missing, the "
            f"first: {missing[0]}; {advice}"
        )


def _similar_names(what: str, names: Names, case: str = "") -> Iterator[str]:
    """Names that are written in several ways; with `case`, upper and lower case may differ too."""
    if names.is_range or not len(names):
        return
    parts = (names.array.slice(at, 1 << 20) for at in range(0, len(names), 1 << 20))
    if all(_spelled_alike(part, bool(case)).equals(part) for part in parts):
        return  # the quick way out for a million different items
    spelled = _spelled_alike(names.array, bool(case))
    counts = pc.value_counts(spelled)
    counts = counts.filter(pc.greater(counts.field("counts"), 1))
    if not len(counts):
        return
    first = names.array.filter(pc.equal(spelled, counts.field("values")[0])).to_pylist()
    more = f" and {len(counts) - 1} more" if len(counts) > 1 else ""
    ways = f"{case}outer space, how accents are encoded or a number's '.0'"
    yield (
        f"{what} {', '.join(map(short_text, first[:4]))}{more} differ only in {ways}; are they the "
        "same?"
    )


def _spelled_alike(names: Any, lower: bool) -> Any:
    """Arrow strings without outer space, in one encoding, whole numbers whole, or in lower case."""
    names = pc.utf8_trim_whitespace(names)
    if not pc.all(pc.string_is_ascii(names)).as_py():
        names = pc.utf8_normalize(names, "NFC")
    if pc.any(pc.ends_with(names, ".0")).as_py():
        names = pc.replace_substring_regex(names, r"^(\d+)\.0$", r"\1")
    return pc.utf8_lower(names) if lower else names
