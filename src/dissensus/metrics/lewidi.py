"""The official metrics of the shared tasks on learning with disagreements, LeWiDi 2023 and 2025.

The hard metric of 2023 is `micro_f1` against the task's own labels (gold).
"""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.metrics.distances import manhattan, wasserstein
from dissensus.metrics.matching import common_pairs, mean, require, shares
from dissensus.metrics.soft import CHOICES
from dissensus.prediction import Prediction
from dissensus.scales import MultiLabel, Ordinal


def lewidi2023_cross_entropy(prediction: Prediction, annotations: Annotations) -> float:
    """The soft score of 2023: -sum p ln(clip(q, 1e-12, 1 - 1e-12) + 1e-9), mean over items.

    Close to `cross_entropy`, but a value surely excluded costs 20.7 nats instead of 27.6, so
    that one-hot predictions look better. nan where no predicted item has answers.

    Reference: Leonardelli et al. (2023), doi:10.18653/v1/2023.semeval-1.314.
    """
    require(prediction, "LeWiDi 2023 cross-entropy", *CHOICES)
    people, predicted = shares(prediction, annotations)
    logs = np.log(np.clip(predicted, 1e-12, 1 - 1e-12) + 1e-9)
    return 0.0 - mean((people * logs).sum(axis=-1))


def lewidi2025_soft(prediction: Prediction, annotations: Annotations) -> float:
    """The soft score of 2025, by the kind of answer; lower is better.

    Nominal (MP): `manhattan`. Multi-label (VariErrNLI): the mean over values of the Manhattan
    distance of chosen and not chosen. Ordinal (CSC, Paraphrase): `wasserstein` in levels. nan
    where no predicted item has answers.
    """
    require(prediction, "LeWiDi 2025 soft", *CHOICES)
    ordered = isinstance(prediction.scale, Ordinal)
    return (wasserstein if ordered else manhattan)(prediction, annotations)


def lewidi2025_perspectivist(prediction: Prediction, annotations: Annotations) -> float:
    """The perspectivist score of 2025: how wrong each person's predicted answer is, 0 to 1.

    Nominal (MP): the share of wrong answers. Multi-label (VariErrNLI): the share of values
    wrongly chosen or left. Ordinal (CSC, Paraphrase): the distance in levels over the number of
    levels, 6 and 11, so that 1 is never reached. The mean over an item's answers, then over
    items; nan where no answer meets a prediction.
    """
    require(prediction, "LeWiDi 2025 perspectivist", *CHOICES)
    rows, pairs = common_pairs(prediction, annotations)
    assert prediction.by_annotator is not None
    given = annotations.to(prediction.scale).answer[rows]
    wrong = _wrong(given, prediction.by_annotator.value[pairs], prediction)
    item = annotations.item[rows]
    answers = np.bincount(item, minlength=annotations.n_items)
    sums = np.bincount(item, wrong, minlength=annotations.n_items)
    return mean(sums[answers > 0] / answers[answers > 0])


def _wrong(given: np.ndarray, predicted: np.ndarray, prediction: Prediction) -> np.ndarray:
    """How wrong each predicted answer is, (n_compared,)."""
    scale = prediction.scale
    if isinstance(scale, MultiLabel):
        return scale.one_hot(given ^ predicted).mean(axis=1)
    if isinstance(scale, Ordinal):
        return np.abs(given.astype(float) - predicted) / len(scale)
    return (given != predicted).astype(float)
