"""Annotators who answer an item twice: they are one annotator, and not compared with themselves."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from dissensus import Annotations, Corpus, Interval, MultiLabel, Nominal, Ordinal, describe
from dissensus.agreement import (
    MEASURES,
    agreement_with_rest,
    icc,
    leniency,
    masi_distance,
    value_pairs,
    why_undefined,
)
from dissensus.agreement.registry import why_unfit
from dissensus.scales import Scale

SCALES: dict[str, Scale] = {
    "nominal": Nominal(("a", "b", "c")),
    "ordinal": Ordinal(("1", "2", "3", "4")),
    "interval": Interval(0, 10),
    "multi-label": MultiLabel(("joy", "fear", "anger")),
}


def crowd(kind: str, seed: int = 0, n_items: int = 12) -> Annotations:
    """Five annotators, of whom some answer some items up to three times."""
    generator = np.random.default_rng(seed)
    scale = SCALES[kind]
    rows = []
    for item in range(n_items):
        truth = generator.integers(scale.n_columns if kind != "interval" else 10)
        for annotator in generator.permutation(5)[: generator.integers(1, 5)]:
            for _ in range(generator.choice([1, 1, 2, 3])):
                if kind == "interval":
                    answer: float = np.clip(truth + generator.normal(), 0, 10)
                elif kind == "multi-label":
                    answer = int(generator.integers(8))
                else:
                    right = generator.random() < 0.7
                    answer = int(truth if right else generator.integers(scale.n_columns))
                rows.append((item, annotator, answer))
    shuffled = [rows[at] for at in generator.permutation(len(rows))]
    items, annotators, answers = (np.array(column) for column in zip(*shuffled, strict=True))
    return Annotations.from_arrays(items, annotators, answers, scale, repeats="keep")


Unit = tuple[int, list[Any]]  # the item and the answers of one annotator to it


def units(annotations: Annotations, fewest: int = 2) -> list[Unit]:
    """Of items with so many annotators."""
    assert annotations.annotator is not None
    answers: dict[tuple[int, int], list[Any]] = {}
    for row in range(annotations.n_rows):
        key = int(annotations.item[row]), int(annotations.annotator[row])
        answers.setdefault(key, []).append(annotations.answer[row])
    of_item = [item for item, _ in answers]
    return [(item, own) for (item, _), own in answers.items() if of_item.count(item) >= fewest]


def apart(a: Unit, b: Unit, distance: Callable[[Any, Any], float]) -> float:
    return float(np.mean([distance(x, y) for x in a[1] for y in b[1]]))


def by_item(annotations: Annotations, distance: Callable[[Any, Any], float]) -> list[list[float]]:
    """The distances of ordered pairs of different annotators of each item."""
    of_item: dict[int, list[float]] = {}
    for a, b in permutations(units(annotations), 2):
        if a[0] == b[0]:
            of_item.setdefault(a[0], []).append(apart(a, b, distance))
    return list(of_item.values())


def alpha(annotations: Annotations, distance: Callable[[Any, Any], float]) -> float:
    """As defined: pairs of annotators within items, against pairs of anybody's answers."""
    every = units(annotations)
    n = len(every)
    observed = 0.0
    for far in by_item(annotations, distance):
        n_annotators = (1 + np.sqrt(1 + 4 * len(far))) / 2
        observed += sum(far) / (n_annotators - 1) / n
    expected = sum(apart(a, b, distance) for a, b in permutations(every, 2)) / (n * (n - 1))
    return 1 - observed / expected


def ordinal_distance(annotations: Annotations) -> Callable[[Any, Any], float]:
    total = np.zeros(annotations.scale.n_columns)
    for _, own in units(annotations):
        for answer in own:
            total[answer] += 1 / len(own)
    rank = np.cumsum(total) - total / 2
    return lambda a, b: (rank[a] - rank[b]) ** 2


@pytest.mark.parametrize("kind", SCALES)
@pytest.mark.parametrize("seed", range(3))
def test_alpha_is_that_of_pairs_of_different_annotators(kind: str, seed: int) -> None:
    annotations = crowd(kind, seed)
    distances: dict[str, Callable[[Any, Any], float]] = {
        "nominal": lambda a, b: float(a != b),
        "interval": lambda a, b: (a - b) ** 2,
        "multi-label": lambda a, b: float(masi_distance(np.array(a), np.array(b))),
    }
    expected = alpha(annotations, distances.get(kind) or ordinal_distance(annotations))
    assert MEASURES["krippendorff-alpha"].function(annotations) == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize("kind", ["nominal", "multi-label"])
def test_percent_is_that_of_pairs_of_different_annotators(kind: str) -> None:
    annotations = crowd(kind, 4)
    pairs = by_item(annotations, lambda a, b: float(a == b))
    expected = np.mean([np.mean(equal) for equal in pairs])
    assert MEASURES["percent"].function(annotations) == pytest.approx(expected, abs=1e-12)


def test_pairs_of_values_are_of_different_annotators() -> None:
    annotations = crowd("nominal", 5)
    expected = np.zeros((3, 3))
    sizes = [item for item, _ in units(annotations)]
    for a, b in permutations(units(annotations), 2):
        if a[0] == b[0]:
            for x in a[1]:
                for y in b[1]:
                    n = sizes.count(a[0])
                    expected[x, y] += 1 / len(a[1]) / len(b[1]) / (n - 1)
    np.testing.assert_allclose(value_pairs(annotations), expected, atol=1e-12)


def doubled(annotations: Annotations) -> Annotations:
    """Every answer given twice."""
    twice = np.tile(np.arange(annotations.n_rows), 2)
    return annotations.take(twice)


ONCE = ("icc2", "icc3", "icc2k", "icc3k", "cronbach-alpha")  # need single ratings


@pytest.mark.parametrize("kind", SCALES)
def test_the_same_answer_twice_changes_nothing(kind: str) -> None:
    """Of any measure: whoever repeats is no other annotator."""
    annotations = crowd(kind, 6, 30)
    first = Annotations.from_arrays(
        annotations.item, annotations.annotator, annotations.answer, annotations.scale,
        repeats="first",
    )  # fmt: skip
    kept = Annotations.from_arrays(
        first.item, first.annotator, first.answer, first.scale, repeats="keep"
    )
    for name, measure in MEASURES.items():
        if why_unfit(measure, kept) is None and name not in ONCE:
            value = MEASURES[name].function(doubled(kept))
            assert value == pytest.approx(MEASURES[name].function(first), abs=1e-9, nan_ok=True), (
                name
            )


def test_one_annotator_alone_does_not_disagree() -> None:
    """Each item has one annotator, who changed their mind: alpha was -.5."""
    rows = [(f"t{n}", f"a{n}", answer) for n in range(4) for answer in ("yes", "no")]
    annotations = Annotations.from_rows(rows, repeats="keep")
    for name in ("percent", "krippendorff-alpha", "fleiss-kappa", "gwet-ac1", "cohen-kappa"):
        assert np.isnan(MEASURES[name].function(annotations)), name
        assert why_undefined(name, annotations) == "no two annotators answered the same item"
    corpus = Corpus.build("mine", annotations.items, {"q": annotations})
    question = describe(corpus).questions[0]
    assert question.disputed == [] and question.loaded == 8


def test_votes_are_of_annotators() -> None:
    """Three answers of one annotator do not outvote two others."""
    rows = [("t1", "ann", "yes")] * 3 + [("t1", "bob", "no"), ("t1", "cleo", "no")]
    annotations = Annotations.from_rows(rows, repeats="keep")
    assert annotations.n_answers == 5 and annotations.voters().tolist() == [3]
    assert annotations.distribution().round(4).tolist() == [[0.6667, 0.3333]]
    assert annotations.consensus().answers() == ["no"]
    ratings = Annotations.from_rows(
        [("t1", "ann", 9), ("t1", "ann", 7), ("t1", "bob", 2)], Interval(0, 10), repeats="keep"
    )
    assert ratings.consensus().answers() == [5.0]


def test_icc_of_repeats_is_that_of_single_ratings() -> None:
    """Mean of many crowds; annotators have an opinion of an item, and rate it up to three times."""
    differences = []
    for seed in range(60):
        generator = np.random.default_rng([3, seed])
        times = generator.integers(1, 4, 120)
        pair = np.repeat(np.arange(120), times)
        opinion = generator.normal(size=40)[np.arange(120) // 3] + generator.normal(size=120)
        rating = opinion[pair] + generator.normal(scale=0.7, size=len(pair))
        columns = pair // 3, pair % 3, rating, Interval(-20, 20)
        kept, first = (
            Annotations.from_arrays(*columns, repeats=rule) for rule in ("keep", "first")
        )
        differences.append(icc(kept, "icc1") - icc(first, "icc1"))
    assert abs(np.mean(differences)) < 3 * np.std(differences) / np.sqrt(len(differences))


def test_annotators_are_compared_with_others_only() -> None:
    rows = [("t1", "ann", "yes"), ("t1", "ann", "no"), ("t1", "bob", "yes"), ("t1", "cleo", "no")]
    annotations = Annotations.from_rows(rows, repeats="keep")
    assert agreement_with_rest(annotations).tolist() == [0.5, 0.25, 0.25]
    numbers = [("t1", "ann", 8), ("t1", "ann", 6), ("t1", "bob", 4), ("t1", "cleo", 1)]
    ratings = Annotations.from_rows(numbers, Interval(0, 10), repeats="keep")
    assert leniency(ratings).tolist() == [4.5, 0.0, -4.5]
