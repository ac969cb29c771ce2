"""A normal prior of how much an annotator deviates from what all annotators share, and the biases
that annotators start from.

The fewer answers an annotator gave, the closer is what is learned about them to what is shared.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from dissensus.corpus import Corpus
from dissensus.errors import ModelError
from dissensus.methods.framework.learned import Learned
from dissensus.networks.likelihoods import Grouped, Likelihood
from dissensus.scales import Interval
from dissensus.training import Batch, Network

SMOOTHING = 5.0  # answers of the average annotator, added to each annotator's for the first bias
INFORMATION = 1 / 16  # of an answer about a logit: p (1 - p), of answers that items mostly explain


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


def annotator_biases(
    corpus: Corpus,
    question: str,
    family: Likelihood,
    method: str,
    aggregate: bool,
    spread: float = math.inf,
) -> np.ndarray:
    """The base rates of the answers: one row for all annotators together, then one for each.

    Args:
        family: the likelihood of its answers.
        method: its name, for an error message.
        aggregate: whether a row for the consensus of all follows.
        spread: the standard deviation, in logits, of a prior of annotators' biases. Then biases
            start as the prior would estimate them: few answers, which also depend on the items
            that the annotator happened to see, change little. A short training ends before the
            prior has undone another start.
    """
    annotations = corpus[question]
    annotator = annotations.annotator_codes(method)
    answer, weight = annotations.answer, annotations.weight
    smoothing = SMOOTHING
    if not isinstance(annotations.scale, Interval):  # biases of ratings are no logits
        smoothing = max(smoothing, answers_of_prior(spread))
    by_annotator = Grouped(answer, weight, annotator, corpus.n_annotators, smoothing)
    starts = [family.start(answer, weight)[None], family.starts(by_annotator)]
    if aggregate:
        labels = annotations.consensus()
        of_one = np.zeros(labels.n_rows, np.int64)
        starts.append(family.starts(Grouped(labels.answer, labels.weight, of_one, 1, SMOOTHING)))
    return np.concatenate(starts)


def answers_of_prior(spread: float) -> float:
    """About how many answers a normal prior of a logit is worth."""
    return 1 / (INFORMATION * spread**2)
