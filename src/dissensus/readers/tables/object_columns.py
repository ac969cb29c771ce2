"""Object columns: a row for each item, with the answer of each annotator under their name -> rows.

    {"id": "t1", "annotations": {"ann": "yes", "bob": "no"}}

The keys are annotators if they occur in several objects with the same few answers, and if they are
named so, the column is, or objects have different keys. Other keys may be questions, or values with
their counts; then the options say which.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from dissensus.errors import DataError, listed
from dissensus.readers.json_text import value_text
from dissensus.readers.options import Options
from dissensus.readers.tables.annotator_columns import is_named_like_an_annotator
from dissensus.readers.tables.column_names import NAMES, plain
from dissensus.readers.tables.item_rows import free_name
from dissensus.readers.tables.list_columns import exploded, is_named
from dissensus.readers.tables.rows import Column, Rows
from dissensus.scales import as_numbers

Objects = list[dict[str, str]]  # of each row, without nulls; empty for a blank cell
FEWEST_ANSWERS = 2  # for each key, on average: names that repeat
FEW_VALUES = 20  # so many are the values of a scale, whatever their share
SHARE = 0.1  # of the answers: so many different ones are the values of a scale, too
SHARED = 0.9  # of the keys: so many have an answer that another key has
MOST_NAMED = 30  # keys that a command in a message names


def with_rows_of_objects(rows: Rows, options: Options) -> Rows:
    """The table with a row for each key of its objects, and a note; or as it is."""
    for name, column in rows.columns.items():
        objects = _objects(column)
        if objects is None:
            continue
        keys = list(dict.fromkeys(key for one in objects for key in one))
        named = {*(options.annotators or ()), *(options.answer or ())} - set(rows.columns)
        if named and named <= set(keys):
            return _with_columns(rows, name, objects, keys)
        if len(keys) < 2 or _has_answers(rows, name, options):
            continue
        if _are_annotators(name, keys, objects):
            return _by_annotator(rows, name, objects, keys)
        if is_named(name, "answer") or is_named(name, "annotator"):
            raise DataError(_refusal(rows, name, keys))
    return rows


def _objects(column: Column) -> Objects | None:
    """The object of each row; None unless all values are objects of texts, numbers and the like."""
    if column.is_bytes or not len(column.values):
        return None
    if not str(column.values[0].as_py()).lstrip().startswith("{"):
        return None
    objects: Objects = []
    for text in column.values.to_pylist():
        content = _plain_object(text)
        if content is None:
            return None
        objects.append(content)
    objects.append({})
    return [objects[code] for code in column.codes.tolist()]


def _plain_object(text: str) -> dict[str, str] | None:
    try:
        content = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    if any(isinstance(value, dict | list) for value in content.values()):
        return None
    texts = {key: value_text(value) for key, value in content.items()}
    return {key: text for key, text in texts.items() if text is not None}


def _has_answers(rows: Rows, name: str, options: Options) -> bool:
    """Whether annotators or answers are elsewhere."""
    if options.annotator or options.annotators or options.answer:
        return True
    others = [plain(other) for other in rows.columns if other != name]
    return any(other in NAMES[role] for other in others for role in ("annotator", "answer"))


# ---- keys that are annotators ----


def _are_annotators(name: str, keys: Sequence[str], objects: Objects) -> bool:
    """Whether keys repeat, have the same few answers, and something says that they are names.

    Numbers may be counts of the values that the keys are, so they need keys or a column with the
    name of annotators.
    """
    answers = [(key, value) for one in objects for key, value in one.items()]
    if len(answers) < FEWEST_ANSWERS * len(keys) or not _are_of_one_scale(answers):
        return False
    if is_named(name, "annotator"):
        return True
    numeric = as_numbers([value for _, value in answers]) is not None
    if all(is_named_like_an_annotator(key) and not (numeric and key.isdigit()) for key in keys):
        return True
    different = all(len(one) < len(keys) for one in objects)
    return not numeric and (different or plain(name).startswith("annotation"))


def _are_of_one_scale(answers: Sequence[tuple[str, str]]) -> bool:
    keys_of: dict[str, set[str]] = {}
    for key, value in answers:
        keys_of.setdefault(value, set()).add(key)
    if len(keys_of) > max(FEW_VALUES, SHARE * len(answers)):
        return False
    sharing = {key for keys in keys_of.values() if len(keys) > 1 for key in keys}
    return len(sharing) >= SHARED * len({key for key, _ in answers})


def _by_annotator(rows: Rows, name: str, objects: Objects, keys: Sequence[str]) -> Rows:
    annotator = free_name("annotator", rows.columns)
    answer = name if is_named(name, "answer") else free_name("answer", rows.columns)
    columns: dict[str, list[list[Any] | None]] = {
        annotator: [list(one) for one in objects],
        answer: [list(one.values()) for one in objects],
    }
    note = f"{name}: objects with an answer for each annotator ({listed(keys)}), read as rows"
    if len(keys) <= MOST_NAMED:
        note += f"; if these are questions: {_command(rows, _questions(keys))}"
    return replace(exploded(rows, columns, {name}), notes=(*rows.notes, note))


# ---- keys that the options name ----


def _with_columns(rows: Rows, name: str, objects: Objects, keys: Sequence[str]) -> Rows:
    """The table with a column for each key."""
    columns = {other: column for other, column in rows.columns.items() if other != name}
    for key in keys:
        cells = pa.array([one.get(key) for one in objects], pa.string())
        columns[free_name(key, columns)] = Column.of(cells)
    return replace(rows, columns=columns)


def _refusal(rows: Rows, name: str, keys: Sequence[str]) -> str:
    message = (
        f"{rows.path}: {name!r} contains objects with the keys {listed(keys)}, which may be "
        "annotators, questions, or values with their counts; "
    )
    if len(keys) > MOST_NAMED:
        return message + "write a row for each answer (item, annotator, answer)"
    annotators = ["--annotator-columns", ",".join(keys)]
    return message + (
        f"use {_command(rows, annotators)} if they are annotators, "
        f"{_command(rows, _questions(keys))} if they are questions; for counts, write a column for "
        "each value"
    )


def _questions(keys: Sequence[str]) -> list[str]:
    return [part for key in keys for part in ("--answer", key)]


def _command(rows: Rows, options: Sequence[str]) -> str:
    return shlex.join(["dissensus", "describe", rows.path, *options])
