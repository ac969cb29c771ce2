"""The full report of Figure Eight (CrowdFlower, Appen): a CSV file with a row per judgment.

    _unit_id,_id,_started_at,_tainted,_trust,_worker_id,_country,sentence,relations,relations_gold

An item is a unit, an annotator a worker. A question is a column that differs between the judgments
of a unit; several answers in a cell are a set. `relations_gold` are the gold labels of `relations`.
Tainted judgments are left out.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.delimited import delimited_rows
from dissensus.readers.exports.responses import (
    Left,
    are_free,
    by_reason,
    export_corpus,
    shown_content,
)
from dissensus.readers.json_text import set_text
from dissensus.readers.layout import Layout
from dissensus.readers.separators import separator_name, separator_of, split_cell
from dissensus.readers.tables.column_roles import ColumnRoles
from dissensus.readers.tables.rows import Column, Rows, take_rows
from dissensus.readers.tables.shapes import table_corpus

TOOL = "Figure Eight"
ITEM, ANNOTATOR, RESPONSE, TAINTED = "_unit_id", "_worker_id", "_id", "_tainted"
GOLD, REASON = "_gold", "_gold_reason"


def read(path: Path, options: Layout) -> Corpus:
    """Read every judgment that is not tainted; options may name the answers and the content."""
    rows = delimited_rows(path, options)
    if ANNOTATOR not in rows.columns:
        raise DataError(
            f"{path}: an aggregated report of {TOOL}, with one answer for each unit; export the "
            "full report, which has a row for each judgment"
        )
    rows.check([ITEM])
    rows, n_tainted = _untainted(rows)
    answers = _answers(rows, options)
    if not answers:  # too few judgments to see which columns differ within a unit
        return table_corpus(rows, options)
    rows, notes = _split(rows, answers)
    units = rows.columns[ITEM]
    gold = {
        name: f"{name}{GOLD}"
        for name in answers
        if (labels := rows.columns.get(f"{name}{GOLD}")) is not None and len(labels.values)
        if labels.conflict(units.codes, len(units.values)) is None
    }
    may = [
        name
        for name in rows.columns
        if not name.startswith("_")
        and name not in answers
        and not name.endswith((GOLD, REASON))
        and rows.columns[name].is_constant(units.codes, len(units.values))
    ]
    shown, missing_media = shown_content(rows, options, ITEM, may)
    roles = ColumnRoles(
        ITEM,
        ANNOTATOR,
        answers,
        shown,
        gold=gold,
        response=RESPONSE if RESPONSE in rows.columns and len(answers) > 1 else None,
    )
    left = Left({(name, "tainted"): n_tainted for name in answers} if n_tainted else {})
    return export_corpus(rows, roles, options, TOOL, left, notes, missing_media)


def _untainted(rows: Rows) -> tuple[Rows, int]:
    if TAINTED not in rows.columns:
        return rows, 0
    cells = rows.columns[TAINTED].array().to_pylist()
    kept = np.array([str(cell).strip().casefold() != "true" for cell in cells])
    if not kept.any():
        raise DataError(f"{rows.path}: no answers: {by_reason(Left({('', 'tainted'): len(kept)}))}")
    return take_rows(rows, kept), int((~kept).sum())


def _answers(rows: Rows, options: Layout) -> tuple[str, ...]:
    """The columns that depend neither on the unit nor on the worker alone."""
    if options.answer is not None:
        rows.check(options.answer)
        return options.answer
    answers = []
    units, workers = rows.columns[ITEM], rows.columns[ANNOTATOR]
    for name, column in rows.columns.items():
        filled = int((column.codes >= 0).sum())
        if name.startswith("_") or name.endswith((GOLD, REASON)) or not filled:
            continue
        if any(column.is_constant(of.codes, len(of.values)) for of in (units, workers)):
            continue
        texts = column.values.to_pylist()
        if not are_free(texts, filled) or separator_of(texts) is not None:
            answers.append(name)
    return tuple(answers)


def _split(rows: Rows, answers: tuple[str, ...]) -> tuple[Rows, list[str]]:
    """Cells with several answers as sets, and notes that say so."""
    columns, sets, notes = dict(rows.columns), set(rows.sets), []
    for name in answers:
        separator = separator_of(columns[name].values.to_pylist())
        if separator is None:
            continue
        for part in (name, f"{name}{GOLD}"):
            if part in columns and len(columns[part].values):
                codes, cells = columns[part].codes, columns[part].values.to_pylist()
                texts = pa.array([set_text(split_cell(cell, separator)) for cell in cells])
                columns[part] = Column.of(texts.take(pa.array(codes, mask=codes < 0)))
                sets.add(part)
        notes.append(f"{name}: several answers in a cell, separated by {separator_name(separator)}")
    return replace(rows, columns=columns, sets=frozenset(sets)), notes
