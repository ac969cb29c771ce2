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
from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.exports.folders import (
    annotation_files,
    documents_and_annotators,
    texts_by_name,
)
from dissensus.readers.exports.responses import Response, Span, counts, responses_corpus
from dissensus.readers.files import read_utf8
from dissensus.readers.layout import Layout

QUESTION = "span"
UNREAD = {
    "R": "relations", "*": "relations", "E": "events", "A": "attributes", "M": "attributes",
    "N": "references", "#": "notes",
}  # fmt: skip
_SPAN = re.compile(r"T\d+\t(?P<label>\S+) (?P<ends>\d+ \d+(?:;\d+ \d+)*)(?:\t(?P<text>.*))?")


def read(path: Path, options: Layout) -> Corpus:
    """Read the spans of every annotator."""
    files = annotation_files(path)
    if not files:
        raise DataError(f"{path}: no file that ends in .ann")

    def text_in(file: Path) -> str:
        return read_utf8(file, options.encoding).decode("utf-8") if file.stat().st_size else ""

    elsewhere, texts = texts_by_name(path), {}
    for file in files:
        own = file.with_suffix(".txt")
        if not own.is_file() and file.stem not in elsewhere:
            raise DataError(f"{file}: its text {own.name} is missing; put it next to this file")
        texts[file] = text_in(own if own.is_file() else elsewhere[file.stem])
    unread: Counter[str] = Counter()
    named = documents_and_annotators(texts)
    responses = []
    for file in files:
        place, shown = f"{file.parent.name}/{file.name}", {"text": texts[file]}
        one = Response(place, *named[file], {QUESTION: []}, shown)
        for number, line in enumerate(text_in(file).split("\n"), start=1):
            if line[:1] in UNREAD:
                unread[UNREAD[line[0]]] += 1
            elif line.strip():
                for span in _spans(line.rstrip("\r"), f"{file}, line {number}"):
                    one.mark(span)
        responses.append(one)
    if not any(one.spans for one in responses):
        raise DataError(f"{path}: no spans in {len(files)} files")
    notes = ["an item is a document"]
    notes += [f"not read: {counts(unread)}"] if unread else []
    return responses_corpus(path, responses, options, "brat", notes, fields=["text"])


def _spans(line: str, where: str) -> list[Span]:
    """The span in a line, or its parts."""
    match = _SPAN.fullmatch(line)
    if match is None:
        raise DataError(
            f"{where}: a span must be 'T1<tab>Label start end<tab>text', found {line[:40]!r}"
        )
    parts = [tuple(map(float, part.split(" "))) for part in match["ends"].split(";")]
    whole = match["text"] if len(parts) == 1 else None
    return [Span(QUESTION, (start,), (stop,), match["label"], whole) for start, stop in parts]
