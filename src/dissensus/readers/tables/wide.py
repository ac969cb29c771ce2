"""Wide tables: one row per item, one column per annotator -> Corpus."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.layout import Layout
from dissensus.readers.tables.annotator_columns import AlikeColumns, alike_by_values, is_derived
from dissensus.readers.tables.assembly import Assembled, assemble
from dissensus.readers.tables.column_names import plain
from dissensus.readers.tables.column_roles import BY_NAME, ColumnRoles
from dissensus.readers.tables.explanations import TAKEN_FOR
from dissensus.readers.tables.item_rows import (
    cells_of,
    free_name,
    item_roles,
    repeated,
    spread,
)
from dissensus.readers.tables.notes import wide_notes, with_notes
from dissensus.readers.tables.question_columns import Grid
from dissensus.readers.tables.rows import Column, Rows


def wide_table(
    rows: Rows, annotators: tuple[str, ...], options: Layout, alike: AlikeColumns | None = None
) -> Corpus:
    """Turn a table with a column per annotator into a corpus of one question, "answer".

    A blank cell means that this annotator did not answer. Columns that are neither annotators nor
    the item, its content, gold or a split become attributes of the items.

    Args:
        alike: what shows that the columns are annotators, if it is not their names.
    """
    _check_columns(rows, annotators, options)
    roles, items = item_roles(rows, options, set(annotators), added="annotator")
    assembled = assemble(_long_form(rows, annotators, items, roles), roles, options)
    left_out = tuple(row for row in assembled.corpus.left_out if row.reason != "no answer")
    assembled = replace(assembled, corpus=replace(assembled.corpus, left_out=left_out))
    if alike is None and options.annotators is None:
        alike = alike_by_values(annotators)
    roles = replace(roles, reasons=_reasons(roles, assembled, annotators, alike))
    return with_notes(assembled.corpus, rows, wide_notes(rows, roles, assembled, annotators))


def _reasons(
    roles: ColumnRoles,
    assembled: Assembled,
    annotators: tuple[str, ...],
    alike: AlikeColumns | None,
) -> dict[str, tuple[str, str]]:
    """Column -> what it is taken for, and why; empty if names say all."""
    reasons = dict(roles.reasons)
    why = alike.why_annotators if alike else BY_NAME
    reasons |= {name: ("annotator", why) for name in annotators}
    if all(why == BY_NAME for _, why in reasons.values()):
        return {}
    for kind, names in assembled.others.items():
        taken_for = TAKEN_FOR["annotator" if kind == "annotator" else "item"]
        reasons |= {name: (taken_for, f"the same for each {kind}") for name in names}
        derived = [name for name in names if is_derived(name)]
        reasons |= {
            name: (TAKEN_FOR["label"], "a summary or a model, by its name") for name in derived
        }
    if alike and alike.majority:
        reasons[alike.majority] = (TAKEN_FOR["label"], "the majority of the annotators")
    return reasons


def grid_table(rows: Rows, grid: Grid, options: Layout) -> Corpus:
    """Turn a table with a column per question and annotator into a corpus."""
    used = [column for columns in grid.values() for column in columns.values()]
    _check_columns(rows, tuple(used), options)
    roles, items = item_roles(rows, options, set(used), added="annotator")
    annotators = tuple(dict.fromkeys(name for columns in grid.values() for name in columns))
    others = {name: column for name, column in rows.columns.items() if name not in used}
    table = spread(replace(rows, columns=others), annotators, items, roles)
    blank = Column(pa.array([], pa.string()), np.full(rows.n_rows, -1))
    answers = {
        free_name(question, table.columns): cells_of(
            [rows.columns[columns[name]] if name in columns else blank for name in annotators]
        )
        for question, columns in grid.items()
    }
    table = replace(
        table,
        columns={
            **table.columns,
            str(roles.annotator): repeated(annotators, rows.n_rows),
            **answers,
        },
    )
    gold = {q: name for q in answers for name in table.columns if plain(name) in _gold_names(q)}
    roles = replace(roles, answer=tuple(answers), gold=gold, reasons={})  # names say all
    assembled = assemble(table, roles, options)
    left_out = tuple(row for row in assembled.corpus.left_out if row.reason != "no answer")
    assembled = replace(assembled, corpus=replace(assembled.corpus, left_out=left_out))
    return with_notes(assembled.corpus, rows, wide_notes(rows, roles, assembled, annotators))


def _gold_names(question: str) -> tuple[str, str]:
    return "gold" + plain(question), plain(question) + "gold"


def _long_form(rows: Rows, annotators: tuple[str, ...], items: Column, roles: ColumnRoles) -> Rows:
    """The same cells with a row per item and annotator, blank ones included."""
    (answer,) = roles.answer
    table = spread(rows, annotators, items, roles)
    columns = {
        **table.columns,
        str(roles.annotator): repeated(annotators, rows.n_rows),
        answer: cells_of([rows.columns[name] for name in annotators]),
    }
    orders = {rows.orders.get(name) for name in annotators}
    (order,) = orders if len(orders) == 1 else (None,)
    return replace(
        table,
        columns=columns,
        sets=rows.sets - set(annotators) | ({answer} if rows.sets & set(annotators) else set()),
        orders={answer: order} if order else {},
    )


def _check_columns(rows: Rows, annotators: tuple[str, ...], options: Layout) -> None:
    named = {name for name in (options.item, options.gold) if name} | set(options.text or ())
    rows.check(sorted(named))
    both = sorted(named & set(annotators))
    if both:
        raise DataError(f"{rows.path}: {both[0]!r} is named as an annotator and as something else")
    binary = next((name for name in annotators if rows.columns[name].is_bytes), None)
    if binary is not None:
        raise DataError(f"{rows.path}: column {binary!r} contains bytes, not answers")
