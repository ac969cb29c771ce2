"""AnnotatorMethod: what methods that learn each annotator's answers, or their density, share.

Also a normal prior of how much an annotator deviates from what all annotators share: the fewer
answers an annotator gave, the closer is what is learned about them to what is shared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import torch
from torch import Tensor

from dissensus.corpus import Corpus
from dissensus.densities import RatingKde
from dissensus.errors import ModelError
from dissensus.methods.framework.aggregate_annotator import with_aggregate
from dissensus.methods.framework.density_loss import (
    annotator_density_loss,
    check_density,
    density_targets,
    most_answers,
)
from dissensus.methods.framework.learned import Learned
from dissensus.methods.framework.losses import RatingLoss, check_ratings, rating_losses
from dissensus.methods.framework.pairs import StandIns
from dissensus.methods.framework.settings import TRUNK_CHOICES, Choices
from dissensus.methods.framework.trained import TrainedMethod
from dissensus.networks.likelihoods import Grouped, Likelihood
from dissensus.scales import Interval
from dissensus.training import Batch, Loss, Network, Sizes
from dissensus.training.examples import Table

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
        smoothing = max(smoothing, 1 / (INFORMATION * spread**2))  # answers that a prior is worth
    by_annotator = Grouped(answer, weight, annotator, corpus.n_annotators, smoothing)
    starts = [family.start(answer, weight)[None], family.starts(by_annotator)]
    if aggregate:
        labels = annotations.consensus()
        of_one = np.zeros(labels.n_rows, np.int64)
        starts.append(family.starts(Grouped(labels.answer, labels.weight, of_one, 1, SMOOTHING)))
    return np.concatenate(starts)


Objective = Literal["answers", "density", "both"]


@dataclass(eq=False)
class AnnotatorMethod(TrainedMethod):
    """A method whose network predicts rows: each annotator's answer to each item.

    Args:
        hidden: widths of the hidden layers that all questions share.
        question_hidden: widths of further hidden layers that each question has of its own.
        dropout: of the vectors and the hidden layers.
        loss: of the answers: their "likelihood"; of ratings also "ccc", 1 - concordance, or "mse".
        objective: what is learned: the "answers", the "density" of the ratings of each item (the
            differentiable density of Tavernor et al. 2024), or "both". `training.losses` says
            whether both are summed or have a step each.
        kde: how predicted ratings become a density, in training and, with another objective than
            "answers", in predictions.
        aggregate: whether one more annotator is learned, whose answer to each item is the consensus
            of its annotators (the mean of interval ratings). It predicts unknown annotators
            (`predict(unknown="aggregate")`); it is not listed, and has no part in a consensus.
    """

    hidden: tuple[int, ...] = (64,)
    question_hidden: tuple[int, ...] = ()
    dropout: float = 0.5
    loss: RatingLoss = "likelihood"
    objective: Objective = "answers"
    kde: RatingKde = RatingKde()
    aggregate: bool = False
    individual: ClassVar[bool] = True
    needs_rows: ClassVar[bool] = True
    choices: ClassVar[Choices] = TRUNK_CHOICES

    def check(self, corpus: Corpus, questions: Any = None) -> tuple[str, ...]:
        if self.aggregate and self.objective == "density":
            raise ModelError(
                "an aggregate annotator learns from answers; set objective to answers or both"
            )
        names = super().check(corpus, questions)
        for question in names:
            scale = corpus[question].scale
            if self.loss != "likelihood":
                check_ratings(self.name, f"loss={self.loss}", question, scale)
            if self.objective != "answers":
                check_ratings(self.name, f"objective={self.objective}", question, scale)
        if self.objective != "answers":
            check_density(self.name, names)
            if self.kde.kind != "soft":
                raise ModelError(
                    f"{self.name}: a {self.kde.kind} density has no gradient; learn a soft one "
                    f"(kde.kind=soft), and predict with density={self.kde.kind!r}"
                )
        return names

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        answers = rating_losses(sizes, self.loss) if self.objective != "density" else ()
        if self.objective == "answers":
            return answers
        return (*answers, annotator_density_loss(sizes, self.kde, self.most_, self.aggregate_code))

    @property
    def n_annotators(self) -> int:
        return super().n_annotators + int(self.aggregate)

    @property
    def aggregate_code(self) -> int | None:
        return len(self.learned_.annotators) if self.aggregate else None

    def stand_in_for_all(self) -> StandIns:
        aggregate = self.aggregate_code
        if aggregate is None:
            return super().stand_in_for_all()
        described = "the aggregate annotator, who learned the consensus"
        return StandIns(lambda question, code, item: np.full(len(code), aggregate), described)

    def rows(self, corpus: Corpus) -> Table:
        rows = super().rows(corpus)
        return with_aggregate(rows, corpus, self.n_annotators - 1) if self.aggregate else rows

    def targets(self, corpus: Corpus) -> dict[str, np.ndarray]:
        if self.objective == "answers":
            return {}
        return density_targets(corpus, tuple(self.learned_.questions), self.kde.bins)

    def prepare_fit(self, corpus: Corpus, validation: Corpus | None) -> None:
        if self.objective != "answers":
            corpora = [corpus] if validation is None else [corpus, validation]
            limit = self.training.max_rows_per_item
            self.most_ = most_answers(corpora, tuple(self.learned_.questions), limit)

    @property
    def kde_(self) -> RatingKde | None:
        return None if self.objective == "answers" else self.kde
