"""The shared tasks' own definitions, by the loops of their papers and the figures of the cards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.metrics import METRICS
from dissensus.prediction import ByAnnotator, Prediction
from tests.metrics.crowds import SCALES, pairs_of, people, predicted, rows_of

lewidi2023_cross_entropy = METRICS["LeWiDi 2023 cross-entropy"]
lewidi2025_perspectivist = METRICS["LeWiDi 2025 perspectivist"]
lewidi2025_soft = METRICS["LeWiDi 2025 soft"]
manhattan = METRICS["Manhattan"]
micro_f1 = METRICS["micro-F1"]
wasserstein = METRICS["Wasserstein"]


def test_soft_score_of_2025_by_kind() -> None:
    pairs = {kind: (predicted(SCALES[kind]), people(SCALES[kind])) for kind in SCALES}
    assert lewidi2025_soft(*pairs["nominal"]) == manhattan(*pairs["nominal"])
    assert lewidi2025_soft(*pairs["ordinal"]) == wasserstein(*pairs["ordinal"])
    assert lewidi2025_soft(*pairs["multi-label"]) == manhattan(*pairs["multi-label"])


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "multi-label"])
def test_perspectivist_score_of_2025_is_a_mean_over_items(kind: str) -> None:
    annotations, prediction = people(SCALES[kind]), predicted(SCALES[kind])
    requested = pairs_of(prediction)
    definitions: dict[str, Callable[[float, float], float]] = {
        "nominal": lambda a, b: float(a != b),
        "ordinal": lambda a, b: abs(a - b) / 4,
        "multi-label": lambda a, b: bin(int(a) ^ int(b)).count("1") / 3,
    }
    wrong = definitions[kind]
    of = defaultdict(list)
    for item, annotator, answer in rows_of(annotations):
        if (item, annotator) in requested:
            of[item].append(wrong(answer, requested[item, annotator]))
    expected = np.mean([np.mean(parts) for parts in of.values()])
    assert len({len(parts) for parts in of.values()}) > 1
    assert lewidi2025_perspectivist(prediction, annotations) == pytest.approx(expected)


def constant(annotations: Annotations, mass: np.ndarray) -> Prediction:
    tiled = np.tile(mass, (annotations.n_items, 1))
    consensus = annotations.scale.consensus(tiled)
    return Prediction(annotations.scale, annotations.items, tiled, consensus)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "question", "surprise", "right"),
    [
        ("HS-Brexit", "hate", 2.715, 0.887),
        ("ArMIS", "misogyny", 8.232, 0.596),
        ("ConvAbuse", "abusive", 3.382, 0.836),
        ("MD-Agreement", "offensive", 7.737, 0.649),
    ],
)
def test_majority_class_of_2023(
    data_folder: Path, name: str, question: str, surprise: float, right: float
) -> None:
    corpus = read(data_folder / "lewidi2023", name)
    train, dev = corpus.part("train"), corpus.part("dev")
    labels = np.bincount(train.gold[question].answer, minlength=2)
    majority = constant(dev[question], np.eye(2)[labels.argmax()])
    result = lewidi2023_cross_entropy(majority, dev[question])
    assert result == pytest.approx(surprise, rel=0.01)  # the card used rounded soft labels
    assert micro_f1(majority, dev.gold[question]) == pytest.approx(right, abs=6e-4)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "question", "uniform", "mean_label"),
    [
        ("CSC", "sarcasm", 1.338, None),
        ("MP", "irony", 0.618, None),
        ("Paraphrase", "paraphrase", 2.747, 2.747),
        ("VariErrNLI", "inference", 0.804, 0.653),
    ],
)
def test_soft_baselines_of_2025(
    data_folder: Path, name: str, question: str, uniform: float, mean_label: float | None
) -> None:
    corpus = read(data_folder / "lewidi2025", name)
    dev = corpus.part("dev")[question]
    width = dev.scale.n_columns
    even = np.full(width, 0.5 if dev.scale.kind == "multi-label" else 1 / width)
    assert lewidi2025_soft(constant(dev, even), dev) == pytest.approx(uniform, abs=6e-4)
    if mean_label is not None:
        mass = corpus.part("train")[question].distribution().mean(axis=0)
        assert lewidi2025_soft(constant(dev, mass), dev) == pytest.approx(mean_label, abs=6e-4)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "question", "over_answers", "over_items"),
    [("Paraphrase", "paraphrase", 0.337, 0.337), ("VariErrNLI", "inference", 0.319, 0.315)],
)
def test_most_frequent_answers_of_2025(
    data_folder: Path, name: str, question: str, over_answers: float, over_items: float
) -> None:
    """The card's figures are means over answers, the task's over items; only VariErrNLI's items
    have different numbers of them."""
    corpus = read(data_folder / "lewidi2025", name)
    train, dev = corpus.part("train")[question], corpus.part("dev")[question]
    scale, who = train.scale, train.annotator_codes("here")
    usual = np.zeros(dev.n_annotators, dtype=scale.dtype)
    for code, person in enumerate(dev.annotators):
        given = train.answer[who == train.annotators.find([person])[0]]
        shares = scale.one_hot(given).mean(axis=0)
        usual[code] = scale.consensus(shares[None])[0] if name == "VariErrNLI" else shares.argmax()
    requested = ByAnnotator(
        dev.item, dev.annotator_codes("here"), dev.annotators, usual[dev.annotator_codes("here")]
    )
    prediction = Prediction(
        scale, dev.items, np.nan_to_num(dev.distribution()), np.zeros(dev.n_items), requested
    )
    assert lewidi2025_perspectivist(prediction, dev) == pytest.approx(over_items, abs=6e-4)
    one_answer_each = [dev.take(np.array([row])) for row in range(dev.n_rows)]
    results = [lewidi2025_perspectivist(prediction, answer) for answer in one_answer_each]
    assert np.mean(results) == pytest.approx(over_answers, abs=6e-4)


def read(folder: Path, name: str) -> Corpus:
    from dissensus import datasets

    return datasets.read(folder, corpus=name)
