from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import entropy, wasserstein_distance

from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.metrics import cross_entropy, floor, wasserstein
from dissensus.names import Names
from dissensus.prediction import Prediction
from dissensus.scales import Interval, MultiLabel, Nominal
from tests.metrics.crowds import SCALES, people, perfect, predicted


def item_by_item(
    prediction: Prediction, annotations: Annotations
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(stored answers, predicted distribution) of each common item."""
    found = []
    for name, mass in zip(prediction.items, prediction.distribution, strict=True):
        if name in annotations.items:
            code = annotations.items.codes([name])[0]
            answers = annotations.answer[annotations.item == code]
            if len(answers):
                found.append((answers, mass))
    return found


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
def test_cross_entropy_is_entropy_plus_divergence(kind: str) -> None:
    annotations, prediction = people(SCALES[kind]), predicted(SCALES[kind])
    expected = []
    for answers, mass in item_by_item(prediction, annotations):
        share = np.bincount(answers, minlength=len(mass)) / len(answers)
        expected.append(entropy(share) + entropy(share, mass))
    assert cross_entropy(prediction, annotations) == pytest.approx(np.mean(expected))


def test_cross_entropy_of_sets_is_the_mean_over_values() -> None:
    annotations, prediction = people(SCALES["multi-label"]), predicted(SCALES["multi-label"])
    expected = []
    for answers, mass in item_by_item(prediction, annotations):
        for value, q in enumerate(mass):
            p = np.mean((answers >> value) & 1)
            expected.append(-p * np.log(q) - (1 - p) * np.log(1 - q))
    assert cross_entropy(prediction, annotations) == pytest.approx(np.mean(expected))


def test_a_certain_mistake_costs_the_logarithm_of_the_smallest_probability() -> None:
    annotations = Annotations.from_rows([("t1", "ann", "yes")], Nominal(("no", "yes")))
    sure = Prediction(annotations.scale, Names(["t1"]), np.array([[1.0, 0.0]]), np.array([0]))
    assert cross_entropy(sure, annotations) == pytest.approx(-np.log(1e-12))


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "multi-label"])
def test_floor_is_the_cross_entropy_of_the_perfect_prediction(kind: str) -> None:
    annotations = people(SCALES[kind])
    assert floor(annotations) == pytest.approx(cross_entropy(perfect(annotations), annotations))
    some = predicted(SCALES[kind])
    shared = np.array([name in some.items for name in annotations.items])
    on_these = annotations.take(shared[annotations.item])
    assert floor(annotations, some.items) == pytest.approx(floor(on_these))
    assert floor(annotations, some.items) < cross_entropy(some, annotations)


def test_floor_of_unanimous_people_is_zero_and_not_minus_zero() -> None:
    annotations = Annotations.from_rows([("t1", "ann", "yes"), ("t1", "bob", "yes")])
    assert str(floor(annotations)) == "0.0"


def test_floor_is_not_for_ratings() -> None:
    with pytest.raises(DataError) as error:
        floor(people(SCALES["interval"]))
    assert str(error.value) == (
        "cross-entropy is not for interval answers, so there is no floor of it"
    )


def test_wasserstein_equals_scipy_on_levels() -> None:
    annotations, prediction = people(SCALES["ordinal"]), predicted(SCALES["ordinal"])
    expected = [
        wasserstein_distance(answers, np.arange(len(mass)), v_weights=mass)
        for answers, mass in item_by_item(prediction, annotations)
    ]
    assert wasserstein(prediction, annotations) == pytest.approx(np.mean(expected))


def test_wasserstein_equals_scipy_on_the_grid() -> None:
    scale = SCALES["interval"]
    assert isinstance(scale, Interval)
    annotations, prediction = people(scale), predicted(scale)
    expected = [
        wasserstein_distance(scale.grid[scale.bins(answers)], scale.grid, v_weights=mass)
        for answers, mass in item_by_item(prediction, annotations)
    ]
    assert wasserstein(prediction, annotations) == pytest.approx(np.mean(expected))
    assert wasserstein(perfect(annotations), annotations) == 0


def test_ratings_are_put_on_the_grid_of_the_prediction() -> None:
    annotations = Annotations.from_rows([("t1", "ann", 9)], Interval(0, 10, n_bins=3))
    low = Prediction(Interval(0, 10, n_bins=4), Names(["t1"]), np.eye(4)[[0]], np.array([1.25]))
    assert wasserstein(low, annotations) == pytest.approx(1.5)


def test_answers_outside_the_predicted_scale_are_refused() -> None:
    annotations = Annotations.from_rows([("t1", "ann", "no"), ("t1", "bob", "maybe")])
    sure = Prediction(Nominal(("no", "yes")), Names(["t1"]), np.array([[1.0, 0]]), np.array([0]))
    with pytest.raises(DataError) as error:
        cross_entropy(sure, annotations)
    assert str(error.value) == "row 2: no value 'maybe' on the nominal scale of 'no', 'yes'"


def test_sets_of_other_values_are_refused() -> None:
    prediction = predicted(SCALES["multi-label"])
    other = replace(people(SCALES["multi-label"]), scale=MultiLabel(("x", "y", "z")))
    with pytest.raises(DataError, match="multi-label answers cannot be read as multi-label"):
        cross_entropy(prediction, other)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "question", "mean_label", "best"),
    [
        ("HS-Brexit", "hate", 0.388, 0.181),
        ("ArMIS", "misogyny", 0.672, 0.220),
        ("ConvAbuse", "abusive", 0.445, 0.093),
        ("MD-Agreement", "offensive", 0.665, 0.340),
    ],
)
def test_reference_values_of_lewidi_2023(
    data_folder: Path, name: str, question: str, mean_label: float, best: float
) -> None:
    from dissensus import datasets

    corpus = datasets.read(data_folder / "lewidi2023", corpus=name)
    train, dev = corpus.part("train")[question], corpus.part("dev")[question]
    mass = np.tile(train.distribution().mean(axis=0), (dev.n_items, 1))
    prior = Prediction(dev.scale, dev.items, mass, dev.scale.consensus(mass))
    assert cross_entropy(prior, dev) == pytest.approx(mean_label, abs=6e-4)
    # the card's floor is that of the files' soft labels, which are rounded
    rounded = dev.distribution().round(3 if name == "ConvAbuse" else 2)
    assert entropy(rounded, axis=1).mean() == pytest.approx(best, abs=6e-4)
    assert floor(dev) == pytest.approx(best, abs=1.5e-3)
    assert cross_entropy(perfect(dev), dev) == pytest.approx(floor(dev))
