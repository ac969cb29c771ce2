"""VGMIDI (Ferreira & Whitehead 2019): valence and arousal of 204 pieces of game music.

Annotators moved two sliders while a piece was played; the files have a value for each measure. An
answer is the mean over the measures. The ids of annotators were derived from their answers to a
questionnaire and link the two pieces of one task, no more: with about two answers each, there is
little to learn about an annotator.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import Table, csv_table, names_in_order, once_each
from dissensus.errors import DataError, counted, listed
from dissensus.names import Names
from dissensus.scales import Interval

QUESTIONS = ("valence", "arousal")
COPY = "a second copy of the same annotation"
ABOUT_ANNOTATORS = ("age", "country", "gender", "musicianship")  # musicianship: 1 to 5
NOTE = (
    "notes: a note is its place in the piece (0 to 1), length in beats, pitch, velocity and track"
)


def load(folder: Path, corpus: str) -> Corpus:
    """Questions `valence` and `arousal`, from -1 to 1, linked by `response`; an item is a piece.

    The role `notes` has a vector for each note. Rated pieces without a MIDI file have no content.
    """
    texts = ("item_id", "annotator_id", "is_known", *ABOUT_ANNOTATORS, *QUESTIONS)
    every = csv_table(folder, "annotations.csv.gz", texts, n_measures=pa.int32())
    items = names_in_order(every["item_id"])
    kept = _first_of_each(every)
    rows = Table(every.path, every.columns.take(kept).combine_chunks())
    annotators = names_in_order(rows["annotator_id"])
    annotator = annotators.codes(rows["annotator_id"])
    with rows.errors():
        facts = {key: once_each(annotator, rows[key], key)[1] for key in ABOUT_ANNOTATORS}
        answers = {question: _means(rows, question, kept) for question in QUESTIONS}
    questions = {
        question: rows.annotations(
            means,
            Interval(-1, 1),
            items,
            annotators=annotators,
            response=np.arange(len(kept)),
            extra={"is_known": pc.equal(rows["is_known"], "True")},
        )
        for question, means in answers.items()
    }
    notes = _notes(folder, items)
    silent = [items[i] for i in np.flatnonzero(notes[1] < 0)]
    without = f"{counted(len(silent), 'piece')} without notes: {listed(silent)}"
    n_copies = len(every) - len(kept)
    return Corpus.build(
        corpus,
        items,
        questions,
        annotators=annotators,
        contents={"notes": notes},
        item_attributes=_about_pieces(folder, items),
        annotator_attributes=facts,
        left_out=tuple(LeftOut(question, COPY, n_copies) for question in QUESTIONS if n_copies),
        notes=(NOTE, *([without] if silent else [])),
    )


def _first_of_each(answers: Table) -> np.ndarray:
    """The rows that are no copy of an earlier one: same piece, annotator and values."""
    columns = ("item_id", "annotator_id", *QUESTIONS)
    rows = zip(*(answers.list(key) for key in columns), strict=True)
    first: dict[tuple[str, ...], int] = {}
    for row, key in enumerate(rows):
        first.setdefault(key, row)
    return np.array(list(first.values()))


def _means(answers: Table, question: str, rows: np.ndarray) -> np.ndarray:
    """The mean over the measures of each answer, (n_rows,)."""
    means = np.empty(len(answers))
    lengths = answers.array("n_measures")
    for i, text in enumerate(answers.list(question)):
        try:
            values = np.array(json.loads(text), dtype=float)
        except (ValueError, TypeError, RecursionError):
            values = np.empty(0)
        wrong = not (values.ndim == 1 and len(values) == lengths[i] > 0)
        if wrong or not (np.abs(values) <= 1).all():
            raise DataError(
                f"row {rows[i] + 1}: {question!r} must be a list of {lengths[i]} numbers from -1 "
                f"to 1, found {text[:40]!r}"
            )
        means[i] = values.mean()
    return means


def _notes(folder: Path, items: Names) -> tuple[Contents, np.ndarray]:
    """The notes of each piece in the order of the file, as vectors."""
    columns = ("onset_beat", "dur_beats", "pitch", "velocity", "track")
    table = csv_table(folder, "notes.csv.gz", ["item_id"], columns)
    with table.errors():
        piece = items.codes(table["item_id"], "piece")
    vectors = table.array(*columns)
    order = np.argsort(piece, kind="stable")
    present, starts = np.unique(piece[order], return_index=True)
    sequences: list[np.ndarray | None] = [None] * len(items)
    for code, of_piece in zip(present, np.split(vectors[order], starts[1:]), strict=True):
        of_piece[:, 0] /= max((of_piece[:, 0] + of_piece[:, 1]).max(), 1e-9)
        sequences[code] = of_piece.astype(np.float32)
    return Contents.distinct("features", sequences)


def _about_pieces(folder: Path, items: Names) -> dict[str, Any]:
    """Name, file and seconds of each piece; null where the list does not have it."""
    table = csv_table(folder, "pieces.csv", ("item_id", "name", "midi"), ["duration_s"])
    with table.errors():
        items.codes(table.names("item_id"), "piece")
    pieces = table.of(items)
    return {"name": pieces["name"], "midi": pieces["midi"], "seconds": pieces["duration_s"]}
