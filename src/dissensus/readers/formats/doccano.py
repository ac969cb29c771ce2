"""doccano's export of a project whose members do not share their work: a file for each of them.

    ann.jsonl: {"id": 1, "text": "so good!", "label": ["joy"]}

The files are in a zip, as doccano exports them, or in a folder. An item is a text, the name of a
file is the annotator, and the question is `label`: a set if an annotator chose several labels.
Texts without a label were not annotated. Spans ([start, end, label]) are rationales, and the labels
of a text's spans the answer. If the members of a project share their work, doccano does not record
the annotators: one file with spans is read without them, and one without spans as a table.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, listed
from dissensus.files.plain import zip_members
from dissensus.readers.exports.responses import Response, check_options, responses_corpus
from dissensus.readers.exports.spans import Span
from dissensus.readers.files import first_bytes, read_utf8
from dissensus.readers.head import Head
from dissensus.readers.json_text import objects, value_text
from dissensus.readers.layout import Layout

TOOL = "doccano"
QUESTION = "label"
BARE = "not annotated"  # why a text is left out
ENDINGS = (".jsonl", ".json1")
_BEGINNING = 1 << 18  # bytes of a file that are read to recognise it
LABELS = ("label", "labels", "entities", "category", "categories")  # as versions call them
_FIRST = re.compile(r'\s*\{.*"(?:label|labels|entities|category|categories)"\s*:')
_SPANS = re.compile(
    r'"(?:label|labels|entities)"\s*:\s*\[\s*(?:\[\s*\d+\s*,\s*\d+\s*,\s*"|\{[^}]*"start_offset")'
)


def recognise(head: Head) -> bool:
    """Whether a folder or zip contains only files of JSON lines whose texts have labels, or one
    file's texts have spans."""
    if head.is_file and not (head.start.startswith(b"PK") and zipfile.is_zipfile(head.path)):
        opening = _decoded(head.start[:_BEGINNING])
        return bool('"text"' in opening and opening.lstrip()[:1] == "{" and _SPANS.search(opening))
    try:
        files = _first_bytes(head.path)
    except (DataError, OSError):
        return False
    lines = [_decoded(start).lstrip().split("\n", 1)[0] for start in files]
    return bool(lines) and all('"text"' in line and _FIRST.match(line) for line in lines)


def _first_bytes(path: Path) -> list[bytes]:
    """The beginning of every file in a folder or zip; none if there are others than JSON lines."""
    if path.is_dir():
        return [first_bytes(one, _BEGINNING) for one in _inside(path)]
    members = [(name, start) for name, start in zip_members(path, _BEGINNING) if _counts(name)]
    return [start for _, start in members] if all(_is_lines(name) for name, _ in members) else []


def _decoded(start: bytes) -> str:
    return start.decode("utf-8-sig", errors="replace")


def read(path: Path, options: Layout) -> Corpus:
    """Read the labels of all annotators; a scale may be declared."""
    check_options(path, options, TOOL)
    responses: list[Response] = []
    any_spans = False
    for annotator, text in _files(path):
        for number, entry in objects(
            text, path if annotator is None else path / f"{annotator}.jsonl"
        ):
            place = f"line {number}" if annotator is None else f"{annotator}, line {number}"
            labels, spans = _labels(entry, f"{path}, {place}")
            any_spans |= bool(spans)
            item = str(entry.get("id") or entry["text"])
            answers = {QUESTION: labels}
            responses.append(
                Response(place, item, annotator, answers, _item_data(entry), spans=spans)
            )
    if not any(one.answers[QUESTION] for one in responses):
        raise DataError(f"{path}: no labels")
    notes = _skipped(path)
    bare = [one for one in responses if not one.answers[QUESTION]]
    for one in bare:
        one.reason = BARE
    if bare:
        notes.append(f"{counted(len(bare), 'text')} without a label left out, as not annotated")
    is_set = any_spans or any(len(one.answers[QUESTION]) > 1 for one in responses)
    return responses_corpus(
        path, responses, {QUESTION: is_set}, options, TOOL, notes, fields=["text"]
    )


def _files(path: Path) -> Iterator[tuple[str | None, str]]:
    """The name of each annotator, if there is one, and the content of the file."""
    if path.is_dir():
        for one in _inside(path):
            yield one.stem, read_utf8(one).decode("utf-8")
    elif zipfile.is_zipfile(path):
        for name, data in zip_members(path):
            if not _counts(name) or not _is_lines(name):
                continue
            try:
                yield PurePosixPath(name).stem, data.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                raise DataError(f"{path}, {name}: cannot be read ({error})") from None
    else:
        yield None, read_utf8(path).decode("utf-8")


def _inside(folder: Path) -> list[Path]:
    """The files in a folder; none if there are others than JSON lines."""
    inside = sorted(one for one in folder.iterdir() if not one.name.startswith("."))
    return inside if all(_is_lines(one.name) for one in inside) else []


def _counts(name: str) -> bool:
    """Whether an entry of a zip was put there by a person, not by the system."""
    return not PurePosixPath(name).as_posix().startswith(("__MACOSX", "."))


def _is_lines(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in ENDINGS


def _skipped(path: Path) -> list[str]:
    """A note on the entries of a zip that are not read."""
    if path.is_dir() or not zipfile.is_zipfile(path):
        return []
    names = [name for name, _ in zip_members(path, 0)]
    skipped = [name for name in names if not (_counts(name) and _is_lines(name))]
    return [f"entries of the zip left out: {listed(skipped, 3)}"] if skipped else []


def _labels(entry: dict[str, Any], where: str) -> tuple[list[str], list[Span]]:
    """The labels of a text, and its spans if it has any."""
    key = next((key for key in LABELS if key in entry), None)
    if key is None or not isinstance(entry.get("text"), str):
        raise DataError(f"{where}: every entry must have 'text' and 'label'")
    labels = entry[key] if isinstance(entry[key], list) else [entry[key]]
    if not any(isinstance(one, list | dict) for one in labels):
        return [text for text in map(value_text, labels) if text is not None], []
    spans = [_span(one, where) for one in labels]
    return list(dict.fromkeys(span.label for span in spans)), spans


def _span(written: Any, where: str) -> Span:
    """A span, written [start, end, label] or as an object."""
    if isinstance(written, dict):
        written = [written.get(key) for key in ("start_offset", "end_offset", "label")]
    try:
        start, stop, label = written
        return Span(QUESTION, (float(start),), (float(stop),), str(label))
    except (TypeError, ValueError):
        raise DataError(
            f"{where}: a span must be [start, end, label], found {str(written)[:40]}"
        ) from None


def _item_data(entry: dict[str, Any]) -> dict[str, str]:
    plain = {k: v for k, v in entry.items() if k not in (*LABELS, "id") and isinstance(v, str)}
    meta = entry.get("meta")
    more = meta.items() if isinstance(meta, dict) else ()
    return plain | {f"meta.{k}": v for k, v in more if isinstance(v, str)}
