"""Match predictions with answers, by the names of items and annotators."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dissensus.annotations import Annotations
from dissensus.block_cache import cached_within
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.prediction import ByAnnotator, Prediction
from dissensus.scales import MultiLabel, Nominal, Ordinal, Scale

Result = TypeVar("Result")
_CACHE: ContextVar[dict[tuple[Any, ...], tuple[Any, ...]] | None] = ContextVar("kept", default=None)


class Compared(NamedTuple):
    """How many items and answers a score is computed from."""

    items: int  # predicted items that have answers
    pairs: int  # answers whose annotator was predicted too


def require(prediction: Prediction, metric: str, *scales: str) -> None:
    """Refuse a metric that is not for the prediction's scale."""
    if prediction.scale.kind not in scales:
        kinds = " and ".join(", ".join(scales).rsplit(", ", 1))
        raise DataError(f"{metric} is for {kinds} answers, not for {prediction.scale.kind} ones")


def matching_once() -> AbstractContextManager[None]:
    """Within this block predictions and answers are matched once for all metrics."""
    return cached_within(_CACHE)


def _cached(
    function: Callable[[Prediction, Annotations], Result],
) -> Callable[[Prediction, Annotations], Result]:
    """Cache the result within `matching_once`; it must not be changed in place."""

    @wraps(function)
    def cached(prediction: Prediction, annotations: Annotations) -> Result:
        kept = _CACHE.get()
        if kept is None:
            return function(prediction, annotations)
        key = (function.__name__, id(prediction), id(annotations))
        if key not in kept:  # both stay alive with the result, so that their ids stay unique
            kept[key] = (function(prediction, annotations), prediction, annotations)
        return kept[key][0]

    return cached


def compared(prediction: Prediction, annotations: Annotations) -> Compared:
    """How many items, and answers of predicted annotators, there are to compare."""
    items = len(common_items(prediction.items, annotations)[0])
    if prediction.by_annotator is None or annotations.annotator is None:
        return Compared(items, 0)
    return Compared(items, len(common_pairs(prediction, annotations)[0]))


def common_items(predicted: Names, annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """The predicted items that have answers: codes into `predicted` and into the annotations."""
    if predicted == annotations.items:
        codes = np.arange(len(predicted))
    else:
        codes = annotations.items.find(predicted)
    answered = np.append(annotations.per_item() > 0, False)  # the last is for code -1: no such item
    predicted_codes = np.flatnonzero(answered[codes])
    return predicted_codes, codes[predicted_codes]


@_cached
def common_pairs(prediction: Prediction, annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """The answers whose annotator was predicted on their item: rows of the annotations, and their
    rows in `by_annotator`. Repeated answers have the same row."""
    by_annotator = _by_annotator(prediction)
    codes = annotations.annotator_codes("a score per annotator")
    item = prediction.items.find(annotations.items)[annotations.item]
    annotator = by_annotator.annotators.find(annotations.annotators)[codes]
    width = max(len(by_annotator.annotators), 1)
    wanted = np.where((item >= 0) & (annotator >= 0), item * width + annotator, -1)
    keys = by_annotator.item.astype(np.int64) * width + by_annotator.annotator
    return rows_with_keys(keys, wanted)


def rows_with_keys(keys: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of `wanted` that are among the keys, and the row of each there; -1 is none."""
    if not len(keys):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = np.argsort(keys, kind="stable")
    place = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    rows = np.flatnonzero((keys[order][place] == wanted) & (wanted >= 0))
    return rows, order[place[rows]]


def _by_annotator(prediction: Prediction) -> ByAnnotator:
    if prediction.by_annotator is None:
        raise DataError(
            "a score per annotator needs predictions by annotator; these predictions have none"
        )
    return prediction.by_annotator


@_cached
def distributions(
    prediction: Prediction, annotations: Annotations
) -> tuple[np.ndarray, np.ndarray]:
    """Observed and predicted distributions of the common items, (n_common, n_columns) each."""
    predicted_codes, codes = common_items(prediction.items, annotations)
    observed = annotations.to(prediction.scale).distribution()
    return observed[codes], np.asarray(prediction.distribution[predicted_codes], dtype=float)


def shares(prediction: Prediction, annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """Observed and predicted distributions of the common items, each summing to 1.

    (n_common, n_columns); on a multi-label scale a pair for each value, not chosen and chosen,
    (n_common, n_values, 2), so that a mean over items is also one over values.
    """
    observed, predicted = distributions(prediction, annotations)
    if not isinstance(prediction.scale, MultiLabel):
        return observed, predicted
    return two_sided(observed), two_sided(predicted)


def two_sided(marginals: np.ndarray) -> np.ndarray:
    """Each share as a distribution over not chosen and chosen, with a last axis of 2."""
    return np.stack([1 - marginals, marginals], axis=-1)


@_cached
def labels(prediction: Prediction, annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """The observed and the predicted consensus of the common items, (n_common,) codes each.

    Of tied values the first is the consensus.
    """
    predicted_codes, codes = common_items(prediction.items, annotations)
    consensus = _readable(annotations, prediction.scale).consensus(ties="first")
    truth = np.zeros(annotations.n_items, dtype=np.int64)
    truth[consensus.item] = codes_on(prediction.scale, consensus)
    return truth[codes], np.asarray(prediction.consensus[predicted_codes]).astype(np.int64)


def ratings(prediction: Prediction, annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """The mean rating and the predicted one of the common items, (n_common,) each."""
    predicted_codes, codes = common_items(prediction.items, annotations)
    answers = annotations.to(prediction.scale)
    sums = np.bincount(answers.item, answers.votes * answers.answer, minlength=answers.n_items)
    return sums[codes] / answers.voters()[codes], np.asarray(
        prediction.consensus[predicted_codes], float
    )


def _readable(annotations: Annotations, scale: Scale) -> Annotations:
    """The answers on `scale`, or on their own where they have values that it does not have."""
    if isinstance(annotations.scale, Nominal | Ordinal) and isinstance(scale, Nominal | Ordinal):
        if not set(annotations.scale.values) <= set(scale.values):
            return annotations
    return annotations.to(scale)


def codes_on(scale: Scale, annotations: Annotations) -> np.ndarray:
    """Answers as codes of `scale`, (n_rows,); values it does not have come after its own.

    Gold labels may have values that a method cannot predict; these are never right.
    """
    own_scale = annotations.scale
    if own_scale == scale:
        return annotations.answer
    if not (isinstance(own_scale, Nominal | Ordinal) and isinstance(scale, Nominal | Ordinal)):
        return annotations.to(scale).answer
    values = [*scale.values, *(value for value in own_scale.values if value not in scale.values)]
    return np.array([values.index(value) for value in own_scale.values])[annotations.answer]


def mean(values: np.ndarray) -> float:
    """The mean, nan of nothing."""
    return float(values.mean()) if values.size else float("nan")
