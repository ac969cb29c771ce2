"""Calibration: where a method predicts a value with 70 %, do 70 % of the annotators give it?"""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.metrics.matching import shares
from dissensus.prediction import Prediction

BINS = 15


def expected_calibration_error(
    prediction: Prediction, annotations: Annotations, n_bins: int = BINS
) -> float:
    """The gap between the confidence of a method and the share of annotators who agree, 0 to 1.

    Each item counts once: its most probable value (of tied values the first), the mass on it, and
    the share of annotators who gave it. Items are binned by that mass into `n_bins` equal bins of
    [0, 1] (15; an edge belongs to the bin above). The gap between mean mass and mean share of a bin
    is weighted by the number of its items. The outcome is the answers, not one true label, so that
    the observed distribution itself scores 0. On a multi-label scale each value of each item
    counts, as chosen or not. nan where no predicted item has answers.

    Example:
        >>> answers = Annotations.from_rows([("t1", "ann", "yes"), ("t1", "bob", "no")])
        >>> bold = Prediction(answers.scale, answers.items, np.array([[0.1, 0.9]]), np.array([1]))
        >>> round(expected_calibration_error(bold, answers), 4)
        0.4

    Reference: Guo et al. (2017), arXiv:1706.04599, with answers as outcomes.
    """
    observed, predicted = shares(prediction, annotations)
    width = observed.shape[-1]
    observed, predicted = observed.reshape(-1, width), predicted.reshape(-1, width)
    if not observed.size:
        return float("nan")
    best = predicted.argmax(axis=1)[:, None]
    sure = np.take_along_axis(predicted, best, axis=1)[:, 0]
    share = np.take_along_axis(observed, best, axis=1)[:, 0]
    bins = np.clip(np.floor(sure * n_bins + 1e-9), 0, n_bins - 1).astype(np.int64)
    gaps = np.abs(np.bincount(bins, sure - share))
    return float(gaps.sum() / len(sure))
