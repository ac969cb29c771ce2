"""potato's output: a folder for each annotator, or the table of all of them.

    annotation_output/ann/annotated_instances.jsonl (1.x):
        {"id": "t1", "displayed_text": "so good!", "label_annotations": {"mood": {"joy": "joy"}}}
    annotation_output/ann/user_state.json (2.x):
        {"user_id": "ann", "instance_id_to_label_to_value": {"t1": {"mood": {"labels": {...}}}}}
    annotated_instances.tsv: user, instance_id, displayed_text, mood:::joy, mood:::fear, ...

A question is a scheme. Its answer is the label that was chosen; a set if several were; the number
on a scale (`{"scale_3": "3"}`). If a scheme rates several things (`{"A": "5", "B": "4"}`), each is
a question, `SCHEME:::A`. Spans are rationales. Pages of a survey (`*.html`) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted
from dissensus.readers.delimited import delimited_rows
from dissensus.readers.exports.responses import Response, check_options, responses_corpus
from dissensus.readers.exports.spans import MARKED, Span
from dissensus.readers.files import read_utf8
from dissensus.readers.head import Head
from dissensus.readers.json_text import objects, parsed, value_text
from dissensus.readers.layout import Layout
from dissensus.scales import Scale, infer_scale

TOOL = "potato"
INSTANCES, STATE = "annotated_instances.jsonl", "user_state.json"
PARTS = ":::"
ITEM, USER, TEXT = "instance_id", "user", "displayed_text"
TESTS = ("user", "test", "test_user", "testuser", "admin", "debug_user")
FREE = ("text_box", "textbox", "free_response", "feedback", "comment")
LONG, REPEATS = 25, 0.5  # letters, and the share of distinct answers, of free texts
_TIME = re.compile(r"(?:(\d+)d)? ?(?:(\d+)h)? ?(?:(\d+)m)? ?(\d+)s")


def recognise(head: Head) -> bool:
    """Whether a folder has annotators' folders with potato's files, or a table its columns."""
    if head.path.is_dir():
        return bool(_user_files(head.path))
    names = head.names
    return USER in names and ITEM in names and any(PARTS in name for name in names)


def read(path: Path, options: Layout) -> Corpus:
    """Read every annotator's answers; a scale may be declared, and what was shown."""
    check_options(path, options, TOOL, may=("text",), plain="csv")
    instances = list(_in_folder(path, options) if path.is_dir() else _in_table(path, options))
    kept = [one for one in instances if not one.item.endswith(".html")]
    schemes = _schemes(kept)
    free = [name for name, scheme in schemes.items() if scheme.is_free]
    responses = [_response(one, schemes) for one in kept]
    sets: dict[str, bool] = {}
    for one in responses:
        for question, values in one.answers.items():
            is_set = len(values) > 1 or any(span.question == question for span in one.spans)
            sets[question] = sets.get(question, False) or is_set
    for question in {span.question for one in responses for span in one.spans}:
        for one in responses:
            one.answers.setdefault(question, [])  # annotated, and nothing marked
    if not sets:
        raise DataError(f"{path}: no answers in {counted(len(instances), 'instance')}")
    notes = [f"free texts, not read as answers: {', '.join(free)}"] if free else []
    if len(kept) < len(instances):
        notes.append(f"{counted(len(instances) - len(kept), 'survey page')} left out")
    names = dict.fromkeys(one.annotator for one in kept)
    notes += [f"annotator {name!r} may be a test user" for name in names if name in TESTS]
    if options.scale is None:
        options = replace(options, scale=_shared_scales(schemes, sets))
    return responses_corpus(path, responses, dict(sorted(sets.items())), options, TOOL, notes)


def _shared_scales(schemes: dict[str, _Scheme], sets: dict[str, bool]) -> dict[str, Scale] | None:
    """The scale of each thing that a scheme rates: with the values of all of them."""
    scales = {
        f"{name}{PARTS}{label}": infer_scale(sorted(set(scheme.values)))
        for name, scheme in schemes.items()
        if scheme.rates_several and not scheme.is_free
        for label in scheme.labels
    }
    return {question: scales[question] for question in sets if question in scales} or None


@dataclass(frozen=True)
class _Instance:
    place: str
    item: str
    annotator: str
    labels: dict[str, dict[str, str]]  # scheme -> label -> value
    spans: list[Span]
    data: dict[str, str]
    seconds: str | None = None


# ---- folders ----


def _user_files(path: Path) -> list[Path]:
    """The file of each annotator, in the folder itself or one below."""
    files = [file for name in (STATE, INSTANCES) for file in path.glob(f"*/{name}")]
    files += [file for name in (STATE, INSTANCES) for file in path.glob(f"*/*/{name}")]
    if not files and (path / STATE).is_file():
        files = [path / STATE]
    by_user = {file.parent: file for file in reversed(files)}
    return sorted(by_user.values())


def _in_folder(path: Path, options: Layout) -> Iterator[_Instance]:
    for file in _user_files(path):
        user = file.parent.name
        text = read_utf8(file, options.encoding).decode("utf-8")
        if file.name == INSTANCES:
            for number, entry in objects(text, file):
                yield _first_version(f"{user}, line {number}", user, entry, file)
        else:
            yield from _second_version(user, parsed(text, file), file)


def _first_version(place: str, user: str, entry: dict[str, Any], file: Path) -> _Instance:
    if entry.get("id") is None:
        raise DataError(f"{file}, {place}: no 'id'")
    labels = _mapping(entry.get("label_annotations"))
    spans = entry.get("span_annotations")
    time = str(_mapping(entry.get("behavioral_data")).get("time_string") or "")
    shown = {TEXT: entry[TEXT]} if isinstance(entry.get(TEXT), str) else {}
    return _Instance(
        place,
        str(entry["id"]),
        user,
        {str(scheme): _texts(values) for scheme, values in labels.items()},
        _spans(spans if isinstance(spans, list) else []),
        shown,
        _seconds(time),
    )


def _second_version(user: str, state: Any, file: Path) -> Iterator[_Instance]:
    state = _mapping(state)
    name = str(state.get("user_id") or user)
    labels_by_item = _mapping(state.get("instance_id_to_label_to_value"))
    marked = _mapping(state.get("instance_id_to_span_to_value"))
    for item in dict.fromkeys((*labels_by_item, *marked)):
        labels: dict[str, dict[str, str]] = {}
        for scheme, label, value in _pairs(labels_by_item.get(item)):
            labels.setdefault(scheme, {})[label] = value
        spans = marked.get(item)
        entries = [
            {**_mapping(pair[0]), "value": pair[1]} if isinstance(pair, list) else pair
            for pair in (spans if isinstance(spans, list) else [])
            if not isinstance(pair, list) or len(pair) == 2
        ]
        yield _Instance(f"{name}, {item}", str(item), name, labels, _spans(entries), {})


def _pairs(given: Any) -> Iterator[tuple[str, str, str]]:
    """Scheme, label and value, from an object of schemes or a list of pairs."""
    if isinstance(given, list):
        for pair in given:
            if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], dict):
                key = pair[0]
                yield str(key.get("schema")), str(key.get("name")), str(value_text(pair[1]))
        return
    for scheme, labels in _mapping(given).items():
        inner = _mapping(labels).get("labels", labels)
        for label, value in _texts(inner).items():
            yield str(scheme), label, value


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(given: Any) -> dict[str, str]:
    if not isinstance(given, dict):
        text = value_text(given)
        return {} if text is None else {text: text}
    return {str(k): str(value_text(v)) for k, v in given.items() if value_text(v) not in (None, "")}


def _spans(entries: Iterable[Any]) -> list[Span]:
    spans = []
    for entry in entries:
        one = _mapping(entry)
        try:
            start, stop = float(one["start"]), float(one["end"])
        except (KeyError, TypeError, ValueError):
            continue
        names = (one.get(key) for key in ("annotation", "name", "label", "value"))
        label = next((str(name) for name in names if isinstance(name, str) and name), MARKED)
        text = one.get("span") or one.get("title")
        question = str(one.get("schema") or "span")
        spans.append(Span(question, (start,), (stop,), label, text if text else None))
    return spans


def _seconds(time: str) -> str | None:
    match = _TIME.search(time)
    if not match:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return str(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


# ---- tables ----


def _in_table(path: Path, options: Layout) -> Iterator[_Instance]:
    rows = delimited_rows(path, options)
    rows.check([USER, ITEM])
    columns = {name: column.array().to_pylist() for name, column in rows.columns.items()}
    schemes = [name for name in columns if PARTS in name]
    shown = [name for name in columns if name not in (USER, ITEM, *schemes)]
    for number in range(rows.n_rows):
        labels: dict[str, dict[str, str]] = {}
        for name in schemes:
            scheme, _, label = name.partition(PARTS)
            if columns[name][number] is not None:
                labels.setdefault(scheme, {})[label] = columns[name][number]
        item, user = columns[ITEM][number], columns[USER][number]
        if item is None or user is None:
            raise DataError(f"{rows.at(number)}: {ITEM!r} or {USER!r} is blank")
        data = {name: columns[name][number] for name in shown if columns[name][number] is not None}
        yield _Instance(rows.place(number), item, user, labels, [], data)


# ---- answers ----


@dataclass
class _Scheme:
    """How the answers of a scheme are written."""

    name: str
    most: int = 0  # labels in one annotation
    named: bool = True  # whether each value is the label itself
    scaled: bool = True  # whether labels are steps of a scale: scale_3
    labels: set[str] = field(default_factory=set)
    values: list[str] = field(default_factory=list)

    def add(self, given: dict[str, str]) -> None:
        self.most = max(self.most, len(given))
        for label, value in given.items():
            self.labels.add(label)
            self.values.append(value)
            self.named &= _names(self.name, label, value)
            self.scaled &= bool(re.fullmatch(r"scale[_ -]?-?\d+", label))

    @property
    def is_free(self) -> bool:
        """Whether answers are free texts."""
        if any(label.casefold().startswith(FREE) for label in self.labels):
            return True
        letters = sum(map(len, self.values)) / max(len(self.values), 1)
        distinct = len(set(self.values)) / max(len(self.values), 1)
        return not self.named and letters > LONG and distinct > REPEATS

    @property
    def rates_several(self) -> bool:
        """Whether each label is a thing that is rated, and its value the rating."""
        return not self.named and not self.scaled and self.most > 1

    def answers(self, given: dict[str, str]) -> dict[str, list[str]]:
        """The answers by question."""
        if self.rates_several:
            return {f"{self.name}{PARTS}{label}": [value] for label, value in given.items()}
        return {self.name: list(given.values()) if self.scaled else list(given)}


def _names(scheme: str, label: str, value: str) -> bool:
    """Whether a value says only that its label was chosen."""
    return value in (label, f"{scheme}{PARTS}{label}", "true", "True", "on")


def _schemes(instances: Iterable[_Instance]) -> dict[str, _Scheme]:
    schemes: dict[str, _Scheme] = {}
    for one in instances:
        for name, labels in one.labels.items():
            if labels:
                schemes.setdefault(name, _Scheme(name)).add(labels)
    return schemes


def _response(one: _Instance, schemes: dict[str, _Scheme]) -> Response:
    answers: dict[str, list[str]] = {}
    extra: dict[str, str] = {}
    for name, values in one.labels.items():
        if not values:
            continue
        if schemes[name].is_free:
            extra[f"{name} (text)"] = " | ".join(values.values())
        else:
            answers |= schemes[name].answers(values)
    for span in one.spans:
        labels = answers.setdefault(span.question, [])
        if span.label not in labels:
            labels.append(span.label)
    return Response(
        one.place, one.item, one.annotator, answers, one.data, extra, one.seconds, spans=one.spans
    )
