"""Aggregator: the base class of all aggregators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, ClassVar, Literal, Self

import numpy as np

from dissensus.annotations import Annotations
from dissensus.conversion import annotations_of
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.prediction import Prediction
from dissensus.scales import MultiLabel, Nominal, by_value

NEAREST = {  # aggregators for a kind of scale, to offer instead
    "nominal": "majority or dawid-skene",
    "ordinal": "median or dawid-skene",
    "interval": "mean, median or gaussian",
    "multi-label": "majority or dawid-skene",
}
CHOSEN = Nominal(("not chosen", "chosen"))  # each value of multi-label answers
Gives = Literal["share", "probability"]
OWN = (
    "confidence is the model's own, which was too high on all of six corpora with gold labels; "
    "dawid-skene calibrates it"
)


@dataclass(eq=False)
class Aggregator(ABC):
    """Settings are fields; `fit` returns self; what was learned ends in `_`.

    `distribution_` is (n_items, n_columns), nan for items without answers: of votes the share of
    the answers that each value has, of a model how probable it is that a value is the true one;
    `gives` says which. `consensus_` holds one answer for each item that has any, as annotations
    without annotators.

    Multi-label answers are aggregated value by value: `by_value_` has an aggregator for each value,
    fitted to whether it was chosen, and the consensus is the set of values that these choose.
    """

    name: ClassVar[str]
    scales: ClassVar[tuple[str, ...]] = ("nominal", "ordinal", "multi-label")  # kinds it is for
    takes_gold: ClassVar[bool] = False  # whether `fit` has the argument `gold`
    takes_skills: ClassVar[bool] = False  # whether `fit` has the argument `skills`
    reads_sets: ClassVar[bool] = False  # whether it takes multi-label answers as a whole
    needs_annotators: ClassVar[bool] = True
    gives: ClassVar[Gives] = "share"

    distribution_: np.ndarray = field(init=False, repr=False)
    consensus_: Annotations = field(init=False, repr=False)
    by_value_: dict[str, Self] = field(init=False, repr=False)  # of multi-label answers

    @abstractmethod
    def _fit(self, annotations: Annotations) -> np.ndarray:
        """Learn, and return the distribution."""

    def fit(self, annotations: Any) -> Self:
        """Aggregate the answers to one question.

        Args:
            annotations: `Annotations`, a corpus with one question, or a pandas, polars or Arrow
                table that `dissensus.read` can read.
        """
        annotations = annotations_of(annotations)
        self._check(annotations)
        if self._is_by_value(annotations):
            return self._fit_values(annotations)
        self.distribution_ = self._fit(annotations)
        self.consensus_ = self._labels(annotations)
        return self

    def _is_by_value(self, annotations: Annotations) -> bool:
        return annotations.scale.kind == "multi-label" and not self.reads_sets

    def _fit_values(
        self, annotations: Annotations, gold: Annotations | None = None, **more: Any
    ) -> Self:
        """Fit an aggregator to each value of multi-label answers."""
        scale = annotations.scale
        assert isinstance(scale, MultiLabel)
        self.by_value_ = {}
        self.distribution_ = np.empty((annotations.n_items, len(scale)))
        chosen = np.zeros(self.distribution_.shape, dtype=bool)
        golds = repeat(None) if gold is None else choices(gold, scale)
        each = zip(scale.values, choices(annotations, scale), golds, strict=False)
        for code, (value, own, label) in enumerate(each):
            known = {} if label is None else {"gold": label}
            fitted = replace(self).fit(own, **known, **more)
            self.by_value_[value] = fitted
            self.distribution_[:, code] = fitted.distribution_[:, 1]
            chosen[fitted.consensus_.item, code] = fitted.consensus_.answer == 1
        item = np.flatnonzero(annotations.per_item())
        self.consensus_ = labelled(annotations, item, scale.pack(chosen[item]))
        return self

    def fit_predict(self, annotations: Any) -> Prediction:
        """Aggregate the answers to one question: one answer and a distribution for each item.

        Items without answers are left out. `to_pandas()` of the result is a DataFrame with the
        columns item, answer, confidence, and the share or probability of each value.

        Args:
            annotations: as in `fit`.

        Example:
            >>> from dissensus.aggregation import Majority
            >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t1", "eve", "no")]
            >>> prediction = Majority().fit_predict(Annotations.from_rows(rows))
            >>> prediction.to_table().select(["item", "answer", "confidence"]).to_pylist()
            [{'item': 't1', 'answer': 'yes', 'confidence': 0.6666666666666666}]
        """
        self.fit(annotations)
        return self.prediction_

    @property
    def calibrated_(self) -> np.ndarray:
        """The distribution of `prediction_`: `distribution_`, unless a model says otherwise."""
        if hasattr(self, "by_value_"):
            return np.stack([each.calibrated_[:, 1] for each in self.by_value_.values()], axis=1)
        return self._reported()

    def _reported(self) -> np.ndarray:
        return self.distribution_

    @property
    def doubt_(self) -> str:
        """Why the confidence of `prediction_` may be wrong, in words; empty unless by a model."""
        model = self.gives == "probability" and self.needs_annotators
        return OWN if model and self.consensus_.scale.kind != "interval" else ""

    @property
    def prediction_(self) -> Prediction:
        """What was learned about the items that have answers."""
        consensus, scale = self.consensus_, self.consensus_.scale
        distribution, answer = self.calibrated_, consensus.answer
        if consensus.n_rows < len(distribution):
            distribution = distribution[consensus.item]
        if type(self)._reported is not Aggregator._reported:
            answer = scale.consensus(distribution).astype(scale.dtype)
        items = consensus.items.take(consensus.item)
        return Prediction(scale, items, distribution, answer, gives=self.gives)

    def to_table(self) -> Any:
        """One row per item with answers, as an Arrow table: `prediction_.to_table()`."""
        return self.prediction_.to_table()

    def to_pandas(self) -> Any:
        """One row per item with answers, as a pandas DataFrame."""
        return self.prediction_.to_pandas()

    def _check(self, annotations: Annotations) -> None:
        kind = annotations.scale.kind
        if kind not in self.scales:
            *kinds, last = self.scales
            known = f"{', '.join(kinds)} and {last}" if kinds else last
            raise DataError(
                f"{self.name} is for {known} answers, not {kind} ones; use {NEAREST[kind]}"
            )
        if self.needs_annotators:
            annotations.annotator_codes(self.name)
        if not annotations.n_rows:
            raise DataError(f"{self.name}: there are no answers to aggregate")

    def _labels(self, annotations: Annotations) -> Annotations:
        """The consensus of the distribution, of the items that have answers."""
        item = np.flatnonzero(annotations.per_item())
        return labelled(annotations, item, annotations.scale.consensus(self.distribution_)[item])


def labelled(annotations: Annotations, item: np.ndarray, answer: np.ndarray) -> Annotations:
    """Annotations without annotators: one answer for each of these items."""
    scale = annotations.scale
    return Annotations(
        item, None, answer.astype(scale.dtype), scale, annotations.items, Names.range(0)
    )


def gold_codes(annotations: Annotations, gold: Annotations | None) -> np.ndarray:
    """The code of each item's gold label, -1 where there is none, (n_items,)."""
    codes = np.full(annotations.n_items, -1, dtype=np.int32)
    if gold is not None:
        gold = gold.to(annotations.scale)
        at = annotations.items.find(gold.items)[gold.item]
        codes[at[at >= 0]] = gold.answer[at >= 0]
    return codes


def choices(annotations: Annotations, scale: MultiLabel) -> Iterator[Annotations]:
    """For each value in turn, whether each multi-label answer has it, as nominal answers.

    Example:
        >>> rows, scale = [("t1", "ann", "a, b"), ("t1", "bob", "b")], MultiLabel(("a", "b"))
        >>> [one.answers() for one in choices(Annotations.from_rows(rows, scale), scale)]
        [['chosen', 'not chosen'], ['chosen', 'chosen']]
    """
    for chosen in by_value(annotations.answer, len(scale)):
        yield Annotations(
            annotations.item,
            annotations.annotator,
            chosen.astype(CHOSEN.dtype),
            CHOSEN,
            annotations.items,
            annotations.annotators,
            count=annotations.count,
            repeats=annotations.repeats,
        )
