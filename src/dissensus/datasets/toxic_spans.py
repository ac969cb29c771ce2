"""Toxic Spans (Pavlopoulos et al. 2021, 2022): is this comment toxic, and which words make it so?

16,100 comments, 3 or more annotators each; the spans of each annotator are the rationales. For
10,777 of the comments SemEval-2021 task 5 has one set of spans: rationales without an annotator.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, Rationales
from dissensus.datasets.files import chosen, csv_table, errors_in, names_in_order
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Nominal

CORPORA: tuple[str, ...] = ("toxic_spans",)
DEFAULT: str | None = "toxic_spans"
COMMENTS, ANSWERS, SPANS = "comments.csv", "annotations.csv", "spans.csv"
PARTS = {"train": "tsd_train.csv", "trial": "tsd_trial.csv", "test": "tsd_test.csv"}
CUT_OFF = {"Insu": "Insult", "Identity based ": "Identity based Attack"}


def recognise(folder: Path) -> bool:
    """Whether the folder contains answers and the spans that belong to them."""
    return (folder / ANSWERS).is_file() and (folder / SPANS).is_file()


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Question `toxic`, 0 or 1; rationales in characters of the text, their kind the kind of
    toxicity, or "gold" where they are the task's."""
    chosen(folder, corpus, CORPORA, DEFAULT)
    comments = csv_table(folder, COMMENTS, comment_id=pa.string(), comment_text=pa.string())
    with errors_in(folder / COMMENTS):
        items = Names(comments["comment_id"])
    texts = comments["comment_text"].combine_chunks()
    answers = _read_answers(folder)
    annotations = _annotations(folder, answers, items)
    own, own_notes = _own_spans(folder, answers, annotations)
    gold, part, part_notes = _official(folder, texts)
    spans, clip_notes = _clipped(_joined(own, gold), pc.utf8_length(texts).to_numpy())
    return Corpus.build(
        "toxic_spans",
        items,
        {"toxic": annotations},
        contents={"text": Contents.distinct("text", texts)},
        annotator_attributes={"country": _countries(answers, annotations)},
        rationales=_rationales(spans),
        splits={"official": part},
        notes=_notes(own_notes | clip_notes | part_notes),
    )


def _notes(counts: dict[str, int]) -> tuple[str, ...]:
    """A sentence for each count that is not 0."""
    return tuple(f"{n} {what}" for what, n in counts.items() if n)


class _Spans(NamedTuple):
    item: np.ndarray  # (n_spans,) codes
    annotator: np.ndarray  # (n_spans,) codes, -1: unknown
    start: np.ndarray  # (n_spans,) characters
    stop: np.ndarray
    kind: Any  # (n_spans,) Arrow strings


def _read_answers(folder: Path) -> Any:
    types = dict.fromkeys(("annotation", "comment_id", "worker", "country"), pa.string())
    types |= {"all toxic": pa.bool_(), "not toxic": pa.bool_()}
    return csv_table(folder, ANSWERS, **types)


def _annotations(folder: Path, answers: Any, items: Names) -> Annotations:
    """An answer is 0 where "not toxic" is marked; "all toxic" is marked on most of these too."""
    annotators = names_in_order(answers["worker"])
    with errors_in(folder / ANSWERS):
        return Annotations.from_arrays(
            items.codes(answers["comment_id"], "comment"),
            annotators.codes(answers["worker"]),
            1 - np.asarray(answers["not toxic"]).astype(np.int32),
            Nominal(("0", "1")),
            items=items,
            annotators=annotators,
            extra={key: answers[key] for key in ("country", "all toxic")},
            repeats="keep",
        )


def _countries(answers: Any, annotations: Annotations) -> Any:
    """The country of each annotator; missing if the annotator answered from two."""
    country = answers["country"].combine_chunks().dictionary_encode()
    pair = np.stack([annotations.annotator_codes("a country"), country.indices.to_numpy()])
    annotator, code = np.unique(pair, axis=1)
    alone = np.bincount(annotator, minlength=annotations.n_annotators)[annotator] == 1
    codes = np.full(annotations.n_annotators, -1)
    codes[annotator[alone]] = code[alone]
    return country.dictionary.take(pa.array(codes, mask=codes < 0))


def _own_spans(
    folder: Path, answers: Any, annotations: Annotations
) -> tuple[_Spans, dict[str, int]]:
    """What each annotator marked; a span without its answer is dropped."""
    types = {"annotation": pa.string(), "type": pa.string(), "start": pa.int64(), "end": pa.int64()}
    table = csv_table(folder, SPANS, **types)
    with errors_in(folder / ANSWERS):
        row = Names(answers["annotation"]).find(table["annotation"])  # of the answer
    dropped = int((row < 0).sum())
    table, row = table.filter(pa.array(row >= 0)), row[row >= 0]
    kind = table["type"].combine_chunks()
    cut_off = pc.sum(pc.is_in(kind, value_set=pa.array(list(CUT_OFF)))).as_py() or 0
    for short, whole in CUT_OFF.items():
        kind = pc.if_else(pc.equal(kind, short), whole, kind)
    annotator = annotations.annotator_codes("a span")[row]
    spans = _Spans(
        annotations.item[row], annotator, table["start"].to_numpy(), table["end"].to_numpy(), kind
    )
    marked = np.bincount(row, minlength=annotations.n_rows) > 0
    return spans, {
        f"spans belong to no row of {ANSWERS} and are dropped": dropped,
        "spans have a kind that was cut off in the source, and is completed": cut_off,
        "answers are 'not toxic' and have spans; both are kept": int(
            (marked & (annotations.answer == 0)).sum()
        ),
        "answers are toxic and have no span": int((~marked & (annotations.answer == 1)).sum()),
    }


def _official(folder: Path, texts: Any) -> tuple[_Spans, Any, dict[str, int]]:
    """The task's spans and parts, matched by the text; a text in two parts stays in the first."""
    columns = dict.fromkeys(("spans", "text"), pa.string())
    tables = {part: csv_table(folder, name, **columns) for part, name in PARTS.items()}
    part = np.repeat(list(tables), [table.num_rows for table in tables.values()])
    known = pa.chunked_array([c for table in tables.values() for c in table["text"].chunks])
    distinct = pc.dictionary_encode(known).combine_chunks()
    first = np.unique(distinct.indices.to_numpy(), return_index=True)[1]
    matches = pc.index_in(texts, value_set=distinct.dictionary)
    at = pa.array(first).take(matches)  # the row of each comment among all three tables, or null
    spans = [
        run
        for part, table in tables.items()
        for run in _runs(folder / PARTS[part], table["spans"].to_pylist())
    ]
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
        _Spans(item, np.full(len(shown), -1), start, stop, kind),
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


def _joined(first: _Spans, second: _Spans) -> _Spans:
    return _Spans(
        np.r_[first.item, second.item],
        np.r_[first.annotator, second.annotator],
        np.r_[first.start, second.start],
        np.r_[first.stop, second.stop],
        pa.concat_arrays([first.kind, second.kind]),
    )


def _clipped(spans: _Spans, length: np.ndarray) -> tuple[_Spans, dict[str, int]]:
    """The spans within their texts, whose lengths are (n_items,); those of which nothing is left
    are dropped."""
    start = np.maximum(spans.start, 0)
    stop = np.minimum(spans.stop, length[spans.item])
    inside = start < stop
    cut = inside & ((start > spans.start) | (stop < spans.stop))
    kept = _Spans(
        spans.item[inside],
        spans.annotator[inside],
        start[inside],
        stop[inside],
        spans.kind.filter(pa.array(inside)),
    )
    return kept, {
        "spans reach past the end of their text and are cut there": int(cut.sum()),
        "spans lie wholly outside their text and are dropped": int((~inside).sum()),
    }


def _rationales(spans: _Spans) -> Rationales:
    def always(text: str) -> Any:
        return pa.array([text] * len(spans.item), pa.string())

    start, stop = spans.start.astype(float), spans.stop.astype(float)
    return Rationales(
        spans.item, spans.annotator, always("toxic"), always("text"), start, stop, spans.kind
    )
