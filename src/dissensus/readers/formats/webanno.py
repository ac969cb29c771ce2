"""WebAnno TSV 3, as INCEpTION and WebAnno export it: a document per file, a token per line.

    #FORMAT=WebAnno TSV 3.3
    #T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value

    #Text=Batavia is far.
    1-1     0-7     Batavia     *       LOC

A folder contains a file for each annotator, or a folder for each document with such files. The
annotator is the name of the file, an item is a document. A question is a layer and its feature,
`NamedEntity.value`: its answer is the set of values, and the spans are rationales. Relations and
links between spans are not read.
"""

from __future__ import annotations

import re
from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.exports.folders import documents_and_annotators, webanno_files
from dissensus.readers.exports.responses import Response, Span, responses_corpus
from dissensus.readers.files import read_utf8
from dissensus.readers.layout import Layout

TOOL = "WebAnno TSV"
EMPTY = ("_", "")
_STACKED = re.compile(r"(?<!\\)\|")
_NUMBERED = re.compile(r"(.*?)(?<!\\)\[(\d+)\]$", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")
_PLACE = re.compile(r"(\d+)-(\d+)")


def read(path: Path, options: Layout) -> Corpus:
    """Read the spans of every annotator."""
    files = webanno_files(path)
    if not files:
        raise DataError(f"{path}: no file of {TOOL}")
    not_read: set[str] = set()
    documents = {file: _document(file, options, not_read) for file in files}
    named = documents_and_annotators({file: text for file, (text, _, _) in documents.items()})
    labels = {(s.question, s.label) for _, _, spans in documents.values() for s in spans}
    valued = {question for question, label in labels if label != "*"}
    layers = {question.partition(".")[0] for question in valued}
    # a feature without a value counts only if its layer has no other
    used = {q for q, _ in labels if q in valued or q.partition(".")[0] not in layers}
    if not used:
        raise DataError(f"{path}: no spans in {len(files)} files")
    responses = []
    for file, (text, questions, spans) in documents.items():
        answers: dict[str, list[str]] = {q: [] for q in questions if q in used}
        one = Response(file.name, *named[file], answers, {"text": text})
        for span in spans:
            if span.question in used:
                one.mark(span)
        responses.append(one)
    notes = [f"not read: {', '.join(sorted(not_read))}"] if not_read else []
    notes.append("an item is a document")
    return responses_corpus(path, responses, options, TOOL, notes, fields=["text"])


def _document(file: Path, options: Layout, not_read: set[str]) -> tuple[str, list[str], list[Span]]:
    """The text of a document, its questions and spans; what is not read is added to a set."""
    lines = read_utf8(file, options.encoding).decode("utf-8").split("\n")
    columns = _columns(lines, not_read)
    tokens: list[tuple[int, int, str]] = []
    parts: dict[tuple[int, str, str], tuple[int, int]] = {}  # column, number, value -> ends
    alone = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.rstrip("\r").split("\t")
        place = _PLACE.fullmatch(fields[1]) if len(fields) > 2 else None
        if place is None:
            raise DataError(f"{file}, line {number}: not a token of {TOOL}: {line[:40]!r}")
        start, stop = int(place[1]), int(place[2])
        if "." not in fields[0]:  # 1-2.1 is a part of a token, which is not one itself
            tokens.append((start, stop, _ESCAPED.sub(r"\1", fields[2])))
        for at, (column, cell) in enumerate(zip(columns, fields[3:], strict=False)):
            for value in _STACKED.split(cell) if column is not None and cell not in EMPTY else ():
                match = _NUMBERED.fullmatch(value)
                alone += match is None
                key = match[2] if match else f"alone {alone}"
                label = _ESCAPED.sub(r"\1", match[1] if match else value)
                if label not in EMPTY:
                    known = parts.get((at, key, label), (start, stop))
                    parts[at, key, label] = (min(known[0], start), max(known[1], stop))
    text, shift = "", tokens[0][0] if tokens else 0
    for start, _, token in tokens:
        text += " " * (start - shift - len(text)) + token
    spans = [
        Span(str(columns[at]), (float(start - shift),), (float(stop - shift),), label)
        for (at, _, label), (start, stop) in parts.items()
    ]
    return text, [column for column in columns if column is not None], spans


def _columns(lines: list[str], not_read: set[str]) -> list[str | None]:
    """The question of each column, in the order of the header; None of a relation or a link."""
    columns: list[str | None] = []
    for line in lines:
        kind, _, header = line.rstrip("\r").partition("=")
        name, *features = header.split("|")
        layer = name.rpartition(".")[2]
        if kind in ("#T_RL", "#T_CH"):
            not_read.add(layer)
            columns += [None] * (max(len(features), 1) + (kind == "#T_RL"))
        elif kind == "#T_SP":
            for before, feature in zip(["", *features], features, strict=False):
                if "ROLE_" in (before[:5], feature[:5]):  # a link, or its target
                    not_read.add(f"{layer} links")
                    columns.append(None)
                else:
                    columns.append(f"{layer}.{feature}" if feature else layer)
        elif not line.startswith("#") and line.strip():
            break
    return columns
