"""Jester 5k (Goldberg et al. 2001): 100 jokes, rated by 5,000 annotators from -10 to 10."""

from __future__ import annotations

from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.datasets.files import csv_table
from dissensus.scales import Interval


def load(folder: Path, corpus: str) -> Corpus:
    """Question `rating`, a number from -10 to 10; an item is a joke."""
    jokes = csv_table(folder, "jokes.csv", ("item_id", "text"))
    ratings = csv_table(folder, "ratings.csv.gz", ("item_id", "annotator_id"), ["rating"])
    items = jokes.names("item_id")
    answers = ratings.annotations("rating", Interval(-10, 10), items, what="joke")
    return Corpus.build(corpus, items, {"rating": answers}, contents={"text": jokes["text"]})
