"""AnnotatorMethod: what methods that learn each annotator's answers, or their density, share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from dissensus.corpus import Corpus
from dissensus.densities import RatingKde
from dissensus.errors import ModelError
from dissensus.methods.framework.aggregate import with_aggregate
from dissensus.methods.framework.density_loss import (
    annotator_density_loss,
    check_density,
    density_targets,
    most_answers,
)
from dissensus.methods.framework.losses import RatingLoss, check_ratings, rating_losses
from dissensus.methods.framework.search_space import TRUNK_CHOICES, Choices
from dissensus.methods.framework.similar_annotators import (
    cell_losses,
    check_similar,
    with_cells,
)
from dissensus.methods.framework.trained import ExamplesCache, TrainedMethod
from dissensus.training import Loss, Sizes
from dissensus.training.examples import Table
from dissensus.training.loop import Trainer

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
        similar: above 0, pairs of item and annotator without an answer are learned too, with this
            weight: from what is predicted for annotators who answered the item, weighted by their
            agreement (kappa); after half of the epochs, certain ones become labels (SimLabel).
    """

    hidden: tuple[int, ...] = (64,)
    question_hidden: tuple[int, ...] = ()
    dropout: float = 0.5
    loss: RatingLoss = "likelihood"
    objective: Objective = "answers"
    kde: RatingKde = RatingKde()
    aggregate: bool = False
    similar: float = 0.0
    individual: ClassVar[bool] = True
    needs_rows: ClassVar[bool] = True
    choices: ClassVar[Choices] = TRUNK_CHOICES
    retired: ClassVar[dict[str, Any]] = TrainedMethod.retired | {
        "learn_temperature": False, "readout": "", "calibrate": "", "calibrate_by": "cross-entropy",
        "held_out": 0.1,
    }  # fmt: skip
    most_: int = field(init=False, repr=False, default=1)  # annotators of an item

    def check(self, corpus: Corpus, questions: Any = None) -> tuple[str, ...]:
        for setting, kinds in (("loss", RatingLoss), ("objective", Objective)):
            if getattr(self, setting) not in get_args(kinds):
                raise ModelError(
                    f"{setting} must be one of {', '.join(get_args(kinds))}, "
                    f"not {getattr(self, setting)!r}"
                )
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
        if self.similar:
            check_similar(self, corpus, names)
        return names

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        answers = rating_losses(sizes, self.loss) if self.objective != "density" else ()
        if self.similar:
            answers = (*answers, *cell_losses(sizes, self.similar))
        if self.objective == "answers":
            return answers
        return (*answers, annotator_density_loss(sizes, self.kde, self.most_, self.aggregate_code))

    @property
    def n_annotators(self) -> int:
        return super().n_annotators + int(self.aggregate)

    @property
    def aggregate_code(self) -> int | None:
        return len(self.learned_.annotators) if self.aggregate else None

    def rows(self, corpus: Corpus) -> Table:
        rows = super().rows(corpus)
        if self.aggregate:
            rows = with_aggregate(rows, corpus, self.n_annotators - 1)
        if self.similar:
            rows = with_cells(rows, corpus, tuple(self.learned_.questions))
        return rows

    @property
    def rows_key(self) -> tuple[Any, ...]:
        return (*super().rows_key, self.similar > 0)

    def targets(self, corpus: Corpus) -> dict[str, np.ndarray]:
        if self.objective == "answers":
            return {}
        return density_targets(corpus, tuple(self.learned_.questions), self.kde.bins)

    def trainer(
        self, corpus: Corpus, validation: Corpus | None, cache: ExamplesCache | None = None
    ) -> Trainer:
        if self.objective != "answers":
            corpora = [corpus] if validation is None else [corpus, validation]
            limit = self.training.max_rows_per_item
            self.most_ = most_answers(corpora, tuple(self.learned_.questions), limit)
        run = super().trainer(corpus, validation, cache)
        run.kind = repr((run.kind, self.most_))  # a stack shares one loss
        return run

    @property
    def kde_(self) -> RatingKde | None:
        return None if self.objective == "answers" else self.kde
