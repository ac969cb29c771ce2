"""NSC voices (Fernandez Gallardo & Weiss 2018): 34 impressions of 300 speakers, 0 to 100.

An impression is a question, with the name of its high pole. In `telephone` 23 other listeners heard
20 of the speakers over two telephone channels each, with the same questions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import chosen, csv_table, errors_in, names_in_order, present
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Interval

CORPORA: tuple[str, ...] = ("nsc_voices", "telephone")
DEFAULT: str | None = "nsc_voices"
RATINGS, TELEPHONE, SPLIT = "SC_ratings.csv", "data_listeningtest3.csv", "split.csv"
POLES = "SC_Questionnaire.csv"
SOUND = ("eGeMAPSv01a_88_femalespk.csv", "eGeMAPSv01a_88_malespk.csv")
EMPTY = pa.array(["", "NA"])
SPEAKER = slice(1, 4)  # of the name of a sound file: "w296_avarua_d5.wav"


def recognise(folder: Path) -> bool:
    """Whether the folder contains the ratings and the poles of the questions."""
    return (folder / RATINGS).is_file() and (folder / POLES).is_file()


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """An item is a speaker, or a speaker over a channel; its content are 88 eGeMAPS features."""
    wanted = chosen(folder, corpus, CORPORA, DEFAULT)
    poles = csv_table(folder, POLES, right_German=pa.string())["right_German"].to_pylist()
    parts = csv_table(
        folder, SPLIT, **dict.fromkeys(("speaker_ID", "speaker_gender", "split"), pa.string())
    )
    with errors_in(folder / SPLIT):
        speakers = Names(parts["speaker_ID"])
    if wanted == "telephone":
        file, listener, speaker = TELEPHONE, "nameListener", "spk_ID"
        facts = {"age": "ageListener", "gender": "genderListener"}
        shown, columns = "filename", [pole.replace("_", ".") for pole in poles]
    else:
        file, listener, speaker = RATINGS, "listener_pseudonym", "speaker_ID"
        facts = {"age": "listener_age", "gender": "listener_gender"}
        shown, columns = "speaker_ID", poles
    texts = dict.fromkeys((listener, speaker, shown, *facts.values(), *columns), pa.string())
    rows = csv_table(folder, file, **texts)
    with errors_in(folder / file):
        annotators = names_in_order(rows[listener])
        annotator = annotators.codes(rows[listener])
        attributes = {key: _usual(annotator, rows[name]) for key, name in facts.items()}
        items = speakers if shown == speaker else names_in_order(rows[shown])
        item = items.codes(rows[shown], "speaker")
        voice = speakers.codes(rows[speaker], "speaker")
        questions, left_out = {}, []
        for pole, column in zip(poles, columns, strict=True):
            ratings = _numbers(rows[column], column)
            given = np.flatnonzero(~np.isnan(ratings))
            if len(given) < len(ratings):
                left_out.append(LeftOut(pole, "empty", len(ratings) - len(given)))
            questions[pole] = Annotations.from_arrays(
                item[given], annotator[given], ratings[given], Interval(0, 100),
                items=items, annotators=annotators, response=given,
            )  # fmt: skip
    of_item = np.arange(len(items))
    if shown != speaker:
        of_item[item] = voice
    contents, heard = Contents.distinct("features", _sound(folder, speakers))
    here = pa.array(of_item)
    return Corpus.build(
        "nsc_voices" if wanted == DEFAULT else f"nsc_voices-{wanted}",
        items,
        questions,
        annotators=annotators,
        contents={"speech": (contents, heard[of_item])},
        item_attributes={
            "speaker": speakers.array.take(here),
            "speaker_gender": parts["speaker_gender"].take(here),
        },
        annotator_attributes=attributes,
        splits={"speaker": parts["split"].take(here)} if wanted == DEFAULT else {},
        group="speaker",
        left_out=tuple(left_out),
    )


def _usual(annotator: np.ndarray, column: Any) -> list[str]:
    """The most frequent value of each annotator: one row of one of them says otherwise."""
    values, code = np.unique(column.to_pylist(), return_inverse=True)
    counts = np.zeros((annotator.max() + 1, len(values)), dtype=int)
    np.add.at(counts, (annotator, code), 1)
    return [str(value) for value in values[counts.argmax(axis=1)]]


def _numbers(column: Any, name: str) -> np.ndarray:
    """The numbers of a column; nan where it is empty."""
    try:
        return pc.cast(pc.if_else(pc.is_in(column, EMPTY), "nan", column), pa.float64()).to_numpy()
    except pa.ArrowInvalid as error:
        raise DataError(f"column {name!r}: {str(error).splitlines()[0]}") from None


def _sound(folder: Path, speakers: Names) -> np.ndarray:
    """The standardised features of each speaker, (n_speakers, n_features)."""
    vectors = np.full((len(speakers), 0), np.nan)
    for name in SOUND:
        with present(folder, name).open(encoding="utf-8", errors="replace") as file:
            header = file.readline(100_000)
        features = [column.strip().strip('"') for column in header.split(",")][1:]
        table = csv_table(
            folder, name, sample_heard=pa.string(), **dict.fromkeys(features, pa.float64())
        )
        if not vectors.shape[1]:
            vectors = np.full((len(speakers), len(features)), np.nan)
        with errors_in(folder / name):
            heard = [file[SPEAKER] for file in table["sample_heard"].to_pylist()]
            at = speakers.codes(pa.array(heard, pa.string()), "speaker")
        vectors[at] = np.stack([table[feature].to_numpy() for feature in features], axis=1)
    missing = np.isnan(vectors).any(axis=1)
    if missing.any():
        raise DataError(f"{folder}: no features of speaker {speakers[int(missing.argmax())]!r}")
    spread = vectors.std(axis=0)
    return ((vectors - vectors.mean(axis=0)) / np.where(spread > 0, spread, 1)).astype(np.float32)
