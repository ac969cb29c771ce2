from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cosine
from scipy.stats import entropy, kurtosis, pearsonr

from dissensus.annotations import Annotations
from dissensus.metrics import METRICS, excess_kurtosis, normalised_entropy
from tests.metrics.crowds import SCALES, people, predicted
from tests.metrics.pairs import share_by_share

entropy_correlation = METRICS["entropy correlation"]
entropy_similarity = METRICS["entropy similarity"]


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
def test_entropies_are_compared_item_by_item(kind: str) -> None:
    annotations, prediction = people(SCALES[kind]), predicted(SCALES[kind])
    pairs = share_by_share(prediction, annotations)
    theirs = [entropy(p, base=4) for p, _ in pairs]
    mine = [entropy(q, base=4) for _, q in pairs]
    expected = pearsonr(theirs, mine).statistic
    assert entropy_correlation(prediction, annotations) == pytest.approx(expected)
    expected = 1 - cosine(theirs, mine)
    assert entropy_similarity(prediction, annotations) == pytest.approx(expected)


def test_what_never_varies_has_no_correlation() -> None:
    annotations, prediction = people(SCALES["nominal"]), predicted(SCALES["nominal"])
    mass = prediction.distribution
    same = replace(prediction, distribution=np.tile(mass[0], (len(mass), 1)))
    assert np.isnan(entropy_correlation(same, annotations))
    assert 0 < entropy_similarity(same, annotations) < 1
    sure = replace(prediction, distribution=np.eye(4)[mass.argmax(axis=1)])
    assert np.isnan(entropy_correlation(sure, annotations))
    assert np.isnan(entropy_similarity(sure, annotations))
    unanimous: Annotations = annotations.majority()
    assert np.isnan(entropy_correlation(prediction, unanimous))
    assert np.isnan(entropy_similarity(prediction, unanimous))


def test_normalised_entropy_equals_scipy() -> None:
    mass = np.random.default_rng(0).dirichlet(np.ones(5), 20)
    np.testing.assert_allclose(normalised_entropy(mass), entropy(mass, axis=1, base=5))
    assert np.isnan(normalised_entropy(np.ones((2, 1)))).all()
    assert np.isnan(normalised_entropy(np.full((1, 2), np.nan))).all()


def test_kurtosis_equals_scipy() -> None:
    mass = np.random.default_rng(0).dirichlet(np.ones(12), 50)
    np.testing.assert_allclose(excess_kurtosis(mass), kurtosis(mass, axis=1))


def test_kurtosis_by_its_known_values() -> None:
    assert excess_kurtosis(np.eye(12)) == pytest.approx(np.full(12, 7.0909), abs=5e-5)
    two = np.random.default_rng(0).dirichlet(np.ones(2), 5)
    assert excess_kurtosis(two) == pytest.approx(np.full(5, -2.0))
    assert np.isnan(excess_kurtosis(np.full((1, 7), 1 / 7))).all()
    assert excess_kurtosis(np.zeros((0, 4))).shape == (0,)
