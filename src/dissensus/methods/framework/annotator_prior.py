"""A normal prior of how much an annotator deviates from what all annotators share.

The fewer answers an annotator gave, the closer is what is learned about them to what is shared.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import torch
from torch import Tensor

from dissensus.errors import ModelError
from dissensus.methods.framework.learned import Learned
from dissensus.training import Batch, Network


class WithPrior(Protocol):
    """A method with a prior."""

    spread: float  # the standard deviation of the prior; inf for none
    learned_: Learned

    @property
    def has_prior(self) -> bool: ...

    @property
    def n_annotators(self) -> int: ...


def check_spread(spread: float) -> None:
    if not spread > 0:
        raise ModelError(f"spread must be above 0, or inf for no prior; found {spread:g}")


def with_spread(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of a saved model; those of older versions have no spread, and had no prior."""
    return {"spread": math.inf} | settings


class PriorNetwork(Network):
    """A network that returns the prior of its annotators as a penalty of rows."""

    precision = 0.0  # of the prior; 0: there is none

    def add_prior(self, method: WithPrior) -> None:
        """Keep how many answers each annotator gave to each question, if there is a prior."""
        if not method.has_prior:
            return
        self.precision = 1 / method.spread**2
        for number, question in enumerate(method.learned_.questions):
            n_answers = method.learned_.n_answers[question]
            of_annotators = torch.as_tensor(n_answers).float()
            n_further = method.n_annotators - len(n_answers)  # the consensus, as an annotator
            of_further = of_annotators.sum().repeat(n_further)
            n_of_all = torch.cat([of_annotators, of_further]).clamp(min=1)
            self.register_buffer(f"n_answers_{number}", n_of_all)

    def row_penalty(self, number: int, squares: Tensor, batch: Batch) -> Tensor:
        """Minus the logarithm of the prior of each row's annotator, divided by the number of
        answers, so that the rows of an annotator have it once together, (n_rows,).

        Args:
            number: of the question.
            squares: the squared deviations of the batch's annotators, (n_annotators,).
        """
        n_answers: Tensor = getattr(self, f"n_answers_{number}")[batch.annotator_codes]
        penalty = 0.5 * self.precision * squares / n_answers
        return penalty[batch.rows.annotator]
