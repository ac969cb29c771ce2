"""Zero-based skill: weights of annotators, moved step by step towards their agreement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dissensus.aggregation.base import Aggregator
from dissensus.aggregation.votes import weighted_vote
from dissensus.aggregation.wawa import agreement_with
from dissensus.annotations import Annotations


@dataclass(eq=False)
class ZeroBasedSkill(Aggregator):
    """A weighted vote whose weights move towards each annotator's agreement with it.

    Args:
        iterations: number of steps.
        rate: how far the first steps go, 1: all the way.
        reduce_every: steps after which the rate is multiplied by `reduce_by`.
    """

    iterations: int = 100
    rate: float = 1.0
    reduce_every: int = 20
    reduce_by: float = 0.5
    name: ClassVar[str] = "zero-based-skill"
    skill_: np.ndarray = field(init=False, repr=False)  # (n_annotators,), nan without answers

    def _fit(self, annotations: Annotations) -> np.ndarray:
        n_values = len(np.unique(annotations.answer))
        skill = np.full(annotations.n_annotators, 1 / n_values + 1e-5)
        rate = self.rate
        for step in range(1, self.iterations + 1):
            if step % self.reduce_every == 0:
                rate *= self.reduce_by
            vote = weighted_vote(annotations, np.nan_to_num(skill))
            skill = skill + rate * (agreement_with(annotations, vote) - skill)
        self.skill_ = skill
        return weighted_vote(annotations, np.nan_to_num(skill))
