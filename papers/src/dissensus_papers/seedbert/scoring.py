"""Outcomes -> distributions -> their distance from the annotators' answers, item by item."""

from __future__ import annotations

import numpy as np

from dissensus.methods.framework.temperature import LOWEST, best_temperature, tempered
from dissensus.metrics import soft
from dissensus.metrics.votes import smoothed_votes
from dissensus.scales import Nominal
from dissensus_papers.seedbert.items import Items
from dissensus_papers.seedbert.models import N_MEMBERS
from dissensus_papers.seedbert.outcome import Outcome

VOTES, MEAN, TEMPERED = "votes", "mean", "tempered"
READ_OUTS = (VOTES, MEAN, TEMPERED)  # the shares of votes, mean probabilities, those tempered
CAUTIOUS = "cautious"  # tempered, but never surer; as methods do it since these were read
DISTANCES = {"cross-entropy": soft.cross_entropy, "JSD": soft.jsd, "TVD": soft.tvd}


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
    outcome: Outcome, items: Items, n_members: int | None = None, lowest: float = LOWEST
) -> list[float]:
    """Of each fold, by the labels of the items that were set aside there."""
    scale, chosen = Nominal(items.values), []
    for fold in np.unique(outcome.aside[0]):
        inside = outcome.aside[0] == fold
        mean = outcome.aside_mass[:n_members, inside].mean(axis=0)
        label = items.label[outcome.aside[1][inside]]
        chosen.append(best_temperature(scale, mean, label, lowest))
    return chosen


def distribution(
    outcome: Outcome, items: Items, read: str, n_members: int | None = None
) -> np.ndarray:
    """The distribution of answers that a model predicts, (n_items, n_values).

    Args:
        n_members: only so many of the first members.
    """
    if read == VOTES:
        counts = vote_counts(outcome, len(items.values), n_members)
        return counts / counts.sum(axis=1, keepdims=True)
    mean = outcome.mass[:n_members].mean(axis=0)
    if read == MEAN:
        return np.asarray(mean)
    distributions, scale = np.empty_like(mean), Nominal(items.values)
    of_item = items.folds[outcome.repeat]
    lowest = 1.0 if read == CAUTIOUS else LOWEST
    for fold, temperature in enumerate(temperatures(outcome, items, n_members, lowest)):
        distributions[of_item == fold] = tempered(scale, mean[of_item == fold], temperature)
    return distributions


def answers(outcome: Outcome, n_values: int, n_members: int | None = None) -> np.ndarray:
    """The one answer to each item, (n_items,): the majority of the members, and of tied values the
    one of the highest mean probability; of a single network the most probable."""
    mean = outcome.mass[:n_members].mean(axis=0)
    if not len(outcome.votes):
        return np.asarray(mean.argmax(axis=1))
    counts = vote_counts(outcome, n_values, n_members)
    return np.asarray((counts + 0.5 * mean).argmax(axis=1))


def score_of_items(
    outcome: Outcome, items: Items, read: str, n_members: int | None = None
) -> dict[str, np.ndarray]:
    """How far the distribution is from the annotators' at each item: distance -> (n_items,).

    A cross-entropy of votes is that of votes with one half added to every value.
    """
    distributions = distribution(outcome, items, read, n_members)
    distances = {
        name: distance(items.shares, distributions) for name, distance in DISTANCES.items()
    }
    if read == VOTES:
        counts = vote_counts(outcome, len(items.values), n_members)
        distances["cross-entropy"] = soft.cross_entropy(items.shares, smoothed_votes(counts))
    return distances
