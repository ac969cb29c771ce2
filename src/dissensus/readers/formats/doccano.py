"""doccano's export of a project whose members do not share their work: a file for each of them.

    ann.jsonl: {"id": 1, "text": "so good!", "label": ["joy"]}

The files lie in a zip, as doccano gives them, or in a folder. An item is a text, an annotator is
called as the file is, and the question is `label`: one where nobody chose several, and else a set.
Texts without a label were not annotated. Marks in texts are not read. In a project whose members
share their work doccano does not say who chose what; its one file is read as a table.
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
from dissensus.readers.exports.responses import Response, check_options, of_responses
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
    """Whether a folder or zip holds nothing but files of JSON lines whose texts have labels."""
    try:
        files = list(_files(path))
        first = [text.lstrip().split("\n", 1)[0] for _, text in files]
    except (DataError, OSError, zipfile.BadZipFile):
        return False
    return bool(files) and all('"text"' in line and _FIRST.match(line) for line in first)


def read(path: Path, options: Options) -> Corpus:
    """Read the labels of everybody; a scale may be declared."""
    check_options(path, options, TOOL)
    responses: list[Response] = []
    for person, text in _files(path):
        for number, found in objects(text, path / f"{person}.jsonl"):
            place = f"{person}, line {number}"
            labels = _labels(found, f"{path}, {place}")
            reason = MARKS if labels is None else None if labels else BARE
            item = str(found.get("id") or found["text"])
            answers = {QUESTION: labels or []}
            responses.append(Response(place, item, person, answers, _beside(found), reason=reason))
    reasons = Counter(one.reason for one in responses)
    said = [f"{counted(reasons[MARKS], 'text')} with marks, which are not read"]
    said = said if reasons[MARKS] else []
    if not reasons[None]:
        raise DataError(f"{path}: no labels{': ' if said else ''}{', '.join(said)}")
    if reasons[BARE]:
        said.append(f"{counted(reasons[BARE], 'text')} without a label left out, as not annotated")
    is_set = any(len(one.answers[QUESTION]) > 1 for one in responses)
    return of_responses(path, responses, {QUESTION: is_set}, options, TOOL, said, fields=["text"])


def _files(path: Path) -> Iterator[tuple[str, str]]:
    """The name of each annotator, and what the file holds."""
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
                except (UnicodeDecodeError, RuntimeError) as error:  # or a password is wanted
                    raise DataError(f"{path}, {name}: cannot be read ({error})") from None


def _labels(found: dict[str, Any], where: str) -> list[str] | None:
    """The labels of a text; None where they are marks in it."""
    key = next((key for key in LABELS if key in found), None)
    if key is None or not isinstance(found.get("text"), str):
        raise DataError(f"{where}: every text has 'text' and 'label'")
    given = found[key] if isinstance(found[key], list) else [found[key]]
    if any(isinstance(one, list | dict) for one in given):
        return None
    return [text for text in map(value_text, given) if text is not None]


def _beside(found: dict[str, Any]) -> dict[str, str]:
    plain = {k: v for k, v in found.items() if k not in (*LABELS, "id") and isinstance(v, str)}
    meta = found.get("meta")
    more = meta.items() if isinstance(meta, dict) else ()
    return plain | {f"meta.{k}": v for k, v in more if isinstance(v, str)}
