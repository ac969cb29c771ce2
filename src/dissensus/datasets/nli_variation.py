"""NLI variation (Pavlick & Kwiatkowski 2019): how likely is the hypothesis, given the premise?

500 pairs of texts, about 50 annotators each, a slider from 0 to 100. An annotator can also mark
that the question does not apply: that is a second question, `not applicable`, and the position of
the slider is then not read as a rating. Three annotators answered items in two batches; both
answers are kept.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import csv_table, first_with, names_in_order, present
from dissensus.errors import DataError
from dissensus.scales import Interval, Nominal

PREPROCESSED = "preprocessed-data.jsonl"


def load(folder: Path, corpus: str) -> Corpus:
    """Roles `premise` and `hypothesis`; items that share a premise stay together in a split. One
    `response` is one row of the file of answers."""
    columns = ("item_id", "task", "orig_label", "premise", "hypothesis")
    pairs = csv_table(folder, "items.csv", columns)
    texts, types = ("item_id", "annotator_id", "status"), {"na": pa.bool_(), "batch": pa.int32()}
    rows = csv_table(folder, "annotations_raw.csv.gz", texts, ["rating_0_100"], **types)
    items = pairs.names("item_id")
    not_applicable = np.asarray(rows["na"])
    options: dict[str, Any] = {
        "annotators": names_in_order(rows["annotator_id"]),
        "response": np.arange(len(rows)),
        "extra": {key: rows[key] for key in ("batch", "status")},
        "repeats": "keep",
    }
    rating = rows.annotations("rating_0_100", Interval(0, 100), items, **options)
    applies = rows.annotations(
        not_applicable.astype(np.int32), Nominal(("no", "yes")), items, **options
    )
    premise = Contents.distinct("text", pairs["premise"])
    return Corpus.build(
        corpus,
        items,
        {"rating": rating.take(~not_applicable), "not applicable": applies},
        contents={"premise": premise, "hypothesis": pairs["hypothesis"]},
        item_attributes={
            "task": pairs["task"],
            "orig_label": pairs["orig_label"],
            "premise": first_with(items, premise[1]),
        },
        group="premise",
        left_out=(
            LeftOut(
                "rating", "marked as not applicable: a second question", int(not_applicable.sum())
            ),
            LeftOut(
                "labels (preprocessed file)",
                "the authors' selection of these ratings, without annotators",
                _n_preprocessed(folder),
            ),
        ),
        notes=(
            "orig_label is the label of five other corpora, on scales of their own: it is not read "
            "as gold",
        ),
    )


def _n_preprocessed(folder: Path) -> int:
    path = present(folder, PREPROCESSED)
    n_labels = 0
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            try:
                n_labels += len(json.loads(line)["labels"])
            except (ValueError, KeyError, TypeError, RecursionError):
                raise DataError(
                    f"{path}, line {number}: not a JSON object with a list 'labels'"
                ) from None
    return n_labels
