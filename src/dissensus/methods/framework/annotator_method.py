"""AnnotatorMethod: what methods that train on each annotator's answers share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from dissensus.corpus import Corpus
from dissensus.densities import RatingKde
from dissensus.errors import ModelError
from dissensus.methods.framework.density_loss import (
    annotator_density_loss,
    check_density,
    density_targets,
    most_answers,
)
from dissensus.methods.framework.rating_losses import RatingLoss, check_ratings, rating_losses
from dissensus.methods.framework.trained import ExamplesCache, TrainedMethod
from dissensus.training import Loss, Sizes
from dissensus.training.loop import Trainer

Objective = Literal["answers", "density", "both"]


@dataclass(eq=False)
class AnnotatorMethod(TrainedMethod):
    """A method whose network predicts rows: each annotator's answer to each item.

    Args:
        loss: of the answers: their "likelihood"; of ratings also "ccc", 1 - concordance, or "mse".
        objective: what is learned: the "answers", the "density" of the ratings of each item (the
            differentiable density of Tavernor et al. 2024), or "both". `training.losses` says
            whether both are summed or have a step each.
        kde: how predicted ratings become a density, in training and, with another objective than
            "answers", in predictions.
    """

    loss: RatingLoss = "likelihood"
    objective: Objective = "answers"
    kde: RatingKde = RatingKde()
    individual: ClassVar[bool] = True
    needs_rows: ClassVar[bool] = True
    most_: int = field(init=False, repr=False, default=1)  # annotators of an item

    def check(self, corpus: Corpus, questions: Any = None) -> tuple[str, ...]:
        known = {"loss": get_args(RatingLoss), "objective": get_args(Objective)}
        for setting, choices in known.items():
            if getattr(self, setting) not in choices:
                raise ModelError(
                    f"{setting} must be one of {', '.join(choices)}, not {getattr(self, setting)!r}"
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
        return (*answers, annotator_density_loss(sizes, self.kde, self.most_))

    def targets(self, corpus: Corpus) -> dict[str, np.ndarray]:
        if self.objective == "answers":
            return {}
        return density_targets(corpus, tuple(self.learned_.questions), self.kde.bins)

    def trainer(
        self, corpus: Corpus, validation: Corpus | None, cache: ExamplesCache | None = None
    ) -> Trainer:
        if self.objective == "answers":
            return super().trainer(corpus, validation, cache)
        corpora = [corpus] if validation is None else [corpus, validation]
        limit = self.training.max_rows_per_item
        self.most_ = most_answers(corpora, tuple(self.learned_.questions), limit)
        run = super().trainer(corpus, validation, cache)
        run.kind = repr((run.kind, self.most_))  # a stack shares one loss
        return run

    @property
    def kde_(self) -> RatingKde | None:
        return None if self.objective == "answers" else self.kde

    @classmethod
    def _settings(cls, settings: dict[str, Any]) -> dict[str, Any]:
        kde = settings.get("kde", {})  # models of older versions have none
        return super()._settings(settings) | {"kde": RatingKde(**kde)}
