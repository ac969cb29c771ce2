"""Proposals: the layouts of tables that have more than one answer in a row, with reasons.

    {"id": "t1", "annotators": ["ann", "bob"], "labels": ["yes", "no"]}       lists
    {"id": "t1", "annotations": [{"annotator": "ann", "label": "yes"}, ...]}  records
    {"id": "t1", "annotations": {"ann": "yes", "bob": "no"}}                  keys
    {"id": "t1", "label_counter": {"yes": 70, "no": 30}}                      counts
    id,Score1,Score2,TurkId1,TurkId2                                          slots

A proposal is taken if names say what it is; otherwise the table is refused, with a command for
each way to read it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from dissensus.errors import DataError, listed
from dissensus.readers.json_text import value_text
from dissensus.readers.layout import Layout, UnclearError
from dissensus.readers.tables.answer_cells import parsed_cell
from dissensus.readers.tables.column_names import (
    NAMES,
    WORDS,
    is_about_answers,
    is_named,
    is_one_annotator,
    plain,
    words_of,
)
from dissensus.readers.tables.forms import as_records
from dissensus.readers.tables.rows import Column, Rows, free_name
from dissensus.scales import as_numbers

Cells = dict[str, list[Any]]  # column -> the list or object of each row, None for a blank
Objects = list[dict[str, str]]  # of each row, without nulls; empty for a blank cell
PLACES = frozenset(("start", "end", "startoffset", "endoffset"))  # keys of spans
FEWEST_SUMS = 5  # rows in which numbers with the same sum are counts
MOST_NAMED = 30  # keys that a command in a message names
ZOONIVERSE = frozenset(("classificationid", "subjectids", "annotations"))
LIMESURVEY = frozenset(("submitdate", "lastpage", "startlanguage"))
_NUMBERED = re.compile(r"(?P<before>.*?)(?P<k>\d+)(?P<after>\D*)")


# ---- columns in numbered pairs ----


def _numbered(rows: Rows, part: str) -> dict[str, dict[str, str]]:
    """Pattern -> number -> column, of columns whose names differ in a number."""
    groups: dict[str, dict[str, str]] = {}
    for name, column in rows.columns.items():
        match = _NUMBERED.fullmatch(name)
        if match is not None and len(column.values) and not column.is_bytes:
            pattern = f"{match['before']}{{{part}}}{match['after']}"
            groups.setdefault(pattern, {})[match["k"]] = name
    return {pattern: group for pattern, group in groups.items() if len(group) > 1}


def propose_slots(rows: Rows, layout: Layout) -> Layout | None:
    """Numbered columns of answers, and as many with those who gave them: Score1, TurkId1, ..."""
    if layout.states_answers or layout.format is not None:
        return None
    groups = _numbered(rows, "k")
    for people, named in groups.items():
        word = plain(people.replace("{k}", ""))
        if word not in NAMES["annotator"] or not _are_names(rows, list(named.values())):
            continue
        answers = [
            pattern
            for pattern, group in groups.items()
            if group.keys() == named.keys() and pattern != people and not is_about_answers(pattern)
        ]
        if answers:
            return Layout(annotator=people, answer=tuple(answers))
    return None


def _are_names(rows: Rows, columns: Sequence[str]) -> bool:
    """Whether cells are names: different in each row, and more of them than a scale has."""
    values = {value for name in columns for value in rows.columns[name].words}
    cells = [rows.columns[name].array().slice(0, 200).to_pylist() for name in columns]
    filled = [[cell for cell in row if cell] for row in zip(*cells, strict=True)]
    return all(len(set(row)) == len(row) for row in filled) and len(values) > len(columns)


# ---- lists and objects in cells ----


def propose_cells(rows: Rows, layout: Layout) -> Layout | None:
    """The layout of lists or objects that contain the answers of several annotators."""
    parsed = {name: _parsed(column) for name, column in rows.columns.items()}
    cells: Cells = {name: values for name, values in parsed.items() if values is not None}
    for name, values in cells.items():
        records = [as_records(value) for value in values if value is not None]
        keys = [] if None in records else _keys_of([e for one in records for e in one or ()])
        if PLACES & set(map(plain, keys)):
            continue
        if any(is_named(key, "annotator") for key in keys) or (
            len(keys) > 1 and not layout.states_answers and _are_anonymous(rows, name, records)
        ):
            return Layout(answer=(name,), cells="records")
    lists = {name: v for name, v in cells.items() if all(isinstance(c, list | None) for c in v)}
    for name, values in lists.items():
        named = name == layout.annotator or is_named(name, "annotator")
        texts = [[value_text(entry) for entry in cell or ()] for cell in values]
        if named and all(len(set(row)) == len(row) for row in texts) and len(lists) > 1:
            return Layout(annotator=name, cells="lists")
    answer = _anonymous(rows, lists, layout)
    if answer is not None:
        return Layout(answer=(answer,), cells="lists")
    return _of_objects(rows, layout, cells)


def _are_anonymous(rows: Rows, name: str, records: list[Any]) -> bool:
    """Whether lists of records contain answers of unknown people: nothing else can."""
    others = [one for one in rows.columns if one != name]
    elsewhere = any(is_named(one, part) for one in others for part in ("annotator", "answer"))
    return not elsewhere and sum(len(one or ()) > 1 for one in records) > len(records) / 3


def _parsed(column: Column) -> list[Any] | None:
    """The list or object of each row; None unless every value is one."""
    if column.is_bytes or not len(column.values):
        return None
    if not str(column.values[0].as_py()).lstrip().startswith(("[", "{")):
        return None
    values = [parsed_cell(text) for text in column.values.to_pylist()]
    return None if None in values else [(*values, None)[code] for code in column.codes.tolist()]


def _keys_of(entries: list[Any]) -> list[str]:
    """The keys of all entries; none unless every entry is an object of plain values and lists."""
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        return []
    inner = [
        v for e in entries for one in e.values() for v in (one if type(one) is list else [one])
    ]
    if any(isinstance(one, dict | list) for one in inner):
        return []
    return list(dict.fromkeys(str(key) for entry in entries for key in entry))


def _anonymous(rows: Rows, lists: Cells, layout: Layout) -> str | None:
    """A column of answers in whose lists a value occurs twice, in a table without annotators."""
    if any(is_named(name, "annotator") for name in rows.columns):
        return None
    for name, cells in lists.items():
        named = name in layout.answer if layout.answer else is_named(name, "answer")
        flat = all(not isinstance(e, dict | list) for cell in cells for e in cell or ())
        if named and flat and any(len(set(cell)) < len(cell) for cell in cells if cell):
            return name
    return None


def _of_objects(rows: Rows, layout: Layout, cells: Cells) -> Layout | None:
    """Objects with an answer for each annotator, or a count for each value; others are refused."""
    if layout.annotator or layout.annotators or layout.answer:
        return None
    for name in cells:
        objects = _objects(cells[name])
        others = {plain(other) for other in rows.columns if other != name}
        if objects is None or others & {*NAMES["annotator"], *NAMES["answer"]}:
            continue
        keys = list(dict.fromkeys(key for one in objects for key in one))
        if len(keys) < 2:
            continue
        if _are_annotators(name, keys, objects):
            return Layout(answer=(name,), cells="keys")
        if _are_counts(name, objects):
            return Layout(answer=(name,), cells="counts")
        if is_named(name, "answer") or is_named(name, "annotator"):
            about = (
                f"{rows.path}: {name!r} contains objects with the keys {listed(keys, 5)}, which "
                "may be annotators, questions, or values with their counts"
            )
            ways = {
                "if they are annotators": Layout(answer=(name,), cells="keys"),
                "if they are values": Layout(answer=(name,), cells="counts"),
                "if they are questions": Layout(answer=tuple(keys[:MOST_NAMED])),
            }
            raise UnclearError.of(about, rows.path, ways)
    return None


def _objects(cells: list[Any]) -> Objects | None:
    """The object of each row; None unless all are objects of texts, numbers and the like."""
    objects: Objects = []
    for cell in cells:
        entries = {} if cell is None else cell
        if not isinstance(entries, dict) or any(
            isinstance(v, dict | list) for v in entries.values()
        ):
            return None
        texts = {key: value_text(value) for key, value in entries.items()}
        objects.append({key: text for key, text in texts.items() if text is not None})
    return objects


def _are_annotators(name: str, keys: Sequence[str], objects: Objects) -> bool:
    """Whether keys repeat, share answers, and something says that they are names.

    Numbers may be counts of the values that the keys are, so they need keys or a column with the
    name of annotators.
    """
    answers = [(key, value) for one in objects for key, value in one.items()]
    values_of = {key: {value for one, value in answers if one == key} for key in keys}
    shared = all(
        any(not own.isdisjoint(values_of[other]) for other in keys if other != key)
        for key, own in values_of.items()
    )
    if len(answers) < 2 * len(keys) or not shared:
        return False
    if is_named(name, "annotator"):
        return True
    numeric = as_numbers([value for _, value in answers]) is not None
    if all(is_one_annotator(key) and not (numeric and key.isdigit()) for key in keys):
        return True
    different = all(len(one) < len(keys) for one in objects)
    return not numeric and (different or plain(name).startswith("annotation"))


def _are_counts(name: str, objects: Objects) -> bool:
    """Whether whole numbers are counts: their column is called so, or all have the same sum."""
    if not all(value.isdecimal() for one in objects for value in one.values()):
        return False
    sums = {sum(map(int, one.values())) for one in objects if one}
    named = not WORDS["count"].isdisjoint(words_of(name))
    return named or (len(sums) == 1 and len(objects) >= FEWEST_SUMS)


def with_keys_named(rows: Rows, layout: Layout) -> Rows:
    """The table with a column for each key of its objects, if the layout names keys as columns."""
    named = {*(layout.annotators or ()), *(layout.answer or ())} - set(rows.columns)
    for name, column in rows.columns.items() if named else ():
        cells = _parsed(column)
        objects = None if cells is None else _objects(cells)
        keys = list(dict.fromkeys(key for one in objects or () for key in one))
        if objects is not None and named <= set(keys):
            columns = {other: one for other, one in rows.columns.items() if other != name}
            for key in keys:
                texts = pa.array([one.get(key) for one in objects], pa.string())
                columns[free_name(key, columns)] = Column.of(texts)
            return replace(rows, columns=columns)
    return rows


# ---- tools whose tables are known, but not read by themselves ----


def refuse_known_tools(rows: Rows, layout: Layout) -> None:
    """Refuse a table of a tool in which nothing names items and answers."""
    if layout.columns_named or layout.format is not None:
        return
    names = {plain(name): name for name in rows.columns}
    if ZOONIVERSE <= names.keys():
        raise DataError(
            f"{rows.path}: classifications of Zooniverse: {names['annotations']!r} contains JSON "
            f"with the answers to all tasks; write a table with {names['subjectids']!r} as item, "
            "the user as annotator and a column of answers for each task"
        )
    if LIMESURVEY <= names.keys():
        numbered = _numbered(rows, "item")
        pattern = max(numbered, key=lambda one: len(numbered[one]), default="Q{item}")
        person = next(iter(rows.columns))
        raise UnclearError.of(
            f"{rows.path}: a survey of LimeSurvey, with a row for each respondent",
            rows.path,
            {f"if {pattern!r} are the items": Layout(annotator=person, answer=(pattern,))},
        )
