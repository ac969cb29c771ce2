"""CREMA-D (Cao et al. 2014): the emotion in 7,442 acted clips, as votes on voice, face and both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.datasets.files import chosen, csv_table, errors_in
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Nominal

CORPORA: tuple[str, ...] = ("crema_d_votes",)
DEFAULT: str | None = "crema_d_votes"
VOTES, ACTORS = "tabulatedVotes.csv.gz", "VideoDemographics.csv"
EMOTIONS = {"A": "anger", "D": "disgust", "F": "fear", "H": "happy", "N": "neutral", "S": "sad"}
INTENDED = {"ANG": 0, "DIS": 1, "FEA": 2, "HAP": 3, "NEU": 4, "SAD": 5}  # -> place in EMOTIONS
QUESTIONS = {1: "voice", 2: "face", 3: "audio-visual"}  # 100,000 times this is in the row's number


def recognise(folder: Path) -> bool:
    """Whether the folder contains the votes."""
    return (folder / VOTES).is_file()


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Questions `voice`, `face` and `audio-visual`, votes without annotators; gold is the emotion
    that the actor intended; items are grouped by `actor`."""
    chosen(folder, corpus, CORPORA, DEFAULT)
    counts = dict.fromkeys(EMOTIONS, pa.int64())
    table = csv_table(
        folder, VOTES, **{"Unnamed: 0": pa.int64(), "fileName": pa.string(), **counts}
    )
    with errors_in(folder / VOTES):
        items, item = Names.encode(table["fileName"])
        modality = table["Unnamed: 0"].to_numpy() // 100_000
        strange = sorted(set(modality.tolist()) - set(QUESTIONS))
        if strange:
            raise DataError(f"row numbers begin with 1, 2 or 3, found {strange[0]}")
        votes = np.stack([table[letter].to_numpy() for letter in EMOTIONS], axis=1)
        scale = Nominal(tuple(EMOTIONS.values()))
        questions = {}
        for number, question in QUESTIONS.items():
            rows = np.flatnonzero(modality == number)
            row, value = np.nonzero(votes[rows])
            questions[question] = Annotations.from_arrays(
                item[rows][row], None, value.astype(np.int32), scale, items=items,
                count=votes[rows][row, value],
            )  # fmt: skip
        parts = [name.split("_") for name in items]
        wrong = next((p for p in parts if len(p) != 4 or p[2] not in INTENDED), None)
        if wrong is not None:
            raise DataError(
                f"a file is named actor_sentence_emotion_level, found {'_'.join(wrong)!r}"
            )
        intended = np.array([INTENDED[part[2]] for part in parts], np.int32)
        gold = Annotations.from_arrays(np.arange(len(items)), None, intended, scale, items=items)
    actors = csv_table(
        folder, ACTORS, **dict.fromkeys(("ActorID", "Age", "Sex", "Race", "Ethnicity"), pa.string())
    )
    actor = pa.array([part[0] for part in parts])
    at = pc.index_in(actor, value_set=actors["ActorID"].combine_chunks())
    return Corpus.build(
        "crema_d_votes",
        items,
        questions,
        item_attributes={
            "actor": actor,
            "sentence": pa.array([part[1] for part in parts]),
            "level": pa.array([part[3] for part in parts]),
            **{
                f"actor {name.lower()}": actors[name].take(at)
                for name in ("Age", "Sex", "Race", "Ethnicity")
            },
        },
        gold=dict.fromkeys(questions, gold),
        group="actor",
    )
