"""MSP-Podcast 1.11 (Lotfian & Busso 2019): the emotion of turns in podcasts, rated by a crowd.

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
    MEANS_AGREE,
    Rating,
    clip_contents,
    means_agree,
    rating_questions,
    sound_files,
    transcript,
)
from dissensus.datasets.files import chosen, csv_table, errors_in, present_folder
from dissensus.datasets.msp_lines import rated_line
from dissensus.errors import DataError, listed
from dissensus.names import Names
from dissensus.scales import Interval

CORPORA: tuple[str, ...] = ("msp_podcast",)
DEFAULT: str | None = "msp_podcast"
LABELS, SOUNDS, TRANSCRIPTS = "Labels", "Audios", "Transcripts"
STATED, RATINGS = "labels_consensus.csv", "labels_detailed.csv"
QUESTIONS = {"valence": "EmoVal", "activation": "EmoAct", "dominance": "EmoDom"}
SCALE = Interval(1, 7)
PARTS = {
    "Train": "train",
    "Development": "dev",
    "Validation": "dev",
    "Test1": "test1",
    "Test2": "test2",
    "Test3": "test3",
}


def recognise(folder: Path) -> bool:
    """Whether the folder contains the labels, or sound files with the names of the corpus."""
    return (folder / LABELS / RATINGS).is_file() or (
        next((folder / SOUNDS).glob("MSP-PODCAST_*.wav"), None) is not None
    )


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Questions `valence`, `activation` and `dominance`, from 1 to 7; an item is a clip.

    A speaker who is not known is null, so that the clip is in a group of its own.
    """
    chosen(folder, corpus, CORPORA, DEFAULT)
    labels = present_folder(folder, LABELS)
    present_folder(folder, SOUNDS)
    texts = ("FileName", "EmoClass", "SpkrID", "Gender", "Split_Set")
    table = csv_table(
        labels,
        STATED,
        **dict.fromkeys(texts, pa.string()),
        **dict.fromkeys(QUESTIONS.values(), pa.float64()),
    )
    facts = {key: table[key].to_pylist() for key in texts}
    names = [name.removesuffix(".wav") for name in facts["FileName"]]
    strange = sorted(set(facts["Split_Set"]) - set(PARTS))
    if strange:
        raise DataError(
            f"{labels / STATED}: no part {listed(strange)} is known; there are {listed(PARTS)}"
        )
    ratings = _ratings(labels)
    with errors_in(labels / STATED):
        clips = Names(names)
    with errors_in(labels / RATINGS):
        questions, left_out = rating_questions(ratings, list(QUESTIONS), SCALE, clips)
    left_out.append(
        LeftOut("emotion", "only valence, activation and dominance are read", len(ratings))
    )
    spoken = None
    if (folder / TRANSCRIPTS).is_dir():
        spoken = {clip: transcript(folder / TRANSCRIPTS / f"{clip}.txt") for clip in clips}
    contents, notes = clip_contents(folder / SOUNDS, clips, sound_files(folder / SOUNDS), spoken)
    means = zip(*(table[column].to_pylist() for column in QUESTIONS.values()), strict=True)
    return Corpus.build(
        "msp_podcast",
        clips,
        questions,
        contents=contents,
        item_attributes={
            "speaker": _known(facts["SpkrID"]),
            "gender": _known(facts["Gender"]),
            "podcast": [clip.split("_")[1] if "_" in clip else None for clip in clips],
            "emotion": facts["EmoClass"],
            MEANS_AGREE: means_agree(clips, ratings, dict(zip(clips, means, strict=True))),
        },
        splits={"official": pa.array([PARTS[part] for part in facts["Split_Set"]])},
        group="speaker",
        left_out=tuple(left_out),
        notes=notes,
    )


def _ratings(labels: Path) -> list[Rating]:
    """The ratings of every annotator, row by row."""
    table = csv_table(labels, RATINGS, FileName=pa.string(), EmoDetail=pa.string())
    rows = zip(table["FileName"].to_pylist(), table["EmoDetail"].to_pylist(), strict=True)
    ratings = []
    for number, (name, detail) in enumerate(rows, 1):
        line = rated_line(detail, SCALE, f"{labels / RATINGS}, row {number}")
        values = (line.valence, line.activation, line.dominance)
        ratings.append(Rating(name.removesuffix(".wav"), line.name, values))
    return ratings


def _known(values: list[str]) -> pa.Array:
    """A column in which "Unknown" is null."""
    column = pa.array(values, pa.string())
    return pc.if_else(pc.equal(column, "Unknown"), None, column)
