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
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted
from dissensus.readers.delimited import delimited_rows
from dissensus.readers.exports.folders import potato_files
from dissensus.readers.exports.responses import (
    MARKED,
    Response,
    Span,
    are_free,
    filled_cells,
    responses_corpus,
)
from dissensus.readers.files import read_utf8
from dissensus.readers.json_text import list_in, object_in, objects, parsed, value_text
from dissensus.readers.layout import Layout
from dissensus.scales import infer_scale

PARTS = ":::"
ITEM, USER, TEXT = "instance_id", "user", "displayed_text"
TESTS = ("user", "test", "test_user", "testuser", "admin", "debug_user")
FREE = ("text_box", "textbox", "free_response", "feedback", "comment")
_TIME = re.compile(r"(?:(\d+)d)? ?(?:(\d+)h)? ?(?:(\d+)m)? ?(\d+)s")
Labels = dict[str, dict[str, str]]  # scheme -> label -> value


def read(path: Path, options: Layout) -> Corpus:
    """Read every annotator's answers; a scale may be declared, and what was shown."""
    instances = list(_in_folder(path, options) if path.is_dir() else _in_table(path, options))
    kept = [pair for pair in instances if not pair[0].item.endswith(".html")]
    schemes: dict[str, _Scheme] = {}
    for _, labels in kept:
        for name, values in labels.items():
            if values:
                schemes.setdefault(name, _Scheme(name)).add(values)
    responses = [_answered(one, labels, schemes) for one, labels in kept]
    for question in {span.question for one in responses for span in one.spans}:
        for one in responses:
            one.answers.setdefault(question, [])  # annotated, and nothing marked
    questions = sorted({question for one in responses for question in one.answers})
    if not questions:
        raise DataError(f"{path}: no answers in {counted(len(instances), 'instance')}")
    free = [name for name, scheme in schemes.items() if scheme.is_free]
    notes = [f"free texts, not read as answers: {', '.join(free)}"] if free else []
    if len(kept) < len(instances):
        notes.append(f"{counted(len(instances) - len(kept), 'survey page')} left out")
    names = dict.fromkeys(one.annotator for one in responses)
    notes += [f"annotator {name!r} may be a test user" for name in names if name in TESTS]
    if options.scale is None:  # each thing that a scheme rates has the values of all of them
        rated = [scheme for scheme in schemes.values() if scheme.rates_several]
        of_label = {f"{one.name}{PARTS}{label}": one for one in rated for label in one.labels}
        asked = [question for question in questions if question in of_label]
        scales = {q: infer_scale(sorted(set(of_label[q].values))) for q in asked}
        options = replace(options, scale=scales or None)
    return responses_corpus(path, responses, options, "potato", notes, questions=questions)


# ---- instances ----


def _pairs(written: Any) -> Iterator[tuple[str, str, str]]:
    """Scheme, label and value, from an object of schemes or a list of pairs."""
    for pair in list_in(written):
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], dict):
            key = pair[0]
            yield str(key.get("schema")), str(key.get("name")), str(value_text(pair[1]))
    for scheme, labels in object_in(written).items():
        for label, value in _texts(object_in(labels).get("labels", labels)).items():
            yield str(scheme), label, value


def _texts(written: Any) -> dict[str, str]:
    if not isinstance(written, dict):
        text = value_text(written)
        return {} if text is None else {text: text}
    texts = {str(label): value_text(value) for label, value in written.items()}
    return {label: str(text) for label, text in texts.items() if text not in (None, "")}


def _spans(written: Any) -> list[Span]:
    """Spans, each an object, or a pair of one and its value."""
    spans = []
    for entry in list_in(written):
        one = object_in(entry)
        if isinstance(entry, list) and len(entry) == 2:
            one = {**object_in(entry[0]), "value": entry[1]}
        names = (one.get(key) for key in ("annotation", "name", "label", "value"))
        label = next((name for name in names if isinstance(name, str) and name), MARKED)
        question, text = str(one.get("schema") or "span"), one.get("span") or one.get("title")
        span = Span.between(question, one.get("start"), one.get("end"), label, text=text or None)
        spans += [span] if span else []
    return spans


def _in_table(path: Path, options: Layout) -> Iterator[tuple[Response, Labels]]:
    rows = delimited_rows(path, options)
    rows.check([USER, ITEM])
    for place, cells in filled_cells(rows):
        if not {ITEM, USER} <= cells.keys():
            raise DataError(f"{path}, {place}: {ITEM!r} or {USER!r} is blank")
        one = Response(place, cells.pop(ITEM), cells.pop(USER), {})
        labels: Labels = {}
        for name, cell in cells.items():
            scheme, is_label, label = name.partition(PARTS)
            if is_label:
                labels.setdefault(scheme, {})[label] = cell
            else:
                one.item_data[name] = cell
        yield one, labels


def _in_folder(path: Path, options: Layout) -> Iterator[tuple[Response, Labels]]:
    for file in potato_files(path):
        user, labels = file.parent.name, Labels()
        text = read_utf8(file, options.encoding).decode("utf-8")
        if file.name.startswith("annotated_instances"):  # version 1
            for number, entry in objects(text, file):
                place = f"{user}, line {number}"
                if entry.get("id") is None:
                    raise DataError(f"{file}, {place}: no 'id'")
                one = Response(place, str(entry["id"]), user, {})
                one.spans = _spans(entry.get("span_annotations"))
                if isinstance(entry.get(TEXT), str):
                    one.item_data[TEXT] = entry[TEXT]
                time = object_in(entry.get("behavioral_data")).get("time_string")
                if match := _TIME.search(str(time or "")):
                    units = zip(match.groups(), (86_400, 3600, 60, 1), strict=True)
                    one.seconds = str(sum(int(part or 0) * seconds for part, seconds in units))
                written = object_in(entry.get("label_annotations"))
                yield one, {str(scheme): _texts(values) for scheme, values in written.items()}
            continue
        state = object_in(parsed(text, file))
        user = str(state.get("user_id") or user)
        by_item = object_in(state.get("instance_id_to_label_to_value"))
        marked = object_in(state.get("instance_id_to_span_to_value"))
        for item in dict.fromkeys((*by_item, *marked)):
            labels = {}
            for scheme, label, value in _pairs(by_item.get(item)):
                labels.setdefault(scheme, {})[label] = value
            spans = _spans(marked.get(item))
            yield Response(f"{user}, {item}", str(item), user, {}, spans=spans), labels


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

    def add(self, chosen: dict[str, str]) -> None:
        self.most = max(self.most, len(chosen))
        for label, value in chosen.items():
            self.labels.add(label)
            self.values.append(value)
            self.named &= value in (label, f"{self.name}{PARTS}{label}", "true", "True", "on")
            self.scaled &= bool(re.fullmatch(r"scale[_ -]?-?\d+", label))

    @property
    def is_free(self) -> bool:
        """Whether answers are free texts."""
        if any(label.casefold().startswith(FREE) for label in self.labels):
            return True
        return not self.named and are_free(self.values)

    @property
    def rates_several(self) -> bool:
        """Whether each label is a thing that is rated, and its value the rating."""
        return not self.named and not self.scaled and self.most > 1 and not self.is_free


def _answered(one: Response, labels: Labels, schemes: dict[str, _Scheme]) -> Response:
    """A response with its answers, and its free texts."""
    for name, values in labels.items():
        scheme = schemes.get(name)
        if not values or scheme is None:
            continue
        if scheme.is_free:
            one.extra[f"{name} (text)"] = " | ".join(values.values())
        elif scheme.rates_several:
            one.answers |= {f"{name}{PARTS}{label}": [value] for label, value in values.items()}
        else:
            one.answers[name] = list(values.values()) if scheme.scaled else list(values)
    for span in one.spans:
        one.add_label(span)
    return one
