"""Predictions that another system wrote to a file, matched with a corpus by item and annotator."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.corpus.tables import item_columns
from dissensus.errors import DataError, cut, listed
from dissensus.files.arrow import parquet_table
from dissensus.files.checked_json import parse_json
from dissensus.files.plain import open_plain, plain_bytes
from dissensus.names import Names
from dissensus.prediction import Prediction, Predictions
from dissensus.prediction.prediction import ITEM, prediction_from_table

ENDINGS = (".csv", ".tsv", ".txt", ".jsonl", ".json", ".parquet")


def read_predictions(
    path: str | Path, corpus: Corpus, questions: Sequence[str] | None = None
) -> tuple[Predictions, list[str]]:
    """The predictions in a folder or a file; and notes on rows that were left out.

    A file is a table as in `Prediction.from_table` (CSV, TSV, JSON, JSON lines or Parquet). Rows
    are matched with the corpus by item and annotator. With several questions the table has a column
    `question`, or a column of answers for each question, or `questions` names the one.
    """
    path = Path(path)
    if path.is_dir() or path.suffix.lower() not in ENDINGS:
        return Predictions.load(path), []
    if not path.exists():
        raise DataError(f"{path}: no such file")
    by_question, notes = {}, []
    for question, columns in _by_question(path, corpus, questions).items():
        answers = corpus[question]
        people = None if answers.annotator is None else corpus.annotators
        try:
            prediction, more = prediction_from_table(
                columns, answers.scale, items=corpus.items, annotators=people, question=question
            )
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
        by_question[question] = prediction
        notes += [f"{path}: {_recognised(prediction, question)}"]
        notes += [f"{path}: {note}" for note in more]
    return Predictions(by_question, path.stem, corpus.name), notes


def _recognised(prediction: Prediction, question: str) -> str:
    """A line on what the file contains."""
    pairs, members = prediction.by_annotator, prediction.members
    of = "" if pairs is None else f", {len(pairs)} answers of {len(pairs.annotators)} annotators"
    draws = "" if members is None else f", {len(members)} draws each"
    certain = (
        pairs is None and members is None and bool(np.isin(prediction.distribution, (0, 1)).all())
    )
    only = "; labels only, taken as certain" if certain else ""
    return f"{question}: {len(prediction.items)} items{of}{draws}{only}"


def _by_question(
    path: Path, corpus: Corpus, questions: Sequence[str] | None
) -> dict[str, dict[str, list[Any]]]:
    """The columns of the table, for each question."""
    columns = _by_items(read_columns(path), corpus)
    question_column = next((name for name in columns if name.strip().lower() == "question"), None)
    if question_column is not None:
        parts: dict[str, dict[str, list[Any]]] = {}
        for at, question in enumerate(columns[question_column]):
            if question in corpus.questions and (not questions or question in questions):
                part = parts.setdefault(
                    question, {name: [] for name in columns if name != question_column}
                )
                for name in part:
                    part[name].append(columns[name][at])
        if not parts:
            raise DataError(f"{path}: no row is for a question of {corpus.name}")
        return parts
    named = list(questions or corpus.questions)
    if len(named) > 1:
        plain = {question.strip().casefold(): question for question in named}
        answers = {plain[n]: name for name in columns if (n := name.strip().casefold()) in plain}
        if answers:
            taken = answers.values()
            others = {name: cells for name, cells in columns.items() if name not in taken}
            return {q: {**others, "answer": columns[name]} for q, name in answers.items()}
        raise DataError(
            f"{path}: no column 'question', and {corpus.name} has several: {listed(named)}; name "
            "the one that was predicted with --question, or name its column so"
        )
    return {named[0]: columns}


def _by_items(columns: dict[str, list[Any]], corpus: Corpus) -> dict[str, list[Any]]:
    """The columns, with items in one that has half of the texts, or of other cells, by which no two
    items are the same."""
    texts = {name: list(map(str, cells)) for name, cells in columns.items()}
    distinct = [Names(list(dict.fromkeys(cells))) for cells in texts.values()]
    if any((corpus.items.find(names) >= 0).any() for names in distinct):
        return columns
    for column in item_columns(corpus).values():
        items = dict(zip(map(str, column.to_pylist()), corpus.items, strict=True))
        for name, cells in texts.items() if len(items) == corpus.n_items else ():
            if 2 * sum(cell in items for cell in cells) >= len(cells) > 0:
                free = {key: cells for key, cells in columns.items() if key.lower() not in ITEM}
                return {**free, name: [items.get(cell, cell) for cell in cells]}
    return columns


def read_columns(path: Path) -> dict[str, list[Any]]:
    """The columns of a CSV, TSV, JSON, JSON lines or Parquet file."""
    ending = path.suffix.lower()
    try:
        if ending == ".parquet":
            with open_plain(path) as file:
                return dict(parquet_table(file, path).to_pydict())
        text = plain_bytes(path).decode("utf-8-sig")
        if ending in (".jsonl", ".json"):
            whole = ending == ".json"
            rows = (
                parse_json(text, path)
                if whole
                else [parse_json(x, path) for x in text.split("\n") if x.strip()]
            )
            return _of_records(rows, path)
    except DataError:
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DataError(f"{path}: cannot be read ({cut(error)})") from None
    first = text.split("\n", 1)[0]
    delimiter = max(("\t", ",", ";"), key=first.count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(row)]
    except csv.Error as error:
        raise DataError(f"{path}: cannot be read ({cut(error)})") from None
    if not rows:
        raise DataError(f"{path}: is empty")
    return {
        name: [row[at] if at < len(row) else "" for row in rows[1:]]
        for at, name in enumerate(rows[0])
    }


def _of_records(rows: Any, path: Path) -> dict[str, list[Any]]:
    if isinstance(rows, dict):
        rows = [{"id": key, **(row if isinstance(row, dict) else {"answer": row})}
                for key, row in rows.items()]  # fmt: skip
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(f"{path}: must be a list of objects, one for each prediction")
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
