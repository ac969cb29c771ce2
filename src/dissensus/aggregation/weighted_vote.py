"""Votes that count as much as each annotator's skill, given or measured on gold labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from dissensus.aggregation.base import Aggregator
from dissensus.aggregation.votes import weighted_vote
from dissensus.annotations import Annotations
from dissensus.conversion import annotations_of
from dissensus.errors import DataError, listed


@dataclass(eq=False)
class WeightedVote(Aggregator):
    """A vote weighted by skills: given ones, or each annotator's accuracy on gold labels.

    An annotator without a skill counts as much as the mean of those with one; without any skill,
    all count alike. `skill_` is (n_annotators,).

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t1", "cy", "no")]
        >>> skills = {"ann": 0.9, "bob": 0.4, "cy": 0.3}
        >>> WeightedVote().fit(Annotations.from_rows(rows), skills=skills).consensus_.answers()
        ['yes']
    """

    name: ClassVar[str] = "weighted-vote"
    takes_gold: ClassVar[bool] = True
    takes_skills: ClassVar[bool] = True
    skill_: np.ndarray = field(init=False, repr=False)
    _skills: Mapping[str, float] | None = field(init=False, repr=False, default=None)
    _gold: Annotations | None = field(init=False, repr=False, default=None)

    def fit(
        self,
        annotations: Any,
        gold: Annotations | None = None,
        skills: Mapping[str, float] | None = None,
    ) -> Self:
        """Aggregate the answers to one question.

        Args:
            gold: labels that are known for some items (by name).
            skills: the weight of each annotator's votes, by name; not negative.
        """
        annotations = annotations_of(annotations)
        if gold is not None and skills is not None:
            raise DataError(f"{self.name}: give skills or gold labels, not both")
        if skills is not None:
            _check(skills, annotations)
        self._gold, self._skills = gold, skills
        if self._is_by_value(annotations):
            self._check(annotations)
            more = {} if skills is None else {"skills": skills}
            return self._fit_values(annotations, gold, **more)
        return super().fit(annotations)

    def _fit(self, annotations: Annotations) -> np.ndarray:
        if self._skills is not None:
            names = list(annotations.annotators)
            skill = np.array([self._skills.get(name, np.nan) for name in names], dtype=float)
        elif self._gold is not None:
            skill = gold_accuracies(annotations, self._gold)
        else:
            skill = np.ones(annotations.n_annotators)
        known = ~np.isnan(skill)
        mean = float(skill[known].mean()) if known.any() else 1.0
        self.skill_ = np.where(known, skill, mean)
        return weighted_vote(annotations, self.skill_)


def gold_accuracies(annotations: Annotations, gold: Annotations) -> np.ndarray:
    """The share of each annotator's answers to items with a gold label that equal it; nan: none."""
    gold = gold.to(annotations.scale)
    label = np.full(annotations.n_items, -1, dtype=np.int64)
    at = annotations.items.find(gold.items)[gold.item]
    label[at[at >= 0]] = gold.answer[at >= 0]
    known = label[annotations.item] >= 0
    annotator = annotations.annotator_codes("accuracies on gold labels")[known]
    right = (annotations.answer == label[annotations.item])[known].astype(float)
    n = np.bincount(annotator, minlength=annotations.n_annotators).astype(float)
    n[n == 0] = np.nan
    return np.bincount(annotator, right, annotations.n_annotators) / n


def _check(skills: Mapping[str, float], annotations: Annotations) -> None:
    bad = [name for name, skill in skills.items() if not (np.isfinite(skill) and skill >= 0)]
    if bad:
        raise DataError(f"a skill is a number from 0 up, found {skills[bad[0]]} for {bad[0]!r}")
    if not any(name in skills for name in annotations.annotators):
        raise DataError(
            f"no annotator has a skill: skills are of {listed(skills)}, answers of "
            f"{listed(annotations.annotators)}"
        )
