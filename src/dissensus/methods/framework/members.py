"""What several members of one method say of each item, as one answer: their mean or their votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dissensus.methods.framework.answers import Answers
from dissensus.scales import Interval, Scale

ReadOut = Literal["mean", "votes"]
TEMPERED_VOTES = "a temperature is of mean probabilities: read='mean'"


def member_seed(seed: int, number: int) -> int:
    """A member's own seed; the first one's is that of the ensemble.

    Those of neighbouring ensembles are not shared: one that begins with seed 1 is no part of one
    that begins with 0.

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
    masses: np.ndarray  # (n_members, n, n_columns) the distribution of each

    def extra_fields(self) -> dict[str, np.ndarray]:
        return {"members": self.members}


def joint_answers(
    scale: Scale, distribution: np.ndarray, value: np.ndarray, read: ReadOut
) -> MemberAnswers:
    """One answer to each item from all members'.

    Args:
        distribution: of each member, (n_members, n, n_columns).
        value: of each member, (n_members, n).
        read: the "mean" of their distributions, or the share of them that "votes" for each
            answer. A tie of votes falls as the mean would; a rating is the mean in either case.

    Example:
        >>> from dissensus import Nominal
        >>> sure, unsure = [[0.9, 0.1]], [[0.4, 0.6]]
        >>> said = np.array([sure, unsure, unsure]), np.array([[0], [1], [1]])
        >>> mean = joint_answers(Nominal(("no", "yes")), *said, "mean")
        >>> mean.distribution.round(3).tolist(), mean.value.tolist()
        ([[0.567, 0.433]], [0])
        >>> votes = joint_answers(Nominal(("no", "yes")), *said, "votes")
        >>> votes.distribution.round(3).tolist(), votes.value.tolist()
        ([[0.333, 0.667]], [1])
    """
    mean, n_members = distribution.mean(axis=0), len(value)
    told = mean
    if read == "votes":
        told = sum(scale.one_hot(member) for member in value) / n_members
    if isinstance(scale, Interval):
        return MemberAnswers(told, value.mean(axis=0), value, distribution)
    tie = 0.5 / n_members  # of the mean: less than a vote
    one = scale.consensus((1 - tie) * told + tie * mean)
    return MemberAnswers(told, one.astype(scale.dtype), value, distribution)
