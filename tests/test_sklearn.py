"""Methods as classifiers of scikit-learn: its own checks, pipelines and searches of settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dissensus.methods import AnnotatorHeads, Logistic
from dissensus.sklearn import AnnotatorClassifier
from dissensus.training import Training

EXPECTED = {
    "check_supervised_y_2d": "y with one column is a matrix of one annotator, not a mistake",
}


def heads(**training: Any) -> AnnotatorClassifier:
    return AnnotatorClassifier(AnnotatorHeads(training=Training(**training)))


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [AnnotatorClassifier(Logistic()), heads(epochs=15, learning_rate=0.03)],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def crowd(blank: Any) -> tuple[np.ndarray, np.ndarray]:
    """Two annotators who see the sign of a feature, and one who always says "a"."""
    generator = np.random.default_rng(0)
    features = generator.normal(size=(90, 4))
    answers = np.where(features[:, :1] > 0, "a", "b").repeat(3, axis=1).astype(object)
    answers[:, 2] = "a"
    answers[generator.random(answers.shape) < 0.3] = blank
    return features, answers


@pytest.mark.parametrize("blank", [None, float("nan"), ""])
def test_a_search_of_settings_in_a_pipeline(blank: Any) -> None:
    features, answers = crowd(blank)
    pipeline = make_pipeline(StandardScaler(), heads(epochs=20, learning_rate=0.01))
    grid = {
        "annotatorclassifier__method__spread": [0.001, 1.0],
        "annotatorclassifier__method__training__batch_size": [16],
    }
    search = GridSearchCV(pipeline, grid, cv=KFold(3)).fit(features, answers)
    assert search.best_params_["annotatorclassifier__method__spread"] == 1.0
    best = search.best_estimator_[-1]
    assert best.method_.training.batch_size == 16
    predicted = best.predict_annotators(StandardScaler().fit_transform(features))
    known = answers == predicted
    assert predicted.shape == (90, 3) and (predicted[:, 2] == "a").mean() > 0.9
    n_answers = sum(value in ("a", "b") for value in answers.ravel())
    assert search.score(features, answers) == pytest.approx(known.sum() / n_answers)
