"""Outcomes and facts about items; how far answers are from annotators; choices by outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dissensus import Corpus, Nominal
from dissensus.errors import DataError
from dissensus.evaluation import Key, folder_name
from dissensus.metrics import smoothed_votes, soft
from dissensus_papers.framework.fitted import SavedItems, SavedOutcome
from dissensus_papers.seedbert.protocol import N_MEMBERS, SOURCES, folds, trials

LEAST = 50  # answers of an annotator whose biases are known


def _none(*shape: int) -> Any:
    return field(default_factory=lambda: np.zeros(shape))


@dataclass(frozen=True, eq=False)
class Outcome(SavedOutcome):
    """What a model's networks answer to every item, each when it is tested; or how a trial went.

    Probabilities are as they come from the networks: a temperature is chosen when they are judged,
    by what they answer to the items that were set aside in training.

    Example:
        >>> Outcome("single", 0, "HS-Brexit").key
        Key(method='single', seed=0, fold='HS-Brexit')
    """

    mass: np.ndarray = _none(0, 0, 0)  # (k, n_items, n_values)
    votes: np.ndarray = _none(0, 0)  # (m, n_items)
    aside: np.ndarray = _none(0, 0)  # (2, n): fold, item
    aside_mass: np.ndarray = _none(0, 0, 0)  # (k, n, n_values)
    scores: list[float] = field(default_factory=list)  # of a trial: label's cross-entropy, by fold
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Items(SavedItems):
    """The items of a corpus: the annotators' answers, the label of each item, and the folds."""

    values: list[str]
    counts: np.ndarray  # (n_items, n_values) how many annotators gave each answer
    label: np.ndarray  # (n_items,) codes
    groups: np.ndarray  # (n_items,) the content or conversation
    folds: np.ndarray  # (n_repeats, n_items) the fold that tests each
    rows: np.ndarray  # (n_rows, 3) item, annotator and answer; none if ids are unknown

    @classmethod
    def of(cls, corpus: Corpus) -> Items:
        source = SOURCES[corpus.name]
        annotations = corpus[source.question]
        label = np.full(corpus.n_items, -1)
        majority = annotations.consensus("first")
        label[majority.item] = majority.answer
        fold_of = np.full((len(dealt := folds(corpus, source)), corpus.n_items), -1)
        for repeat, folds_ in enumerate(dealt):
            for number, fold in enumerate(folds_):
                fold_of[repeat, fold.test] = number
        rows = np.zeros((0, 3), np.int64)
        if annotations.annotator is not None:
            rows = np.stack([annotations.item, annotations.annotator, annotations.answer], axis=1)
        values = [str(value) for value in annotations.scale.values]  # type: ignore[attr-defined]
        groups = np.unique(corpus.units(), return_inverse=True)[1].reshape(-1)
        return cls(corpus.name, values, annotations.counts(), label, groups, fold_of, rows)

    @property
    def shares(self) -> np.ndarray:
        """The share of annotators that gave each answer, (n_items, n_values)."""
        return self.counts / self.counts.sum(axis=1, keepdims=True)

    def biases(self) -> np.ndarray:
        """How often annotators with 50 answers give each one, (n_annotators, n_values)."""
        counts = np.zeros((int(self.rows[:, 1].max(initial=-1)) + 1, len(self.values)))
        np.add.at(counts, (self.rows[:, 1], self.rows[:, 2]), 1)
        counts = counts[counts.sum(axis=1) >= LEAST]
        return counts / counts.sum(axis=1, keepdims=True)


# ---- distances from the annotators, item by item ----

VOTES, MEAN, TEMPERED = "votes", "mean", "tempered"
READ_OUTS = (VOTES, MEAN, TEMPERED)  # the shares of votes, mean probabilities, those tempered
CAUTIOUS = "cautious"  # tempered, but never surer; as methods do it since these were read
DISTANCES = {"cross-entropy": soft.cross_entropy, "JSD": soft.jsd, "TVD": soft.tvd}
BY = "cross-entropy"  # how "nearest to the annotators' answers" is measured


def vote_counts(outcome: Outcome, n_values: int, n_members: int | None = None) -> np.ndarray:
    """How many members give which answer, (n_items, n_values).

    A single network counts as five members that all answer the same: what votes owe to the half
    that is added to them can be separated from the effect of members that differ.
    """
    members = outcome.votes[:n_members]
    if not len(members):
        members = np.repeat(outcome.mass.mean(axis=0).argmax(axis=1)[None], N_MEMBERS, axis=0)
    return np.stack([(members == value).sum(axis=0) for value in range(n_values)], axis=1)


def temperatures(
    outcome: Outcome, items: Items, n_members: int | None = None, lowest: float = 0.0
) -> list[float]:
    """Of each fold, by the labels of the items that were set aside there."""
    from dissensus.methods import best_temperature  # loads torch

    scale, chosen = Nominal(tuple(items.values)), []
    for fold in np.unique(outcome.aside[0]):
        inside = outcome.aside[0] == fold
        mean = outcome.aside_mass[:n_members, inside].mean(axis=0, dtype=float)
        label = items.label[outcome.aside[1][inside]]
        chosen.append(best_temperature(scale, mean, label, lowest))
    return chosen


def distribution(
    outcome: Outcome, items: Items, read: str, n_members: int | None = None
) -> np.ndarray:
    """The distribution of answers that a model predicts, (n_items, n_values); of its first members
    if `n_members` is given."""
    if read == VOTES:
        counts = vote_counts(outcome, len(items.values), n_members)
        return counts / counts.sum(axis=1, keepdims=True)
    mean = outcome.mass[:n_members].mean(axis=0, dtype=float)
    if read == MEAN:
        return np.asarray(mean)
    from dissensus.methods import tempered  # loads torch

    distributions, scale = np.empty_like(mean), Nominal(tuple(items.values))
    of_item = items.folds[outcome.seed]
    lowest = 1.0 if read == CAUTIOUS else 0.0
    for fold, temperature in enumerate(temperatures(outcome, items, n_members, lowest)):
        distributions[of_item == fold] = tempered(scale, mean[of_item == fold], temperature)
    return distributions


def answers(outcome: Outcome, n_values: int, n_members: int | None = None) -> np.ndarray:
    """The one answer to each item, (n_items,): the majority of the members, and of tied values the
    one of the highest mean probability; of a single network the most probable."""
    mean = outcome.mass[:n_members].mean(axis=0)
    counts = vote_counts(outcome, n_values, n_members) if len(outcome.votes) else 0
    return np.asarray((counts + 0.5 * mean).argmax(axis=1))


def score_of_items(
    outcome: Outcome, items: Items, read: str, n_members: int | None = None
) -> dict[str, np.ndarray]:
    """How far the distribution is from the annotators' at each item: distance -> (n_items,).

    A cross-entropy of votes is that of votes with one half added to every value.
    """
    mass = distribution(outcome, items, read, n_members)
    distances = {name: distance(items.shares, mass) for name, distance in DISTANCES.items()}
    if read == VOTES:
        counts = vote_counts(outcome, len(items.values), n_members)
        distances["cross-entropy"] = soft.cross_entropy(items.shares, smoothed_votes(counts))
    return distances


# ---- settings, chosen by trials on training folds ----


def chosen(folder: str | Path, condition: str, model: str) -> dict[str, Any]:
    """The settings under which the labels of held-out training items were likeliest, of all trials
    of a model."""
    keys = [Key(model, number, condition) for number in range(len(trials(model)))]
    paths = [Path(folder) / "fits" / folder_name(key) for key in keys]
    if not all((path / "fit.json").exists() for path in paths):
        raise DataError(f"{folder}: {condition} is not done for {model}; run it first")
    best = min(map(Outcome.load, paths), key=lambda outcome: float(np.mean(outcome.scores)))
    return dict(best.settings)
