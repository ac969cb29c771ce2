"""Temperature: how even a distribution is, chosen by the labels of items that were set aside.

Nothing but one label per item is looked at, so that methods which see no annotators, and those
which do, can be calibrated alike: `Calibrated`, and `SeedEnsemble` in its own way.
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
from dissensus.methods.framework.answers import Answers
from dissensus.methods.framework.temperature import best_temperature, tempered_answers
from dissensus.methods.framework.trained import ExamplesCache, TrainedMethod
from dissensus.training.loop import Trainer

Labels = Callable[[Corpus, str], Annotations]


def check_held_out(share: float) -> None:
    """Refuse a share that leaves nothing, or sets nothing aside."""
    if not 0 < share < 1:
        raise ModelError(f"held_out must be a share between 0 and 1, found {share:g}")


def set_aside(corpus: Corpus, share: float, seed: int) -> np.ndarray:
    """The items (codes) to hold out, by content."""
    units = corpus.units()
    order = np.random.default_rng(seed).permutation(units.max(initial=-1) + 1)
    before = np.cumsum(np.bincount(units)[order]) - np.bincount(units)[order]  # items before each
    chosen = order[before < share * corpus.n_items]
    return np.flatnonzero(np.isin(units, chosen))


def without_aside(
    run: Trainer, corpus: Corpus, validation: Corpus | None, method: TrainedMethod
) -> Trainer:
    """The training without the held-out items; unchanged with a validation corpus."""
    if validation is not None:
        return run
    left = np.setdiff1d(run.learned, _aside(corpus, method))
    if not len(left) or len(left) == len(run.learned):
        raise DataError(
            f"{corpus.name}: {len(run.learned)} labelled items cannot be split to choose a "
            "temperature; pass a validation corpus, or set temperature=False"
        )
    return replace(run, learned=left)


def temperatures(
    method: TrainedMethod, labels: Labels, corpus: Corpus, validation: Corpus | None
) -> dict[str, float]:
    """The best temperature of each question, by the labels of held-out items.

    Args:
        labels: the label of each item of a corpus that has one.
        validation: used instead of held-out items, if there is one.
    """
    source = corpus if validation is None else validation
    aside = np.arange(source.n_items) if validation is not None else _aside(source, method)
    notes = method.notes_
    predictions = method.predict(source.select(items=aside))
    method.notes_ = notes
    by_question = {}
    for question, scale in method.learned_.questions.items():
        given_labels = labels(source, question)
        known = np.isin(given_labels.item, aside)
        if known.any():
            at = np.searchsorted(aside, given_labels.item[known])
            masses = predictions[question].distribution[at]
            by_question[question] = best_temperature(scale, masses, given_labels.answer[known])
    return by_question


def temperature_notes(by_question: dict[str, float]) -> list[str]:
    return [f"temperature of {question!r}: {value:.3g}" for question, value in by_question.items()]


def _aside(corpus: Corpus, method: TrainedMethod) -> np.ndarray:
    share: float = method.get_params()["held_out"]
    return set_aside(corpus, share, method.training.seed)


@dataclass(eq=False)
class Calibrated(TrainedMethod):
    """A method with one network whose distribution can be made more even by one number.

    Args:
        temperature: whether it is, so that the labels of items that were set aside are as likely
            as can be; annotators' answers are not looked at (Guo et al. 2017).
        held_out: the share of items, by content, that is set aside for it; a validation corpus
            takes their place.
    """

    temperature: bool = False
    held_out: float = 0.1
    temperature_: dict[str, float] = field(init=False, repr=False, default_factory=dict)

    @abstractmethod
    def judged_by(self, corpus: Corpus, question: str) -> Annotations:
        """The one label of each item that has one."""

    def trainers(
        self, corpus: Corpus, validation: Corpus | None, cache: ExamplesCache | None = None
    ) -> list[Trainer]:
        self.temperature_ = {}
        runs = super().trainers(corpus, validation, cache)
        if not self.temperature:
            return runs
        return [without_aside(run, corpus, validation, self) for run in runs]

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
        """Whether what is predicted is what the temperature was chosen for."""
        return True

    def config(self) -> dict[str, Any]:
        return super().config() | {"temperature": self.temperature_}

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.temperature_ = config["temperature"]
        super().restore(weights, config)
