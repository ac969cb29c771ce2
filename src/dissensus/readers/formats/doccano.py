"""doccano's export of a project whose members do not share their work: a file for each of them.

    ann.jsonl: {"id": 1, "text": "so good!", "label": ["joy"]}

The files are in a zip, as doccano exports them, or in a folder. An item is a text, the name of a
file is the annotator, and the question is `label`: a set if an annotator chose several labels.
Texts without a label were not annotated. Marks in texts are not read. If the members of a project
share their work, doccano does not record the annotators; its one file is read as a table.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted
from dissensus.readers.exports.responses import Response, check_options, responses_corpus
from dissensus.readers.files import read_utf8
from dissensus.readers.json_text import objects, value_text
from dissensus.readers.options import Options

TOOL = "doccano"
QUESTION = "label"
MARKS, BARE = "marks", "not annotated"  # reasons why a text is left out
ENDINGS = (".jsonl", ".json1")
LABELS = ("label", "labels", "category", "categories")  # as versions of doccano call them
_FIRST = re.compile(r'\s*\{.*"(?:label|labels|category|categories)"\s*:')


def recognise(path: Path) -> bool:
    """Whether a folder or zip contains only files of JSON lines whose texts have labels."""
    try:
        files = list(_files(path))
        first = [text.lstrip().split("\n", 1)[0] for _, text in files]
    except (DataError, OSError, zipfile.BadZipFile):
        return False
    return bool(files) and all('"text"' in line and _FIRST.match(line) for line in first)


def read(path: Path, options: Options) -> Corpus:
    """Read the labels of all annotators; a scale may be declared."""
    check_options(path, options, TOOL)
    responses: list[Response] = []
    for annotator, text in _files(path):
        for number, entry in objects(text, path / f"{annotator}.jsonl"):
            place = f"{annotator}, line {number}"
            labels = _labels(entry, f"{path}, {place}")
            reason = MARKS if labels is None else None if labels else BARE
            item = str(entry.get("id") or entry["text"])
            answers = {QUESTION: labels or []}
            responses.append(
                Response(place, item, annotator, answers, _item_data(entry), reason=reason)
            )
    reasons = Counter(one.reason for one in responses)
    notes = [f"{counted(reasons[MARKS], 'text')} with marks, which are not read"]
    notes = notes if reasons[MARKS] else []
    if not reasons[None]:
        raise DataError(f"{path}: no labels{': ' if notes else ''}{', '.join(notes)}")
    if reasons[BARE]:
        notes.append(f"{counted(reasons[BARE], 'text')} without a label left out, as not annotated")
    is_set = any(len(one.answers[QUESTION]) > 1 for one in responses)
    return responses_corpus(
        path, responses, {QUESTION: is_set}, options, TOOL, notes, fields=["text"]
    )


def _files(path: Path) -> Iterator[tuple[str, str]]:
    """The name of each annotator, and the content of the file."""
    if path.is_dir():
        inside = sorted(one for one in path.iterdir() if not one.name.startswith("."))
        if not all(one.suffix.lower() in ENDINGS for one in inside):
            return
        for one in inside:
            yield one.stem, read_utf8(one).decode("utf-8")
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            names = [PurePosixPath(name) for name in packed.namelist() if not name.endswith("/")]
            names = [name for name in names if not name.parts[0].startswith(("__MACOSX", "."))]
            if not all(name.suffix.lower() in ENDINGS for name in names):
                return
            for name in sorted(names):
                try:
                    yield name.stem, packed.read(str(name)).decode("utf-8-sig")
                except (UnicodeDecodeError, RuntimeError) as error:  # or a password is needed
                    raise DataError(f"{path}, {name}: cannot be read ({error})") from None


def _labels(entry: dict[str, Any], where: str) -> list[str] | None:
    """The labels of a text; None if they are marks in the text."""
    key = next((key for key in LABELS if key in entry), None)
    if key is None or not isinstance(entry.get("text"), str):
        raise DataError(f"{where}: every entry must have 'text' and 'label'")
    labels = entry[key] if isinstance(entry[key], list) else [entry[key]]
    if any(isinstance(one, list | dict) for one in labels):
        return None
    return [text for text in map(value_text, labels) if text is not None]


def _item_data(entry: dict[str, Any]) -> dict[str, str]:
    plain = {k: v for k, v in entry.items() if k not in (*LABELS, "id") and isinstance(v, str)}
    meta = entry.get("meta")
    more = meta.items() if isinstance(meta, dict) else ()
    return plain | {f"meta.{k}": v for k, v in more if isinstance(v, str)}
