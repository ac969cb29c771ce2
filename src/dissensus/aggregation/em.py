"""Expectation-maximisation over hidden true values, shared by the models of annotators."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, TypedDict

import numpy as np

from dissensus.aggregation.base import Aggregator, Gives, gold_codes
from dissensus.aggregation.item_answers import Expected, ItemAnswers, item_answers
from dissensus.annotations import AnnotationBlocks, Annotations
from dissensus.conversion import annotations_of
from dissensus.errors import DataError, listed
from dissensus.files.folders import read_json, read_table, reading, write_json, write_table, writing
from dissensus.names import Names
from dissensus.progress import progress

ONE_VALUE = ("nominal", "ordinal")  # kinds of scales with one value for each answer
ON = "on a cluster; dawid-skene, one-coin and mace count nominal and ordinal ones there"
TINY = 1e-10  # the smallest probability: what never happened may still happen


class _Front(TypedDict):
    """The content of aggregation.json."""

    method: str
    values: list[str]


@dataclass(eq=False)
class HiddenTruth(Aggregator):
    """A model of how annotators answer, given a true value that is not observed.

    A value of the scale that no annotator gave, and no gold label has, is never the true one: its
    probability is 0.

    Args:
        iterations: the largest number of iterations.
        tolerance: it stops when no probability changes by as much; 0 makes all iterations.
    """

    iterations: int = 100
    tolerance: float = 1e-6

    gives: ClassVar[Gives] = "probability"
    takes_gold: ClassVar[bool] = True
    state: ClassVar[str] = "counts_"  # the array that says how each annotator answers
    annotators_: Names = field(init=False, repr=False)
    values_: tuple[str, ...] = field(init=False, repr=False)
    log_likelihood_: list[float] = field(init=False, repr=False)  # after each iteration
    n_iterations_: int = field(init=False, repr=False)
    prior_: np.ndarray = field(init=False, repr=False)  # (n_values,)
    _known: np.ndarray = field(init=False, repr=False)
    _history: HiddenTruth | None = field(init=False, repr=False, default=None)
    _cluster: Any | None = field(init=False, repr=False, default=None)

    # ---- what a model writes ----

    @abstractmethod
    def _begin(self, answers: Any, voted: Expected) -> None:
        """The first parameters, from the shares of votes of each cell."""

    @abstractmethod
    def _pass(self, answers: Any) -> tuple[float, float]:
        """New posteriors and parameters, in place; log-likelihood and largest change."""

    @property
    def _watch(self) -> bool:
        return self.tolerance > 0

    @abstractmethod
    def _shape(self, n_values: int) -> tuple[int, ...]:
        """Of an annotator's part of the state."""

    # ---- the algorithm ----

    def fit(
        self,
        annotations: Any,
        gold: Annotations | None = None,
        history: HiddenTruth | None = None,
        *,
        cluster: Any | None = None,
    ) -> Self:
        """Aggregate the answers to one question.

        Args:
            annotations: `Annotations`, a corpus with one question, or a pandas, polars or Arrow
                table that `dissensus.read` can read.
            gold: labels that are known for some items (by name); they stay as they are, and
                teach how each annotator answers.
            history: the same model, fitted on earlier answers; what it counted for annotators
                of the same name is added to what is counted here.
            cluster: a Dask client whose workers count a part of the items each
                (`dissensus.cluster.connect`).
        """
        self._cluster = cluster
        if not isinstance(annotations, AnnotationBlocks):
            annotations = annotations_of(annotations)
        if cluster is not None and not (self.in_blocks and annotations.scale.kind in ONE_VALUE):
            raise DataError(f"{self.name} does not count {annotations.scale.kind} answers {ON}")
        if not isinstance(annotations, AnnotationBlocks) and self._is_by_value(annotations):
            if history is not None:
                raise DataError(f"{self.name}: a history of multi-label answers cannot be used")
            self._check(annotations)
            return self._fit_values(annotations, gold)
        self._known = gold_codes(annotations, gold)
        if history is not None and type(history) is not type(self):
            raise DataError(f"{self.name}: the history is of another model, {history.name}")
        values = getattr(annotations.scale, "values", ())
        if history is not None and history.values_ != values:
            raise DataError(
                f"{self.name}: the history is about {listed(history.values_, 20)}, the answers "
                f"about {listed(values, 20)}"
            )
        self._history = history
        return super().fit(annotations)

    def _fit(self, annotations: Annotations) -> np.ndarray:
        self.annotators_ = annotations.annotators
        self.values_ = annotations.scale.values  # type: ignore[attr-defined]
        with closing(item_answers(annotations, self.name, self._known, self._cluster)) as answers:
            self._learn(answers)
            return answers.distribution()

    def _learn(self, answers: ItemAnswers) -> None:
        voted = answers.voted()
        self.prior_ = shares(voted.mass)
        self._begin(answers, voted)
        self.log_likelihood_ = []
        with progress(self.name, self.iterations) as advance:
            for n_iterations in range(1, self.iterations + 1):
                likelihood, change = self._pass(answers)
                self.log_likelihood_.append(likelihood)
                self.n_iterations_ = n_iterations
                advance(1)
                if change < self.tolerance:
                    break

    def _from_history(self, otherwise: np.ndarray, name: str) -> np.ndarray:
        """The state of annotators of the same name in the history, or else `otherwise`.

        Args:
            otherwise: for annotators without a history, (n_annotators, ...).
        """
        values = otherwise.copy()
        if self._history is not None:
            at = self._history.annotators_.find(self.annotators_)
            earlier = getattr(self._history, name)
            values[at >= 0] = earlier[at[at >= 0]]
        return values

    # ---- a folder ----

    def save(self, path: str | Path) -> None:
        """Write what was learned of annotators as a folder; `restore` reads it back."""
        with writing(path, "aggregation") as folder:
            state = getattr(self, self.state)
            flat = state.reshape(len(state), -1)
            columns = {"annotator": self.annotators_.array, "state": list(flat)}
            write_table(folder / "annotators.parquet", columns)
            write_json(folder, "aggregation", {"method": self.name, "values": list(self.values_)})

    def restore(self, path: str | Path) -> Self:
        """Take back what `save` wrote, to serve as a history."""
        front = read_json(path, "aggregation", _Front)
        if front.get("method") != self.name:
            raise DataError(f"{path}: holds {front.get('method')!r}, not {self.name!r}")
        with reading(Path(path)):
            table = read_table(Path(path) / "annotators.parquet")
            self.annotators_ = Names(table["annotator"])
            self.values_ = tuple(front["values"])
            state = np.stack(table["state"].to_numpy())
            setattr(self, self.state, state.reshape(len(state), *self._shape(len(self.values_))))
        return self


def shares(mass: np.ndarray) -> np.ndarray:
    """Masses as shares; a value without mass has none, and no answer can give it any."""
    return mass / mass.sum()


def alike(mass: np.ndarray) -> np.ndarray:
    """The same share for every value that has mass."""
    return shares((mass > 0).astype(float))
