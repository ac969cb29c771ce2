"""The preset `ratings`: frozen, its densities exact, some items with two modes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dissensus.corpus import Corpus
from dissensus.simulate import RatingsTruth, ratings, truth
from dissensus.simulate.crowd import HUNDREDTHS
from dissensus.simulate.ratings import QUESTIONS
from tests.simulate.test_presets import every_pair


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return ratings()


def known_of(corpus: Corpus, question: str) -> RatingsTruth:
    known = truth(corpus, question)
    assert isinstance(known, RatingsTruth)
    return known


def exact(known: RatingsTruth, item: int, annotator: int) -> list[Fraction]:
    """The docstring's formula in fractions, slip by slip."""
    crowd, parts = known.crowd, known.parts
    there = [part for part in range(2) if parts.aspect[item, part] >= 0]
    pull = [16 ** int(crowd.preference[annotator, parts.aspect[item, part]]) for part in there]
    spread, bias = int(crowd.spread[annotator]), int(crowd.bias[annotator])
    density = [Fraction(0)] * 201
    for part, weight in zip(there, pull, strict=True):
        for one in range(-spread, spread + 1):
            for other in range(-spread, spread + 1):
                place = int(known.mode[item, part]) + bias + one + other + 100
                density[place] += Fraction(weight, sum(pull) * (2 * spread + 1) ** 2)
    return density


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_density_is_the_documented_formula(question: str) -> None:
    built = ratings(n_items=6, n_annotators=5, labels_per_item=2)
    known = known_of(built, question)
    item, annotator = every_pair(built)
    density, binned = known.density(item, annotator), known.distribution(item, annotator)
    bins = known.scale.bins(HUNDREDTHS / 100)
    for row, pair in enumerate(zip(item, annotator, strict=True)):
        wanted = exact(known, *pair)
        assert sum(wanted) == 1
        np.testing.assert_allclose(density[row], [float(p) for p in wanted], atol=1e-14)
        np.testing.assert_allclose(binned[row], np.bincount(bins, density[row]), atol=1e-14)


@pytest.mark.parametrize("question", QUESTIONS)
def test_best_errors_are_those_of_the_best_guess(question: str) -> None:
    built = ratings(n_items=12, n_annotators=5, labels_per_item=2)
    known, pairs = known_of(built, question), every_pair(built)
    density = known.density(*pairs)
    blind = density.reshape(12, 5, -1).mean(axis=1)  # who does not know the annotator
    away = np.abs(HUNDREDTHS[:, None] - HUNDREDTHS) / 100  # every guess against every rating
    lowest = (density @ away).min(axis=1)
    of_crowd = (blind @ away).min(axis=1)  # over all annotators of an item
    own, others = known.errors_of(*pairs)
    np.testing.assert_allclose(own, lowest, atol=1e-12)
    np.testing.assert_allclose(others.reshape(12, 5).mean(axis=1), of_crowd, atol=1e-12)
    assert known.best(*pairs) == pytest.approx((lowest.mean(), of_crowd.mean()))


def test_both_questions_come_from_one_look(corpus: Corpus) -> None:
    joint = corpus.joint("valence", "activation")
    assert len(joint.item) == 5000
    spans = corpus.rationales
    assert spans is not None and spans.question.value_counts().to_pylist() == [
        {"values": "valence", "counts": 5000},
        {"values": "activation", "counts": 5000},
    ]
    assert np.array_equal(spans.start[:5000], spans.start[5000:])
