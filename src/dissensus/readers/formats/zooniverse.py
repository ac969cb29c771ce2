"""Zooniverse's export of classifications: a row for each, with the answers to all tasks as JSON.

    classification_id,user_name,annotations,subject_data,subject_ids
    1,ann,"[{""task"":""T0"",""value"":[{""choice"":""GIRAFFE""}]}]","{""7"":{""file"":""a.jpg""}}",7

An item is a subject, a question is a task: one value, or the set of those that were chosen. Marks
in a picture are not read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted
from dissensus.readers.delimited import delimited_rows
from dissensus.readers.exports.responses import Response, counts, filled_cells, responses_corpus
from dissensus.readers.json_text import DECODER, list_in, object_in, texts_in, value_texts
from dissensus.readers.layout import Layout

ITEM, USER, TASKS, DATA = "subject_ids", "user_name", "annotations", "subject_data"


def read(path: Path, options: Layout) -> Corpus:
    """Read every classification; `repeats` says which counts if a user classified again."""
    rows = delimited_rows(path, options)
    rows.check([ITEM, USER, TASKS])
    responses, marks, labels = [], Counter[str](), dict[str, str]()
    for place, cells in filled_cells(rows):
        item, subjects = str(cells.get(ITEM)), object_in(_parsed(cells.get(DATA)))
        one = Response(place, item, cells.get(USER), {}, texts_in(subjects.get(item)))
        for task in _tasks(_parsed(cells.get(TASKS))):
            name, value = str(task["task"]), task.get("value")
            values = value if isinstance(value, list) else [value]
            chosen = [v.get("choice", v) if isinstance(v, dict) else v for v in values]
            if any(isinstance(value, dict) for value in chosen):
                marks[name] += 1
            elif value is not None:
                one.answers[name] = value_texts(chosen)
                labels |= {name: str(task["task_label"])} if task.get("task_label") else {}
        one.reason = None if ITEM in cells else "no subject"
        responses.append(one)
    again = len(responses) - len({(one.item, one.annotator) for one in responses})
    if again and options.repeats == "error":
        raise DataError(
            f"{path}: {counted(again, 'classification')} of Zooniverse (JSON) of a subject that "
            "the same user had classified before; say which count (repeats=, --repeats): first, "
            "last or keep"
        )
    answered = {name for one in responses for name, values in one.answers.items() if values}
    for one in responses:  # tasks in which something is marked, or nothing
        one.answers = {name: values for name, values in one.answers.items() if name in answered}
    notes = [f"marks are not read: {counts(marks)}"] if marks else []
    notes += [f"{name}: {labels[name]}" for name in sorted(answered & labels.keys())]
    return responses_corpus(path, responses, options, "Zooniverse", notes)


def _parsed(cell: str | None) -> Any:
    with suppress(json.JSONDecodeError, RecursionError):
        return DECODER.decode(cell or "[]")


def _tasks(written: Any) -> Iterator[dict[str, Any]]:
    """The tasks, also those that are in one of several parts."""
    for task in list_in(written):
        if "task" in object_in(task):
            yield from [*_tasks(task.get("value"))] or [task]
