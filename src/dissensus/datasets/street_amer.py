"""STREET and AMER (Zhang et al. 2025): impressions of photographs, and emotions in clips of films.

Both corpora were announced and are not public yet. This reads a plain layout: a folder of media
files, and a table with a row for each label. A label that was not given is a row that is not there.

    street_labels.csv, images/  five impressions of 4,300 photographs of cities, by ten annotators

        file,annotator,perspective,label
        0001.jpg,A1,happiness,-2

    amer_labels.csv, videos/    the emotion in 5,207 clips of films and series, by 13 annotators

        file,annotator,label
        0001.mp4,A1,happy
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dissensus.contents import Contents, Kind
from dissensus.corpus import Corpus
from dissensus.datasets.files import csv_table, names_in_order, present, present_folder
from dissensus.errors import DataError, listed
from dissensus.names import Names
from dissensus.scales import Nominal, Ordinal, Scale

PERSPECTIVES = ("happiness", "healthiness", "safety", "liveliness", "orderliness")
SCALES: dict[str, dict[str, Scale]] = {
    "street": dict.fromkeys(PERSPECTIVES, Ordinal(("-3", "-2", "-1", "1", "2", "3"))),
    "amer": {
        "emotion": Nominal(
            ("worried", "happy", "neutral", "angry", "surprise", "sad", "other", "unknown")
        )
    },
}
MEDIA: dict[str, tuple[str, Kind]] = {"street": ("images", "image"), "amer": ("videos", "video")}


def load(folder: Path, corpus: str) -> Corpus:
    """Questions are perspectives with six levels, or `emotion`; an item is a file, role `image` or
    `video`. The corpus contains the paths of the files, which stay where they are."""
    scales, (media, kind) = SCALES[corpus], MEDIA[corpus]
    asks = ["perspective"] if corpus == "street" else []
    rows = csv_table(folder, f"{corpus}_labels.csv", ("file", "annotator", "label", *asks))
    files = present_folder(folder, media)
    questions = {}
    with rows.errors():
        items, _ = Names.encode(rows["file"])
        annotators = names_in_order(rows["annotator"])
        named = pc.unique(rows["perspective"]).to_pylist() if asks else []
        unknown = [one for one in named if one not in scales]
        if unknown:
            raise DataError(f"perspective {unknown[0]!r} is none of {listed(scales)}")
    for question, scale in scales.items():
        part = rows.filter(pc.equal(rows["perspective"], question)) if asks else rows
        questions[question] = part.annotations(
            "label", scale, items, "file", "annotator", annotators=annotators
        )
    paths = [str(present(files, file).resolve()) for file in items]
    contents: dict[str, Any] = {kind: Contents.distinct(kind, pa.array(paths, pa.string()))}
    return Corpus.build(corpus, items, questions, annotators=annotators, contents=contents)
