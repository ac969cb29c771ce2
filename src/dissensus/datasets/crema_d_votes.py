"""CREMA-D (Cao et al. 2014): the emotion in 7,442 acted clips, as votes on voice, face and both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.datasets.files import csv_table, labels, votes
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Nominal

EMOTIONS = {"A": "anger", "D": "disgust", "F": "fear", "H": "happy", "N": "neutral", "S": "sad"}
INTENDED = {"ANG": 0, "DIS": 1, "FEA": 2, "HAP": 3, "NEU": 4, "SAD": 5}  # -> place in EMOTIONS
QUESTIONS = {1: "voice", 2: "face", 3: "audio-visual"}  # 100,000 times this is in the row's number
ROW = "Unnamed: 0"
OF_ACTOR = ("Age", "Sex", "Race", "Ethnicity")


def load(folder: Path, corpus: str) -> Corpus:
    """Questions `voice`, `face` and `audio-visual`, votes without annotators; gold is the emotion
    that the actor intended; items are grouped by `actor`."""
    counts = dict.fromkeys((ROW, *EMOTIONS), pa.int64())
    table = csv_table(folder, "tabulatedVotes.csv.gz", ["fileName"], **counts)
    scale, every = Nominal(tuple(EMOTIONS.values())), table.array(*EMOTIONS)
    with table.errors():
        items, item = Names.encode(table["fileName"])
        modality = table.array(ROW) // 100_000
        strange = sorted(set(modality.tolist()) - set(QUESTIONS))
        if strange:
            raise DataError(f"row numbers begin with 1, 2 or 3, found {strange[0]}")
        questions = {
            question: votes(every[modality == number], scale, items, item[modality == number])
            for number, question in QUESTIONS.items()
        }
        parts = [name.split("_") for name in items]
        wrong = next((p for p in parts if len(p) != 4 or p[2] not in INTENDED), None)
        if wrong is not None:
            raise DataError(
                f"a file is named actor_sentence_emotion_level, found {'_'.join(wrong)!r}"
            )
        gold = labels(np.array([INTENDED[part[2]] for part in parts], np.int32), scale, items)
    actor, sentence, _, level = (pa.array(texts) for texts in zip(*parts, strict=True))
    actors = csv_table(folder, "VideoDemographics.csv", ("ActorID", *OF_ACTOR))
    about = actors.of(actor, "ActorID")
    return Corpus.build(
        corpus,
        items,
        questions,
        item_attributes={
            "actor": actor,
            "sentence": sentence,
            "level": level,
            **{f"actor {name.lower()}": about[name] for name in OF_ACTOR},
        },
        gold=dict.fromkeys(questions, gold),
        group="actor",
    )
