"""Metrics of distributions: against scipy and scikit-learn item by item, and by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import distance
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy, kurtosis, pearsonr, wasserstein_distance
from sklearn.metrics import log_loss

from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.metrics import (
    METRICS,
    bounds,
    excess_kurtosis,
    normalised_entropy,
    scores,
    smoothed_votes,
)
from dissensus.metrics.soft import expected_calibration_error
from dissensus.names import Names
from dissensus.prediction import Prediction
from dissensus.scales import Interval, Nominal
from tests.metrics.crowds import SCALES, item_by_item, people, perfect, predicted, share_by_share

Formula = Callable[[np.ndarray, np.ndarray], float]
choices = pytest.mark.parametrize("kind", ["nominal", "ordinal", "multi-label"])

REFERENCES: dict[str, Formula] = {
    "cross-entropy": lambda p, q: entropy(p) + entropy(p, q),
    "KL": entropy,
    "JSD": lambda p, q: jensenshannon(p, q) ** 2,
    "Manhattan": distance.cityblock,
    "TVD": lambda p, q: distance.cityblock(p, q) / 2,
    "soft accuracy": lambda p, q: sum(map(min, p, q)),
    "intersection": lambda p, q: sum(map(min, p, q)),
    "Chebyshev": distance.chebyshev,
    "Canberra": distance.canberra,
    "cosine": lambda p, q: 1 - distance.cosine(p, q),
    "Clark": lambda p, q: np.sqrt(
        sum(((a - b) / (a + b)) ** 2 for a, b in zip(p, q, strict=True) if a + b > 0)
    ),
    "LeWiDi 2023 cross-entropy": lambda p, q: (
        -sum(a * np.log(min(max(b, 1e-12), 1 - 1e-12) + 1e-9) for a, b in zip(p, q, strict=True))
    ),
}


@choices
@pytest.mark.parametrize("name", REFERENCES)
def test_equals_a_reference_item_by_item(name: str, kind: str) -> None:
    annotations, prediction = people(SCALES[kind]), predicted(SCALES[kind])
    expected = [REFERENCES[name](p, q) for p, q in share_by_share(prediction, annotations)]
    assert METRICS[name](prediction, annotations) == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("name", ["JSD", "Manhattan", "TVD"])
def test_ratings_are_compared_on_the_grid(name: str) -> None:
    scale = SCALES["interval"]
    assert isinstance(scale, Interval)
    annotations, prediction = people(scale), predicted(scale)
    expected = [
        REFERENCES[name](np.bincount(scale.bins(answers), minlength=8) / len(answers), mass)
        for answers, mass in item_by_item(prediction, annotations)
    ]
    assert METRICS[name](prediction, annotations) == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("kind", ["ordinal", "interval"])
def test_wasserstein_equals_scipy(kind: str) -> None:
    scale = SCALES[kind]
    places = scale.grid if isinstance(scale, Interval) else np.arange(scale.n_columns)
    annotations, prediction = people(scale), predicted(scale)
    expected = [
        wasserstein_distance(
            places[scale.bins(answers) if isinstance(scale, Interval) else answers],
            places,
            v_weights=mass,
        )
        for answers, mass in item_by_item(prediction, annotations)
    ]
    assert METRICS["Wasserstein"](prediction, annotations) == pytest.approx(np.mean(expected))
    assert METRICS["Wasserstein"](perfect(annotations), annotations) == 0


def test_ratings_are_put_on_the_grid_of_the_prediction() -> None:
    annotations = Annotations.from_rows([("t1", "ann", 9)], Interval(0, 10, n_bins=3))
    low = Prediction(Interval(0, 10, n_bins=4), Names(["t1"]), np.eye(4)[[0]], np.array([1.25]))
    assert METRICS["Wasserstein"](low, annotations) == pytest.approx(1.5)


def test_cross_entropy_of_one_answer_per_item_is_the_log_loss() -> None:
    annotations, prediction = people(SCALES["nominal"]), predicted(SCALES["nominal"])
    alone = annotations.majority()
    pairs = item_by_item(prediction, alone)
    truth, mass = [int(answers[0]) for answers, _ in pairs], [mass for _, mass in pairs]
    expected = log_loss(truth, mass, labels=range(4))
    assert METRICS["cross-entropy"](prediction, alone) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "mass", "expected"),
    [  # the annotator said "yes", the second of no, yes and never
        ("cross-entropy", [1, 0, 0], -np.log(1e-12)),
        ("JSD", [1, 0, 0], np.log(2)),
        ("Canberra", [0.5, 0.5, 0], 1 / 3 + 1),
        ("Clark", [0.5, 0.5, 0], np.sqrt(1 / 9 + 1)),
    ],
)
def test_values_by_hand(name: str, mass: list[float], expected: float) -> None:
    answers = Annotations.from_rows([("t1", "ann", "yes")], Nominal(("no", "yes", "never")))
    guess = Prediction(answers.scale, Names(["t1"]), np.array([mass], float), np.array([0]))
    assert METRICS[name](guess, answers) == pytest.approx(expected)
    perfect_score = bounds(["cross-entropy"], answers)["cross-entropy"].perfect
    assert str(perfect_score) == "0.0"  # and not -0.0


# ---- calibration, votes of members, uncertainty ----


@choices
@pytest.mark.parametrize("n_bins", [4, 15])
def test_calibration_errors_bin_by_bin(kind: str, n_bins: int) -> None:
    annotations, prediction = people(SCALES[kind]), predicted(SCALES[kind])
    pairs = share_by_share(prediction, annotations)
    sure = np.array([q.max() for _, q in pairs])
    share = np.array([p[q.argmax()] for p, q in pairs])
    expected = 0.0
    for low in np.arange(n_bins) / n_bins:
        inside = (low <= sure) & (sure < low + 1 / n_bins)
        if inside.any():
            expected += inside.mean() * abs(sure[inside].mean() - share[inside].mean())
    result = expected_calibration_error(prediction, annotations, n_bins)
    assert result == pytest.approx(expected)
    own = perfect(annotations)
    assert expected_calibration_error(own, annotations) == pytest.approx(0, abs=1e-12)
    mean = replace(own, distribution=np.tile(own.distribution.mean(axis=0), (len(own.items), 1)))
    assert expected_calibration_error(mean, annotations) == pytest.approx(0, abs=1e-12)


@choices
def test_votes_of_members_are_smoothed_and_judged_as_a_distribution(kind: str) -> None:
    annotations, prediction = people(SCALES[kind]), predicted(SCALES[kind])
    assert prediction.members is not None
    if kind == "multi-label":
        bits = (prediction.members[:, :, None] >> np.arange(3)) & 1
        mass, raw = (bits.sum(axis=0) + 0.5) / 6, bits.mean(axis=0)
    else:
        votes = np.array([np.bincount(answers, minlength=4) for answers in prediction.members.T])
        mass, raw = smoothed_votes(votes), votes / 5
        np.testing.assert_allclose(mass, (votes + 0.5) / 7)
    name = "cross-entropy of members"
    expected = METRICS["cross-entropy"](replace(prediction, distribution=mass), annotations)
    assert scores(prediction, annotations, metrics=[name]) == {name: pytest.approx(expected)}
    unsmoothed = METRICS["cross-entropy"](replace(prediction, distribution=raw), annotations)
    assert unsmoothed > 1.5 * expected  # why votes are smoothed
    alone = replace(prediction, members=None)
    assert scores(alone, annotations, metrics=[name]) == {}
    with pytest.raises(DataError, match="^the votes of members need an ensemble; these predictio"):
        METRICS[name](alone, annotations)


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
def test_entropies_are_compared_item_by_item(kind: str) -> None:
    annotations, prediction = people(SCALES[kind]), predicted(SCALES[kind])
    pairs = share_by_share(prediction, annotations)
    observed, guessed = ([entropy(pair[side], base=4) for pair in pairs] for side in (0, 1))
    correlation = METRICS["entropy correlation"]
    expected = pearsonr(observed, guessed).statistic
    assert correlation(prediction, annotations) == pytest.approx(expected)
    mass = prediction.distribution
    same = replace(prediction, distribution=np.tile(mass[0], (len(mass), 1)))
    assert np.isnan(correlation(same, annotations))
    sure = replace(prediction, distribution=np.eye(4)[mass.argmax(axis=1)])
    assert np.isnan(correlation(sure, annotations))
    assert np.isnan(correlation(prediction, annotations.majority()))


def test_entropy_and_kurtosis_equal_scipy() -> None:
    mass = np.random.default_rng(0).dirichlet(np.ones(12), 50)
    np.testing.assert_allclose(normalised_entropy(mass), entropy(mass, axis=1, base=12))
    assert np.isnan(normalised_entropy(np.ones((2, 1)))).all()
    assert np.isnan(normalised_entropy(np.full((1, 2), np.nan))).all()
    np.testing.assert_allclose(excess_kurtosis(mass), kurtosis(mass, axis=1))
    assert excess_kurtosis(np.eye(12)) == pytest.approx(np.full(12, 7.0909), abs=5e-5)
    two = np.random.default_rng(0).dirichlet(np.ones(2), 5)
    assert excess_kurtosis(two) == pytest.approx(np.full(5, -2.0))
    assert np.isnan(excess_kurtosis(np.full((1, 7), 1 / 7))).all()
    assert excess_kurtosis(np.zeros((0, 4))).shape == (0,)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "question", "mean_label", "apart", "best"),
    [
        ("HS-Brexit", "hate", 0.388, 0.354, 0.181),
        ("ArMIS", "misogyny", 0.672, 0.736, 0.220),
        ("ConvAbuse", "abusive", 0.445, 0.490, 0.093),
        ("MD-Agreement", "offensive", 0.665, 0.594, 0.340),
    ],
)
def test_reference_values_of_lewidi_2023(
    data_folder: Path, name: str, question: str, mean_label: float, apart: float, best: float
) -> None:
    from dissensus import datasets

    corpus = datasets.read(data_folder / "lewidi2023", corpus=name)
    train, dev = corpus.part("train")[question], corpus.part("dev")[question]
    mass = np.tile(train.distribution().mean(axis=0), (dev.n_items, 1))
    prior = Prediction(dev.scale, dev.items, mass, dev.scale.consensus(mass))
    assert METRICS["cross-entropy"](prior, dev) == pytest.approx(mean_label, abs=6e-4)
    # the card's distance and floor are those of the files' soft labels, which are rounded
    rounded = dev.distribution().round(3 if name == "ConvAbuse" else 2)
    mass = train.distribution().round(3 if name == "ConvAbuse" else 2).mean(axis=0)
    assert np.abs(rounded - mass).sum(axis=1).mean() == pytest.approx(apart, abs=6e-4)
    assert METRICS["Manhattan"](prior, dev) == pytest.approx(apart, abs=2.5e-3)
    assert entropy(rounded, axis=1).mean() == pytest.approx(best, abs=6e-4)
    assert bounds(["cross-entropy"], dev)["cross-entropy"].perfect == pytest.approx(
        best, abs=1.5e-3
    )
    assert METRICS["cross-entropy"](perfect(dev), dev) == pytest.approx(
        bounds(["cross-entropy"], dev)["cross-entropy"].perfect
    )
