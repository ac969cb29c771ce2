"""How an epoch is scored on the validation corpus."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch

from dissensus.training.batch import Loss, Network
from dissensus.training.batches import batch_indices
from dissensus.training.examples import Examples
from dissensus.training.settings import Training


class Validation(NamedTuple):
    """The score on the validation corpus that the best epoch is chosen by.

    If it is `mean_loss`, its arguments are `losses` and `examples`, so that a stack can compute it
    for all its members at once.
    """

    name: str
    score: Callable[[], float]
    higher_is_better: bool
    losses: tuple[Loss, ...] = ()
    examples: Examples | None = None


def mean_loss(
    network: Network, losses: tuple[Loss, ...], examples: Examples, training: Training
) -> float:
    """The loss over all items, without dropout; every row or item counts by its weight."""
    network.eval()
    sums = np.zeros((len(losses), 2))
    with torch.inference_mode():
        for index in batch_indices(examples, np.arange(examples.n_items), training, None):
            batch = examples.batch(*index)
            outputs = network(batch)
            for number, loss in enumerate(losses):
                value, weight = loss.weighted(outputs, batch)
                sums[number] += float(value), float(weight)
    return float((sums[:, 0] / sums[:, 1].clip(1e-12)).sum())
