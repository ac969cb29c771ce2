"""Jester 5k (Goldberg et al. 2001): 100 jokes, rated by 5,000 annotators from -10 to 10."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.datasets.files import chosen, csv_table, errors_in, names_in_order
from dissensus.names import Names
from dissensus.scales import Interval

CORPORA: tuple[str, ...] = ("jester5k",)
DEFAULT: str | None = "jester5k"


def recognise(folder: Path) -> bool:
    """Whether the folder contains the jokes."""
    return (folder / "jokes.csv").is_file()


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Question `rating`, a number from -10 to 10; an item is a joke."""
    chosen(folder, corpus, CORPORA, DEFAULT)
    jokes = csv_table(folder, "jokes.csv", item_id=pa.string(), text=pa.string())
    ratings = csv_table(
        folder,
        "ratings.csv.gz",
        item_id=pa.string(),
        annotator_id=pa.string(),
        rating=pa.float64(),
    )
    with errors_in(folder / "jokes.csv"):
        items = Names(jokes["item_id"])
    annotators = names_in_order(ratings["annotator_id"])
    with errors_in(folder / "ratings.csv.gz"):
        annotations = Annotations.from_arrays(
            items.codes(ratings["item_id"], "joke"),
            annotators.codes(ratings["annotator_id"]),
            ratings["rating"].to_numpy(),
            Interval(-10, 10),
            items=items,
            annotators=annotators,
        )
    return Corpus.build(
        "jester5k",
        items,
        {"rating": annotations},
        annotators=annotators,
        contents={"text": Contents.distinct("text", jokes["text"])},
    )
