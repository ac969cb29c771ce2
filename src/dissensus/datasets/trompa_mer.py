"""TROMPA-MER (Gomez-Canon et al. 2022): valence, arousal and mood of 693 excerpts of music.

The excerpts are not part of the corpus; their contents are twelve numbers that describe the sound.
Most answers are to the selection `choir`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import Table, csv_table, names_in_order, standardised
from dissensus.names import Names
from dissensus.scales import Nominal

SIGNS = Nominal(("-1", "1"))
DESCRIPTORS = (
    "danceability", "spotify_energy", "spotify_valence", "key", "loudness", "mode", "speechiness",
    "acousticness", "instrumentalness", "liveness", "tempo",
)  # fmt: skip
ATTRIBUTES = {"language": "motherLanguage", "birthplace": "birthPlace"}


def load(folder: Path, corpus: str) -> Corpus:
    """Questions `valence` and `arousal`, -1 or 1, and `mood`, one of 11 words, in one response.

    Of several answers of one annotator to an excerpt, the last counts.
    """
    texts, types = ("item_id", "rater_id", "valence", "arousal", "mood"), {"position": pa.int32()}
    every = csv_table(folder, "annotations.csv.gz", texts, ["time_ms"], **types)
    order = [("rater_id", "ascending"), ("position", "ascending")]
    rows = Table(every.path, every.columns.sort_by(order))
    parts = csv_table(folder, "split.csv", ("item_id", "selection", "split"))
    items, annotators = parts.names("item_id"), names_in_order(rows["rater_id"])
    moods = Nominal(tuple(sorted(pc.unique(rows["mood"]).to_pylist())))
    questions = {
        question: rows.annotations(
            question,
            scale,
            items,
            "item_id",
            "rater_id",
            annotators=annotators,
            what="excerpt",
            response=np.arange(len(rows)),
            seconds=rows.array("time_ms") / 1000,
            repeats="last",
        )
        for question, scale in {"valence": SIGNS, "arousal": SIGNS, "mood": moods}.items()
    }
    about = csv_table(folder, "raters.csv", ("rater_id", *ATTRIBUTES.values()))
    raters = about.of(annotators, "rater_id")  # null for those without an entry
    return Corpus.build(
        corpus,
        items,
        questions,
        annotators=annotators,
        contents={"sound": Contents.distinct("features", _descriptors(folder, items))},
        item_attributes={"selection": parts["selection"]},
        annotator_attributes={name: raters[column] for name, column in ATTRIBUTES.items()},
        splits={"selection": parts["split"]},
        left_out=tuple(
            LeftOut(question, "the same annotator answered again", len(rows) - answers.n_rows)
            for question, answers in questions.items()
            if answers.n_rows < len(rows)
        ),
    )


def _descriptors(folder: Path, items: Names) -> np.ndarray:
    """The numbers that describe each excerpt, standardised, (n_items, n_descriptors)."""
    tracks = csv_table(folder, "tracks.csv", ["item_id"], DESCRIPTORS)
    with tracks.errors():
        names, code = Names.encode(tracks["item_id"])  # an excerpt may be there twice
        at = names.codes(items, "excerpt")
    first = np.unique(code, return_index=True)[1]
    return standardised(tracks.array(*DESCRIPTORS)[first[at]])
