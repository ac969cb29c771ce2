"""Toxic Spans (Pavlopoulos et al. 2021, 2022): is this comment toxic, and which words make it so?

16,100 comments, 3 or more annotators each; the spans of each annotator are the rationales. For
10,777 of the comments SemEval-2021 task 5 has one set of spans: rationales without an annotator.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus, Rationales
from dissensus.datasets.files import Table, csv_table
from dissensus.errors import DataError
from dissensus.scales import Nominal

ANSWERS = "annotations.csv"
PARTS = ("train", "trial", "test")
CUT_OFF = {"Insu": "Insult", "Identity based ": "Identity based Attack"}

Notes = dict[str, int]  # what was counted, as the end of a sentence


def load(folder: Path, corpus: str) -> Corpus:
    """Question `toxic`, 0 or 1; rationales in characters of the text, their kind the kind of
    toxicity, or "gold" where they are the task's."""
    comments = csv_table(folder, "comments.csv", ("comment_id", "comment_text"))
    items, texts = comments.names("comment_id"), comments["comment_text"].combine_chunks()
    types = {"all toxic": pa.bool_(), "not toxic": pa.bool_()}
    columns = ("annotation", "comment_id", "worker", "country")
    rows = csv_table(folder, ANSWERS, columns, **types)
    answers = rows.annotations(
        1 - np.asarray(rows["not toxic"]).astype(np.int32),  # "all toxic" is marked on most of
        Nominal(("0", "1")),  # the answers that are 0, too
        items,
        "comment_id",
        "worker",
        what="comment",
        extra={key: rows[key] for key in ("country", "all toxic")},
        repeats="keep",
    )
    own, own_notes = _own_spans(folder, rows, answers)
    gold, part, part_notes = _official(folder, texts)
    spans, clip_notes = _clipped(own, gold, pc.utf8_length(texts).to_numpy())
    notes = own_notes | clip_notes | part_notes
    return Corpus.build(
        corpus,
        items,
        {"toxic": answers},
        contents={"text": texts},
        annotator_attributes={"country": _countries(rows, answers)},
        rationales=spans,
        splits={"official": part},
        notes=tuple(f"{n} {what}" for what, n in notes.items() if n),
    )


def _spans(item: Any, annotator: Any, start: Any, stop: Any, kind: Any) -> Rationales:
    """Rationales of the one question in characters of the one text."""

    def always(text: str) -> Any:
        return pa.array([text] * len(item), pa.string())

    return Rationales(item, annotator, always("toxic"), always("text"), start, stop, kind)


def _countries(rows: Table, answers: Annotations) -> Any:
    """The country of each annotator; missing if the annotator answered from two."""
    country = rows["country"].combine_chunks().dictionary_encode()
    pair = np.stack([answers.annotator_codes("a country"), country.indices.to_numpy()])
    annotator, code = np.unique(pair, axis=1)
    alone = np.bincount(annotator, minlength=answers.n_annotators)[annotator] == 1
    codes = np.full(answers.n_annotators, -1)
    codes[annotator[alone]] = code[alone]
    return country.dictionary.take(pa.array(codes, mask=codes < 0))


def _own_spans(folder: Path, rows: Table, answers: Annotations) -> tuple[Rationales, Notes]:
    """What each annotator marked; a span without its answer is dropped."""
    types = {"start": pa.int64(), "end": pa.int64()}
    table = csv_table(folder, "spans.csv", ("annotation", "type"), **types)
    row = rows.names("annotation").find(table["annotation"])  # of the answer
    dropped = int((row < 0).sum())
    table, row = table.filter(pa.array(row >= 0)), row[row >= 0]
    kind = table["type"].combine_chunks()
    cut_off = pc.sum(pc.is_in(kind, value_set=pa.array(list(CUT_OFF)))).as_py() or 0
    for short, whole in CUT_OFF.items():
        kind = pc.if_else(pc.equal(kind, short), whole, kind)
    annotator = answers.annotator_codes("a span")[row]
    start, stop = table.array("start"), table.array("end")
    marked = np.bincount(row, minlength=answers.n_rows) > 0
    return _spans(answers.item[row], annotator, start, stop, kind), {
        f"spans belong to no row of {ANSWERS} and are dropped": dropped,
        "spans have a kind that was cut off in the source, and is completed": cut_off,
        "answers are 'not toxic' and have spans; both are kept": int(
            (marked & (answers.answer == 0)).sum()
        ),
        "answers are toxic and have no span": int((~marked & (answers.answer == 1)).sum()),
    }


def _official(folder: Path, texts: Any) -> tuple[Rationales, Any, Notes]:
    """The task's spans and parts, matched by the text; a text in two parts stays in the first."""
    tables = {part: csv_table(folder, f"tsd_{part}.csv", ("spans", "text")) for part in PARTS}
    part = np.repeat(PARTS, [len(table) for table in tables.values()])
    known = pa.chunked_array([c for table in tables.values() for c in table["text"].chunks])
    distinct = pc.dictionary_encode(known).combine_chunks()
    first = np.unique(distinct.indices.to_numpy(), return_index=True)[1]
    matches = pc.index_in(texts, value_set=distinct.dictionary)
    at = pa.array(first).take(matches)  # the row of each comment among all three tables, or null
    spans = [run for table in tables.values() for run in _runs(table.path, table.list("spans"))]
    shown = [
        (item, start, stop)
        for item, row in enumerate(at.to_pylist())
        if row is not None
        for start, stop in spans[row]
    ]
    item, start, stop = np.array(shown, np.int64).reshape(-1, 3).T
    kind = pa.array(["gold"] * len(shown), pa.string())
    n_unknown = len(first) - pc.count_distinct(matches, mode="only_valid").as_py()
    return (
        _spans(item, np.full(len(shown), -1), start, stop, kind),
        pa.array(part.tolist()).take(at),
        {
            "texts are in two official parts and are kept in the first": len(known) - len(first),
            "texts of the official parts are not among the comments and are left out": n_unknown,
        },
    )


def _runs(path: Path, cells: list[str]) -> list[list[tuple[int, int]]]:
    """Lists of characters, "[3, 4, 5, 9]", as spans from and to: (3, 6) and (9, 10)."""
    spans = []
    for row, cell in enumerate(cells, 1):
        try:
            members = json.loads(cell)
            if not isinstance(members, list) or not all(type(place) is int for place in members):
                raise ValueError(cell)
            places = np.unique(np.array(members, dtype=np.int64))
        except (ValueError, OverflowError, RecursionError):
            raise DataError(
                f"{path}, row {row}: spans must be a list of characters such as [3, 4], found "
                f"{cell[:40]!r}"
            ) from None
        runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(places) else []
        spans.append([(int(run[0]), int(run[-1]) + 1) for run in runs])
    return spans


def _clipped(own: Rationales, gold: Rationales, length: np.ndarray) -> tuple[Rationales, Notes]:
    """All spans within their texts, whose lengths are (n_items,); those of which nothing is left
    are dropped."""
    item, annotator, start, stop = (
        np.concatenate([getattr(own, key), getattr(gold, key)])
        for key in ("item", "annotator", "start", "stop")
    )
    cut_start, cut_stop = np.maximum(start, 0), np.minimum(stop, length[item][:, None])
    inside = (cut_start < cut_stop)[:, 0]
    cut = inside & ((cut_start > start) | (cut_stop < stop))[:, 0]
    kind = pa.concat_arrays([own.kind, gold.kind])
    spans = _spans(item, annotator, cut_start.astype(float), cut_stop.astype(float), kind)
    return spans.take(inside), {
        "spans reach past the end of their text and are cut there": int(cut.sum()),
        "spans lie wholly outside their text and are dropped": int((~inside).sum()),
    }
