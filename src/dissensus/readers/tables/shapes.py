"""Shapes: a table of any shape -> Corpus.

A table is cleaned, a layout of it is proposed where none is stated, and `forms` makes a row for
each answer of it. The first proposal that names or contents say clearly is taken; where columns may
be annotators or questions, the table is refused, with a command for each way to read it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dissensus.corpus import Corpus, LeftOut
from dissensus.errors import NoAnswersError, listed
from dissensus.names import Names
from dissensus.readers.layout import Layout, UnclearError, take
from dissensus.readers.tables.annotator_columns import (
    AlikeColumns,
    columns_alike,
    possible_annotators,
    propose_annotators,
    propose_grid,
    propose_people,
)
from dissensus.readers.tables.assembly import assemble
from dissensus.readers.tables.cleaning import (
    cleaned,
    with_left_out,
    without_copies,
    without_rejected,
)
from dissensus.readers.tables.column_roles import BY_NAME, with_joined
from dissensus.readers.tables.feature_columns import with_features, without_features
from dissensus.readers.tables.forms import LONG, Form, in_long_form
from dissensus.readers.tables.notes import table_notes, with_notes
from dissensus.readers.tables.proposals import (
    propose_cells,
    propose_slots,
    refuse_known_tools,
    with_keys_named,
)
from dissensus.readers.tables.rows import Column, Rows
from dissensus.readers.tables.vote_columns import propose_votes

UNNAMED = "(index)"  # the first column, if it has no name
MOST_NAMED = 30  # columns that a command in a message names
SHAPES = ("long", "wide", "votes")  # what the rows are, in whatever format they are written
PROPOSERS: tuple[Callable[[Rows, Layout], Layout | None], ...] = (
    propose_cells,
    propose_slots,
    propose_grid,
    propose_votes,
    propose_annotators,
    lambda rows, layout: propose_grid(rows, layout, fewest=1),
)


def table_corpus(rows: Rows, options: Layout) -> Corpus:
    """Read a table of any shape: the one that the options name, or the one its columns show.

    Rows that a crowdsourcing platform marks as rejected, skipped or expired are left out.
    """
    if options.columns_only:
        return _columns_only(rows)
    rows.check(options.ignore)
    columns = {name: column for name, column in rows.columns.items() if name not in options.ignore}
    rows = replace(rows, columns=columns)
    refuse_known_tools(rows, options)
    rows, notes = cleaned(with_keys_named(rows, options), options)
    rows, left = without_rejected(rows)
    rows, features = without_features(rows, options)
    if options.item_parts:
        rows = with_joined(rows, options.item_parts)
    form, alike = _form(rows, options)
    copies: list[str] = []
    left_out: list[LeftOut] = []
    if form.kind == LONG:
        long_rows, copies, left_out = without_copies(form.rows, form.roles, form.layout)
        form = replace(form, rows=long_rows)
    assembled = assemble(form.rows, form.roles, form.layout)
    corpus = assembled.corpus
    for one in corpus.left_out[::-1]:  # where each annotator has a column, a blank is no answer
        left_out[:0] = [one] if form.kind == LONG or one.reason != "no answer" else []
    corpus = replace(corpus, left_out=tuple(left_out))
    about = [*table_notes(rows, form, assembled, alike), *copies, *form.rows.notes]
    corpus = with_notes(corpus, rows, [*about, *notes])
    corpus = with_features(corpus, features, rows)
    take(_layout(form, options, corpus, columns))
    return with_left_out(corpus, left, rows.name)


def _form(rows: Rows, stated: Layout) -> tuple[Form, AlikeColumns]:
    """The table with a row for each answer, and the columns that only their values show to be
    annotators."""
    for propose in PROPOSERS if stated.cells == "values" else ():
        proposal = propose(rows, stated)
        if proposal is not None:
            return in_long_form(rows, proposal.with_changes(**stated.stated())), AlikeColumns()
    try:
        by_name = AlikeColumns(why=BY_NAME if stated.annotators else "")
        return in_long_form(rows, stated), by_name
    except UnclearError:
        raise
    except NoAnswersError:
        alike = columns_alike(rows, stated)
        if stated.format is not None or stated.states_answers or not alike.names:
            raise
    layout = propose_people(rows, alike.names) or Layout(annotators=alike.names)
    if layout.annotators and not alike.why:
        raise _either(rows, stated, alike.names)
    return in_long_form(rows, layout.with_changes(**stated.stated())), alike


def _either(rows: Rows, stated: Layout, columns: tuple[str, ...]) -> UnclearError:
    """The message about columns that may be annotators or questions, with a command for both."""
    few = len(columns) <= MOST_NAMED
    wide = Layout(annotators=columns) if few else Layout(format="wide")
    ways = {"if each is an annotator": wide}
    if few:
        ways["if each is a question"] = Layout(answer=columns)
        if parts := possible_annotators(rows, stated):
            ways["if names have a question and an annotator"] = Layout(annotators=parts)
    about = (
        f"{rows.path}: no column of answers recognised: {listed(columns)} have the same values, "
        "but may be annotators or questions"
    )
    return UnclearError.of(about, rows.path, ways)


def _layout(form: Form, stated: Layout, corpus: Corpus, columns: Mapping[str, Column]) -> Layout:
    """The layout that a table was read with, which reads it again."""
    base = form.layout.with_changes(**stated.stated())
    changes: dict[str, Any] = {}
    for part, name in corpus.columns.items():
        names = tuple(name.split(" + "))
        if part in base.stated() or not columns.keys() >= set(names):
            continue
        if part in ("item", "annotator"):
            changes[part] = names
        else:
            changes["text"] = (*changes.get("text", ()), *names)
    if base.answer is None and base.annotators is None and columns.keys() >= set(corpus.questions):
        changes["answer"] = tuple(corpus.questions)
    changes["annotator"] = next(iter(changes.get("annotator", ())), None)
    return base.with_changes(**{**changes, **base.stated()})


def _columns_only(rows: Rows) -> Corpus:
    """Each row as an item without answers, and every column as an attribute."""
    rows, _ = cleaned(rows, Layout(answer=tuple(rows.columns)))
    columns = {} if rows.index is None else {UNNAMED: rows.index}
    columns |= {name: column for name, column in rows.columns.items() if not column.is_bytes}
    attributes = {name: column.array() for name, column in columns.items()}
    return Corpus.build(rows.name, Names.range(rows.n_rows), {}, item_attributes=attributes)
