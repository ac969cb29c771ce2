"""LabelMethod: one label per item, and a temperature that makes distributions more even.

The temperature is chosen on held-out items, by the label of each item alone, so that methods with
and without annotators are calibrated in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from dissensus.aggregation import AGGREGATORS
from dissensus.annotations import Annotations, Ties
from dissensus.corpus import Corpus
from dissensus.errors import DataError, ModelError, listed
from dissensus.methods.framework.learned import Answers, has_answers, items_of
from dissensus.methods.framework.trained import ExamplesCache, TrainedMethod
from dissensus.networks.likelihoods import likelihood
from dissensus.scales import Interval, MultiLabel, Ordinal, Scale
from dissensus.training.loop import Trainer

LOWEST, HIGHEST = 0.05, 20.0  # temperatures that are considered
HALVINGS = 60  # of that range: to the precision of floating point
ROUNDING = 4 * float(np.finfo(float).eps)  # relative error of sums


def held_out_items(corpus: Corpus, share: float, seed: int) -> np.ndarray:
    """The items (codes) to hold out; items with the same content stay together."""
    units = corpus.units()
    order = np.random.default_rng(seed).permutation(units.max(initial=-1) + 1)
    before = np.cumsum(np.bincount(units)[order]) - np.bincount(units)[order]  # items before each
    chosen = order[before < share * corpus.n_items]
    return np.flatnonzero(np.isin(units, chosen))


@dataclass(eq=False)
class LabelMethod(TrainedMethod):
    """A method that learns one label per item, whose distributions can be rescaled.

    Args:
        label: "consensus" of the annotators (majority, median or mean, by scale), "gold", or an
            aggregator such as "dawid-skene" or "mace".
        ties: which of several majority labels is the label; "drop" leaves such labels out.
        base_rates: whether the biases of the output layer start at the label frequencies, or at 0.
        temperature: whether to rescale, by the temperature at which the labels of held-out items
            are most likely (Guo et al. 2017). Answers of annotators are not used.
        held_out: the share of items, by content, that is held out for it, unless there is a
            validation corpus.
    """

    label: str = "consensus"
    ties: Ties = "first"
    base_rates: bool = True
    temperature: bool = False
    held_out: float = 0.1
    ranges: ClassVar[dict[str, str]] = {"held_out": "above 0 and below 1"}
    temperature_: dict[str, float] = field(init=False, repr=False, default_factory=dict)

    def labels(self, corpus: Corpus, question: str) -> Annotations:
        """The labels of the items that have one, as annotations without annotators."""
        return item_labels(corpus, question, self.label, self.ties, self.training.seed)

    def targets(self, corpus: Corpus) -> dict[str, np.ndarray]:
        labels = {question: self.labels(corpus, question) for question in self.learned_.questions}
        return label_targets(labels, corpus.n_items)

    def learns(self, corpus: Corpus) -> np.ndarray:
        return items_of(self.labels(corpus, question) for question in self.learned_.questions)

    def start(self, corpus: Corpus, question: str) -> np.ndarray:
        labels = self.labels(corpus, question)
        return first_biases(labels.scale, labels.answer, labels.weight, self.base_rates)

    def check_question(self, corpus: Corpus, question: str) -> None:
        if self.label != "gold":
            super().check_question(corpus, question)
        check_labels(corpus, question, self.labels(corpus, question))

    def trainers(
        self, corpus: Corpus, validation: Corpus | None, cache: ExamplesCache | None = None
    ) -> list[Trainer]:
        self.temperature_ = {}
        runs = super().trainers(corpus, validation, cache)
        if not self.temperature:
            return runs
        return [self.without_held_out(run, corpus, validation) for run in runs]

    def end_fit(self, runs: list[Trainer], corpus: Corpus, validation: Corpus | None) -> None:
        super().end_fit(runs, corpus, validation)
        if self.temperature:
            self.choose_temperatures(corpus, validation)

    def _held_out(self, corpus: Corpus, validation: Corpus | None) -> tuple[Corpus, np.ndarray]:
        """The corpus and its items that temperatures are chosen on: the validation corpus if it has
        answers (with gold labels only, it chooses epochs alone), else held-out items."""
        if validation is not None and has_answers(validation, self.learned_.questions):
            return validation, np.arange(validation.n_items)
        return corpus, held_out_items(corpus, self.held_out, self.training.seed)

    def without_held_out(self, run: Trainer, corpus: Corpus, validation: Corpus | None) -> Trainer:
        """The training without the held-out items; unchanged with a validation corpus."""
        source, items = self._held_out(corpus, validation)
        if source is not corpus:
            return run
        kept = np.setdiff1d(run.learned, items)
        if not len(kept) or len(kept) == len(run.learned):
            raise DataError(
                f"{corpus.name}: {len(run.learned)} labelled items cannot be split to choose a "
                "temperature; pass a validation corpus, or set temperature=False"
            )
        return replace(run, learned=kept)

    def choose_temperatures(self, corpus: Corpus, validation: Corpus | None) -> None:
        """Choose the best temperature of each question, by the labels of held-out items."""
        source, items = self._held_out(corpus, validation)
        notes, chosen = self.notes_, {}
        predictions = self.predict(source.select(items=items))
        for question, scale in self.learned_.questions.items():
            of_items = self.labels(source, question)
            known = np.isin(of_items.item, items)
            if known.any():
                at = np.searchsorted(items, of_items.item[known])
                masses = predictions[question].distribution[at]
                chosen[question] = best_temperature(scale, masses, of_items.answer[known])
        self.temperature_ = chosen
        lines = (f"temperature of {question!r}: {value:.3g}" for question, value in chosen.items())
        self.notes_ = [*notes, *lines]

    def predict_items(self, corpus: Corpus) -> dict[str, Answers]:
        answers = super().predict_items(corpus)
        for question, temperature in self.temperature_.items() if self._is_tempered() else ():
            scale, own = self.learned_.questions[question], answers[question]
            mass, value = tempered(scale, own.distribution, temperature), own.value
            if isinstance(scale, Ordinal):  # its median may change
                value = scale.consensus(mass).astype(scale.dtype)
            answers[question] = replace(own, distribution=mass, value=value)
        return answers

    def _is_tempered(self) -> bool:
        """Whether the temperature applies to the distribution that is predicted."""
        return True

    def config(self) -> dict[str, Any]:
        return super().config() | {"temperature": self.temperature_}

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.temperature_ = {q: float(number) for q, number in config["temperature"].items()}
        super().restore(weights, config)


# ---- labels ----


def item_labels(corpus: Corpus, question: str, label: str, ties: Ties, seed: int) -> Annotations:
    """The label of each item that has one, as annotations without annotators.

    Args:
        label: "consensus", "gold", or the name of an aggregator.
        ties: which of several majority labels is the label, for "consensus".
    """
    if label == "consensus":
        return corpus[question].consensus(ties, seed)
    if label in AGGREGATORS:
        return AGGREGATORS[label]().fit(corpus[question]).consensus_
    if label != "gold":
        raise DataError(
            f"label must be 'consensus', 'gold' or an aggregator ({listed(AGGREGATORS, 20)}), "
            f"not {label!r}"
        )
    if question not in corpus.gold:
        raise DataError(f"{corpus.name}: no gold label for {question!r}")
    return corpus.gold[question].to(corpus[question].scale)


def first_biases(
    scale: Scale, answer: np.ndarray, weight: np.ndarray, base_rates: bool = True
) -> np.ndarray:
    """The biases that an output layer starts from: the base rates of the answers, or 0.

    What does not depend on the content, such as the spread of ratings, is estimated in both cases.
    """
    family = likelihood(scale)
    start = family.start(answer, weight)
    if not base_rates:
        start[: family.n_outputs] = 0
    return start


def check_labels(corpus: Corpus, question: str, labels: Annotations) -> None:
    """Refuse a question without labels."""
    if not labels.n_rows:
        raise DataError(f"{corpus.name}: no item has a label for {question!r}")


def label_targets(labels: Mapping[str, Annotations], n_items: int) -> dict[str, np.ndarray]:
    """The labels of all items by question, as the likelihood expects them, and "QUESTION.weight": 1
    for items with a label, 0 for the others."""
    targets = {}
    for question, rows in labels.items():
        answer = likelihood(rows.scale).target(rows.answer)
        targets[question] = np.zeros((n_items, *answer.shape[1:]), answer.dtype)
        targets[question][rows.item] = answer
        targets[f"{question}.weight"] = np.zeros(n_items, np.float32)
        targets[f"{question}.weight"][rows.item] = 1
    return targets


def check_target(target: str) -> None:
    """Refuse a distribution to learn that no aggregator gives."""
    if target not in AGGREGATORS:
        raise ModelError(f"no target {target!r}; there are {listed(AGGREGATORS, 20)}")


def soft_targets(annotations: Annotations, target: str) -> np.ndarray:
    """The distributions that an aggregator gives, (n_items, n_columns); zeros without answers."""
    if not annotations.n_rows:
        return np.zeros((annotations.n_items, annotations.scale.n_columns))
    return np.nan_to_num(AGGREGATORS[target]().fit(annotations).distribution_)


# ---- temperatures ----


def tempered(scale: Scale, distribution: np.ndarray, temperature: float) -> np.ndarray:
    """The distribution to the power of 1 / temperature: above 1 more even, below 1 less.

    For a softmax, this divides its inputs by the temperature. Multi-label: the same for yes and no
    of each value. A normal density has its variance multiplied by the temperature.

    Args:
        distribution: (n, n_columns).

    Example:
        >>> from dissensus import Nominal
        >>> tempered(Nominal(("no", "yes")), np.array([[0.9, 0.1]]), 2.0).round(3).tolist()
        [[0.75, 0.25]]
    """
    masses = _softmax(_log_masses(scale, distribution) / temperature)
    return masses[..., 1] if isinstance(scale, MultiLabel) else masses


def best_temperature(
    scale: Scale, distribution: np.ndarray, label: np.ndarray, lowest: float = 1.0
) -> float:
    """The temperature, up to 20, at which the labels are most likely.

    The likelihood has a single maximum in 1 / temperature, where its slope is 0. If all
    temperatures are equally good, for example if all distributions are uniform, it is 1.

    Args:
        distribution: (n, n_columns).
        label: as the scale stores answers, (n,).
        lowest: the lowest temperature that is considered, at least 0.05. Below 1, distributions
            become more certain than the model was. The default does not allow that: annotators
            agree less than their one label shows, and a few labels that happen to be predicted
            correctly would lead to it.
    """
    logs, columns = _log_masses(scale, distribution), label.astype(np.int64)
    if isinstance(scale, Interval):
        columns = scale.bins(label)
    elif isinstance(scale, MultiLabel):  # 0 or 1 for each value, (n, n_values)
        columns = scale.one_hot(label).astype(np.int64)
    of_labels = np.take_along_axis(logs, columns[..., None], axis=-1)[..., 0].sum()

    def slope(temperature: float) -> float:
        """Above 0 if the labels become more likely as the temperature falls."""
        return float(of_labels - (_softmax(logs / temperature) * logs).sum())

    if abs(slope(1)) <= ROUNDING * np.abs(logs).sum():
        return 1.0
    low, high = math.log(max(lowest, LOWEST)), math.log(HIGHEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(math.exp(middle)) > 0 else (middle, high)
    return math.exp((low + high) / 2)


def _log_masses(scale: Scale, distribution: np.ndarray) -> np.ndarray:
    """Logarithms, (n, n_columns); multi-label: of no and yes, (n, n_values, 2)."""
    if isinstance(scale, MultiLabel):
        distribution = np.stack([1 - distribution, distribution], axis=-1)
    return np.log(distribution.clip(np.finfo(float).tiny))


def _softmax(logs: np.ndarray) -> np.ndarray:
    powers = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
