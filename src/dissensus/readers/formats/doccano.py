"""doccano's export of a project whose members do not share their work: a file for each of them.

    ann.jsonl: {"id": 1, "text": "so good!", "label": ["joy"]}

The files are in a folder, or in a zip, as doccano exports them. An item is a text, the name of a
file is the annotator, and the question is `label`: a set if an annotator chose several labels.
Texts without a label were not annotated. Spans ([start, end, label]) are rationales, and the labels
of a text's spans the answer. If the members of a project share their work, doccano does not record
the annotators: one file with spans is read without them, and one without spans as a table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted
from dissensus.readers.exports.folders import doccano_files
from dissensus.readers.exports.responses import Response, Span, entries, responses_corpus
from dissensus.readers.json_text import texts_in, value_texts
from dissensus.readers.layout import Layout

QUESTION = "label"
LABELS = ("label", "labels", "entities", "category", "categories")  # as versions call them


def read(path: Path, options: Layout) -> Corpus:
    """Read the labels of all annotators; a scale may be declared."""
    responses: list[Response] = []
    for file in doccano_files(path) if path.is_dir() else [path]:
        annotator = file.stem if path.is_dir() else None
        for place, entry in entries(file, options.encoding):
            place = place if annotator is None else f"{annotator}, {place}"
            responses.append(_response(entry, place, annotator, f"{path}, {place}"))
    bare = [one for one in responses if not one.answers[QUESTION]]
    if len(bare) == len(responses):
        raise DataError(f"{path}: no labels")
    for one in bare:
        one.reason = "not annotated"
    texts = counted(len(bare), "text")
    notes = [f"{texts} without a label left out, as not annotated"] if bare else []
    return responses_corpus(path, responses, options, "doccano", notes, fields=["text"])


def _response(entry: dict[str, Any], place: str, annotator: str | None, where: str) -> Response:
    key = next((key for key in LABELS if key in entry), None)
    if key is None or not isinstance(entry.get("text"), str):
        raise DataError(f"{where}: every entry must have 'text' and 'label'")
    data = texts_in(entry, skip=(*LABELS, "id")) | texts_in(entry.get("meta"), "meta.")
    one = Response(place, str(entry.get("id") or entry["text"]), annotator, {QUESTION: []}, data)
    labels = entry[key] if isinstance(entry[key], list) else [entry[key]]
    if not any(isinstance(label, list | dict) for label in labels):
        one.answers[QUESTION] = value_texts(labels)
        return one
    for written in labels:  # spans: [start, end, label], or objects
        parts = written
        if isinstance(written, dict):
            parts = [written.get(name) for name in ("start_offset", "end_offset", "label")]
        three = isinstance(parts, list) and len(parts) == 3
        span = Span.between(QUESTION, *parts) if three else None
        if span is None:
            raise DataError(f"{where}: a span must be [start, end, label], found {str(parts)[:40]}")
        one.mark(span)
    return one
