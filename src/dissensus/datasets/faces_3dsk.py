"""3DSK faces (DeBruine & Jones 2020): five traits of 100 faces, rated from 1 to 7.

Each of the 2,000 annotators rated one trait of the 50 faces of one gender. A trait is a question;
no annotator answered two of them, so `joint` is empty.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from dissensus.corpus import Corpus
from dissensus.datasets.files import (
    csv_table,
    names_in_order,
    once_each,
    pictures,
    present_folder,
)
from dissensus.scales import Interval, Nominal

TRAITS = ("att", "dom", "health", "sexdim", "trust")
SCALE = Interval(1, 7)


def load(folder: Path, corpus: str) -> Corpus:
    """Questions att(ractive), dom(inant), health(y), sexdim (feminine or masculine) and
    trust(worthy); an item is a face, its content the bytes of a JPEG."""
    faces = csv_table(folder, "faces.csv", ("face_id", "face_gender"), face_age=pa.int32())
    texts = ("face_id", "rater_id", "rater_gender", "trait")
    ratings = csv_table(folder, "ratings.csv.gz", texts, ("rater_age", "rating"))
    items = faces.names("face_id")
    annotators = names_in_order(ratings["rater_id"])
    annotator = annotators.codes(ratings["rater_id"])
    with ratings.errors():
        attributes = {
            key: once_each(annotator, ratings[f"rater_{key}"], f"rater_{key}")[1]
            for key in ("gender", "age")
        }
        items.codes(ratings["face_id"], "face")
        SCALE.check(ratings.array("rating"))  # here, so that the row is one of the file
        Nominal(TRAITS).encode(ratings["trait"])
    questions = {
        trait: ratings.filter(pc.equal(ratings["trait"], trait)).annotations(
            "rating", SCALE, items, "face_id", "rater_id", annotators=annotators
        )
        for trait in TRAITS
    }
    files = [f"{name}.jpg" for name in items]
    return Corpus.build(
        corpus,
        items,
        questions,
        annotators=annotators,
        contents={"image": pictures(present_folder(folder, "images"), files)},
        item_attributes={"gender": faces["face_gender"], "age": faces["face_age"]},
        annotator_attributes=attributes,
    )
