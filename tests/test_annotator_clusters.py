"""Clusters of annotators who answer alike: named where there are some, and only there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dissensus import Annotations, Interval, MultiLabel
from dissensus.description import cluster_annotators


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


@pytest.mark.parametrize("ratings", [False, True])
def test_two_camps_are_told_apart(ratings: bool) -> None:
    result = cluster_annotators(crowd(1, camps=True, ratings=ratings, n_items=250), 59)
    assert result is not None and result.significant and len(result.clusters) == 2
    for cluster in result.clusters:
        assert len({int(name[1:]) % 2 for name in cluster.annotators}) == 1
        assert cluster.within > cluster.outside
    members = [name for cluster in result.clusters for name in cluster.annotators]
    assert len(members) >= 10 and sorted([*members, *result.others]) == sorted(
        set(members) | set(result.others)
    )


def test_two_camps_of_sets_are_told_apart() -> None:
    result = cluster_annotators(of_sets(1, camps=True, n_items=250), 59)
    assert result is not None and result.significant and len(result.clusters) == 2
    assert result.measure == "Cohen's kappa (MASI)"
    for cluster in result.clusters:
        assert len({int(name[1:]) % 2 for name in cluster.annotators}) == 1
        assert cluster.within > cluster.outside + 0.1


def test_annotators_who_answer_at_random_make_no_cluster() -> None:
    generator = np.random.default_rng(0)
    rows = [
        (f"t{item}", f"p{who}", truth if who < 4 else "abc"[generator.integers(3)])
        for item, truth in enumerate("abc" * 40)
        for who in range(8)
    ]
    result = cluster_annotators(Annotations.from_rows(rows), 59)
    assert result is not None and not result.significant


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
    assert alarms <= 8  # 3 are expected; 9 or more of 60 have a probability of 0.002
    power = [cluster_annotators(answers) for answers in crowds(True, 20)]
    assert sum(result is not None and result.significant for result in power) >= 14
