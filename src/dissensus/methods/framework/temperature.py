"""Distributions made more even, or less, by a temperature; and the one that labels ask for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dissensus.methods.framework.answers import Answers
from dissensus.scales import Interval, MultiLabel, Ordinal, Scale

LOWEST, HIGHEST = 0.05, 20.0  # of all temperatures
HALVINGS = 60  # of the range: as exact as floating point
ROUNDING = 4 * float(np.finfo(float).eps)  # of sums, as a share of what is added up


def tempered(scale: Scale, distribution: np.ndarray, temperature: float) -> np.ndarray:
    """The distribution to the power of 1 / temperature: above 1 more even, below 1 less.

    Of a softmax that is dividing what goes into it by the temperature; of a set the same for yes
    and no of each value; of a normal density its variance times the temperature.

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
    """The same for answers; of all that are expected, only a median can change."""
    distribution = tempered(scale, answers.distribution, temperature)
    value = answers.value
    if isinstance(scale, Ordinal):
        value = scale.consensus(distribution).astype(scale.dtype)
    return replace(answers, distribution=distribution, value=value)


def best_temperature(
    scale: Scale, distribution: np.ndarray, label: np.ndarray, lowest: float = 1.0
) -> float:
    """The temperature, up to 20, at which the labels are likeliest.

    The likelihood has one highest point in 1 / temperature, where its slope is 0. Where all
    temperatures are equally good, as for labels of distributions that are even, it is 1.

    Args:
        distribution: (n, n_columns).
        label: as the scale stores answers, (n,).
        lowest: of all temperatures, from 0.05. Below 1 a distribution becomes surer; but people
            are not surer than the one label that they are summed up in, and a few labels that
            happen to be all right would have it so.
    """
    logs, said = _log_masses(scale, distribution), _columns(scale, label)
    wanted = np.take_along_axis(logs, said[..., None], axis=-1)[..., 0].sum()

    def slope(temperature: float) -> float:
        """Above 0 where the labels become likelier as the temperature falls."""
        return float(wanted - (_softmax(logs / temperature) * logs).sum())

    if abs(slope(1)) <= ROUNDING * np.abs(logs).sum():
        return 1.0
    low, high = math.log(max(lowest, LOWEST)), math.log(HIGHEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(math.exp(middle)) > 0 else (middle, high)
    return math.exp((low + high) / 2)


def _log_masses(scale: Scale, distribution: np.ndarray) -> np.ndarray:
    """(n, n_columns); of sets those of no and yes, (n, n_values, 2)."""
    if isinstance(scale, MultiLabel):
        distribution = np.stack([1 - distribution, distribution], axis=-1)
    return np.log(distribution.clip(np.finfo(float).tiny))


def _columns(scale: Scale, label: np.ndarray) -> np.ndarray:
    """The column of each label, (n,); of sets 0 or 1 for each value, (n, n_values)."""
    if isinstance(scale, Interval):
        return scale.bins(label)
    if isinstance(scale, MultiLabel):
        return scale.one_hot(label).astype(np.int64)
    return label.astype(np.int64)


def _softmax(logs: np.ndarray) -> np.ndarray:
    powers = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
