"""The rows of weights that annotators have of their own, and what those of a newcomer are like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

STEPS = 60  # of the optimiser, at most
VARIANCE = 0.5  # of a newcomer's weights, as a share of that of known annotators'

Rows = dict[str, Tensor]  # the row of one annotator, by the name of the weights
Prior = dict[str, tuple[Tensor, Tensor]]  # mean and standard deviation of each weight, likewise


def row_prior(tables: Mapping[str, np.ndarray]) -> Prior:
    """A normal distribution of each weight, around the mean of known annotators: the few answers of
    a newcomer change what known annotators differ in, as far as they differ.

    Args:
        tables: the rows of known annotators, (n_annotators, ...) by name.
    """
    rows = {name: torch.as_tensor(table).double() for name, table in tables.items()}
    return {n: (r.mean(dim=0), VARIANCE**0.5 * r.std(dim=0, correction=0)) for n, r in rows.items()}


def most_probable_rows(prior: Prior, loss: Callable[[Rows], Tensor] | None) -> Rows:
    """The most probable rows.

    Args:
        loss: the negative log-likelihood of a newcomer's answers; None without answers.
    """
    if loss is None:
        return {name: mean.float() for name, (mean, _) in prior.items()}
    away = {name: torch.zeros_like(mean).requires_grad_() for name, (mean, _) in prior.items()}

    def rows() -> Rows:
        return {n: (mean + spread * away[n]).float() for n, (mean, spread) in prior.items()}

    def objective() -> Tensor:
        optimiser.zero_grad()
        total: Any = sum((0.5 * part.square().sum() for part in away.values()), loss(rows()))
        total.backward()
        return total

    optimiser: Any = torch.optim.LBFGS(
        list(away.values()), max_iter=STEPS, line_search_fn="strong_wolfe"
    )
    optimiser.step(objective)
    return {name: row.detach() for name, row in rows().items()}
