"""Calibration against people: where a method says 70 %, do 70 % of the people say so?"""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.metrics.matching import shares
from dissensus.prediction import Prediction

BINS = 15


def expected_calibration_error(
    prediction: Prediction, annotations: Annotations, n_bins: int = BINS
) -> float:
    """The gap between how sure a method is and how many people say the same, 0 to 1.

    Each item counts once: its most probable value (the first of those that tie), the mass on
    it, and the share of the people who gave it. Items are put by that mass into `n_bins` equal
    bins of [0, 1] (15; a border belongs to the bin above); the gap between mean mass and mean
    share in a bin is weighed by the bin's items. The outcome is people's answers, not one true
    label, so that a prediction of the people's own distribution has 0. Multi-label: each value
    of each item counts, as chosen or not. nan where no predicted item has answers.

    Example:
        >>> people = Annotations.from_rows([("t1", "ann", "yes"), ("t1", "bob", "no")])
        >>> bold = Prediction(people.scale, people.items, np.array([[0.1, 0.9]]), np.array([1]))
        >>> round(expected_calibration_error(bold, people), 4)
        0.4

    Reference: Guo et al. (2017), arXiv:1706.04599, with people's answers as outcomes.
    """
    people, predicted = shares(prediction, annotations)
    width = people.shape[-1]
    people, predicted = people.reshape(-1, width), predicted.reshape(-1, width)
    if not people.size:
        return float("nan")
    best = predicted.argmax(axis=1)[:, None]
    sure = np.take_along_axis(predicted, best, axis=1)[:, 0]
    share = np.take_along_axis(people, best, axis=1)[:, 0]
    bins = np.clip(np.floor(sure * n_bins + 1e-9), 0, n_bins - 1).astype(np.int64)
    gaps = np.abs(np.bincount(bins, sure - share))
    return float(gaps.sum() / len(sure))
