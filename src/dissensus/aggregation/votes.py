"""Votes: the most frequent answers, means and medians of ratings, and votes weighted by skills."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from dissensus.aggregation.base import Aggregator, Gives, gold_codes, labelled
from dissensus.annotations import Annotations, Ties
from dissensus.conversion import annotations_of
from dissensus.errors import DataError, listed
from dissensus.scales import Interval, most_probable


@dataclass(eq=False)
class Majority(Aggregator):
    """The most frequent answer; the distribution is the share of each value, as of `SoftVote`.

    Args:
        ties: which of the values that tie is the consensus: the first or last of the scale, one
            at random, or none ("drop": the item has no consensus).
    """

    ties: Ties = "first"
    seed: int = 0
    name: ClassVar[str] = "majority"
    needs_annotators: ClassVar[bool] = False

    def _fit(self, annotations: Annotations) -> np.ndarray:
        return annotations.distribution()

    def _labels(self, annotations: Annotations) -> Annotations:
        return annotations.majority(self.ties, self.seed)


@dataclass(eq=False)
class SoftVote(Aggregator):
    """The share of each value among an item's answers."""

    name: ClassVar[str] = "soft-vote"
    scales: ClassVar[tuple[str, ...]] = ("nominal", "ordinal", "interval", "multi-label")
    reads_sets: ClassVar[bool] = True
    needs_annotators: ClassVar[bool] = False

    def _fit(self, annotations: Annotations) -> np.ndarray:
        return annotations.distribution()


@dataclass(eq=False)
class SoftmaxVote(Aggregator):
    """The softmax of the numbers of votes: few votes leave it flat, many make it sharp.

    Reference: Fornaciari, Uma, Paun, Plank, Hovy & Poesio (2021), doi
    10.18653/v1/2021.naacl-main.204.
    """

    name: ClassVar[str] = "softmax-vote"
    needs_annotators: ClassVar[bool] = False
    gives: ClassVar[Gives] = "probability"

    def _fit(self, annotations: Annotations) -> np.ndarray:
        counts = annotations.counts()
        weights = np.exp(counts - counts.max(axis=1, keepdims=True))
        weights[counts.sum(axis=1) == 0] = np.nan
        return weights / weights.sum(axis=1, keepdims=True)


@dataclass(eq=False)
class Mean(Aggregator):
    """The mean rating; the distribution is that of the ratings, on the grid."""

    name: ClassVar[str] = "mean"
    scales: ClassVar[tuple[str, ...]] = ("interval",)
    needs_annotators: ClassVar[bool] = False

    def _fit(self, annotations: Annotations) -> np.ndarray:
        return annotations.distribution()

    def _labels(self, annotations: Annotations) -> Annotations:
        return annotations.consensus()


@dataclass(eq=False)
class Median(Aggregator):
    """The median rating (the mean of the two middle ones); of levels, the lower median."""

    name: ClassVar[str] = "median"
    scales: ClassVar[tuple[str, ...]] = ("ordinal", "interval")
    needs_annotators: ClassVar[bool] = False

    def _fit(self, annotations: Annotations) -> np.ndarray:
        return annotations.distribution()

    def _labels(self, annotations: Annotations) -> Annotations:
        if not isinstance(annotations.scale, Interval):
            return annotations.consensus()
        order = np.lexsort((annotations.answer, annotations.item))
        item, answer = annotations.item[order], annotations.answer[order]
        reached = np.cumsum(annotations.votes[order])  # up to this row
        total = annotations.voters().astype(float)
        before = np.cumsum(total) - total
        items = np.flatnonzero(total)
        half = before[items] + total[items] / 2
        low = answer[np.searchsorted(reached, half - 1e-9)]
        high = answer[np.minimum(np.searchsorted(reached, half + 1e-9), len(item) - 1)]
        return labelled(annotations, items, (low + high) / 2)


@dataclass(eq=False)
class Wawa(Aggregator):
    """Worker agreement with aggregate: a majority vote, then one weighted by agreement with it.

    `skill_` is the share of each annotator's answers that are the majority's (the first of the
    scale where values tie), nan without answers.
    """

    name: ClassVar[str] = "wawa"
    skill_: np.ndarray = field(init=False, repr=False)  # (n_annotators,)

    def _fit(self, annotations: Annotations) -> np.ndarray:
        self.skill_ = agreement_with(annotations, most_probable(annotations.distribution()))
        return weighted_vote(annotations, np.nan_to_num(self.skill_))


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
            skill = skill + rate * (agreement_with(annotations, most_probable(vote)) - skill)
        self.skill_ = skill
        return weighted_vote(annotations, np.nan_to_num(skill))


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
            _check_skills(skills, annotations)
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
            skill = agreement_with(annotations, gold_codes(annotations, self._gold))
        else:
            skill = np.ones(annotations.n_annotators)
        known = ~np.isnan(skill)
        mean = float(skill[known].mean()) if known.any() else 1.0
        self.skill_ = np.where(known, skill, mean)
        return weighted_vote(annotations, self.skill_)


def _check_skills(skills: Mapping[str, float], annotations: Annotations) -> None:
    bad = [name for name, skill in skills.items() if not (np.isfinite(skill) and skill >= 0)]
    if bad:
        raise DataError(f"a skill is a number from 0 up, found {skills[bad[0]]} for {bad[0]!r}")
    if not any(name in skills for name in annotations.annotators):
        raise DataError(
            f"no annotator has a skill: skills are of {listed(skills)}, answers of "
            f"{listed(annotations.annotators)}"
        )


def agreement_with(annotations: Annotations, label: np.ndarray) -> np.ndarray:
    """The share of each annotator's answers that are the label of their item, (n_annotators,).

    Args:
        label: (n_items,) codes; -1 where there is none, and answers do not count.
    """
    known = label[annotations.item] >= 0
    annotator = annotations.annotator_codes("agreement with labels")[known]
    same = (annotations.answer == label[annotations.item])[known].astype(float)
    n = np.bincount(annotator, minlength=annotations.n_annotators).astype(float)
    n[n == 0] = np.nan
    return np.bincount(annotator, same, annotations.n_annotators) / n


def sums_of_votes(annotations: Annotations, weight: np.ndarray) -> np.ndarray:
    """The summed weight of the rows (n_rows,) that give an item a value, (n_items, n_values)."""
    width = annotations.scale.n_columns
    at = annotations.item.astype(np.int64) * width + annotations.answer
    return np.bincount(at, weight, annotations.n_items * width).reshape(-1, width)


def weighted_vote(annotations: Annotations, weight: np.ndarray) -> np.ndarray:
    """Shares of votes that count as much as their annotators' weight, (n_items, n_values).

    If all weights of an item are 0, all annotators count alike.
    """
    row_weights = annotations.votes * weight[annotations.annotator_codes("weighing votes")]
    counts = sums_of_votes(annotations, row_weights)
    total = counts.sum(axis=1, keepdims=True)
    plain = annotations.distribution()
    return np.where(total > 0, counts / np.where(total > 0, total, 1), plain)
