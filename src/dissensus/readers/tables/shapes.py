"""Shapes: a table has a row per answer (long), or per item, with annotators (wide) or votes."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import NoAnswersError, listed
from dissensus.names import Names
from dissensus.readers.layout import Layout, take
from dissensus.readers.tables.annotator_columns import columns_alike, find_annotators
from dissensus.readers.tables.annotator_rows import annotator_rows_table, find_annotator_rows
from dissensus.readers.tables.assignments import with_left_out, without_rejected
from dissensus.readers.tables.extra_rows import (
    without_blank_columns,
    without_blank_rows,
    without_totals,
)
from dissensus.readers.tables.feature_columns import with_features, without_features
from dissensus.readers.tables.forms import in_long_form
from dissensus.readers.tables.long import long_table
from dissensus.readers.tables.proposals import with_proposal
from dissensus.readers.tables.question_columns import (
    find_grid,
    find_single_question,
    possible_annotators,
)
from dissensus.readers.tables.rows import IN_MEMORY, Column, Rows
from dissensus.readers.tables.structure import UnclearRolesError, with_joined
from dissensus.readers.tables.vote_columns import find_votes
from dissensus.readers.tables.votes import votes_table
from dissensus.readers.tables.wide import grid_table, wide_table

UNNAMED = "(index)"  # the first column, if it has no name
MOST_NAMED = 30  # columns that a command in a message names
SHAPES = ("long", "wide", "votes")  # what the rows are, in whatever format they are written


def table_corpus(rows: Rows, options: Layout) -> Corpus:
    """Read a table of any shape: the one that the options name, or the one its columns show.

    Rows that a crowdsourcing platform marks as rejected, skipped or expired are left out.
    """
    if options.columns_only:
        return _columns_only(rows)
    columns, stated = rows.columns, options
    rows, options, proposal = with_proposal(*in_long_form(rows, options))
    rows, blank_notes = without_blank_rows(rows)
    rows, notes = without_totals(rows)
    notes = [*(f"{rows.name}: {note}" for note in rows.notes), *blank_notes, *notes]
    rows, column_notes = without_blank_columns(rows, options)
    notes += column_notes
    rows, features = without_features(rows, options)
    if options.item_parts:
        rows = with_joined(rows, options.item_parts)
    rows, left = without_rejected(rows)
    grid = find_grid(rows, options)
    votes = None if grid else find_votes(rows, options)
    annotators = None if votes or grid else find_annotators(rows, options)
    if votes is None and grid is None and annotators is None:
        grid = find_single_question(rows, options)
    if grid is not None:
        corpus = grid_table(rows, grid, options)
    elif votes is not None:
        corpus = votes_table(rows, votes, options)
    elif annotators is not None:
        corpus = wide_table(rows, annotators, options)
    else:
        corpus = _long_or_wide(rows, options)
    corpus = replace(corpus, notes=(*corpus.notes, *notes)) if notes else corpus
    corpus = with_features(corpus, features, rows)
    found: dict[str, Any] = {}
    if votes is not None:
        found = {"format": "votes", "answer": votes.counts}
    elif annotators is not None:
        found = {"annotators": annotators}
    elif grid is not None:
        found = {"annotators": tuple(dict.fromkeys(n for of in grid.values() for n in of))}
    take(_layout(stated if proposal is None else proposal, found, corpus, columns))
    return with_left_out(corpus, left, rows.name)


def _layout(
    base: Layout, found: dict[str, Any], corpus: Corpus, columns: Mapping[str, Column]
) -> Layout:
    """The layout that a table was read with, which reads it again."""
    changes = dict(found)
    roles = {part: name for part, name in corpus.columns.items() if part not in base.stated()}
    named = {part: tuple(name.split(" + ")) for part, name in roles.items()}
    named = {part: names for part, names in named.items() if columns.keys() >= set(names)}
    for part, names in named.items():
        if part == "item":
            changes[part] = names
        elif part == "annotator":
            changes |= {} if found else {part: names[0]}
        else:
            changes["text"] = (*changes.get("text", ()), *names)
    asked = tuple(corpus.questions)
    if not found and base.answer is None and columns.keys() >= set(asked):
        changes["answer"] = asked
    return base.with_changes(**{**changes, **base.stated()})


def _columns_only(rows: Rows) -> Corpus:
    """Each row as an item without answers, and every column as an attribute."""
    rows, _ = without_blank_rows(rows)
    rows, _ = without_totals(rows)
    columns = {} if rows.index is None else {UNNAMED: rows.index}
    columns |= {name: column for name, column in rows.columns.items() if not column.is_bytes}
    attributes = {name: column.array() for name, column in columns.items()}
    return Corpus.build(rows.name, Names.range(rows.n_rows), {}, item_attributes=attributes)


def _long_or_wide(rows: Rows, options: Layout) -> Corpus:
    """A long table; if it has no answers, a wide one whose annotators have any name."""
    try:
        return long_table(rows, options)
    except UnclearRolesError:
        raise
    except NoAnswersError:
        names = (options.annotator, options.annotators, options.answer, options.question)
        if options.format is not None or any(part is not None for part in names):
            raise
        alike = columns_alike(rows, options)
        columns = alike.names
        if not columns:
            raise
    annotator_rows = find_annotator_rows(rows, columns)
    if annotator_rows is not None:
        return annotator_rows_table(rows, annotator_rows, options)
    if alike.why_annotators:
        return wide_table(rows, columns, options, alike)
    if rows.path == IN_MEMORY:
        few = len(columns) <= MOST_NAMED
        wide = f"annotators={list(columns)!r}" if few else "format='wide'"
        questions = f"{list(columns)!r}" if few else "[...]"
        raise NoAnswersError(
            f"{rows.path}: no column of answers recognised: {listed(columns)} have the same "
            f"values, but may be annotators or questions; use read(table, {wide}) if each is an "
            f"annotator, read(table, answer={questions}) if each is a question"
        )
    file = shlex.join(["dissensus", "describe", rows.path])
    if len(columns) > MOST_NAMED:
        raise NoAnswersError(
            f"{rows.path}: no column of answers recognised: {listed(columns)} have the same "
            f"values, but may be annotators or questions; use {file} --format wide if each is an "
            "annotator, or name the questions (answer=, --answer)"
        )
    questions = shlex.join(part for name in columns for part in ("--answer", name))
    raise NoAnswersError(
        f"{rows.path}: no column of answers recognised: {listed(columns)} have the same values, "
        "but may be annotators or questions; "
        f"use {file} --annotator-columns {shlex.quote(','.join(columns))} if each is an annotator, "
        f"{file} {questions} if each is a question"
        f"{_or_both(file, possible_annotators(rows, options))}"
    )


def _or_both(file: str, annotators: tuple[str, ...]) -> str:
    """The command for a table with a column for each question and annotator."""
    if not annotators:
        return ""
    names = shlex.quote(",".join(annotators))
    return f", {file} --annotator-columns {names} if names have a question and an annotator"
