"""brat's standoff files: a text and a file of annotations with the same name, in a folder.

    study/ann/doc1.txt: Bob saw New York.
    study/ann/doc1.ann: T1	Person 0 3	Bob
                        T2	Place 8 16	New York

A folder contains a folder for each annotator, with a file for each document; files in one folder
are read without annotators. An item is a document, the question is `span`, its answer is the set of
types. The parts of a discontinuous span are a span each. Relations, events, attributes and notes
are not read. A text may be anywhere in the folder, once for all annotators.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.exports.file_names import documents_and_annotators
from dissensus.readers.exports.responses import Response, check_options, counts, responses_corpus
from dissensus.readers.exports.spans import Span
from dissensus.readers.files import first_bytes, read_utf8
from dissensus.readers.head import Head
from dissensus.readers.layout import Layout

TOOL = "brat"
QUESTION = "span"
ENDING, TEXT_ENDING = ".ann", ".txt"
UNREAD = {
    "R": "relations", "*": "relations", "E": "events", "A": "attributes", "M": "attributes",
    "N": "references", "#": "notes",
}  # fmt: skip
MOST_FILES = 20_000
_LINE = re.compile(rb"([TREAMN#]\d+|\*)\t")
_SPAN = re.compile(r"T\d+\t(?P<label>\S+) (?P<ends>\d+ \d+(?:;\d+ \d+)*)(?:\t(?P<text>.*))?")


def recognise(head: Head) -> bool:
    """Whether a folder has .ann files with brat's lines and texts of the same names."""
    path = head.path
    if head.is_file and path.suffix.lower() != ENDING:
        return False
    files = list(islice(_annotated(path), 100))
    filled = [file for file in files if first_bytes(file, 1)][:3]
    if not filled or not all(_LINE.match(first_bytes(file, 64)) for file in filled):
        return False
    texts = _texts(path)
    return any(file.stem in texts for file in files)


def read(path: Path, options: Layout) -> Corpus:
    """Read the spans of every annotator."""
    check_options(path, options, TOOL, plain="csv")
    files = _files(path)
    if not files:
        raise DataError(f"{path}: no file that ends in {ENDING}")
    places = _texts(path)
    texts = {file: _text_of(file, places, options) for file in files}
    named = documents_and_annotators(texts)
    unread: Counter[str] = Counter()
    responses = []
    for file in files:
        item, annotator = named[file]
        spans = _spans(file, options, unread)
        answers = {QUESTION: list(dict.fromkeys(span.label for span in spans))}
        shown = {"text": texts[file]}
        place = f"{file.parent.name}/{file.name}"
        responses.append(Response(place, item, annotator, answers, shown, spans=spans))
    if not any(one.spans for one in responses):
        raise DataError(f"{path}: no spans in {len(files)} files")
    notes = ["an item is a document"]
    notes += [f"not read: {counts(unread)}"] if unread else []
    return responses_corpus(
        path, responses, {QUESTION: True}, options, TOOL, notes, fields=["text"]
    )


def _annotated(path: Path) -> Iterator[Path]:
    files = [path] if path.is_file() else path.rglob(f"*{ENDING}")
    return (file for file in files if file.is_file() and not file.name.startswith("."))


def _files(path: Path) -> list[Path]:
    files = list(islice(_annotated(path), MOST_FILES + 1))
    if len(files) > MOST_FILES:
        raise DataError(f"{path}: more than {MOST_FILES} files; name a folder with fewer")
    return sorted(files)


def _texts(path: Path) -> dict[str, Path]:
    """A file for each name of a text, anywhere in the folder."""
    folder = path.parent if path.is_file() else path
    return {file.stem: file for file in sorted(folder.rglob(f"*{TEXT_ENDING}"), reverse=True)}


def _text_of(file: Path, places: dict[str, Path], options: Layout) -> str:
    """The document that a file annotates: next to it, or elsewhere in the folder."""
    own = file.with_suffix(TEXT_ENDING)
    if not own.is_file():
        if file.stem not in places:
            raise DataError(f"{file}: its text {own.name} is missing; put it next to this file")
        own = places[file.stem]
    return read_utf8(own, options.encoding).decode("utf-8") if own.stat().st_size else ""


def _spans(file: Path, options: Layout, unread: Counter[str]) -> list[Span]:
    """The spans of a file; what else it has is counted by kind."""
    if not file.stat().st_size:
        return []
    spans: list[Span] = []
    text = read_utf8(file, options.encoding).decode("utf-8")
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip("\r")
        if not line.strip():
            continue
        if line[0] in UNREAD:
            unread[UNREAD[line[0]]] += 1
            continue
        match = _SPAN.fullmatch(line)
        if match is None:
            raise DataError(
                f"{file}, line {number}: a span must be 'T1<tab>Label start end<tab>text', found "
                f"{line[:40]!r}"
            )
        parts = [tuple(map(float, part.split(" "))) for part in match["ends"].split(";")]
        whole = match["text"] if len(parts) == 1 else None
        spans += [Span(QUESTION, (start,), (stop,), match["label"], whole) for start, stop in parts]
    return spans
