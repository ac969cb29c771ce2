"""Clusters of annotators who answer alike: named where there are some, and only there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dissensus import Annotations, Interval, MultiLabel, Nominal, Ordinal
from dissensus.description import cluster_annotators
from dissensus.names import Names
from dissensus.scales import Scale


def crowd(
    seed: int, camps: bool, ratings: bool = False, n_items: int = 150, lowest: float = 0.4
) -> Annotations:
    """Twelve annotators of different reliability and bias; two camps share half of the truth."""
    generator = np.random.default_rng(seed)
    n, n_values = 12, 3
    reliability = generator.uniform(lowest, 0.9, n)
    shape = (2, n_items)
    truth: Any = (
        generator.normal(size=shape) if ratings else generator.integers(n_values, size=shape)
    )
    alike = generator.random(n_items) < 0.5 if camps else np.ones(n_items, dtype=bool)
    truth[1] = np.where(alike, truth[0], truth[1])
    rows: list[tuple[str, str, Any]] = []
    for item in range(n_items):
        for who in generator.choice(n, 8, replace=False):
            true, own = truth[who % 2, item], reliability[who]
            answer: Any
            if ratings:
                noise = np.sqrt(1 - own**2) * generator.normal()
                answer = float(np.clip(own * true + noise, -5, 5))
            else:
                usual = who % n_values if generator.random() < 0.3 else generator.integers(n_values)
                answer = f"v{true if generator.random() < own else usual}"
            rows.append((f"t{item}", f"p{who:02}", answer))
    return Annotations.from_rows(rows, Interval(-5, 5) if ratings else None)


def of_sets(seed: int, camps: bool, n_items: int = 150) -> Annotations:
    """Twelve annotators who choose sets of four values, some lenient; camps see half of the truth
    alike."""
    generator = np.random.default_rng(seed)
    n, values = 12, ("anger", "fear", "joy", "trust")
    reliability = generator.uniform(0.5, 0.95, n)
    lenient = generator.uniform(0.1, 0.5, n)
    truth = generator.random((2, n_items, 4)) < 0.35
    truth[0, :, 3] |= truth[0, :, 2]  # joy comes with trust
    alike = generator.random(n_items) < 0.5 if camps else np.ones(n_items, dtype=bool)
    truth[1] = np.where(alike[:, None], truth[0], truth[1])
    rows = []
    for item in range(n_items):
        for who in generator.choice(n, 8, replace=False):
            sure = generator.random() < reliability[who]
            chosen = truth[who % 2, item] if sure else generator.random(4) < lenient[who]
            own = tuple(value for value, on in zip(values, chosen, strict=True) if on)
            rows.append((f"t{item}", f"p{who:02}", own))
    return Annotations.from_rows(rows, MultiLabel(values))


def from_matrix(answers: np.ndarray, scale: Scale) -> Annotations:
    """Answers (n_items, n_annotators) of annotators 0, 1, ..."""
    items, annotators = map(Names.range, answers.shape)
    item, annotator = np.nonzero(np.ones(answers.shape))
    return Annotations.from_arrays(
        item, annotator, answers.ravel(), scale, items=items, annotators=annotators
    )


def rasch(seed: int) -> Annotations:
    """Ten annotators of different severity, and items of different difficulty."""
    generator = np.random.default_rng(seed)
    logit = generator.normal(0, 2.0, (250, 1)) - generator.normal(0, 1.5, 10)
    yes = generator.random(logit.shape) < 1 / (1 + np.exp(-logit))
    return from_matrix(yes.astype(int), Nominal(("no", "yes")))


def strict(seed: int) -> Annotations:
    """Eight annotators, half of them strict and half lenient, on a scale of five levels."""
    generator = np.random.default_rng(seed)
    seen = generator.normal(size=(250, 1)) + 0.5 * generator.normal(size=(250, 8))
    seen += np.repeat([-0.7, 0.7], 4)
    levels = (seen[..., None] > np.linspace(-1.5, 1.5, 4)).sum(axis=2)
    return from_matrix(levels, Ordinal(("1", "2", "3", "4", "5")))


def ambiguous(seed: int) -> Annotations:
    """Eight annotators who draw their answers from the distribution of an item."""
    generator = np.random.default_rng(seed)
    limits = np.cumsum(generator.dirichlet(np.ones(3), 250), axis=1)[:, None, :-1]
    drawn = (generator.random((250, 8, 1)) > limits).sum(axis=2)
    return from_matrix(drawn, Nominal(("a", "b", "c")))


def two_camps(seed: int, random: int = 0) -> np.ndarray:
    """Answers yes and no of camps 0-3 and 4-7, then of annotators at random."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(2, size=(200, 1))
    opposite = truth ^ (generator.random((200, 1)) < 0.4)
    answers = np.where(np.arange(8) < 4, truth, opposite) ^ (generator.random((200, 8)) < 0.12)
    noise = generator.integers(2, size=(200, random))
    return np.column_stack([answers, noise])


@pytest.mark.parametrize("ratings", [False, True])
def test_two_camps_are_told_apart(ratings: bool) -> None:
    result = cluster_annotators(crowd(1, True, ratings, n_items=250, lowest=0.6))
    assert result is not None and result.significant and len(result.clusters) == 2
    for cluster in result.clusters:
        assert len({int(name[1:]) % 2 for name in cluster.annotators}) == 1
        assert cluster.within > cluster.outside
    members = [name for cluster in result.clusters for name in cluster.annotators]
    assert len(members) >= 9 and sorted([*members, *result.others]) == sorted(
        set(members) | set(result.others)
    )


def test_two_camps_of_sets_are_told_apart() -> None:
    result = cluster_annotators(of_sets(1, camps=True, n_items=250))
    assert result is not None and result.significant and len(result.clusters) == 2
    assert result.measure == "Cohen's kappa (MASI)"
    for cluster in result.clusters:
        assert len({int(name[1:]) % 2 for name in cluster.annotators}) == 1
        assert cluster.within > cluster.outside + 0.1


@pytest.mark.parametrize("make", [rasch, strict, ambiguous])
def test_a_common_view_makes_no_clusters(make: Callable[[int], Annotations]) -> None:
    results = [cluster_annotators(make(seed)) for seed in range(4)]
    assert all(result is not None and result.p > 0.02 for result in results)


def test_what_one_crowd_in_fifty_would_show_is_not_named() -> None:
    """Camps on too few items: every report has the sentence, so 5 % would be too often untrue."""
    result = cluster_annotators(crowd(10, camps=True, n_items=70))
    assert result is not None and 0.01 < result.p < 0.05 and not result.clusters


def test_annotators_at_random_belong_to_no_camp() -> None:
    answers = from_matrix(two_camps(3, random=2), Nominal(("no", "yes")))
    result = cluster_annotators(answers)
    assert result is not None and result.left_out == ("8", "9")
    camps = [tuple(cluster.annotators) for cluster in result.clusters]
    assert sorted(camps) == [("0", "1", "2", "3"), ("4", "5", "6", "7")]


@pytest.mark.parametrize("share", [0.6, 1.0])
def test_a_copied_pair_is_no_cluster(share: float) -> None:
    for seed in range(3):
        generator = np.random.default_rng(seed)
        answers = generator.integers(3, size=(150, 1)) + (generator.random((150, 9)) < 0.25)
        same = generator.random(150) < share
        answers[same, 1] = answers[same, 0]
        result = cluster_annotators(from_matrix(answers % 3, Nominal(("a", "b", "c"))))
        assert result is not None and not result.significant
        assert result.left_out == (("1",) if share == 1 else ())


def test_what_cannot_be_compared_has_no_clusters() -> None:
    few = [(f"t{item}", who, "yes") for item in range(20) for who in "abc"]
    assert cluster_annotators(Annotations.from_rows(few)) is None
    same = [(f"t{item}", who, "yes") for item in range(20) for who in "abcd"]
    assert cluster_annotators(Annotations.from_rows(same)) is None
    votes = Annotations.from_arrays(["t1"], None, ["no"], count=np.array([3]))
    assert cluster_annotators(votes) is None
    sets = [(f"t{item}", who, ("x",)) for item in range(20) for who in "abcd"]
    assert cluster_annotators(Annotations.from_rows(sets, MultiLabel(("x", "y")))) is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["values", "ratings", "sets"])
def test_false_alarms_are_as_rare_as_p_says(kind: str) -> None:
    def crowds(camps: bool, n: int, lowest: float = 0.4) -> list[Annotations]:
        if kind == "sets":
            return [of_sets(seed, camps) for seed in range(n)]
        return [crowd(seed, camps, kind == "ratings", lowest=lowest) for seed in range(n)]

    results = [cluster_annotators(answers) for answers in crowds(False, 60, lowest=0.1)]
    alarms = sum(result is not None and result.significant for result in results)
    assert alarms <= 3  # 0.6 are expected; 4 or more of 60 have a probability of 0.003
    power = [cluster_annotators(answers) for answers in crowds(True, 20)]
    assert sum(result is not None and result.significant for result in power) >= 14
