"""Notes: what a reader recognised, kept apart or left out, a line each."""

from __future__ import annotations

import os
import shlex
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.errors import counted, listed
from dissensus.names import Names
from dissensus.readers.tables.annotator_columns import AlikeColumns
from dissensus.readers.tables.answers import MISSING, described
from dissensus.readers.tables.assembly import Assembled, short_text
from dissensus.readers.tables.column_names import (
    NAMES,
    ORDERED,
    first_named,
    is_derived,
    is_one_annotator,
    plain,
)
from dissensus.readers.tables.column_roles import BY_NAME, ColumnRoles
from dissensus.readers.tables.explanations import TAKEN_FOR
from dissensus.readers.tables.forms import LONG, Form
from dissensus.readers.tables.rows import Rows
from dissensus.scales import Nominal, Ordinal, Scale, as_numbers

NAMES_WIDTH = 28  # letters of the names in the table of columns
MOST_NAMES = 8  # annotators that a note names
MOST_LISTED = 20  # columns that are taken for the same, in the table of columns
NEAR = 0.9  # distance of unequal answers to an item: a larger share of chance, and order is none
CLEAR_AGREEMENT = 0.2  # beyond chance: below, any values are confused
FEWEST_PAIRS = 50  # of unequal answers to one item
MOST_ITEMS = 20_000  # that are looked at
FEWEST_VALUES = 4  # with fewer, all values are near
FEWEST_WORDS = 3  # with an order that are in a column


def with_notes(corpus: Corpus, rows: Rows, notes: Iterable[str]) -> Corpus:
    """The corpus with these notes, each of which begins with the name of the file."""
    return replace(corpus, notes=tuple(f"{rows.name}: {note}" for note in notes))


# ---- what was recognised ----


def table_notes(rows: Rows, form: Form, assembled: Assembled, alike: AlikeColumns) -> list[str]:
    """What was recognised in a table, and what is to be known about it.

    Args:
        rows: the table before it had a row for each answer.
        alike: the columns that are annotators by their values.
    """
    roles, is_long = form.roles, form.kind == LONG
    reasons = roles.reasons
    if form.kind == "wide table" and form.layout.answer is None:
        reasons = _wide_reasons(form, assembled, alike)
    elif not is_long:
        reasons = {}
    shown_roles = roles if is_long else replace(roles, count=None)
    parts = [*_shape(rows, form, assembled), *_other_roles(shown_roles)]
    line = [f"{form.kind}; {', '.join(parts)}"]
    others = {} if reasons else assembled.others  # the table has them
    names = [name for of in others.values() for name in of]
    if form.votes and form.votes.majority:
        n_other = counted(form.votes.n_other, "row")
        wrong = f", except in {n_other}" if form.votes.n_other else ""
        line.append(f"{form.votes.majority} is the majority, not an answer{wrong}")
    if form.votes:
        names = [name for name in names if name not in (form.votes.total, form.votes.majority)]
    if form.kind == "wide table" and (derived := [name for name in names if is_derived(name)]):
        line.append(f"not annotators: {', '.join(derived)}")
        names = [name for name in names if name not in derived]
    if is_long:
        names = [f"{name} (of the {kind})" for kind, of in others.items() for name in of]
        if rows.unnamed:
            names.append(f"{counted(rows.unnamed, 'column')} without a name, left out")
    line += [f"also {', '.join(names)}"] if names else []
    return [
        "; ".join([*line, amounts(assembled.corpus)]),
        *reasons_table(reasons),
        *(_of_long_table(form.rows, roles, assembled) if is_long else ()),
        *remarks(assembled),
        *_counts_of_items(rows, form, assembled),
        *_other_annotators(assembled),
    ]


def _shape(rows: Rows, form: Form, assembled: Assembled) -> list[str]:
    """Where the items, annotators and answers are, an entry each."""
    roles = form.roles
    scales = {name: described(part.scale) for name, part in assembled.answers.items()}
    item = roles.item if roles.item is not None else " + ".join(roles.shown.values())
    if form.kind == LONG:
        annotator = "no annotators" if roles.annotator is None else f"annotator = {roles.annotator}"
        answers = [f"answer = {name} ({scale})" for name, scale in scales.items()]
        if roles.question is not None:
            each = "; ".join(f"{name}, {scale}" for name, scale in scales.items())
            answers = [f"question = {roles.question}, answer = {roles.answer[0]} ({each})"]
        return [f"item = {item}", annotator, *(answers or ["no answers"])]
    if item not in rows.columns:
        item = "the row number" if rows.index is None else "the column without a name"
    names = ", ".join(short_name(name) for name in form.headers[:MOST_NAMES])
    if len(form.headers) > MOST_NAMES and form.kind != "vote table":
        names = f"{names}, ... ({len(form.headers)} in total)"
    one_scale = f" ({next(iter(scales.values()))})" if len(scales) == 1 else ""
    questions = ", ".join(f"{name} ({scale})" for name, scale in scales.items())
    more = [] if one_scale else [f"questions = {questions}"]
    if form.kind == "vote table":
        total = form.votes.total if form.votes else None
        more += [f"their sum = {total}"] if total else []
        return [f"item = {item}", f"counts = {', '.join(form.headers)}{one_scale}", *more]
    if form.kind == "wide table":
        return [f"item = {item}", f"annotators = {names}{one_scale}", *more]
    return [f"annotator = {roles.annotator}", f"items = {names}{one_scale}", *more]


def _wide_reasons(
    form: Form, assembled: Assembled, alike: AlikeColumns
) -> dict[str, tuple[str, str]]:
    """Column -> what it is taken for, and why; empty if names say all."""
    named = all(map(is_one_annotator, form.headers))
    why = alike.why or (BY_NAME if named else "has values of the other columns")
    reasons = form.roles.reasons | {name: ("annotator", why) for name in form.headers}
    if all(why == BY_NAME for _, why in reasons.values()):
        return {}
    for kind, names in assembled.others.items():
        taken_for = TAKEN_FOR["annotator" if kind == "annotator" else "item"]
        reasons |= {name: (taken_for, f"the same for each {kind}") for name in names}
        derived = [name for name in names if is_derived(name)]
        by_name = (TAKEN_FOR["label"], "a summary or a model, by its name")
        reasons |= dict.fromkeys(derived, by_name)
    if alike.majority:
        reasons[alike.majority] = (TAKEN_FOR["label"], "the majority of the annotators")
    return reasons


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


def short_name(name: str, most: int = NAMES_WIDTH) -> str:
    """The name of a column for a table."""
    return name if len(name) <= most else f"{name[: most - 3]}..."


def _of_long_table(rows: Rows, roles: ColumnRoles, assembled: Assembled) -> list[str]:
    """Answers that are to be chosen or not read, counts that are not used, rows without answers."""
    notes = []
    if roles.choose:
        n_answers = counted(len(roles.answer), "column")
        notes += [f"{n_answers} look like answers, each is a question; to choose: {roles.choose}"]
    if roles.unread:
        looks = "looks" if len(roles.unread) == 1 else "look"
        notes += [
            f"{listed(roles.unread, 5)} {looks} like answers, too, but only "
            f"{listed(roles.answer, 5)} is read, by its name; name all of them to read them "
            "(answer=, --answer)"
        ]
    name = first_named("count", rows, roles.used)
    counts = None if name is None else rows.columns[name].numbers()
    if counts is not None and roles.annotator is None and roles.count is None:
        wrong = np.flatnonzero(~((counts >= 0) & (counts % 1 == 0)))
        notes.append(_why_no_count(rows, str(name), wrong))
    for question, column in assembled.answers.items():
        if len(column.blank):
            n_blank, first = counted(len(column.blank), "row"), rows.place(int(column.blank.min()))
            notes.append(f"{question}: {n_blank} without an answer left out, the first in {first}")
    return notes


def _why_no_count(rows: Rows, name: str, wrong: np.ndarray) -> str:
    """Why a column called like counts is none: the first of the wrong rows."""
    if not len(wrong):
        return f"{name!r} is not used as a count: every item has one row, with one answer"
    row = int(wrong[0])
    return (
        f"{name!r} is not used as a count, because {rows.place(row)} contains "
        f"{rows.columns[name][row] or ''!r}: every row is one answer; correct it if rows are votes"
    )


def _other_annotators(assembled: Assembled) -> list[str]:
    """Columns that are called like annotators, but are not read as such."""
    return [
        f"{name!r} is called like annotators, but is read as an attribute of the {kind}; if it "
        "names those who answered, say so (annotator=, --annotator)"
        for kind, names in assembled.others.items()
        for name in names
        if plain(name) in NAMES["annotator"]
    ]


def _counts_of_items(rows: Rows, form: Form, assembled: Assembled) -> list[str]:
    """A column that may say how often a row of a wide table stands for an item."""
    names = assembled.others["item"] if form.kind == "wide table" else []
    return [
        f"{name!r} is kept as an attribute of the items; if a row stands for {name!r} items "
        "with the same answers, repeat the row that often"
        for name in names
        if plain(name) in NAMES["count"] and rows.columns[name].numbers() is not None
    ]


# ---- any table ----


def _other_roles(roles: ColumnRoles) -> list[str]:
    """The content and what else was recognised, an entry each."""
    parts = [f"{role} = {column}" for role, column in roles.shown.items()]
    parts += [f"gold = {column}" for column in roles.gold.values()]
    single = {"seconds": roles.seconds, "count": roles.count, "response": roles.response}
    single |= {"split": roles.split}
    return parts + [f"{role} = {name}" for role, name in single.items() if name]


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
            both = (_without_order(corpus[name]), ordered_words_note(name, column.scale))
            notes += [f"{name}: {note}" for note in both if note]
    notes += corpus.notes  # of gold labels
    for name, reason, n_answers in corpus.left_out:
        if reason == "repeated answer":
            notes.append(f"{name}: {counted(n_answers, 'repeated answer')} left out")
    for name, column in answers.items():
        if (column.stored == column.stored[0]).all():
            value = column.scale.decode(column.stored[:1])[0]
            notes.append(f"{name}: every answer is {value!r}, so agreement is undefined")
    notes += [note for contents in corpus.contents.values() for note in _missing_files(contents)]
    notes += [
        f"{name!r} is read as the name of an annotator; is it a missing value?"
        for name in ([] if corpus.annotators.is_range else corpus.annotators)
        if name.casefold() in MISSING
    ]
    notes += _similar_names("annotators", corpus.annotators, case="case, ")
    notes += _similar_names("items", corpus.items)
    if corpus.n_annotators == 1:
        notes.append(f"{corpus.annotators[0]!r} is the only annotator, so agreement is undefined")
    return notes


def ordered_words_note(question: str, scale: Scale) -> str:
    """A note if the values of an inferred nominal scale are words with an order; else empty."""
    if not isinstance(scale, Nominal) or len(scale.values) < FEWEST_WORDS:
        return ""
    by_word = {value.strip().casefold(): value for value in scale.values}
    for words in ORDERED:
        if len(by_word) == len(scale.values) and set(by_word) <= set(words):
            ordered = ",".join(by_word[word] for word in words if word in by_word)
            option = shlex.quote(f"{question}=ordinal:{ordered}")
            return (
                f"values are read as nominal, but look ordered; if they are, use --scale {option}"
            )
    return ""


def _without_order(annotations: Annotations) -> str:
    """A note if unequal answers to an item are as distant as unequal answers drawn by chance."""
    scale = annotations.scale
    if not isinstance(scale, Ordinal) or len(scale.values) < FEWEST_VALUES:
        return ""
    if as_numbers(scale.values) is None:
        return ""
    counts = np.zeros((min(annotations.n_items, MOST_ITEMS), len(scale.values)))
    looked_at = np.flatnonzero(annotations.item < len(counts))
    times = 1 if annotations.count is None else annotations.count[looked_at]
    np.add.at(counts, (annotations.item[looked_at], annotations.answer[looked_at]), times)
    n_answers, shares = counts.sum(axis=1), counts.sum(axis=0) / counts.sum()
    pairs, by_chance = counts.T @ counts, np.outer(shares, shares)
    n_pairs, same_by_chance = (n_answers * (n_answers - 1)).sum(), np.trace(by_chance)
    if not n_pairs or same_by_chance == 1:
        return ""
    same = (np.trace(pairs) - n_answers.sum()) / n_pairs
    np.fill_diagonal(pairs, 0)
    np.fill_diagonal(by_chance, 0)
    agreement = (same - same_by_chance) / (1 - same_by_chance)
    if agreement < CLEAR_AGREEMENT or pairs.sum() < 2 * FEWEST_PAIRS:
        return ""
    ranks = np.arange(len(scale.values))
    distances = np.abs(ranks[:, None] - ranks)
    expected = np.average(distances, weights=by_chance)
    if np.average(distances, weights=pairs) <= NEAR * expected:
        return ""
    return (
        "numbers are read as ordinal, but annotators confuse distant ones as often as near ones; "
        'if they are codes of classes, use scale="nominal" (--scale nominal)'
    )


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
