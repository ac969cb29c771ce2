"""Combine the answers of several members into one answer per item: their mean or their votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dissensus.methods.framework.learned import Answers
from dissensus.scales import Interval, Scale

ReadOut = Literal["mean", "votes"]
TEMPERED_VOTES = "a temperature needs mean probabilities: set read='mean'"


def member_seed(seed: int, number: int) -> int:
    """The seed of a member, derived from that of the ensemble; the first member has the same seed.

    Ensembles with neighbouring seeds share no member: those of seed 1 are not among those of 0.

    Example:
        >>> member_seed(7, 0), member_seed(0, 1), member_seed(1, 0)
        (7, 3964924996, 1)
    """
    if not number:
        return seed
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])


@dataclass(frozen=True, eq=False)
class MemberAnswers(Answers):
    """One answer to each item, and the answers of all members."""

    members: np.ndarray  # (n_members, n)
    masses: np.ndarray  # (n_members, n, n_columns) their distributions


def joint_answers(
    scale: Scale, distribution: np.ndarray, value: np.ndarray, read: ReadOut
) -> MemberAnswers:
    """One answer per item from the answers of all members.

    Args:
        distribution: of each member, (n_members, n, n_columns).
        value: of each member, (n_members, n).
        read: the distribution is the "mean" of the members', or the share of "votes" for each
            answer. Ties of votes are broken by the mean. The value of an interval scale is always
            the mean of the members'.

    Example:
        >>> from dissensus import Nominal
        >>> sure, unsure = [[0.9, 0.1]], [[0.4, 0.6]]
        >>> members = np.array([sure, unsure, unsure]), np.array([[0], [1], [1]])
        >>> mean = joint_answers(Nominal(("no", "yes")), *members, "mean")
        >>> mean.distribution.round(3).tolist(), mean.value.tolist()
        ([[0.567, 0.433]], [0])
        >>> votes = joint_answers(Nominal(("no", "yes")), *members, "votes")
        >>> votes.distribution.round(3).tolist(), votes.value.tolist()
        ([[0.333, 0.667]], [1])
    """
    mean, n_members = distribution.mean(axis=0), len(value)
    combined = mean
    if read == "votes":
        combined = sum(scale.one_hot(member) for member in value) / n_members
    if isinstance(scale, Interval):
        return MemberAnswers(combined, value.mean(axis=0), value, distribution)
    tie = 0.5 / n_members  # the weight of the mean: less than one vote
    consensus = scale.consensus((1 - tie) * combined + tie * mean)
    return MemberAnswers(combined, consensus.astype(scale.dtype), value, distribution)
