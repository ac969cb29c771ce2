"""3DSK faces (DeBruine & Jones 2020): five traits of 100 faces, rated from 1 to 7.

Each of the 2,000 annotators rated one trait of the 50 faces of one gender. A trait is a question;
no annotator answered two of them, so `joint` is empty.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.datasets.files import (
    chosen,
    csv_table,
    errors_in,
    names_in_order,
    once_each,
    present,
    present_folder,
)
from dissensus.names import Names
from dissensus.scales import Interval, Nominal

CORPORA: tuple[str, ...] = ("faces_3dsk",)
DEFAULT: str | None = "faces_3dsk"
FACES, RATINGS, IMAGES = "faces.csv", "ratings.csv.gz", "images"
TRAITS = ("att", "dom", "health", "sexdim", "trust")
SCALE = Interval(1, 7)


def recognise(folder: Path) -> bool:
    """Whether the folder contains the list of faces and their ratings."""
    return (folder / FACES).is_file() and (folder / RATINGS).is_file()


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Questions att(ractive), dom(inant), health(y), sexdim (feminine or masculine) and
    trust(worthy); an item is a face, its content the bytes of a JPEG."""
    chosen(folder, corpus, CORPORA, DEFAULT)
    faces = csv_table(
        folder, FACES, face_id=pa.string(), face_gender=pa.string(), face_age=pa.int32()
    )
    ratings = csv_table(
        folder,
        RATINGS,
        **dict.fromkeys(("face_id", "rater_id", "rater_gender", "trait"), pa.string()),
        **dict.fromkeys(("rater_age", "rating"), pa.float64()),
    )
    with errors_in(folder / FACES):
        items = Names(faces["face_id"])
    annotators = names_in_order(ratings["rater_id"])
    annotator = annotators.codes(ratings["rater_id"])
    with errors_in(folder / RATINGS):
        attributes = {
            key: once_each(annotator, ratings[f"rater_{key}"], f"rater_{key}")[1]
            for key in ("gender", "age")
        }
        questions = _questions(ratings, items, annotator, annotators)
    return Corpus.build(
        "faces_3dsk",
        items,
        questions,
        annotators=annotators,
        contents={"image": Contents.distinct("image", _images(folder, items))},
        item_attributes={"gender": faces["face_gender"], "age": faces["face_age"]},
        annotator_attributes=attributes,
    )


def _questions(
    ratings: Any, items: Names, annotator: np.ndarray, annotators: Names
) -> dict[str, Annotations]:
    item = items.codes(ratings["face_id"], "face")
    rating = ratings["rating"].to_numpy()
    SCALE.check(rating)  # here, so that the row is one of the file
    trait = Nominal(TRAITS).encode(ratings["trait"])
    questions = {}
    for code, name in enumerate(TRAITS):
        rows = np.flatnonzero(trait == code)
        questions[name] = Annotations.from_arrays(
            item[rows], annotator[rows], rating[rows], SCALE, items=items, annotators=annotators
        )
    return questions


def _images(folder: Path, items: Names) -> Any:
    """The bytes of every face's file."""
    images = present_folder(folder, IMAGES)
    files = [present(images, f"{name}.jpg").read_bytes() for name in items]
    return pa.array(files, pa.binary())
