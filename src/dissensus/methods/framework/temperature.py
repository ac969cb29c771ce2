"""Rescale distributions by a temperature, and choose the temperature that fits labels best."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dissensus.methods.framework.learned import Answers
from dissensus.scales import Interval, MultiLabel, Ordinal, Scale

LOWEST, HIGHEST = 0.05, 20.0  # temperatures that are considered
HALVINGS = 60  # of that range: to the precision of floating point
ROUNDING = 4 * float(np.finfo(float).eps)  # relative error of sums


def tempered(scale: Scale, distribution: np.ndarray, temperature: float) -> np.ndarray:
    """The distribution to the power of 1 / temperature: above 1 more even, below 1 less.

    For a softmax, this divides its inputs by the temperature. Multi-label: the same for yes and no
    of each value. A normal density has its variance multiplied by the temperature.

    Args:
        distribution: (n, n_columns).

    Example:
        >>> from dissensus import Nominal
        >>> tempered(Nominal(("no", "yes")), np.array([[0.9, 0.1]]), 2.0).round(3).tolist()
        [[0.75, 0.25]]
    """
    masses = _softmax(_log_masses(scale, distribution) / temperature)
    return masses[..., 1] if isinstance(scale, MultiLabel) else masses


def tempered_answers(scale: Scale, answers: Answers, temperature: float) -> Answers:
    """Answers with tempered distributions; the values of ordinal scales (medians) may change."""
    distribution = tempered(scale, answers.distribution, temperature)
    value = answers.value
    if isinstance(scale, Ordinal):
        value = scale.consensus(distribution).astype(scale.dtype)
    return replace(answers, distribution=distribution, value=value)


def best_temperature(
    scale: Scale, distribution: np.ndarray, label: np.ndarray, lowest: float = 1.0
) -> float:
    """The temperature, up to 20, at which the labels are most likely.

    The likelihood has a single maximum in 1 / temperature, where its slope is 0. If all
    temperatures are equally good, for example if all distributions are uniform, it is 1.

    Args:
        distribution: (n, n_columns).
        label: as the scale stores answers, (n,).
        lowest: the lowest temperature that is considered, at least 0.05. Below 1, distributions
            become more certain than the model was. The default does not allow that: annotators
            agree less than their one label shows, and a few labels that happen to be predicted
            correctly would lead to it.
    """
    logs, columns = _log_masses(scale, distribution), _columns(scale, label)
    of_labels = np.take_along_axis(logs, columns[..., None], axis=-1)[..., 0].sum()

    def slope(temperature: float) -> float:
        """Above 0 if the labels become more likely as the temperature falls."""
        return float(of_labels - (_softmax(logs / temperature) * logs).sum())

    if abs(slope(1)) <= ROUNDING * np.abs(logs).sum():
        return 1.0
    low, high = math.log(max(lowest, LOWEST)), math.log(HIGHEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(math.exp(middle)) > 0 else (middle, high)
    return math.exp((low + high) / 2)


def _log_masses(scale: Scale, distribution: np.ndarray) -> np.ndarray:
    """Logarithms, (n, n_columns); multi-label: of no and yes, (n, n_values, 2)."""
    if isinstance(scale, MultiLabel):
        distribution = np.stack([1 - distribution, distribution], axis=-1)
    return np.log(distribution.clip(np.finfo(float).tiny))


def _columns(scale: Scale, label: np.ndarray) -> np.ndarray:
    """The column of each label, (n,); multi-label: 0 or 1 for each value, (n, n_values)."""
    if isinstance(scale, Interval):
        return scale.bins(label)
    if isinstance(scale, MultiLabel):
        return scale.one_hot(label).astype(np.int64)
    return label.astype(np.int64)


def _softmax(logs: np.ndarray) -> np.ndarray:
    powers = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
