"""TROMPA-MER (Gomez-Canon et al. 2022): valence, arousal and mood of 693 excerpts of music.

The excerpts are not part of the corpus; their contents are twelve numbers that describe the sound.
Most answers are to the selection `choir`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import chosen, csv_table, errors_in, names_in_order
from dissensus.names import Names
from dissensus.scales import Nominal

CORPORA: tuple[str, ...] = ("trompa_mer",)
DEFAULT: str | None = "trompa_mer"
ANSWERS, TRACKS, RATERS, SPLIT = "annotations.csv.gz", "tracks.csv", "raters.csv", "split.csv"
SIGNS = Nominal(("-1", "1"))
DESCRIPTORS = (
    "danceability", "spotify_energy", "spotify_valence", "key", "loudness", "mode", "speechiness",
    "acousticness", "instrumentalness", "liveness", "tempo",
)  # fmt: skip
ATTRIBUTES = {"language": "motherLanguage", "birthplace": "birthPlace"}


def recognise(folder: Path) -> bool:
    """Whether the folder contains the answers, the tracks and the raters."""
    return all((folder / name).is_file() for name in (ANSWERS, TRACKS, RATERS))


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Questions `valence` and `arousal`, -1 or 1, and `mood`, one of 11 words, in one response.

    Of several answers of one annotator to an excerpt, the last counts.
    """
    chosen(folder, corpus, CORPORA, DEFAULT)
    texts = ("item_id", "rater_id", "valence", "arousal", "mood")
    rows = csv_table(
        folder, ANSWERS, **dict.fromkeys(texts, pa.string()), position=pa.int32(),
        time_ms=pa.float64(),
    )  # fmt: skip
    rows = rows.sort_by([("rater_id", "ascending"), ("position", "ascending")])
    parts = csv_table(
        folder, SPLIT, **dict.fromkeys(("item_id", "selection", "split"), pa.string())
    )
    with errors_in(folder / SPLIT):
        items = Names(parts["item_id"])
    annotators = names_in_order(rows["rater_id"])
    moods = Nominal(tuple(sorted(pc.unique(rows["mood"]).to_pylist())))
    scales = {"valence": SIGNS, "arousal": SIGNS, "mood": moods}
    with errors_in(folder / ANSWERS):
        item = items.codes(rows["item_id"], "excerpt")
        questions = {
            question: Annotations.from_arrays(
                item,
                annotators.codes(rows["rater_id"]),
                rows[question],
                scale,
                items=items,
                annotators=annotators,
                response=np.arange(len(item)),
                seconds=rows["time_ms"].to_numpy() / 1000,
                repeats="last",
            )
            for question, scale in scales.items()
        }
    return Corpus.build(
        "trompa_mer",
        items,
        questions,
        annotators=annotators,
        contents={"sound": Contents.distinct("features", _descriptors(folder, items))},
        item_attributes={"selection": parts["selection"]},
        annotator_attributes=_attributes(folder, annotators),
        splits={"selection": parts["split"]},
        left_out=tuple(
            LeftOut(question, "the same annotator answered again", len(item) - answers.n_rows)
            for question, answers in questions.items()
            if answers.n_rows < len(item)
        ),
    )


def _descriptors(folder: Path, items: Names) -> np.ndarray:
    """The numbers that describe each excerpt, standardised, (n_items, n_descriptors)."""
    tracks = csv_table(
        folder, TRACKS, item_id=pa.string(), **dict.fromkeys(DESCRIPTORS, pa.float64())
    )
    with errors_in(folder / TRACKS):
        first = Names(pc.unique(tracks["item_id"]))
        at = first.codes(items.array, "excerpt")
    row = pc.index_in(first.array.take(pa.array(at)), value_set=tracks["item_id"].combine_chunks())
    numbers = np.stack([tracks[name].take(row).to_numpy() for name in DESCRIPTORS], axis=1)
    spread = numbers.std(axis=0)
    return ((numbers - numbers.mean(axis=0)) / np.where(spread > 0, spread, 1)).astype(np.float32)


def _attributes(folder: Path, annotators: Names) -> dict[str, pa.Array]:
    """First language and birthplace of annotators; null for those without an entry."""
    columns = dict.fromkeys(("rater_id", *ATTRIBUTES.values()), pa.string())
    raters = csv_table(folder, RATERS, **columns)
    row = pc.index_in(annotators.array, value_set=raters["rater_id"].combine_chunks())
    return {name: raters[column].take(row) for name, column in ATTRIBUTES.items()}
