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

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import chosen, csv_table, errors_in, names_in_order, once_each
from dissensus.errors import DataError, counted, listed
from dissensus.names import Names
from dissensus.scales import Interval

CORPORA: tuple[str, ...] = ("vgmidi",)
DEFAULT: str | None = "vgmidi"
PIECES, NOTES, ANSWERS = "pieces.csv", "notes.csv.gz", "annotations.csv.gz"
QUESTIONS = ("valence", "arousal")
SCALE = Interval(-1, 1)
COPY = "a second copy of the same annotation"
ABOUT_ANNOTATORS = ("age", "country", "gender", "musicianship")  # musicianship: 1 to 5
NOTE = (
    "notes: a note is its place in the piece (0 to 1), length in beats, pitch, velocity and track"
)


def recognise(folder: Path) -> bool:
    """Whether the folder contains the list of pieces and their notes."""
    return (folder / PIECES).is_file() and (folder / NOTES).is_file()


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Questions `valence` and `arousal`, from -1 to 1, linked by `response`; an item is a piece.

    The role `notes` has a vector for each note. Rated pieces without a MIDI file have no content.
    """
    chosen(folder, corpus, CORPORA, DEFAULT)
    texts = ("item_id", "annotator_id", "is_known", *ABOUT_ANNOTATORS, *QUESTIONS)
    answers = csv_table(folder, ANSWERS, **dict.fromkeys(texts, pa.string()), n_measures=pa.int32())
    items = names_in_order(answers["item_id"])
    kept = _first_of_each(answers)
    n_copies = answers.num_rows - len(kept)
    answers = answers.take(pa.array(kept)).combine_chunks()
    annotators = names_in_order(answers["annotator_id"])
    annotator = annotators.codes(answers["annotator_id"])
    with errors_in(folder / ANSWERS):
        facts = {
            key: once_each(annotator, answers[key].combine_chunks(), key)[1]
            for key in ABOUT_ANNOTATORS
        }
        questions = {
            question: Annotations.from_arrays(
                items.codes(answers["item_id"]),
                annotator,
                _means(answers, question, kept),
                SCALE,
                items=items,
                annotators=annotators,
                response=np.arange(len(kept)),
                extra={"is_known": pc.equal(answers["is_known"], "True")},
            )
            for question in QUESTIONS
        }
    notes = _notes(folder, items)
    silent = [items[i] for i in np.flatnonzero(notes[1] < 0)]
    without = f"{counted(len(silent), 'piece')} without notes: {listed(silent)}"
    return Corpus.build(
        "vgmidi",
        items,
        questions,
        annotators=annotators,
        contents={"notes": notes},
        item_attributes=_about_pieces(folder, items),
        annotator_attributes=facts,
        left_out=tuple(LeftOut(question, COPY, n_copies) for question in QUESTIONS if n_copies),
        notes=(NOTE, *([without] if silent else [])),
    )


def _first_of_each(answers: Any) -> np.ndarray:
    """The rows that are no copy of an earlier one: same piece, annotator and values."""
    rows = zip(
        *(answers[key].to_pylist() for key in ("item_id", "annotator_id", *QUESTIONS)), strict=True
    )
    first: dict[tuple[str, ...], int] = {}
    for row, key in enumerate(rows):
        first.setdefault(key, row)
    return np.array(list(first.values()))


def _means(answers: Any, question: str, rows: np.ndarray) -> np.ndarray:
    """The mean over the measures of each answer, (n_rows,)."""
    means = np.empty(answers.num_rows)
    lengths = answers["n_measures"].to_numpy()
    for i, text in enumerate(answers[question].to_pylist()):
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
    table = csv_table(folder, NOTES, item_id=pa.string(), **dict.fromkeys(columns, pa.float64()))
    with errors_in(folder / NOTES):
        piece = items.codes(table["item_id"], "piece")
    vectors = np.stack([table[column].to_numpy() for column in columns], axis=1)
    order = np.argsort(piece, kind="stable")
    present, starts = np.unique(piece[order], return_index=True)
    sequences: list[np.ndarray | None] = [None] * len(items)
    for code, of_piece in zip(present, np.split(vectors[order], starts[1:]), strict=True):
        of_piece[:, 0] /= max((of_piece[:, 0] + of_piece[:, 1]).max(), 1e-9)
        sequences[code] = of_piece.astype(np.float32)
    return Contents.distinct("features", sequences)


def _about_pieces(folder: Path, items: Names) -> dict[str, Any]:
    """Name, file and seconds of each piece; null where the list does not have it."""
    table = csv_table(
        folder,
        PIECES,
        **dict.fromkeys(("item_id", "name", "midi"), pa.string()),
        duration_s=pa.float64(),
    )
    with errors_in(folder / PIECES):
        listed_items = Names(table["item_id"])
        items.codes(listed_items, "piece")
    at = listed_items.find(items)
    rows = pa.array(at, mask=at < 0)
    names = {"name": "name", "midi": "midi", "seconds": "duration_s"}
    return {key: table[column].combine_chunks().take(rows) for key, column in names.items()}
