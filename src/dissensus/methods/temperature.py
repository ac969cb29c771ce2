"""Temperature: how even a distribution is, chosen by the labels of items that were set aside.

Nothing but one label per item is looked at, so that methods which see no annotators, and those
which do, can be calibrated alike: `Calibrated`, and `SeedEnsemble` in its own way.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError, ModelError
from dissensus.methods.base import Answers
from dissensus.methods.trained import LaidOut, TrainedMethod
from dissensus.scales import Interval, MultiLabel, Ordinal, Scale
from dissensus.training.loop import Run

LOWEST, HIGHEST = 0.05, 20.0  # of all temperatures
HALVINGS = 60  # of the range: as exact as floating point
ROUNDING = 4 * float(np.finfo(float).eps)  # of sums, as a share of what is added up
Labels = Callable[[Corpus, str], Annotations]


def check_held_out(share: float) -> None:
    """Refuse a share that leaves nothing, or sets nothing aside."""
    if not 0 < share < 1:
        raise ModelError(f"held_out is a share between 0 and 1, found {share:g}")


# ---- a distribution ----


def tempered(scale: Scale, distribution: np.ndarray, temperature: float) -> np.ndarray:
    """The distribution to the power of 1 / temperature: above 1 more even, below 1 less.

    Of a softmax that is dividing what goes into it by the temperature; of a set the same for yes
    and no of each value; of a normal density its variance times the temperature.

    Args:
        distribution: (n, n_columns).

    Example:
        >>> from dissensus import Nominal
        >>> tempered(Nominal(("no", "yes")), np.array([[0.9, 0.1]]), 2.0).round(3).tolist()
        [[0.75, 0.25]]
    """
    masses = _softmax(_log_masses(scale, distribution) / temperature)
    return masses[..., 1] if isinstance(scale, MultiLabel) else masses


def tempered_answers(scale: Scale, answers: Answers, temperature: float) -> Answers:
    """The same for answers; of all that are expected, only a median can change."""
    distribution = tempered(scale, answers.distribution, temperature)
    value = answers.value
    if isinstance(scale, Ordinal):
        value = scale.consensus(distribution).astype(scale.dtype)
    return replace(answers, distribution=distribution, value=value)


def best_temperature(
    scale: Scale, distribution: np.ndarray, label: np.ndarray, lowest: float = 1.0
) -> float:
    """The temperature, up to 20, at which the labels are likeliest.

    The likelihood has one highest point in 1 / temperature, where its slope is 0. Where all
    temperatures are equally good, as for labels of distributions that are even, it is 1.

    Args:
        distribution: (n, n_columns).
        label: as the scale stores answers, (n,).
        lowest: of all temperatures, from 0.05. Below 1 a distribution becomes surer; but people
            are not surer than the one label that they are summed up in, and a few labels that
            happen to be all right would have it so.
    """
    logs, said = _log_masses(scale, distribution), _columns(scale, label)
    wanted = np.take_along_axis(logs, said[..., None], axis=-1)[..., 0].sum()

    def slope(temperature: float) -> float:
        """Above 0 where the labels become likelier as the temperature falls."""
        return float(wanted - (_softmax(logs / temperature) * logs).sum())

    if abs(slope(1)) <= ROUNDING * np.abs(logs).sum():
        return 1.0
    low, high = math.log(max(lowest, LOWEST)), math.log(HIGHEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(math.exp(middle)) > 0 else (middle, high)
    return math.exp((low + high) / 2)


def _log_masses(scale: Scale, distribution: np.ndarray) -> np.ndarray:
    """(n, n_columns); of sets those of no and yes, (n, n_values, 2)."""
    if isinstance(scale, MultiLabel):
        distribution = np.stack([1 - distribution, distribution], axis=-1)
    return np.log(distribution.clip(np.finfo(float).tiny))


def _columns(scale: Scale, label: np.ndarray) -> np.ndarray:
    """The column of each label, (n,); of sets 0 or 1 for each value, (n, n_values)."""
    if isinstance(scale, Interval):
        return scale.bins(label)
    if isinstance(scale, MultiLabel):
        return scale.one_hot(label).astype(np.int64)
    return label.astype(np.int64)


def _softmax(logs: np.ndarray) -> np.ndarray:
    powers = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


# ---- a fit ----


def set_aside(corpus: Corpus, share: float, seed: int) -> np.ndarray:
    """Items (codes) that no network learns from, whole contents of them."""
    units = corpus.units()
    order = np.random.default_rng(seed).permutation(units.max(initial=-1) + 1)
    before = np.cumsum(np.bincount(units)[order]) - np.bincount(units)[order]  # items before each
    chosen = order[before < share * corpus.n_items]
    return np.flatnonzero(np.isin(units, chosen))


def without_aside(
    run: Run, corpus: Corpus, validation: Corpus | None, method: TrainedMethod
) -> Run:
    """A training without the items that its method sets aside, if it has to."""
    if validation is not None:
        return run
    left = np.setdiff1d(run.learned, _aside(corpus, method))
    if not len(left) or len(left) == len(run.learned):
        raise DataError(
            f"{corpus.name}: {len(run.learned)} labelled items cannot be split to choose a "
            "temperature; give a validation corpus, or do without (temperature=False)"
        )
    return replace(run, learned=left)


def temperatures(
    method: TrainedMethod, labels: Labels, corpus: Corpus, validation: Corpus | None
) -> dict[str, float]:
    """The best temperature of each question, by the labels of a trained method's items aside.

    Args:
        labels: the label of each item of a corpus that has one.
        validation: judged by instead, if there is one.
    """
    held = corpus if validation is None else validation
    aside = np.arange(held.n_items) if validation is not None else _aside(held, method)
    notes = method.notes_
    said = method.predict(held.select(items=aside))
    method.notes_ = notes
    found = {}
    for question, scale in method.learned_.questions.items():
        given = labels(held, question)
        known = np.isin(given.item, aside)
        if known.any():
            at = np.searchsorted(aside, given.item[known])
            masses = said[question].distribution[at]
            found[question] = best_temperature(scale, masses, given.answer[known])
    return found


def temperature_notes(found: dict[str, float]) -> list[str]:
    return [f"temperature of {question!r}: {value:.3g}" for question, value in found.items()]


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

    def _runs(
        self, corpus: Corpus, validation: Corpus | None, laid_out: LaidOut | None = None
    ) -> list[Run]:
        self.temperature_ = {}
        runs = super()._runs(corpus, validation, laid_out)
        if not self.temperature:
            return runs
        return [without_aside(run, corpus, validation, self) for run in runs]

    def _end(self, runs: list[Run], corpus: Corpus, validation: Corpus | None) -> None:
        super()._end(runs, corpus, validation)
        if self.temperature:
            self.temperature_ = temperatures(self, self.judged_by, corpus, validation)
            self.notes_ += temperature_notes(self.temperature_)

    def _of_items(self, corpus: Corpus) -> dict[str, Answers]:
        found = super()._of_items(corpus)
        for question, temperature in self.temperature_.items() if self._is_tempered() else ():
            scale = self.learned_.questions[question]
            found[question] = tempered_answers(scale, found[question], temperature)
        return found

    def _is_tempered(self) -> bool:
        """Whether what is predicted is what the temperature was chosen for."""
        return True

    def _config(self) -> dict[str, Any]:
        return super()._config() | {"temperature": self.temperature_}

    def _restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.temperature_ = config["temperature"]
        super()._restore(weights, config)
