"""Outcomes of one condition -> figures: how right, how near to people, how biased, how sure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import chdtrc

from dissensus.evaluation import Difference
from dissensus.evaluation.significance.resampling import macro_f1
from dissensus.metrics.uncertainty import EVEN, normalised_entropy
from dissensus.papers.framework.differences import over, short
from dissensus.papers.seedbert.conditions import N_FOLDS, Condition
from dissensus.papers.seedbert.items import Items
from dissensus.papers.seedbert.outcome import Outcome
from dissensus.papers.seedbert.scoring import (
    DISTANCES,
    READ_OUTS,
    answers,
    distribution,
    score_of_items,
    temperatures,
)

LEVEL = 0.05
_Scores = dict[tuple[str, int, str, int | None], dict[str, np.ndarray]]


@dataclass(eq=False)
class Figures:
    """What the models of a condition came to, as far as they are done."""

    condition: Condition
    items: Items
    done: dict[str, dict[int, Outcome]]  # model -> repetition -> outcome
    _scores: _Scores = field(default_factory=dict)

    @classmethod
    def of(cls, condition: Condition, items: Items, found: Iterable[Outcome]) -> Figures:
        done: dict[str, dict[int, Outcome]] = {}
        for outcome in sorted(found, key=lambda o: o.repeat):
            done.setdefault(outcome.model, {})[outcome.repeat] = outcome
        return cls(condition, items, done)

    @property
    def n_values(self) -> int:
        return len(self.items.values)

    def shared(self, *models: str) -> list[int]:
        """The repetitions that all of these models are done with."""
        held = [set(self.done.get(model, ())) for model in models]
        return sorted(set.intersection(*held))

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
        """How far from the people, (n_repeats, n_items)."""
        found = []
        for repeat in repeats:
            key = model, repeat, read, n_members
            if key not in self._scores:
                outcome = self.done[model][repeat]
                self._scores[key] = score_of_items(outcome, self.items, read, n_members)
            found.append(self._scores[key][distance])
        return np.stack(found)

    # ---- of a model ----

    def of_model(self, model: str) -> dict[str, Any]:
        """Every figure of a model, over all repetitions that it is done with."""
        held = self.done[model]
        outcomes = list(held.values())
        return {
            "repeats": list(held),
            "fits": _joined(
                of_fits(answers(o, self.n_values), self.items, r) for r, o in held.items()
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
        made = {
            name: _rounded(self.scores(model, read, name, repeats).mean(axis=1))
            for name in DISTANCES
        }
        each = [distribution(self.done[model][r], self.items, read) for r in repeats]
        people = normalised_entropy(self.items.people)
        sure = [normalised_entropy(mass) for mass in each]
        made["entropy correlation"] = _rounded(_pearson(people, one) for one in sure)
        made["entropy"] = _rounded(one.mean() for one in sure)
        made["moves"] = _rounded(np.abs(m - m.mean(axis=0)).sum(axis=1).mean() / 2 for m in each)
        return made

    def of_members(self, model: str, n_members: int) -> dict[str, Any]:
        """Figures of only so many members."""
        repeats = list(self.done[model])
        said = [answers(self.done[model][r], self.n_values, n_members) for r in repeats]
        fits = _joined(of_fits(s, self.items, r) for s, r in zip(said, repeats, strict=True))
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
        people's answers in training, and the people themselves."""
        items = self.items
        always = np.bincount(items.label[items.label >= 0]).argmax()
        said = np.full(len(items.label), always)
        repeats = range(len(items.folds))
        votes = np.eye(self.n_values)[items.label] * (items.label >= 0)[:, None]
        return {
            "majority": _joined(of_fits(said, items, repeat) for repeat in repeats),
            "prior": self._prior(votes),
            "prior of people": self._prior(items.people),
            "people": {name: float(distance(items.people, items.people).mean())
                       for name, distance in DISTANCES.items()}
            | {"entropy": float(normalised_entropy(items.people).mean())},
        }  # fmt: skip

    def _prior(self, shares: np.ndarray) -> dict[str, float]:
        """How far the mean of training items is from the people of those that are tested."""
        found: dict[str, list[float]] = {name: [] for name in DISTANCES}
        for of_item in self.items.folds:
            made = np.empty_like(self.items.people)
            for fold in range(N_FOLDS):
                made[of_item == fold] = shares[of_item != fold].mean(axis=0)
            for name, distance in DISTANCES.items():
                found[name].append(float(distance(self.items.people, made).mean()))
        return {name: float(np.mean(held)) for name, held in found.items()}


def of_fits(said: np.ndarray, items: Items, repeat: int) -> dict[str, list[float]]:
    """Accuracy and macro-F1 of each fold by itself, on items that have a label."""
    found: dict[str, list[float]] = {"accuracy": [], "f1": []}
    for fold in range(N_FOLDS):
        inside = (items.folds[repeat] == fold) & (items.label >= 0)
        label, answer = items.label[inside], said[inside]
        found["accuracy"].append(round(float((label == answer).mean()), 6))
        f1 = macro_f1(label, answer[None])(np.ones((1, len(label))))[0, 0]
        found["f1"].append(round(float(f1), 6))
    return found


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
    found: Figures,
    mine: tuple[str, str],
    theirs: tuple[str, str],
    *distances: str,
    n_members: int | None = None,
) -> dict[str, Difference]:
    """How much farther one model's read-out is from people than another's: below 0 is nearer.

    Args:
        n_members: only so many of the other one's first members.
    """
    repeats = found.shared(mine[0], theirs[0])
    return {
        name: over(
            found.scores(*mine, name, repeats),
            found.scores(*theirs, name, repeats, n_members),
            found.items.groups,
        )
        for name in distances
        if repeats
    }


def told(tests: Mapping[str, Difference]) -> dict[str, Any]:
    """What tables say of them."""
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
            said = inside[:, :, None] == np.arange(len(items.values))  # (n_members, n_items, n)
            rate = said.mean(axis=1)
            sds.append(rate.std(axis=0, ddof=1).mean())
            lows.append(rate[:, -1].min())
            highs.append(rate[:, -1].max())
            p += [cochran(said[:, :, value]) for value in _values(len(items.values))]
    if not sds:
        return {}
    found = {"sd": sds, "low": lows, "high": highs, "differ": [one <= LEVEL for one in p]}
    return {name: float(np.mean(np.array(held, float))) for name, held in found.items()}


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


def _joined(found: Iterable[dict[str, list[float]]]) -> dict[str, list[float]]:
    made: dict[str, list[float]] = {"accuracy": [], "f1": []}
    for each in found:
        for name, held in made.items():
            held += each[name]
    return made


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(float(value), 6) for value in values]
