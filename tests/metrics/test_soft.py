from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy
from sklearn.metrics import log_loss

from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.metrics import METRICS, bounds
from dissensus.names import Names
from dissensus.prediction import Prediction
from dissensus.scales import Interval, MultiLabel, Nominal
from tests.metrics.crowds import SCALES, people, perfect, predicted
from tests.metrics.pairs import item_by_item, share_by_share

cross_entropy = METRICS["cross-entropy"]
jsd = METRICS["JSD"]
jsd_base_2 = METRICS["JSD, base 2"]
kl = METRICS["KL"]
manhattan = METRICS["Manhattan"]
po_jsd = METRICS["PO-JSD"]
reverse_kl = METRICS["KL, reversed"]


def floor(annotations: Annotations, items: Names | None = None) -> float:
    """The cross-entropy of the perfect prediction."""
    return bounds(["cross-entropy"], annotations, items)["cross-entropy"].perfect


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


def test_cross_entropy_of_one_answer_per_item_is_the_log_loss() -> None:
    annotations, prediction = people(SCALES["nominal"]), predicted(SCALES["nominal"])
    alone = annotations.majority()
    pairs = item_by_item(prediction, alone)
    truth, mass = [int(answers[0]) for answers, _ in pairs], [mass for _, mass in pairs]
    expected = log_loss(truth, mass, labels=range(4))
    assert cross_entropy(prediction, alone) == pytest.approx(expected)


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


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "multi-label"])
def test_divergences_equal_scipy(kind: str) -> None:
    annotations, prediction = people(SCALES[kind]), predicted(SCALES[kind])
    pairs = share_by_share(prediction, annotations)
    expected = np.mean([entropy(p, q) for p, q in pairs])
    assert kl(prediction, annotations) == pytest.approx(expected)
    assert kl(prediction, annotations) == pytest.approx(
        cross_entropy(prediction, annotations) - floor(annotations, prediction.items)
    )
    expected = np.mean([jensenshannon(p, q) ** 2 for p, q in pairs])
    assert jsd(prediction, annotations) == pytest.approx(expected)
    expected = np.mean([jensenshannon(p, q, base=2) ** 2 for p, q in pairs])
    assert jsd_base_2(prediction, annotations) == pytest.approx(expected)
    assert po_jsd(prediction, annotations) == pytest.approx(1 - expected)


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "multi-label"])
def test_reversed_divergence_counts_what_nobody_gave_as_the_smallest_share(kind: str) -> None:
    annotations, prediction = people(SCALES[kind]), predicted(SCALES[kind])
    expected = [
        (q * np.log(q / np.maximum(p, 1e-12))).sum()
        for p, q in share_by_share(prediction, annotations)
    ]
    assert reverse_kl(prediction, annotations) == pytest.approx(np.mean(expected))
    unanimous = Annotations.from_rows([("t1", "ann", "yes")], Nominal(("no", "yes")))
    hundredth = np.array([[0.01, 0.99]])
    guess = Prediction(unanimous.scale, unanimous.items, hundredth, np.array([1]))
    assert reverse_kl(guess, unanimous) == pytest.approx(0.28 - entropy([0.01, 0.99]), abs=5e-3)


def test_divergence_of_ratings_is_over_the_grid() -> None:
    scale = SCALES["interval"]
    assert isinstance(scale, Interval)
    annotations, prediction = people(scale), predicted(scale)
    expected = [
        jensenshannon(np.bincount(scale.bins(answers), minlength=8), mass) ** 2
        for answers, mass in item_by_item(prediction, annotations)
    ]
    assert jsd(prediction, annotations) == pytest.approx(np.mean(expected))


def test_opposite_certainties_are_ln_2_apart() -> None:
    annotations = Annotations.from_rows([("t1", "ann", "yes")], Nominal(("no", "yes")))
    sure = Prediction(annotations.scale, Names(["t1"]), np.array([[1.0, 0]]), np.array([0]))
    assert jsd(sure, annotations) == pytest.approx(np.log(2))
    assert (jsd_base_2(sure, annotations), po_jsd(sure, annotations)) == pytest.approx((1, 0))


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
    assert cross_entropy(prior, dev) == pytest.approx(mean_label, abs=6e-4)
    # the card's distance and floor are those of the files' soft labels, which are rounded
    rounded = dev.distribution().round(3 if name == "ConvAbuse" else 2)
    mass = train.distribution().round(3 if name == "ConvAbuse" else 2).mean(axis=0)
    assert np.abs(rounded - mass).sum(axis=1).mean() == pytest.approx(apart, abs=6e-4)
    assert manhattan(prior, dev) == pytest.approx(apart, abs=2.5e-3)
    assert entropy(rounded, axis=1).mean() == pytest.approx(best, abs=6e-4)
    assert floor(dev) == pytest.approx(best, abs=1.5e-3)
    assert cross_entropy(perfect(dev), dev) == pytest.approx(floor(dev))
