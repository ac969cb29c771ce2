"""Settings are chosen by answers that are weighed by the competence of their annotators."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dissensus import Annotations
from dissensus.evaluation import compare, k_fold
from dissensus.evaluation.execution.task import weighed_cross_entropy, weighed_questions
from dissensus.methods import AnnotatorHeads
from dissensus.prediction import ByAnnotator, Prediction
from dissensus.training import Training
from tests.crowds import confused_crowd

QUICK = Training(epochs=2, device="cpu")


def test_weighed_cross_entropy() -> None:
    rows = [("t1", "ann", "no"), ("t1", "bob", "yes"), ("t2", "ann", "yes")]
    answers = Annotations.from_rows(rows)
    of_items = np.array([[0.8, 0.2], [0.5, 0.5]])
    of_pairs = np.array([[0.9, 0.1], [0.3, 0.7], [0.4, 0.6]])
    pairs = ByAnnotator(
        answers.item, answers.annotator_codes("test"), answers.annotators,
        of_pairs.argmax(axis=1), of_pairs,
    )  # fmt: skip
    prediction = Prediction(answers.scale, answers.items, of_items, np.array([0, 0]), pairs)
    weight = np.array([3.0, 1.0])
    for by_annotator, probabilities in ((False, (0.8, 0.2, 0.5)), (True, (0.9, 0.7, 0.6))):
        surprise = -np.log(probabilities)
        expected = (3 * surprise[0] + surprise[1] + 3 * surprise[2]) / 7
        score = weighed_cross_entropy(prediction, answers, weight, by_annotator=by_annotator)
        assert score == pytest.approx(expected)
    nobody = weighed_cross_entropy(prediction, answers, np.zeros(2), by_annotator=False)
    assert math.isnan(nobody)


def test_answers_are_weighed_where_there_is_a_truth() -> None:
    corpus, _ = confused_crowd(40)
    assert weighed_questions(corpus, ["q"], None) == ("q",)
    assert weighed_questions(corpus, ["q"], "accuracy") == ()
    assert weighed_questions(replace(corpus, gold={}), ["q"], None) == ()


def test_settings_are_chosen_by_the_weighed_score(tmp_path: Path) -> None:
    corpus, _ = confused_crowd(60)
    method = AnnotatorHeads(encoder="features", training=QUICK)
    results = compare(
        corpus, {"heads": method}, out=tmp_path, folds=k_fold(corpus, 2)[:1], seeds=1, trials=2,
        choices={"heads": {"training.learning_rate": (0.1,)}}, inner_folds=2, processes=1,
        metrics=["accuracy (gold)"],
    )  # fmt: skip
    [fit] = results.fits
    assert fit.status == "ok", fit.reason
    scores = [one["scores"]["q"]["cross-entropy"] for one in fit.tried]
    best = fit.tried[int(np.argmin(scores))]["settings"]
    assert fit.settings["training.learning_rate"] == best["training.learning_rate"]
