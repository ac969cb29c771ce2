"""Label Studio's JSON export: an array of tasks, each with the annotators' answers.

    [{"id": 1, "data": {"text": "so good!"},
      "annotations": [{"id": 1001, "completed_by": 10, "was_cancelled": false, "lead_time": 4.3,
                       "result": [{"type": "choices", "from_name": "mood", "to_name": "text",
                                   "value": {"choices": ["joy"]}}]}]}]

An item is a task, a question is a control (`from_name`): choices, ratings, numbers, comparisons of
two, taxonomies, or labels of spans and boxes, whose places are rationales. Other marks, and
comments on marks, are not read; neither are drafts, predictions and cancelled annotations. If
several choices are allowed, an annotation without one means that none fits.

JSON-MIN, CSV and TSV have a record per annotation, with the data of a task and the answers on one
level:

    [{"text": "so good!", "id": 1, "mood": "joy", "better": [{"selected": "left"}],
      "annotator": 7, "annotation_id": 1001, "created_at": "...", "lead_time": 4.3}]

In JSON-MIN, answers stand between `id` and `annotator`. In a table, answers are the columns that
differ within a task, or that contain what Label Studio writes for choices, ratings, comparisons and
spans. `answer` names them otherwise. A question without a key or with a blank cell is not answered.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, listed
from dissensus.readers.delimited import delimited_rows
from dissensus.readers.exports.responses import (
    Response,
    Span,
    are_free,
    check_known,
    counts,
    entries,
    filled_cells,
    responses_corpus,
    table,
    with_spans,
)
from dissensus.readers.json_text import DECODER, object_in, set_text, value_text, value_texts
from dissensus.readers.layout import Layout
from dissensus.readers.recognition import LABEL_STUDIO_TIMES, Head
from dissensus.readers.tables.column_roles import shown_columns
from dissensus.readers.tables.rows import Rows
from dissensus.readers.tables.shapes import table_corpus

TOOL = "Label Studio"
LABELLED = ("labels", "hypertextlabels", "paragraphlabels", "timeserieslabels", "rectanglelabels")
CONTROLS = {  # type -> the key of the answer in its value
    "choices": "choices",
    "rating": "rating",
    "number": "number",
    "pairwise": "selected",
    "taxonomy": "taxonomy",
    **{kind: kind for kind in LABELLED},
}
MARKS = ("start", "x", "points", "ranges", "parentID")  # keys of a result about a part of a task
REPEATED, BARE = "found twice", "no annotation"  # why it is not read
KEY = "annotation_id"
OWN = frozenset(
    ("id", "annotator", "completed_by", KEY, *LABEL_STUDIO_TIMES, "agreement", "history")
)
VALUES = ("choices", "rating", "number", "selected", "taxonomy", "datetime", "ranker")
REMARKS = ("comment", "feedback", "remark", "note", "explan", "reason", "justif")
Record = dict[str, Any]
EXTRA = ("id", "created_at", "ground_truth")  # of an annotation, besides its answers


def read(path: Path, options: Layout) -> Corpus:
    """Read every annotation; a scale may be declared, and which part of the data was shown."""
    tasks = [
        (place, task, _annotations(task, f"{path}, {place}"))
        for place, task in list(entries(path, options.encoding))
    ]
    users = [object_in(one.get("completed_by")) for *_, every in tasks for one in every]
    export = _Export({str(u.get("id")): str(u["email"]) for u in users if u.get("email")})
    for place, task, every in tasks:
        export.add(f"{path}, {place}", place, task, every)
    if not export.kinds:
        seen = f"; not read: {counts(export.marks)}" if export.marks else ""
        raise DataError(
            f"{path}: no choices, ratings, numbers, comparisons, taxonomies or spans in "
            f"{counted(len(export.seen), 'annotation')}{seen}"
        )
    return export.corpus(path, options)


def _annotations(task: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """The annotations of a task; refused if it is none."""
    results = task.get("annotations", task.get("completions"))
    whole = task.get("id") is not None and isinstance(task.get("data"), dict)
    if not whole or not isinstance(results, list):
        raise DataError(
            f"{where}: a task of Label Studio has 'id', 'data' and 'annotations', found "
            f"{listed(task, 12)}"
        )
    if not all(isinstance(one, dict) and isinstance(one.get("result"), list) for one in results):
        raise DataError(
            f"{where}: every annotation has a 'result'; export JSON with whole annotations"
        )
    return results


@dataclass
class _Export:
    """The responses of a file, and what is not read."""

    emails: dict[str, str]  # of annotators, by id
    responses: list[Response] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)  # of the questions
    marks: Counter[str] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)

    def add(self, where: str, place: str, task: dict[str, Any], annotations: list[Any]) -> None:
        item = str(task["id"])
        if not annotations:
            self.responses.append(Response(place, item, None, {}, reason=BARE))
        data = {key: text for key, v in task["data"].items() if (text := value_text(v)) is not None}
        for number, one in enumerate(annotations, start=1):
            name = str(one.get("id") or f"{item}, {number}")
            response = Response(f"{place}, annotation {name}", item, None, {}, data)
            self.responses.append(response)
            if name in self.seen:
                response.reason = REPEATED
                continue
            self.seen.add(name)
            for result in one["result"]:
                self._add_result(response, result, where)
            about = {key: str(value_text(one[key])) for key in EXTRA if one.get(key)}
            response.extra |= {f"annotation.{key}": text for key, text in about.items()}
            response.annotator = user_name(one.get("completed_by"), self.emails)
            response.seconds = value_text(one.get("lead_time"))
            if one.get("was_cancelled") in (True, "true"):
                response.reason = "cancelled"

    def _add_result(self, response: Response, result: Any, where: str) -> None:
        value = result.get("value") if isinstance(result, dict) else None
        if not isinstance(value, dict):
            raise DataError(f"{where}: every result must have a 'value', found {result!r:.60}")
        kind, name = str(result.get("type")), str(result.get("from_name") or "").strip()
        if not name:
            raise DataError(f"{where}: every result must have a 'from_name', found none")
        spans = marked_spans(name, value, result) if kind in LABELLED else []
        response.spans += spans
        of_mark = not spans and any(key in value or key in result for key in MARKS)
        if kind == "textarea" and not of_mark:
            response.extra[f"{name} (text)"] = " | ".join(value_texts(value.get("text")))
        elif of_mark or kind not in CONTROLS:
            self.marks[kind] += 1
        else:
            if self.kinds.setdefault(name, kind) != kind:
                raise DataError(f"{where}: {name!r} is of two types, {self.kinds[name]} and {kind}")
            response.answers.setdefault(name, []).extend(chosen(kind, value.get(CONTROLS[kind])))

    def corpus(self, path: Path, options: Layout) -> Corpus:
        notes = []
        if self.marks:
            notes.append(f"marks, and comments on them, are not read: {counts(self.marks)}")
        reasons = Counter(one.reason for one in self.responses)
        if n := reasons[BARE]:
            notes.append(f"{counted(n, 'task')} without an annotation left out")
        if n := reasons[REPEATED]:
            notes.append(f"{counted(n, 'annotation')} found twice and read once")
        read = [one for one in self.responses if one.reason is None]
        several = {q for one in read for q, values in one.answers.items() if len(values) > 1}
        sets = [q for q, k in self.kinds.items() if q in several or k in ("taxonomy", *LABELLED)]
        for question in sets:
            nothing = [one.answers for one in read if question not in one.answers]
            for answers in nothing:
                answers[question] = []
            if nothing:
                n_blank = counted(len(nothing), "annotation")
                notes.append(f"{question}: no choice in {n_blank}, read as: none fits")
        answered = {question for one in read for question in one.answers}
        questions = [question for question in self.kinds if question in answered or not answered]
        return responses_corpus(
            path, self.responses, options, TOOL, notes, questions=questions, sets=sets
        )


def user_name(user: Any, emails: dict[str, str]) -> str | None:
    """The name of an annotator: the email if it is known."""
    name = user.get("email") or user.get("id") if isinstance(user, dict) else user
    return None if name in (None, "") else emails.get(str(name), str(name))


def chosen(kind: str | None, answer: Any) -> list[str]:
    """The values of an answer; a path of a taxonomy is one."""
    if kind == "taxonomy":
        paths = answer if isinstance(answer, list) else []
        return [" > ".join(value_texts(path)) for path in paths]
    return value_texts(answer)


def marked_spans(question: str, value: dict[str, Any], result: dict[str, Any]) -> list[Span]:
    """The span or box of a result, once for each of its labels; none if it has no place."""
    kind = next((kind for kind in LABELLED if kind in value), None)
    labels = value_texts(value.get(kind)) if kind else []
    offsets, text = value.get("globalOffsets"), value.get("text")
    start: tuple[float, ...]
    stop: tuple[float, ...]
    try:
        if "x" in value:
            left, top, width, height = (float(value[k]) for k in ("x", "y", "width", "height"))
            across, down = (
                float(result.get(f"original_{k}") or value.get(f"original_{k}") or 100) / 100
                for k in ("width", "height")
            )
            start = (top * down, left * across)
            stop = ((top + height) * down, (left + width) * across)
        else:
            ends = offsets if isinstance(offsets, dict) else value
            start, stop = (float(ends["start"]),), (float(ends["end"]),)
    except (KeyError, TypeError, ValueError):
        return []
    more = (
        text if isinstance(text, str) else None,
        "channel" in value or "original_length" in result,
    )
    return [Span(question, start, stop, label, *more) for label in labels]


# ---- a record per annotation ----


def read_records(path: Path, options: Layout) -> Corpus:
    """Read every annotation; options may name the item, the answers and what was shown."""
    every, columns, ordered = _records(path, options)
    check_known(path, [options.item or "id"], columns, "column")
    names = [str(record.get(KEY) or place) for place, record in every.items()]
    first = {name: place for place, name in reversed([*zip(every, names, strict=True)])}
    records = {place: one for place, one in every.items() if place in {*first.values()}}
    own = {*VALUES, *LABELLED}  # the keys of an answer that Label Studio wrote
    answers = {n for n in columns for one in records.values()
               for part in _parts_of(one.get(n)) if own & object_in(part).keys()}  # fmt: skip
    if ordered:
        answers |= _between(list(records.values()))
    cells, sets, spans = _cells(records, columns, answers | {*(options.answer or ())})
    person = options.annotator or ("annotator" if "annotator" in columns else "completed_by")
    cells[person] = [user_name(record.get(person), {}) for record in records.values()]
    rows = table(path, cells, [*records], sets)
    questions, why = _questions(rows, options, answers, person, ordered)
    if not questions:
        raise DataError(
            f"{path}: no answers recognised in {listed(columns, 40)}; name them (answer=, --answer)"
        )
    notes = [f"{TOOL}; answers = {', '.join(questions)}{why}"]
    if n := len(every) - len(records):
        notes.append(f"{counted(n, 'annotation')} found twice and read once")
    item = options.item or "id"
    shown = shown_columns(rows, options, item, {*questions, person})
    layout = Layout(item=item, annotator=person, answer=questions, text=(*shown.values(),))
    layout = layout.with_changes(**replace(options, item=None, answer=None).stated())
    corpus = table_corpus(replace(rows, notes=tuple(notes)), layout)
    of_items = cells[item]
    by_row = zip(of_items, cells[person], spans, strict=True)
    marks = [(str(item), who, span) for item, who, of in by_row for span in of]
    return with_spans(corpus, marks, path.name)


def _records(path: Path, options: Layout) -> tuple[dict[str, Record], list[str], bool]:
    """The records by place, their keys, and whether the order of keys says which are answers."""
    if Head.of(path).text.lstrip()[:1] in ("[", "{"):
        records = dict(entries(path, options.encoding))
        return records, list(dict.fromkeys(key for one in records.values() for key in one)), True
    rows = delimited_rows(path, options)
    records = dict(filled_cells(rows))
    for record in records.values():
        for name, cell in record.items():
            with suppress(json.JSONDecodeError, RecursionError):
                record[name] = DECODER.decode(cell) if cell.lstrip()[:1] in ("{", "[") else cell
    return records, list(rows.columns), False


def _parts_of(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _between(records: list[Record]) -> set[str]:
    """The keys between `id` and `annotator`, in whose order Label Studio writes a record."""
    every = [list(one) for one in records]
    if not all({"id", "annotator"} <= {*keys} for keys in every):
        return set()
    between = (keys[keys.index("id") + 1 : keys.index("annotator")] for keys in every)
    return {key for keys in between for key in keys} - OWN


Cells = dict[str, list[str | None]]


def _cells(
    records: dict[str, Record], columns: list[str], answers: set[str]
) -> tuple[Cells, set[str], list[list[Span]]]:
    """The columns as texts, those that contain sets, and the spans of each record."""
    cells: Cells = {name: [] for name in columns}
    spans: list[list[Span]] = [[] for _ in records]
    values: dict[str, list[list[str]]] = {}
    sets = set()
    for at, record in enumerate(records.values()):
        for name in columns:
            value = record.get(name)
            cells[name].append(value_text(value))
            chosen_values: list[str] = []
            for part in _parts_of(value) if name in answers and value is not None else ():
                written = part if isinstance(part, dict) else {"text": part}
                key = next((k for k in (*VALUES, *LABELLED, "text") if k in written), "")
                chosen_values += chosen(key, written.get(key, []))
                spans[at] += marked_spans(name, written, written) if key in LABELLED else []
                sets |= {name} if key in (*LABELLED, "taxonomy", "choices") else set()
            values.setdefault(name, []).append(list(dict.fromkeys(chosen_values)))
            sets |= {name} if len(values[name][-1]) > 1 else set()
    for name in answers & cells.keys():
        one = values[name]
        texts = [set_text(v) for v in one] if name in sets else [next(iter(v), None) for v in one]
        there = [record.get(name) is not None for record in records.values()]
        cells[name] = [
            text if is_there else None for text, is_there in zip(texts, there, strict=True)
        ]
    return cells, sets, spans


def _questions(
    rows: Rows, options: Layout, answers: set[str], person: str, ordered: bool
) -> tuple[tuple[str, ...], str]:
    """The columns of answers, and why they are."""
    item = options.item or "id"
    may = [name for name in rows.columns if name not in OWN | {item, person}]
    if options.answer is not None:
        check_known(rows.path, options.answer, may, "column")
        return options.answer, ""
    differ = {n for n in may if not rows.columns[n].is_constant(rows.columns[item])} - answers
    why = "" if ordered or not differ else ", as they differ within a task"
    answers = answers if ordered else answers | differ
    free = [name for name in may if name in answers and _is_free(rows, name)]
    return tuple(name for name in may if name in answers and name not in free), why


def _is_free(rows: Rows, name: str) -> bool:
    """Whether a column contains free texts."""
    texts = [] if name in rows.sets else rows.columns[name].array().drop_null().to_pylist()
    is_remark = any(word in name.casefold() for word in REMARKS)
    return (is_remark and len({*texts}) == len(texts)) or are_free(texts, fewest=10)
