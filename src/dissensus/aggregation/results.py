"""What an aggregator learned of each annotator, and how often it is right."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from dissensus.aggregation.base import CHOSEN, Aggregator
from dissensus.annotations import AnnotationBlocks, Annotations
from dissensus.corpus import Corpus, StoredCorpus
from dissensus.errors import DataError
from dissensus.scales import Scale

ESTIMATES = (
    "accuracy_",
    "accuracy_low_",
    "accuracy_high_",
    "skill_",
    "competence_",
    "ability_",
    "bias_",
    "spread_",
)
ROWS_AT_ONCE = 100_000  # gold labels that are compared together
MANY_VALUES = 1000  # more are hardly values that annotators chose from
MOST_SHARES = 50_000_000  # of many values: about 2 GB when they are written


def check_shares(n_items: int, scale: Scale, question: str) -> None:
    """Refuse a table with a share for each of many values and items, before memory is taken."""
    n_values = scale.n_columns
    if n_values > MANY_VALUES and n_items * n_values > MOST_SHARES:
        raise DataError(
            f"{question}: {n_items:,} items x {n_values:,} values are too large a table of shares; "
            "if these answers are free texts, use --method rover, else choose other questions "
            "(--question), or fewer values or items"
        )


def annotator_table(
    annotations: Annotations | AnnotationBlocks, fitted: Aggregator, question: str
) -> dict[str, list[Any]]:
    """Columns question, annotator, answers, and every estimate that is one number each."""
    columns: dict[str, list[Any]] = {
        "question": [question] * annotations.n_annotators,
        "annotator": list(annotations.annotators),
        "answers": annotations.per_annotator().tolist(),
    }
    if hasattr(fitted, "by_value_"):
        estimates = {
            f"{name}.{value}": column
            for value, each in fitted.by_value_.items()
            for name, column in _estimates(each, CHOSEN.values).items()
        }
    else:
        estimates = _estimates(fitted, getattr(annotations.scale, "values", ()))
    if not estimates:
        raise DataError(f"{fitted.name} learns nothing about annotators")
    return columns | estimates


def _estimates(fitted: Aggregator, values: Sequence[str]) -> dict[str, list[Any]]:
    """Every estimate that is one number for each annotator, by name."""
    estimates = {
        name.rstrip("_"): getattr(fitted, name).tolist()
        for name in ESTIMATES
        if hasattr(fitted, name)
    }
    if hasattr(fitted, "confusion_"):
        diagonal = fitted.confusion_.diagonal(axis1=1, axis2=2)  # (n_annotators, n_values)
        estimates |= {
            f"right.{v}": part.tolist() for v, part in zip(values, diagonal.T, strict=True)
        }
    return estimates


def gold_accuracy(
    corpus: Corpus | StoredCorpus, question: str, fitted: Aggregator
) -> tuple[float, int] | None:
    """The share of predicted answers that equal the gold label, and how many there are.

    None without gold labels, and for ratings, which are hardly ever equal.
    """
    if question not in corpus.gold or corpus[question].scale.kind == "interval":
        return None
    gold, answered = corpus.gold[question], fitted.consensus_.item
    prediction = fitted.prediction_
    row_of = np.full(len(corpus.items), -1, dtype=np.int64)
    row_of[answered] = np.arange(len(answered))
    labelled = np.flatnonzero(row_of[gold.item] >= 0)
    n_right = 0
    for begin in range(0, len(labelled), ROWS_AT_ONCE):
        rows = labelled[begin : begin + ROWS_AT_ONCE]
        labels = gold.scale.decode(gold.answer[rows])
        answers = prediction.scale.decode(prediction.consensus[row_of[gold.item[rows]]])
        n_right += sum(map(operator.eq, answers, labels))
    return (n_right / len(labelled), len(labelled)) if len(labelled) else None
