"""NSC voices (Fernandez Gallardo & Weiss 2018): 34 impressions of 300 speakers, 0 to 100.

An impression is a question, with the name of its high pole. In `telephone` 23 other listeners heard
20 of the speakers over two telephone channels each, with the same questions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import (
    csv_table,
    names_in_order,
    numbers_or_nan,
    present,
    standardised,
)
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Interval

SOUND = ("eGeMAPSv01a_88_femalespk.csv", "eGeMAPSv01a_88_malespk.csv")
SPEAKER = slice(1, 4)  # of the name of a sound file: "w296_avarua_d5.wav"


def load(folder: Path, corpus: str) -> Corpus:
    """An item is a speaker, or a speaker over a channel; its content are 88 eGeMAPS features."""
    poles = csv_table(folder, "SC_Questionnaire.csv", ["right_German"]).list("right_German")
    parts = csv_table(folder, "split.csv", ("speaker_ID", "speaker_gender", "split"))
    speakers = parts.names("speaker_ID")
    if corpus == "telephone":
        file, listener, speaker = "data_listeningtest3.csv", "nameListener", "spk_ID"
        facts = {"age": "ageListener", "gender": "genderListener"}
        shown, columns = "filename", [pole.replace("_", ".") for pole in poles]
    else:
        file, listener, speaker = "SC_ratings.csv", "listener_pseudonym", "speaker_ID"
        facts = {"age": "listener_age", "gender": "listener_gender"}
        shown, columns = "speaker_ID", poles
    named = dict.fromkeys((listener, speaker, shown, *facts.values(), *columns))
    rows = csv_table(folder, file, named)
    with rows.errors():
        annotators = names_in_order(rows[listener])
        annotator = annotators.codes(rows[listener])
        attributes = {key: _usual(annotator, rows[name]) for key, name in facts.items()}
        items = speakers if shown == speaker else names_in_order(rows[shown])
        item = items.codes(rows[shown], "speaker")
        voice = speakers.codes(rows[speaker], "speaker")
        questions, left_out = {}, []
        for pole, column in zip(poles, columns, strict=True):
            ratings = numbers_or_nan(rows, column, ("", "NA"))
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
    about = parts.columns.take(of_item)
    return Corpus.build(
        corpus if corpus == "nsc_voices" else f"nsc_voices-{corpus}",
        items,
        questions,
        annotators=annotators,
        contents={"speech": (contents, heard[of_item])},
        item_attributes={
            "speaker": about["speaker_ID"],
            "speaker_gender": about["speaker_gender"],
        },
        annotator_attributes=attributes,
        splits={"speaker": about["split"]} if corpus == "nsc_voices" else {},
        group="speaker",
        left_out=tuple(left_out),
    )


def _usual(annotator: np.ndarray, column: Any) -> list[str]:
    """The most frequent value of each annotator: one row of one of them says otherwise."""
    values, code = np.unique(column.to_pylist(), return_inverse=True)
    counts = np.zeros((annotator.max() + 1, len(values)), dtype=int)
    np.add.at(counts, (annotator, code), 1)
    return [str(value) for value in values[counts.argmax(axis=1)]]


def _sound(folder: Path, speakers: Names) -> np.ndarray:
    """The standardised features of each speaker, (n_speakers, n_features)."""
    vectors = np.full((len(speakers), 0), np.nan)
    for name in SOUND:
        with present(folder, name).open(encoding="utf-8", errors="replace") as file:
            header = file.readline(100_000)
        features = [column.strip().strip('"') for column in header.split(",")][1:]
        table = csv_table(folder, name, ["sample_heard"], features)
        if not vectors.shape[1]:
            vectors = np.full((len(speakers), len(features)), np.nan)
        with table.errors():
            at = speakers.codes([file[SPEAKER] for file in table.list("sample_heard")], "speaker")
        vectors[at] = table.array(*features)
    missing = np.isnan(vectors).any(axis=1)
    if missing.any():
        raise DataError(f"{folder}: no features of speaker {speakers[int(missing.argmax())]!r}")
    return standardised(vectors)
