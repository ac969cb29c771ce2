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
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError, did_you_mean, listed
from dissensus.readers.delimited import delimited_rows
from dissensus.readers.exports.responses import (
    Response,
    check_options,
    entries,
    responses_corpus,
)
from dissensus.readers.exports.spans import Span
from dissensus.readers.files import first_bytes
from dissensus.readers.formats.label_studio import LABELLED, TOOL, marked_spans
from dissensus.readers.head import Head
from dissensus.readers.json_text import DECODER, value_text, value_texts
from dissensus.readers.layout import Layout

KEY = "annotation_id"
TIMES = ("lead_time", "created_at", "updated_at")
OWN = frozenset(("id", "annotator", "completed_by", KEY, *TIMES, "agreement", "history"))
VALUES = ("choices", "rating", "number", "selected", "taxonomy", "datetime", "ranker")
FEW = 30  # most distinct texts of an answer, where nothing else says what is one
REPEATS = 0.5  # share of distinct texts above which they are free
LONG = 25  # letters
REMARKS = ("comment", "feedback", "remark", "note", "explan", "reason", "justif")


def recognise(head: Head) -> bool:
    """Whether records have an annotation_id and a time."""
    if head.opens_with(rf'"{KEY}"\s*:', rf'"(?:{"|".join(TIMES)})"\s*:'):
        return '"annotations"' not in head.text
    return KEY in head.names and any(time in head.names for time in TIMES)


def read(path: Path, options: Layout) -> Corpus:
    """Read every annotation; options may name the item, the answers and what was shown."""
    check_options(path, options, TOOL, ("item", "annotator", "answer", "text"), "csv")
    records, columns, ordered = _records(path, options)
    item = options.item or "id"
    if item not in columns:
        raise DataError(
            f"{path}: no column {item!r}{did_you_mean(item, columns)}; it has "
            f"{listed(columns, 40)}; name it (item=, --item)"
        )
    table = _Table(records, columns, item, options)
    questions, why = table.questions(ordered)
    if not questions:
        raise DataError(
            f"{path}: no answers recognised in {listed(table.names, 40)}; name them (answer=, "
            "--answer)"
        )
    return _corpus(path, table, questions, why, options)


@dataclass(frozen=True)
class _Record:
    place: str
    content: dict[str, Any]


def _records(path: Path, options: Layout) -> tuple[list[_Record], list[str], bool]:
    """The records, their keys, and whether the order of keys says which are answers."""
    if first_bytes(path, 1 << 10).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{"):
        records = [_Record(*entry) for entry in entries(path, options.encoding)]
        return records, list(dict.fromkeys(key for one in records for key in one.content)), True
    rows = delimited_rows(path, options)
    columns = {name: column.array().to_pylist() for name, column in rows.columns.items()}
    records = []
    for number in range(rows.n_rows):
        cells = {name: _parsed(c[number]) for name, c in columns.items() if c[number] is not None}
        records.append(_Record(rows.place(number), cells))
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
    records: list[_Record]
    columns: list[str]
    item: str
    options: Layout

    @property
    def names(self) -> list[str]:
        """Every column that may be data or an answer."""
        own = OWN | {self.item, str(self.options.annotator)}
        return [name for name in self.columns if name not in own]

    def questions(self, ordered: bool) -> tuple[list[str], str]:
        """The columns of answers, and why they are."""
        if self.options.answer is not None:
            missing = [name for name in self.options.answer if name not in self.names]
            if missing:
                guess = did_you_mean(missing[0], self.names)
                raise DataError(
                    f"no column {listed(missing)}{guess}; there are {listed(self.names, 40)}"
                )
            return list(self.options.answer), ""
        written = {name for name in self.names if any(map(_is_written, self._values(name)))}
        between = self._between() if ordered else set()
        if between:
            return self._without_free(between | written), ""
        differ = {name for name in self.names if self.differs(name)}
        if differ:
            return self._without_free(differ | written), "they differ within a task"
        few = {n for n in self.names if 1 < len(set(map(_text, self._values(n)))) <= FEW}
        shown = set(self.options.text or ())
        return self._without_free((few | written) - shown), (
            "no task has two annotations; columns with few values are taken for answers"
        )

    def _values(self, name: str) -> list[Any]:
        return [one.content[name] for one in self.records if one.content.get(name) is not None]

    def _between(self) -> set[str]:
        """The keys between `id` and `annotator`, in whose order Label Studio writes a record."""
        between: set[str] = set()
        for one in self.records:
            keys = list(one.content)
            if "id" not in keys or "annotator" not in keys:
                return set()
            between |= set(keys[keys.index("id") + 1 : keys.index("annotator")])
        return between - OWN

    def differs(self, name: str) -> bool:
        """Whether two annotations of a task differ in this column; a blank differs from a text."""
        first: dict[str, str] = {}
        for one in self.records:
            task, text = str(one.content.get(self.item)), _text(one.content.get(name))
            if first.setdefault(task, text) != text:
                return True
        return False

    def _without_free(self, names: set[str]) -> list[str]:
        return [name for name in self.names if name in names and not self.is_free(name)]

    def is_free(self, name: str) -> bool:
        """Whether a column contains free texts."""
        values = self._values(name)
        if any(isinstance(v, dict) and set(v) == {"text"} for v in values):
            return True
        texts = [value for value in values if isinstance(value, str)]
        if len(texts) < len(values) or not texts:
            return False
        if any(word in name.casefold() for word in REMARKS) and len(set(texts)) == len(texts):
            return True
        if len(texts) < 10:
            return False
        letters = sum(map(len, texts)) / len(texts)
        return len(set(texts)) > REPEATS * len(texts) and letters > LONG


def _text(value: Any) -> str:
    return "" if value is None else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _is_written(value: Any) -> bool:
    """Whether this is an answer as Label Studio writes it."""
    values = value if isinstance(value, list) else [value]
    return any(isinstance(one, dict) and (set(VALUES) | set(LABELLED)) & set(one) for one in values)


def _answer(question: str, value: Any) -> tuple[list[str], list[Span], bool]:
    """The values of an answer, its spans, and whether it may have several values."""
    values = value if isinstance(value, list) else [value]
    answers: list[str] = []
    spans: list[Span] = []
    is_set = len(values) > 1
    for one in values:
        if not isinstance(one, dict):
            answers.extend(value_texts([one]))
            continue
        key = next((key for key in (*VALUES, *LABELLED, "text") if key in one), None)
        chosen = one[key] if key is not None else value_text(one)
        if key == "taxonomy":
            paths = chosen if isinstance(chosen, list) else []
            answers.extend(" > ".join(value_texts(path)) for path in paths)
        elif key is not None:
            answers.extend(value_texts(chosen))
        if key in LABELLED:
            spans.extend(marked_spans(question, one, one))
        is_set |= key in (*LABELLED, "taxonomy", "choices")
    return list(dict.fromkeys(answers)), spans, is_set


# ---- as a corpus ----


def _corpus(path: Path, table: _Table, questions: list[str], why: str, options: Layout) -> Corpus:
    seen: set[str] = set()
    sets: Counter[str] = Counter()
    blank: Counter[str] = Counter()
    responses = []
    free = [n for n in table.names if n not in questions and table.differs(n) and table.is_free(n)]
    for one in table.records:
        name = str(one.content.get(KEY) or one.place)
        answers: dict[str, list[str]] = {}
        spans: list[Span] = []
        for question in questions:
            value = one.content.get(question)
            if value is None:
                blank[question] += 1
                continue
            answers[question], spans_of_answer, is_set = _answer(question, value)
            spans += spans_of_answer
            sets[question] += is_set
        reason = "found twice" if name in seen else None
        seen.add(name)
        responses.append(_response(one, table, questions, answers, spans, reason, free))
    notes = [f"answers = {', '.join(questions)}, as {why}"] if why else []
    notes += [f"free texts, not read as answers: {', '.join(free)}"] if free else []
    if blank:
        left = ", ".join(
            f"{question} {blank[question]}" for question in questions if blank[question]
        )
        notes.append(f"annotations without an answer left out: {left}")
    return responses_corpus(
        path, responses, {q: sets[q] > 0 for q in questions}, options, TOOL, notes
    )


def _response(
    one: _Record,
    table: _Table,
    questions: Iterable[str],
    answers: dict[str, list[str]],
    spans: list[Span],
    reason: str | None,
    free_texts: list[str],
) -> Response:
    content = one.content
    item = content.get(table.item)
    who = content.get(table.options.annotator or "annotator", content.get("completed_by"))
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    data = dict(_plain(content, [n for n in table.names if n not in questions]))
    free = {name: text for name, text in data.items() if name in free_texts}
    data = {name: text for name, text in data.items() if name not in free}
    extra = {f"annotation.{k}": str(content[k]) for k in (KEY, "created_at") if content.get(k)}
    return Response(
        one.place,
        str(item),
        value_text(who),
        answers,
        data,
        extra | {f"{name} (text)": text for name, text in free.items()},
        value_text(content.get("lead_time")),
        reason if item is not None else "no task",
        spans=spans,
    )


def _plain(content: dict[str, Any], names: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        text = value_text(content.get(name))
        if text is not None:
            yield name, text
