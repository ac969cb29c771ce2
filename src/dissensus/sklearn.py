"""Methods as classifiers of scikit-learn, for pipelines and searches of settings."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.methods import build, chosen_method
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.settings import changed
from dissensus.names import Names
from dissensus.scales import Nominal

QUESTION = "answer"


class AnnotatorClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns classes from the answers of several annotators.

    Args:
        method: a method, or its name; by default the one that fits the answers
            (`dissensus.methods.chosen_method`). In searches its settings are called
            "method__training__epochs".
        encoder: of texts, as for methods.

    Attributes: `classes_`; `annotators_`, their names; `method_`, the fitted method.

    Example:
        >>> features = np.repeat(np.eye(2), 20, axis=0)
        >>> answers = np.array([["yes", "yes", ""]] * 20 + [["no", "yes", "no"]] * 20)
        >>> classifier = AnnotatorClassifier("annotator-logistic").fit(features, answers)
        >>> classifier.predict(features[[0, 39]]).tolist()
        ['yes', 'no']
        >>> classifier.predict_annotators(features[39:]).tolist()
        [['no', 'yes', 'no']]
    """

    def __init__(self, method: Method | str | None = None, encoder: Any = "auto") -> None:
        self.method = method
        self.encoder = encoder

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803, as in scikit-learn
        """Learn from features (n_items, width) or texts, and answers.

        Args:
            y: (n_items, n_annotators) with None, nan or "" where an annotator did not answer; the
                columns of a DataFrame name annotators. Or one label for each item, (n_items,).
                Searches of scikit-learn accept None and nan with `cv=KFold(5)`, not `cv=5`.
        """
        if y is None:
            raise DataError("AnnotatorClassifier requires y to be passed, but the target y is None")
        contents = self._contents(X, reset=True)
        names = getattr(y, "columns", None)
        matrix = np.asarray(y, dtype=object)
        several = matrix.ndim == 2
        if not several:
            labels = column_or_1d(y)
            assert_all_finite(labels, input_name="y")
            check_classification_targets(labels)
            matrix = np.asarray(labels, dtype=object)[:, None]
        if len(matrix) != len(contents[1]):
            raise DataError(f"X has {len(contents[1])} items, y {len(matrix)}: they must be equal")
        item, annotator = np.nonzero(~_blank(matrix))
        self.classes_, answer = np.unique(
            np.array(matrix[item, annotator].tolist()), return_inverse=True
        )
        if not len(self.classes_):
            raise DataError("y has no answers: all of them are None, nan or empty")
        scale = Nominal(tuple(f"{code} {value}" for code, value in enumerate(self.classes_)))
        columns = range(matrix.shape[1]) if names is None else names
        self.annotators_ = np.array([str(name) for name in columns])
        method = build(self.method) if isinstance(self.method, str) else self.method
        known = several or (method is not None and method.individual)
        items = Names.range(len(matrix))
        rows = Annotations.from_arrays(
            item, annotator if known else None, answer, scale,
            items=items, annotators=Names(self.annotators_.tolist()) if known else None,
        )  # fmt: skip
        corpus = _corpus(contents, {QUESTION: rows})
        if method is None:
            method = build(chosen_method(corpus).method)
        own = {} if self.encoder == "auto" else {"encoder": self.encoder}
        self.method_ = changed(method, own).fit(corpus)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:  # noqa: N803
        """The distribution of the answers of all annotators, (n_items, n_classes)."""
        check_is_fitted(self)
        corpus = _corpus(self._contents(X, reset=False), {})
        predicted = self.method_.predict(corpus)[QUESTION]
        return np.asarray(predicted.distribution, dtype=float)

    def predict(self, X: Any) -> np.ndarray:  # noqa: N803
        """The most probable class of each item, (n_items,)."""
        code = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[code])

    def predict_annotators(self, X: Any) -> np.ndarray:  # noqa: N803
        """The answer of each annotator to each item, (n_items, n_annotators)."""
        check_is_fitted(self)
        corpus = _corpus(self._contents(X, reset=False), {})
        n_annotators = len(self.annotators_)
        if not self.method_.individual:
            return np.repeat(self.predict(X)[:, None], n_annotators, axis=1)
        every = self.annotators_.tolist()
        pairs = self.method_.predict(corpus, annotators=every)[QUESTION].by_annotator
        assert pairs is not None
        return np.asarray(self.classes_[pairs.value.reshape(-1, n_annotators)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:  # noqa: N803
        """The share of answers that are predicted right, of each annotator; of labels, the
        accuracy."""
        matrix = np.asarray(y, dtype=object)
        if matrix.ndim != 2:
            return float(super().score(X, y, sample_weight))
        right = matrix == self.predict_annotators(X)
        weight = np.ones(len(matrix)) if sample_weight is None else np.asarray(sample_weight)
        return float(np.average(right, weights=weight[:, None] * ~_blank(matrix)))

    def _contents(self, X: Any, reset: bool) -> tuple[Contents, np.ndarray]:  # noqa: N803
        """The distinct texts or vectors, and the code of each item's."""
        column = list(X) if hasattr(X, "__iter__") and len(getattr(X, "shape", "1")) == 1 else []
        if column and all(isinstance(text, str) for text in column):
            return Contents.distinct("text", column)
        return Contents.distinct("features", validate_data(self, X, reset=reset, dtype=np.float64))


def _corpus(contents: tuple[Contents, np.ndarray], questions: dict[str, Annotations]) -> Corpus:
    annotators = next((rows.annotators for rows in questions.values()), Names([]))
    items = Names.range(len(contents[1]))
    role = contents[0].kind
    return Corpus.build("X", items, questions, annotators=annotators, contents={role: contents})


def _blank(matrix: np.ndarray) -> np.ndarray:
    """Where there is no answer: None, nan, NaT, pandas' NA, or an empty text."""

    def blank(value: Any) -> bool:
        no_value = value is None or type(value).__name__ in ("NAType", "NaTType")
        return no_value or value != value or (isinstance(value, str) and not value)

    return np.frompyfunc(blank, 1, 1)(matrix).astype(bool)
