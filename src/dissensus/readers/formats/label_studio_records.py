"""Label Studio's exports with a record per annotation: JSON-MIN, CSV and TSV.

    [{"text": "so good!", "id": 1, "mood": "joy", "better": [{"selected": "left"}],
      "annotator": 7, "annotation_id": 1001, "created_at": "...", "lead_time": 4.3}]

An item is a task (`id`). The data of a task and the answers are on one level. In JSON-MIN, answers
stand between `id` and `annotator`. In a table, answers are the columns that differ within a task,
or that contain what Label Studio writes for choices, ratings, comparisons and spans. `answer`
names them otherwise. A question without a key or with a blank cell is not answered.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError, did_you_mean, listed
from dissensus.readers.delimited import delimited_rows
from dissensus.readers.exports.responses import Response, are_free, entries, responses_corpus
from dissensus.readers.files import first_bytes
from dissensus.readers.formats.label_studio import (
    LABELLED,
    TOOL,
    chosen,
    marked_spans,
    user_name,
)
from dissensus.readers.json_text import DECODER, value_text, value_texts
from dissensus.readers.layout import Layout
from dissensus.readers.recognition import LABEL_STUDIO_TIMES

KEY = "annotation_id"
OWN = frozenset(
    ("id", "annotator", "completed_by", KEY, *LABEL_STUDIO_TIMES, "agreement", "history")
)
VALUES = ("choices", "rating", "number", "selected", "taxonomy", "datetime", "ranker")
FEW = 30  # most distinct texts of an answer, where nothing else says what is one
REMARKS = ("comment", "feedback", "remark", "note", "explan", "reason", "justif")
Record = dict[str, Any]


def read(path: Path, options: Layout) -> Corpus:
    """Read every annotation; options may name the item, the answers and what was shown."""
    records, columns, ordered = _records(path, options)
    item = options.item or "id"
    if item not in columns:
        raise DataError(
            f"{path}: no column {item!r}{did_you_mean(item, columns)}; it has "
            f"{listed(columns, 40)}; name it (item=, --item)"
        )
    own = OWN | {item, str(options.annotator)}
    table = _Table(records, [name for name in columns if name not in own], item)
    questions, why = _questions(path, table, options, ordered)
    if not questions:
        raise DataError(
            f"{path}: no answers recognised in {listed(table.names, 40)}; name them (answer=, "
            "--answer)"
        )
    return _corpus(path, table, questions, why, options)


def _records(path: Path, options: Layout) -> tuple[dict[str, Record], list[str], bool]:
    """The records by place, their keys, and whether the order of keys says which are answers."""
    if first_bytes(path, 1 << 10).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{"):
        records = dict(entries(path, options.encoding))
        return records, list(dict.fromkeys(key for one in records.values() for key in one)), True
    rows = delimited_rows(path, options)
    columns = {name: column.array().to_pylist() for name, column in rows.columns.items()}
    records = {}
    for number in range(rows.n_rows):
        cells = {name: column[number] for name, column in columns.items()}
        present = {name: _parsed(cell) for name, cell in cells.items() if cell is not None}
        records[rows.place(number)] = present
    return records, list(columns), False


def _parsed(cell: str) -> Any:
    """A cell; JSON as its content."""
    if cell.lstrip()[:1] not in ("{", "["):
        return cell
    try:
        return DECODER.decode(cell)
    except (json.JSONDecodeError, RecursionError):
        return cell


# ---- which columns are answers ----


@dataclass(frozen=True)
class _Table:
    records: dict[str, Record]  # by place
    names: list[str]  # every column that may be data or an answer
    item: str

    def values(self, name: str) -> list[Any]:
        return [one[name] for one in self.records.values() if one.get(name) is not None]

    def between(self) -> set[str]:
        """The keys between `id` and `annotator`, in whose order Label Studio writes a record."""
        between: set[str] = set()
        for one in self.records.values():
            keys = list(one)
            if "id" not in keys or "annotator" not in keys:
                return set()
            between |= set(keys[keys.index("id") + 1 : keys.index("annotator")])
        return between - OWN

    def differs(self, name: str) -> bool:
        """Whether two annotations of a task differ in this column; a blank differs from a text."""
        first: dict[str, str] = {}
        for one in self.records.values():
            task, text = str(one.get(self.item)), _text(one.get(name))
            if first.setdefault(task, text) != text:
                return True
        return False

    def is_free(self, name: str) -> bool:
        """Whether a column contains free texts."""
        values = self.values(name)
        if any(isinstance(v, dict) and set(v) == {"text"} for v in values):
            return True
        texts = [value for value in values if isinstance(value, str)]
        if len(texts) < len(values) or not texts:
            return False
        if any(word in name.casefold() for word in REMARKS) and len(set(texts)) == len(texts):
            return True
        return are_free(texts, fewest=10)


def _questions(path: Path, table: _Table, options: Layout, ordered: bool) -> tuple[list[str], str]:
    """The columns of answers, and why they are."""
    if options.answer is not None:
        missing = [name for name in options.answer if name not in table.names]
        if missing:
            guess = did_you_mean(missing[0], table.names)
            raise DataError(
                f"{path}: no column {listed(missing)}{guess}; there are {listed(table.names, 40)}"
            )
        return list(options.answer), ""
    answers = {name for name in table.names if any(map(_is_written, table.values(name)))}
    why = ""
    if ordered and (between := table.between()):
        answers |= between
    elif differ := {name for name in table.names if table.differs(name)}:
        answers |= differ
        why = "they differ within a task"
    else:
        answers |= {n for n in table.names if 1 < len(set(map(_text, table.values(n)))) <= FEW}
        answers -= set(options.text or ())
        why = "no task has two annotations; columns with few values are taken for answers"
    return [name for name in table.names if name in answers and not table.is_free(name)], why


def _text(value: Any) -> str:
    return "" if value is None else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _is_written(value: Any) -> bool:
    """Whether this is an answer as Label Studio writes it."""
    values = value if isinstance(value, list) else [value]
    return any(isinstance(one, dict) and (set(VALUES) | set(LABELLED)) & set(one) for one in values)


def _add_answer(response: Response, question: str, value: Any) -> bool:
    """Add the values of an answer and its spans; returns whether it may have several values."""
    values = value if isinstance(value, list) else [value]
    answers: list[str] = []
    is_set = len(values) > 1
    for one in values:
        if not isinstance(one, dict):
            answers += value_texts([one])
            continue
        key = next((key for key in (*VALUES, *LABELLED, "text") if key in one), None)
        answers += [] if key is None else chosen(key, one[key])
        if key in LABELLED:
            response.spans += marked_spans(question, one, one)
        is_set |= key in (*LABELLED, "taxonomy", "choices")
    response.answers[question] = list(dict.fromkeys(answers))
    return is_set


# ---- as a corpus ----


def _corpus(path: Path, table: _Table, questions: list[str], why: str, options: Layout) -> Corpus:
    seen: set[str] = set()
    sets: set[str] = set()
    blank: Counter[str] = Counter()
    responses = []
    data = [name for name in table.names if name not in questions]
    free = [name for name in data if table.differs(name) and table.is_free(name)]
    for place, record in table.records.items():
        item, name = record.get(table.item), str(record.get(KEY) or place)
        who = record.get(options.annotator or "annotator", record.get("completed_by"))
        one = Response(place, str(item), user_name(who, {}), {})
        one.seconds = value_text(record.get("lead_time"))
        one.reason = "no task" if item is None else "found twice" if name in seen else None
        about = [key for key in (KEY, "created_at") if record.get(key)]
        one.extra = {f"annotation.{key}": str(record[key]) for key in about}
        for key in data:
            if (text := value_text(record.get(key))) is not None:
                facts = one.extra if key in free else one.item_data
                facts[f"{key} (text)" if key in free else key] = text
        for question in questions:
            if record.get(question) is None:
                blank[question] += 1
            elif _add_answer(one, question, record[question]):
                sets.add(question)
        seen.add(name)
        responses.append(one)
    notes = [f"answers = {', '.join(questions)}, as {why}"] if why else []
    notes += [f"free texts, not read as answers: {', '.join(free)}"] if free else []
    if blank:
        left = ", ".join(f"{q} {blank[q]}" for q in questions if blank[q])
        notes.append(f"annotations without an answer left out: {left}")
    return responses_corpus(path, responses, options, TOOL, notes, questions=questions, sets=sets)
