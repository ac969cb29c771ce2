"""Scores of joint densities: how far is a predicted density from that of the given ratings?

A density metric is a function per item and an entry of `DENSITY_METRICS`; its score is the mean
over items, so that it is tested over items like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from dissensus.errors import DataError
from dissensus.metrics import soft
from dissensus.metrics.metric import mean
from dissensus.metrics.scoring import metric_name, plain_name
from dissensus.names import Names
from dissensus.prediction import JointDensity


@dataclass(frozen=True)
class DensityMetric:
    """A metric of densities. Call it with a predicted density and the observed one."""

    name: str
    each: Callable[[np.ndarray, np.ndarray], np.ndarray]  # observed, predicted -> (n_common,)
    higher_is_better: bool
    definition: str

    def __call__(self, density: JointDensity, observed: JointDensity) -> float:
        """The mean over the common items; nan without any."""
        return mean(self.item_scores(density, observed)[1])

    def item_scores(
        self, density: JointDensity, observed: JointDensity
    ) -> tuple[Names, np.ndarray]:
        """The common items and a score for each, (n_common,)."""
        if density.questions != observed.questions or density.shape != observed.shape:
            raise DataError(
                f"a density of {density.name} with {density.shape} cells cannot be compared with "
                f"one of {observed.name} with {observed.shape}"
            )
        at = density.items.find(observed.items)
        common = np.flatnonzero(at >= 0)
        scores = self.each(observed.mass[common], density.mass[at[common]])
        return observed.items.take(common), scores


def density_tvd(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Total variation distance of the masses of all cells, (n_items,).

    Example:
        >>> observed, predicted = np.array([[[0.5, 0.5]]]), np.array([[[0.8, 0.2]]])
        >>> density_tvd(observed, predicted).round(4).tolist()
        [0.3]
    """
    return soft.tvd(_flat(observed), _flat(predicted))


def density_jsd(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Jensen-Shannon divergence of the masses of all cells, in nats, (n_items,)."""
    return soft.jsd(_flat(observed), _flat(predicted))


def density_uar(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """What each item adds to the unweighted average recall of the cell with the most mass.

    For each question, the cell of an item is that with the most mass in the marginal. The recall
    of a cell is the share of its items that are predicted in it; the mean is over the cells that
    occur, and over questions. An item counts n / (number of cells that occur * items in its cell)
    if it is predicted right, so that the mean over items is the score.

    Example:
        >>> observed = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.2, 0.8]])
        >>> predicted = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.2, 0.8]])
        >>> round(float(density_uar(observed, predicted).mean()), 4)  # recalls 2/3 and 1
        0.8333
    """
    n_items, n_questions = len(observed), observed.ndim - 1
    total = np.zeros(n_items)
    for axis in range(1, observed.ndim):
        others = tuple(at for at in range(1, observed.ndim) if at != axis)
        true, answer = (mass.sum(axis=others).argmax(axis=1) for mass in (observed, predicted))
        _, cell, counts = np.unique(true, return_inverse=True, return_counts=True)
        weight = n_items / (len(counts) * counts[cell.reshape(-1)])
        total += (true == answer) * weight / n_questions
    return total


def _flat(mass: np.ndarray) -> np.ndarray:
    return mass.reshape(len(mass), int(np.prod(mass.shape[1:])))


DENSITY_METRICS: dict[str, DensityMetric] = {
    metric.name: metric
    for metric in (
        DensityMetric("density TVD", density_tvd, False, "half of sum |p - q| over the cells"),
        DensityMetric("density JSD", density_jsd, False, "Jensen-Shannon divergence, in nats"),
        DensityMetric(
            "density UAR",
            density_uar,
            True,
            "unweighted average recall of the cell with the most mass, mean over the questions",
        ),
    )
}


def constant_density(density: JointDensity) -> JointDensity:
    """The mean density of the items, for every item: a floor."""
    if not len(density.mass):
        return density
    mass = np.broadcast_to(density.mass.mean(axis=0), density.mass.shape)
    return JointDensity(density.questions, density.scales, density.items, mass)


def divided_names(names: Iterable[str] | None) -> tuple[list[str] | None, list[str]]:
    """Names of metrics as users write them: those in `METRICS` and those in `DENSITY_METRICS`.

    Without any names, None (those that tables show) and all density metrics.
    """
    if names is None:
        return None, list(DENSITY_METRICS)
    known = {plain_name(name): name for name in DENSITY_METRICS}
    requested = list(names)
    of_densities = [known[plain_name(name)] for name in requested if plain_name(name) in known]
    return [metric_name(name) for name in requested if plain_name(name) not in known], of_densities
