"""Several members' answers as one: by their mean, or by vote."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus import Interval, MultiLabel, Nominal, Ordinal
from dissensus.methods.framework.members import joint_answers
from tests.crowds import SCALES


def _said(*members: list[list[float]]) -> np.ndarray:
    return np.array(members)  # (n_members, n_items, n_columns)


def test_a_tie_of_votes_falls_as_the_mean_would() -> None:
    """Item 1: one vote for each of b and c, c on average. Item 2: two for a, however unsure."""
    output = _said(
        [[0.0, 0.6, 0.4], [0.4, 0.3, 0.3]],
        [[0.1, 0.1, 0.8], [0.4, 0.3, 0.3]],
    )
    votes = joint_answers(Nominal(("a", "b", "c")), output, output.argmax(axis=2), "votes")
    assert votes.distribution.tolist() == [[0, 0.5, 0.5], [1, 0, 0]]
    assert votes.value.tolist() == [2, 0] and votes.value.dtype == np.int32
    assert votes.members.tolist() == [[1, 0], [2, 0]]


def test_votes_decide_wherever_they_differ() -> None:
    """Thirty members: sixteen who are hardly for it outvote fourteen who are sure."""
    output = _said(*[[[0.49, 0.51]]] * 16, *[[[1.0, 0.0]]] * 14)
    value = output.argmax(axis=2)
    assert joint_answers(Nominal(("no", "yes")), output, value, "votes").value.tolist() == [1]
    assert joint_answers(Nominal(("no", "yes")), output, value, "mean").value.tolist() == [0]


def test_levels_have_the_median_and_sets_their_majorities() -> None:
    levels = np.array([[0], [0], [1], [2], [2]])
    flat = np.full((5, 1, 3), 1 / 3)
    votes = joint_answers(Ordinal(("1", "2", "3")), flat, levels, "votes")
    assert votes.distribution.tolist() == [[0.4, 0.2, 0.4]] and votes.value.tolist() == [1]
    chosen = np.array([[0b01], [0b11]])  # everybody chooses joy, half of them fear
    for fear, expected in ((0.55, 0b11), (0.45, 0b01)):
        output = _said([[0.9, 2 * fear - 0.9]], [[0.9, 0.9]])
        votes = joint_answers(MultiLabel(("joy", "fear")), output, chosen, "votes")
        assert votes.distribution.tolist() == [[1, 0.5]] and votes.value.tolist() == [expected]


def test_ratings_have_the_mean_and_the_histogram() -> None:
    value = np.array([[1.0], [1.4], [9.0]])
    scale = Interval(0, 10, n_bins=5)
    votes = joint_answers(scale, np.full((3, 1, 5), 0.2), value, "votes")
    np.testing.assert_allclose(votes.distribution, [[2 / 3, 0, 0, 0, 1 / 3]])
    np.testing.assert_allclose(votes.value, [3.8])


@pytest.mark.parametrize("kind", SCALES)
def test_the_order_of_members_does_not_matter(kind: str) -> None:
    scale, generator = SCALES[kind], np.random.default_rng(0)
    output = generator.dirichlet(np.ones(scale.n_columns), size=(6, 50))
    value = np.stack([scale.consensus(member) for member in output])
    for read in ("mean", "votes"):
        first = joint_answers(scale, output, value, read)
        other = joint_answers(scale, output[::-1], value[::-1], read)
        np.testing.assert_allclose(first.distribution, other.distribution)
        np.testing.assert_allclose(first.value, other.value)
