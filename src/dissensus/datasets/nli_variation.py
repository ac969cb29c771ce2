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

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import (
    chosen,
    csv_table,
    errors_in,
    first_with,
    names_in_order,
    present,
)
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Interval, Nominal

CORPORA: tuple[str, ...] = ("nli_variation",)
DEFAULT: str | None = "nli_variation"
ITEMS, ANSWERS = "items.csv", "annotations_raw.csv.gz"
PREPROCESSED = "preprocessed-data.jsonl"


def recognise(folder: Path) -> bool:
    """Whether the folder contains the unfiltered answers."""
    return (folder / ANSWERS).is_file()


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Roles `premise` and `hypothesis`; items that share a premise stay together in a split."""
    chosen(folder, corpus, CORPORA, DEFAULT)
    columns = ("item_id", "task", "orig_label", "premise", "hypothesis")
    pairs = csv_table(folder, ITEMS, **dict.fromkeys(columns, pa.string()))
    with errors_in(folder / ITEMS):
        items = Names(pairs["item_id"])
    questions = _questions(folder, items)
    not_rated = questions["not applicable"].n_rows - questions["rating"].n_rows
    premise = Contents.distinct("text", pairs["premise"])
    return Corpus.build(
        "nli_variation",
        items,
        questions,
        contents={
            "premise": premise,
            "hypothesis": Contents.distinct("text", pairs["hypothesis"]),
        },
        item_attributes={
            "task": pairs["task"],
            "orig_label": pairs["orig_label"],
            "premise": first_with(items, premise[1]),
        },
        group="premise",
        left_out=(
            LeftOut("rating", "marked as not applicable: a second question", not_rated),
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


def _questions(folder: Path, items: Names) -> dict[str, Annotations]:
    """One `response` is one row of the file."""
    types = {"item_id": pa.string(), "annotator_id": pa.string(), "rating_0_100": pa.float64()}
    types |= {"na": pa.bool_(), "batch": pa.int32(), "status": pa.string()}
    answers = csv_table(folder, ANSWERS, **types)
    annotators = names_in_order(answers["annotator_id"])
    not_applicable = np.asarray(answers["na"])
    with errors_in(folder / ANSWERS):
        rows: dict[str, Any] = {
            "item": items.codes(answers["item_id"], "item"),
            "annotator": annotators.codes(answers["annotator_id"]),
            "items": items,
            "annotators": annotators,
            "response": np.arange(answers.num_rows),
            "extra": {key: answers[key] for key in ("batch", "status")},
            "repeats": "keep",
        }
        rating = Annotations.from_arrays(
            answer=answers["rating_0_100"].to_numpy(), scale=Interval(0, 100), **rows
        )
        applies = Annotations.from_arrays(
            answer=not_applicable.astype(np.int32), scale=Nominal(("no", "yes")), **rows
        )
    return {"rating": rating.take(~not_applicable), "not applicable": applies}


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
