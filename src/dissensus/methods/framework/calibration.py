"""Calibration: a temperature that makes distributions more even, chosen on held-out items.

Only the label of each item is used, so that methods with and without annotators are calibrated in
the same way. `Calibrated` is the base class of such methods; `SeedEnsemble` calls the functions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError, ModelError
from dissensus.methods.framework.learned import Answers, has_answers
from dissensus.methods.framework.temperature import best_temperature, tempered_answers
from dissensus.methods.framework.trained import ExamplesCache, TrainedMethod
from dissensus.training.loop import Trainer

Labels = Callable[[Corpus, str], Annotations]


def check_held_out(share: float) -> None:
    """Refuse a share that leaves no items, or holds none out."""
    if not 0 < share < 1:
        raise ModelError(f"held_out must be a share between 0 and 1, found {share:g}")


def held_out_items(corpus: Corpus, share: float, seed: int) -> np.ndarray:
    """The items (codes) to hold out; items with the same content stay together."""
    units = corpus.units()
    order = np.random.default_rng(seed).permutation(units.max(initial=-1) + 1)
    before = np.cumsum(np.bincount(units)[order]) - np.bincount(units)[order]  # items before each
    chosen = order[before < share * corpus.n_items]
    return np.flatnonzero(np.isin(units, chosen))


def _answered(validation: Corpus | None, method: TrainedMethod) -> Corpus | None:
    """The validation corpus if it has answers; with gold labels only, it chooses epochs alone."""
    if validation is None or not has_answers(validation, method.learned_.questions):
        return None
    return validation


def without_held_out(
    run: Trainer, corpus: Corpus, validation: Corpus | None, method: TrainedMethod
) -> Trainer:
    """The training without the held-out items; unchanged with a validation corpus."""
    if _answered(validation, method) is not None:
        return run
    kept = np.setdiff1d(run.learned, _held_out(corpus, method))
    if not len(kept) or len(kept) == len(run.learned):
        raise DataError(
            f"{corpus.name}: {len(run.learned)} labelled items cannot be split to choose a "
            "temperature; pass a validation corpus, or set temperature=False"
        )
    return replace(run, learned=kept)


def temperatures(
    method: TrainedMethod, labels: Labels, corpus: Corpus, validation: Corpus | None
) -> dict[str, float]:
    """The best temperature of each question, by the labels of held-out items.

    Args:
        labels: the label of each item of a corpus that has one.
        validation: used instead of held-out items, if there is one.
    """
    validation = _answered(validation, method)
    source = corpus if validation is None else validation
    items = np.arange(source.n_items) if validation is not None else _held_out(source, method)
    notes = method.notes_
    predictions = method.predict(source.select(items=items))
    method.notes_ = notes
    by_question = {}
    for question, scale in method.learned_.questions.items():
        of_items = labels(source, question)
        known = np.isin(of_items.item, items)
        if known.any():
            at = np.searchsorted(items, of_items.item[known])
            masses = predictions[question].distribution[at]
            by_question[question] = best_temperature(scale, masses, of_items.answer[known])
    return by_question


def temperature_notes(by_question: dict[str, float]) -> list[str]:
    return [f"temperature of {question!r}: {value:.3g}" for question, value in by_question.items()]


def _held_out(corpus: Corpus, method: TrainedMethod) -> np.ndarray:
    share: float = method.get_params()["held_out"]
    return held_out_items(corpus, share, method.training.seed)


@dataclass(eq=False)
class Calibrated(TrainedMethod):
    """A method with one network whose distributions can be rescaled by a temperature.

    Args:
        temperature: whether to rescale, by the temperature at which the labels of held-out items
            are most likely (Guo et al. 2017). Answers of annotators are not used.
        held_out: the share of items, by content, that is held out for it, unless there is a
            validation corpus.
    """

    temperature: bool = False
    held_out: float = 0.1
    temperature_: dict[str, float] = field(init=False, repr=False, default_factory=dict)

    @abstractmethod
    def judged_by(self, corpus: Corpus, question: str) -> Annotations:
        """The labels that the temperature is chosen by, of the items that have one."""

    def trainers(
        self, corpus: Corpus, validation: Corpus | None, cache: ExamplesCache | None = None
    ) -> list[Trainer]:
        self.temperature_ = {}
        runs = super().trainers(corpus, validation, cache)
        if not self.temperature:
            return runs
        return [without_held_out(run, corpus, validation, self) for run in runs]

    def end_fit(self, runs: list[Trainer], corpus: Corpus, validation: Corpus | None) -> None:
        super().end_fit(runs, corpus, validation)
        if self.temperature:
            self.temperature_ = temperatures(self, self.judged_by, corpus, validation)
            self.notes_ += temperature_notes(self.temperature_)

    def predict_items(self, corpus: Corpus) -> dict[str, Answers]:
        answers = super().predict_items(corpus)
        for question, temperature in self.temperature_.items() if self._is_tempered() else ():
            scale = self.learned_.questions[question]
            answers[question] = tempered_answers(scale, answers[question], temperature)
        return answers

    def _is_tempered(self) -> bool:
        """Whether the temperature applies to the distribution that is predicted."""
        return True

    def config(self) -> dict[str, Any]:
        return super().config() | {"temperature": self.temperature_}

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.temperature_ = config["temperature"]
        super().restore(weights, config)
