"""Shapes: a table of any shape -> Corpus.

A table is cleaned, a layout of it is proposed where none is stated, and `forms` makes a row for
each answer of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from dissensus.corpus import Corpus, LeftOut
from dissensus.errors import DataError, NoAnswersError
from dissensus.names import Names
from dissensus.readers.layout import Layout, UnclearError, take
from dissensus.readers.tables.answer_cells import parsed_column
from dissensus.readers.tables.assembly import assemble
from dissensus.readers.tables.cleaning import (
    cleaned,
    with_left_out,
    without_copies,
    without_rejected,
)
from dissensus.readers.tables.column_roles import with_joined
from dissensus.readers.tables.feature_columns import with_features, without_features
from dissensus.readers.tables.forms import LONG, Form, in_long_form
from dissensus.readers.tables.notes import table_notes, with_notes
from dissensus.readers.tables.proposals import objects_of, propose, propose_alike
from dissensus.readers.tables.rows import Column, Rows, free_name

UNNAMED = "(index)"  # the first column, if it has no name
SHAPES = ("long", "wide", "votes")  # what the rows are, in whatever format they are written


def table_corpus(rows: Rows, options: Layout) -> Corpus:
    """Read a table of any shape: the one that the options name, or the one its columns show.

    Rows that a crowdsourcing platform marks as rejected, skipped or expired are left out.
    """
    if options.columns_only:
        return _columns_only(rows)
    rows.check(options.ignore)
    rows = rows.without(options.ignore)
    columns = rows.columns
    rows, notes = cleaned(_with_keys_named(rows, options), options)
    rows, left = without_rejected(rows)
    rows, features = without_features(rows, options)
    if options.item_parts:
        rows = with_joined(rows, options.item_parts)
    form = _form(rows, options)
    left_out: list[LeftOut] = []
    is_long = form.kind == LONG
    if is_long:
        long_rows, left_out = without_copies(form.rows, form.roles, form.layout)
        form = replace(form, rows=long_rows)
    assembled = assemble(form.rows, form.roles, form.layout)
    corpus = assembled.corpus  # where each annotator has a column, a blank is no answer
    no_answers = [one for one in corpus.left_out if is_long or one.reason != "no answer"]
    corpus = replace(corpus, left_out=(*no_answers, *left_out))
    about = [*table_notes(rows, form, assembled), *form.rows.notes]
    corpus = with_features(with_notes(corpus, rows, [*about, *notes]), features, rows)
    take(_layout(form, options, corpus, columns))
    return with_left_out(corpus, left, rows.name)


def _form(rows: Rows, stated: Layout) -> Form:
    """The table with a row for each answer; if it is unclear, only ways that work are proposed."""
    try:
        return _form_of(rows, stated)
    except UnclearError as error:
        ways = {when: way for when, way in error.ways.items() if _works(rows, way, stated)}
        if ways.keys() == error.ways.keys():
            raise
        advice = "" if ways else "; name the columns of items and of answers (item=, answer=)"
        raise UnclearError.of(error.about + advice, rows.path, ways) from None


def _works(rows: Rows, way: Layout, stated: Layout) -> bool:
    layout = way.with_changes(**stated.stated())
    rows = _with_keys_named(rows, layout)
    try:
        rows = with_joined(rows, layout.item_parts) if layout.item_parts else rows
        form = in_long_form(rows, layout)
        assemble(form.rows, form.roles, replace(form.layout, repeats="keep"))
    except UnclearError:
        return True  # asks for more
    except DataError:
        return False
    return True


def _form_of(rows: Rows, stated: Layout) -> Form:
    """The table with a row for each answer, read with the layout that is proposed or stated."""
    proposed = propose(rows, stated)
    if proposed is None:
        try:
            return in_long_form(rows, stated)
        except NoAnswersError as error:
            if isinstance(error, UnclearError) or stated.format or stated.states_answers:
                raise
            proposed = propose_alike(rows, stated)
            if proposed is None:
                raise
    return in_long_form(rows, proposed.with_changes(**stated.stated()))


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
    if base.cells != "values" and base.item is None and "item" not in changes:
        changes.pop("text", None)  # each row is an item, also if its content occurs again
    changes["annotator"] = next(iter(changes.get("annotator", ())), None)
    return base.with_changes(**{**changes, **base.stated()})


def _columns_only(rows: Rows) -> Corpus:
    """Each row as an item without answers, and every column as an attribute."""
    rows, _ = cleaned(rows, Layout(answer=tuple(rows.columns)))
    columns = {} if rows.index is None else {UNNAMED: rows.index}
    columns |= {name: column for name, column in rows.columns.items() if not column.is_bytes}
    attributes = {name: column.array() for name, column in columns.items()}
    return Corpus.build(rows.name, Names.range(rows.n_rows), {}, item_attributes=attributes)


def _with_keys_named(rows: Rows, layout: Layout) -> Rows:
    """The table with a column for each key of its objects, if the layout names keys as columns."""
    named = {*(layout.annotators or ()), *(layout.answer or ())} - set(rows.columns)
    for name, column in rows.columns.items() if named else ():
        objects = objects_of(parsed_column(column) or [[]])
        keys = list(dict.fromkeys(key for one in objects or () for key in one))
        if objects is not None and named <= set(keys):
            rows = rows.without([name])
            for key in keys:
                texts = pa.array([one.get(key) for one in objects], pa.string())
                rows = rows.with_columns({free_name(key, rows.columns): Column.of(texts)})
            return rows
    return rows
