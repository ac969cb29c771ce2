"""Outcomes of one condition -> figures: accuracy, distance from annotators, biases, entropy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import chdtrc

from dissensus.evaluation import Difference
from dissensus.evaluation.significance.resampling import macro_f1
from dissensus.metrics.uncertainty import EVEN, normalised_entropy
from dissensus_papers.framework.differences import over, short
from dissensus_papers.seedbert.conditions import N_FOLDS, SeedBertCondition
from dissensus_papers.seedbert.items import Items
from dissensus_papers.seedbert.outcome import Outcome
from dissensus_papers.seedbert.scoring import (
    DISTANCES,
    READ_OUTS,
    answers,
    distribution,
    score_of_items,
    temperatures,
)

LEVEL = 0.05
ANNOTATORS, ANNOTATOR_PRIOR = "people", "prior of people"  # keys in saved reports
_Scores = dict[tuple[str, int, str, int | None], dict[str, np.ndarray]]


@dataclass(eq=False)
class Figures:
    """What the models of a condition came to, as far as they are done."""

    condition: SeedBertCondition
    items: Items
    done: dict[str, dict[int, Outcome]]  # model -> repetition -> outcome
    _scores: _Scores = field(default_factory=dict)

    @classmethod
    def of(cls, condition: SeedBertCondition, items: Items, outcomes: Iterable[Outcome]) -> Figures:
        done: dict[str, dict[int, Outcome]] = {}
        for outcome in sorted(outcomes, key=lambda o: o.repeat):
            done.setdefault(outcome.model, {})[outcome.repeat] = outcome
        return cls(condition, items, done)

    @property
    def n_values(self) -> int:
        return len(self.items.values)

    def shared(self, *models: str) -> list[int]:
        """The repetitions that all of these models are done with."""
        repeats_of = [set(self.done.get(model, ())) for model in models]
        return sorted(set.intersection(*repeats_of))

    # ---- item by item ----

    def answers(self, model: str, repeats: Sequence[int]) -> np.ndarray:
        """(n_repeats, n_items) codes."""
        return np.stack([answers(self.done[model][r], self.n_values) for r in repeats])

    def scores(
        self,
        model: str,
        read: str,
        distance: str,
        repeats: Sequence[int],
        n_members: int | None = None,
    ) -> np.ndarray:
        """The distance from the annotators, (n_repeats, n_items)."""
        scores = []
        for repeat in repeats:
            key = model, repeat, read, n_members
            if key not in self._scores:
                outcome = self.done[model][repeat]
                self._scores[key] = score_of_items(outcome, self.items, read, n_members)
            scores.append(self._scores[key][distance])
        return np.stack(scores)

    # ---- of a model ----

    def of_model(self, model: str) -> dict[str, Any]:
        """Every figure of a model, over all repetitions that it is done with."""
        by_repeat = self.done[model]
        outcomes = list(by_repeat.values())
        return {
            "repeats": list(by_repeat),
            "fits": _joined(
                of_fits(answers(o, self.n_values), self.items, r) for r, o in by_repeat.items()
            ),
            "reads": {read: self._read(model, read) for read in READ_OUTS},
            "apart": float(np.mean([apart(o.votes) for o in outcomes])),
            "biases": biases_of_members(outcomes, self.items),
            "temperatures": _rounded(t for o in outcomes for t in temperatures(o, self.items)),
            "seconds": float(np.mean([o.seconds for o in outcomes])),
            "settings": outcomes[0].settings,
        }

    def _read(self, model: str, read: str) -> dict[str, list[float]]:
        """Distances, correlation and height of entropies, by repetition."""
        repeats = list(self.done[model])
        figures = {
            name: _rounded(self.scores(model, read, name, repeats).mean(axis=1))
            for name in DISTANCES
        }
        each = [distribution(self.done[model][r], self.items, read) for r in repeats]
        annotators = normalised_entropy(self.items.shares)
        sure = [normalised_entropy(mass) for mass in each]
        figures["entropy correlation"] = _rounded(_pearson(annotators, one) for one in sure)
        figures["entropy"] = _rounded(one.mean() for one in sure)
        figures["moves"] = _rounded(np.abs(m - m.mean(axis=0)).sum(axis=1).mean() / 2 for m in each)
        return figures

    def of_members(self, model: str, n_members: int) -> dict[str, Any]:
        """Figures of only so many members."""
        repeats = list(self.done[model])
        predicted = [answers(self.done[model][r], self.n_values, n_members) for r in repeats]
        fits = _joined(of_fits(s, self.items, r) for s, r in zip(predicted, repeats, strict=True))
        reads = {
            read: {
                name: float(self.scores(model, read, name, repeats, n_members).mean())
                for name in DISTANCES
            }
            for read in READ_OUTS
        }
        accuracy, f1 = (float(np.mean(fits[name])) for name in ("accuracy", "f1"))
        return {"accuracy": accuracy, "f1": f1, "reads": reads}

    # ---- without a network ----

    def floors(self) -> dict[str, Any]:
        """What needs no network: always the most frequent label, the shares of labels and of
        annotators' answers in training, and the annotators themselves."""
        items = self.items
        always = np.bincount(items.label[items.label >= 0]).argmax()
        predicted = np.full(len(items.label), always)
        repeats = range(len(items.folds))
        votes = np.eye(self.n_values)[items.label] * (items.label >= 0)[:, None]
        return {
            "majority": _joined(of_fits(predicted, items, repeat) for repeat in repeats),
            "prior": self._prior(votes),
            ANNOTATOR_PRIOR: self._prior(items.shares),
            ANNOTATORS: {name: float(distance(items.shares, items.shares).mean())
                       for name, distance in DISTANCES.items()}
            | {"entropy": float(normalised_entropy(items.shares).mean())},
        }  # fmt: skip

    def _prior(self, shares: np.ndarray) -> dict[str, float]:
        """How far the mean of training items is from the annotators of test items."""
        distances: dict[str, list[float]] = {name: [] for name in DISTANCES}
        for of_item in self.items.folds:
            prior = np.empty_like(self.items.shares)
            for fold in range(N_FOLDS):
                prior[of_item == fold] = shares[of_item != fold].mean(axis=0)
            for name, distance in DISTANCES.items():
                distances[name].append(float(distance(self.items.shares, prior).mean()))
        return {name: float(np.mean(of_repeats)) for name, of_repeats in distances.items()}


def of_fits(predicted: np.ndarray, items: Items, repeat: int) -> dict[str, list[float]]:
    """Accuracy and macro-F1 of each fold by itself, on items that have a label."""
    scores: dict[str, list[float]] = {"accuracy": [], "f1": []}
    for fold in range(N_FOLDS):
        inside = (items.folds[repeat] == fold) & (items.label >= 0)
        label, answer = items.label[inside], predicted[inside]
        scores["accuracy"].append(round(float((label == answer).mean()), 6))
        f1 = macro_f1(label, answer[None])(np.ones((1, len(label))))[0, 0]
        scores["f1"].append(round(float(f1), 6))
    return scores


def apart(votes: np.ndarray) -> float:
    """How often two members answer an item differently; nan of fewer than two.

    Args:
        votes: (n_members, n_items).

    Example:
        >>> round(apart(np.array([[0, 0], [0, 1], [0, 1]])), 4)
        0.3333
    """
    n = len(votes)
    if n < 2:
        return float("nan")
    alike = sum(float((votes == votes[at]).mean(axis=1).sum()) - 1 for at in range(n))
    return float(1 - alike / (n * (n - 1)))


# ---- two models ----


def nearer(
    figures: Figures,
    mine: tuple[str, str],
    theirs: tuple[str, str],
    *distances: str,
    n_members: int | None = None,
) -> dict[str, Difference]:
    """How much farther one model's read-out is from annotators than another's: below 0 is nearer.

    Args:
        n_members: only so many of the other one's first members.
    """
    repeats = figures.shared(mine[0], theirs[0])
    return {
        name: over(
            figures.scores(*mine, name, repeats),
            figures.scores(*theirs, name, repeats, n_members),
            figures.items.groups,
        )
        for name in distances
        if repeats
    }


def in_short(tests: Mapping[str, Difference]) -> dict[str, Any]:
    """The fields of differences that tables show."""
    return {name: short(test) for name, test in tests.items()}


# ---- members' biases ----


def biases_of_members(outcomes: Sequence[Outcome], items: Items) -> dict[str, Any]:
    """How much the members of a fit differ in how often they give each answer.

    "sd": their standard deviation, mean over values and fits; "low", "high": the least and most
    frequent use of the last value by a member, mean over fits; "differ": in what share of fits
    (and values) that is more than chance, by Cochran's test.
    """
    sds, lows, highs, p = [], [], [], []
    for outcome in outcomes:
        for fold in range(N_FOLDS) if len(outcome.votes) > 1 else ():
            inside = outcome.votes[:, items.folds[outcome.repeat] == fold]
            gave = inside[:, :, None] == np.arange(len(items.values))  # (n_members, n_items, n)
            rate = gave.mean(axis=1)
            sds.append(rate.std(axis=0, ddof=1).mean())
            lows.append(rate[:, -1].min())
            highs.append(rate[:, -1].max())
            p += [cochran(gave[:, :, value]) for value in _values(len(items.values))]
    if not sds:
        return {}
    figures = {"sd": sds, "low": lows, "high": highs, "differ": [one <= LEVEL for one in p]}
    return {name: float(np.mean(np.array(values, float))) for name, values in figures.items()}


def _values(n_values: int) -> Sequence[int]:
    """Of two values one says all."""
    return [1] if n_values == 2 else range(n_values)


def cochran(yes: np.ndarray) -> float:
    """Cochran's Q test that members say yes as often as one another, on the same items: its p.

    1 where no two differ anywhere.

    Args:
        yes: (n_members, n_items).

    Example:
        >>> yes = np.array([[1, 1, 0, 1, 1, 0, 1, 1], [0, 0, 0, 0, 1, 0, 0, 0]])
        >>> round(cochran(yes), 4)
        0.0253

    Reference: Cochran (1950), doi:10.1093/biomet/37.3-4.256.
    """
    n, of_member, of_item = len(yes), yes.sum(axis=1), yes.sum(axis=0)
    below = float((of_item * (n - of_item)).sum())
    if not below:
        return 1.0
    above = (n - 1) * n * float(((of_member - of_member.mean()) ** 2).sum())
    return float(chdtrc(n - 1, above / below))


def biases_of_annotators(items: Items) -> dict[str, float]:
    """The same of annotators with at least 50 answers; empty where ids are unknown."""
    rate = items.biases
    if len(rate) < 2:
        return {}
    return {
        "n": len(rate),
        "sd": float(rate.std(axis=0, ddof=1).mean()),
        "low": float(rate[:, -1].min()),
        "high": float(rate[:, -1].max()),
    }


# ---- arithmetic ----


def _pearson(first: np.ndarray, second: np.ndarray) -> float:
    """nan where one side is the same everywhere."""
    if np.ptp(first) < EVEN or np.ptp(second) < EVEN:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])


def _joined(parts: Iterable[dict[str, list[float]]]) -> dict[str, list[float]]:
    joined: dict[str, list[float]] = {"accuracy": [], "f1": []}
    for each in parts:
        for name, scores in joined.items():
            scores += each[name]
    return joined


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(float(value), 6) for value in values]
