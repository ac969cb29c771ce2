"""The rows of weights that annotators have of their own, and what those of a newcomer are like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

STEPS = 60  # of the optimiser, at most
VARIANCE = 0.5  # of a newcomer's weights, as a share of that of known annotators'

Rows = dict[str, Tensor]  # the row of one annotator, by the name of the weights


@dataclass(frozen=True, eq=False)
class RowPrior:
    """A normal distribution of each weight, around the mean of known annotators.

    The few answers of a newcomer change what known annotators differ in, as far as they differ.
    """

    mean: Rows
    spread: Rows

    @classmethod
    def of(cls, tables: Mapping[str, np.ndarray]) -> RowPrior:
        """The prior of the rows of known annotators, (n_annotators, ...) of each table."""
        rows = {name: torch.as_tensor(table).double() for name, table in tables.items()}
        return cls(
            {name: of_all.mean(dim=0) for name, of_all in rows.items()},
            {n: VARIANCE**0.5 * rows_of.std(dim=0, correction=0) for n, rows_of in rows.items()},
        )

    def most_probable(self, loss: Callable[[Rows], Tensor] | None) -> Rows:
        """The most probable rows.

        Args:
            loss: the negative log-likelihood of a newcomer's answers; None without answers.
        """
        away = {name: torch.zeros_like(mean) for name, mean in self.mean.items()}
        if loss is None:
            return self._rows(away)
        for part in away.values():
            part.requires_grad_()
        optimiser: Any = torch.optim.LBFGS(
            list(away.values()), max_iter=STEPS, line_search_fn="strong_wolfe"
        )

        def objective() -> Tensor:
            optimiser.zero_grad()
            total: Any = loss(self._rows(away))
            for part in away.values():
                total = total + 0.5 * part.square().sum()
            total.backward()
            return total

        optimiser.step(objective)
        with torch.no_grad():
            return self._rows(away)

    def _rows(self, away: Rows) -> Rows:
        """The rows so many spreads away from the mean."""
        return {n: (mean + self.spread[n] * away[n]).float() for n, mean in self.mean.items()}
