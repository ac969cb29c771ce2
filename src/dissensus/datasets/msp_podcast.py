"""MSP-Podcast 1.11 and 1.12 (Lotfian & Busso 2019): the emotion of turns in podcasts.

A licensed corpus; this reads the folder as it is distributed. Valence, activation and dominance are
rated from 1 to 7. The split `official` has the parts train, dev, test1 and test2; Test3 is
distributed without labels and is not read.

Every rated clip is kept, with one annotator too. `clip_ratings.usable_clips` makes the selection
of Tavernor et al. (2024): it leaves out clips with fewer than two annotators and clips whose
stored mean is not that of their ratings, and counts them.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.clip_ratings import (
    OTHERS,
    Rating,
    clip_corpus,
    rated_line,
    sound_files,
    transcripts,
)
from dissensus.datasets.files import csv_table, present_folder
from dissensus.names import Names
from dissensus.scales import Interval

STATED, MISSPELT = "labels_consensus.csv", "labels_concensus.csv"  # some copies have the second
MEANS = ("EmoVal", "EmoAct", "EmoDom")  # of valence, activation and dominance
SCALE = Interval(1, 7)
PARTS = {
    "Train": "train",
    "Development": "dev",
    "Validation": "dev",
    "Test1": "test1",
    "Test2": "test2",
    "Test3": "test3",
}


def load(folder: Path, corpus: str) -> Corpus:
    """Questions `valence`, `activation` and `dominance`, from 1 to 7; an item is a clip.

    A speaker who is not known is null, so that the clip is in a group of its own.
    """
    labels, sounds = present_folder(folder, "Labels"), present_folder(folder, "Audios")
    texts = ("FileName", "EmoClass", "SpkrID", "Gender", "Split_Set")
    misspelt = (labels / MISSPELT).is_file() and not (labels / STATED).is_file()
    stated = csv_table(labels, MISSPELT if misspelt else STATED, texts, MEANS)
    rows = csv_table(labels, "labels_detailed.csv", ("FileName", "EmoDetail"))
    parts = stated.parts("Split_Set", PARTS)
    ratings = []
    pairs = zip(rows.list("FileName"), rows.list("EmoDetail"), strict=True)
    for number, (name, detail) in enumerate(pairs, 1):
        line = rated_line(detail, SCALE, f"{rows.path}, row {number}")
        values = (line.valence, line.activation, line.dominance)
        ratings.append(Rating(name.removesuffix(".wav"), line.name, values))
    with stated.errors():
        clips = Names([name.removesuffix(".wav") for name in stated.list("FileName")])
    return clip_corpus(
        corpus,
        rows.path,
        clips,
        ratings,
        SCALE,
        means=dict(zip(clips, stated.array(*MEANS), strict=True)),
        sounds=sound_files(sounds),
        sound_folder=sounds,
        texts=transcripts(folder / "Transcripts", clips),
        attributes={
            "speaker": _known(stated["SpkrID"]),
            "gender": _known(stated["Gender"]),
            "podcast": [clip.split("_")[1] if "_" in clip else None for clip in clips],
            "emotion": stated["EmoClass"],
        },
        splits={"official": parts},
        left_out=[LeftOut("emotion", OTHERS, len(ratings))],
    )


def _known(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in which "Unknown" is null."""
    return pc.if_else(pc.equal(column, "Unknown"), None, column)
