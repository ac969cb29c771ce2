"""Wawa: votes weigh as much as their annotators agree with the majority."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dissensus.aggregation.base import Aggregator
from dissensus.aggregation.votes import weighted_vote
from dissensus.annotations import Annotations
from dissensus.scales import most_probable


@dataclass(eq=False)
class Wawa(Aggregator):
    """Worker agreement with aggregate: a majority vote, then one weighted by agreement with it.

    `skill_` is the share of each annotator's answers that are the majority's (the first of the
    scale where values tie), nan without answers.
    """

    name: ClassVar[str] = "wawa"
    skill_: np.ndarray = field(init=False, repr=False)  # (n_annotators,)

    def _fit(self, annotations: Annotations) -> np.ndarray:
        self.skill_ = agreement_with(annotations, annotations.distribution())
        return weighted_vote(annotations, np.nan_to_num(self.skill_))


def agreement_with(annotations: Annotations, distribution: np.ndarray) -> np.ndarray:
    """The share of each annotator's answers that are the most probable ones, (n_annotators,)."""
    label = most_probable(distribution)  # (n_items,)
    annotator = annotations.annotator_codes("agreement with the majority")
    same = (annotations.answer == label[annotations.item]).astype(float)
    n = np.bincount(annotator, minlength=annotations.n_annotators).astype(float)
    n[n == 0] = np.nan
    return np.bincount(annotator, same, annotations.n_annotators) / n
