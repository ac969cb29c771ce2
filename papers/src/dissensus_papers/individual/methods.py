"""The methods of this paper: networks as published, and densities whose smoothing follows the data.

The published temperature of the soft density is 8 on any corpus. It smooths ratings by a logistic
kernel with a standard deviation of .23 on [-1, 1], as much as annotators differ on some corpora.
Here a method also has a temperature of its own, by this rule: the kernel's standard deviation is a
quarter of the standard deviation of ratings within items of the training corpus.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from dissensus import Corpus
from dissensus.densities import RatingKde, unit_positions
from dissensus.methods import AnnotatorHeads, AnnotatorMethod, AnnotatorOneHot, Answers, GridDensity
from dissensus.networks import Dropout
from dissensus.training import Batch, Network, Outputs, Sizes

KERNEL = 0.25  # its standard deviation, relative to that of ratings within items
SMALLEST_SPREAD = 0.05  # within items, on [-1, 1]: annotators may agree on all of them
TEMPERATURE, FACTOR = "temperature", "factor"  # outputs that multiply settings of the density
RATE = 10.0  # how much faster than other weights the logarithms of learned factors change


def as_published(network: Network) -> Network:
    """A network that takes vectors as they are, with dropout of the vectors only."""
    trunk: Any = network.get_submodule("vectors" if hasattr(network, "vectors") else "trunk")
    trunk.standardises = False
    _, *further = (part for part in network.modules() if isinstance(part, Dropout))
    for dropout in further:
        dropout.p = 0.0
    return network


@dataclass(frozen=True, eq=False)
class Ratings:
    """The ratings of items with two or more, on [-1, 1]."""

    items: np.ndarray  # (n_items,) codes
    values: np.ndarray  # (n_items, most annotators, n_questions)
    present: np.ndarray  # (n_items, most annotators), False for padding

    @classmethod
    def of(cls, corpus: Corpus, questions: Sequence[str]) -> Ratings:
        joint = corpus.joint(*questions)
        order = np.argsort(joint.item, kind="stable")
        item = joint.item[order]
        positions = np.stack(
            [unit_positions(q, corpus[q].scale, joint.answers[q][order]) for q in questions], axis=1
        )
        codes, at, n = np.unique(item, return_inverse=True, return_counts=True)
        nth = np.arange(len(item)) - np.searchsorted(item, item)
        values = np.zeros((len(codes), n.max(initial=1), len(questions)))
        present = np.zeros(values.shape[:2], dtype=bool)
        values[at, nth], present[at, nth] = positions, True
        several = n >= 2
        return cls(codes[several], values[several], present[several])

    @property
    def means(self) -> np.ndarray:
        """(n_items, 1, n_questions)."""
        shares = self.present / self.present.sum(axis=1, keepdims=True)
        return (self.values * shares[:, :, None]).sum(axis=1, keepdims=True)

    @property
    def spread(self) -> float:
        """The standard deviation within items, over all of them and all questions."""
        squares = ((self.values - self.means) ** 2 * self.present[:, :, None]).sum(axis=1)
        variances = squares / (self.present.sum(axis=1, keepdims=True) - 1)
        return float(np.sqrt(variances.mean())) if len(variances) else math.nan


def temperature_of(spread: float) -> float:
    """The temperature that follows from the spread of ratings within items.

    The logistic kernel of temperature T has a standard deviation of pi / (sqrt(3) T).

    Example:
        >>> round(temperature_of(0.23), 1), round(temperature_of(0.41), 1)
        (31.5, 17.7)
    """
    spread = SMALLEST_SPREAD if math.isnan(spread) else max(spread, SMALLEST_SPREAD)
    return math.pi / (math.sqrt(3) * KERNEL * spread)


@dataclass(eq=False)
class Smoothed(AnnotatorMethod):
    """A method that predicts annotators, with a temperature of its own for densities.

    Args:
        published: whether the network is that of the released code.
        own_temperature: whether it learns a density of its own temperature, or of that of `kde`.
        learn: what else of the density is learned: nothing, the "temperature", or the "bandwidth"
            of the diffusion that follows the soft histogram; both begin at their own values.
    """

    published: bool = False
    own_temperature: bool = False
    learn: Literal["", "temperature", "bandwidth"] = ""
    temperature_: float = field(init=False, repr=False, default=8.0)

    def network(self, sizes: Sizes) -> Network:
        network = super().network(sizes)  # type: ignore[safe-super]  # of the other base class
        if self.published:
            as_published(network)
        if not (self.own_temperature or self.learn):
            return network
        return _WithSmoothing(network, self.temperature_ / self.kde.temperature, self.learn)

    def prepare_fit(self, corpus: Corpus, validation: Corpus | None) -> None:
        super().prepare_fit(corpus, validation)
        ratings = Ratings.of(corpus, tuple(self.learned_.questions))
        self.temperature_ = temperature_of(ratings.spread)

    @property
    def kde_(self) -> RatingKde | None:
        """How its predictions are read unless a reading is named."""
        network = getattr(self, "network_", None)
        if not isinstance(network, _WithSmoothing):
            return replace(self.kde, temperature=self.temperature_)
        temperature = self.kde.temperature * network.factor(TEMPERATURE)
        return replace(self.kde, temperature=temperature, factor=network.factor(FACTOR))


class _WithSmoothing(Network):
    """Also returns by how much the temperature and the bandwidth of a density are multiplied."""

    start: Tensor  # the logarithm of the factor of the temperature, before training

    def __init__(self, inner: Network, temperature: float, learn: str) -> None:
        super().__init__()
        self.inner = inner
        self.register_buffer("start", torch.tensor(math.log(temperature)))
        self.learned = {"temperature": TEMPERATURE, "bandwidth": FACTOR}.get(learn)
        if self.learned:
            self.change = nn.Parameter(torch.zeros(()))

    def prepare(self, pooled: dict[str, Tensor]) -> None:
        self.inner.prepare(pooled)

    def tables(self) -> list[nn.Parameter]:
        return self.inner.tables()

    def logarithm(self, name: str) -> Tensor:
        first = self.start if name == TEMPERATURE else torch.zeros_like(self.start)
        return first + RATE * self.change if name == self.learned else first

    def factor(self, name: str) -> float:
        return float(self.logarithm(name).detach().exp())

    def forward(self, batch: Batch) -> Outputs:
        outputs, n = self.inner.forward(batch), len(batch.items)
        factors = {name: self.logarithm(name).expand(n) for name in (TEMPERATURE, FACTOR)}
        rows = outputs.rows
        if self.learned:  # the loss of the answers has a gradient of 0
            rows = {question: raw + 0 * self.change for question, raw in rows.items()}
        return Outputs(rows, outputs.items | factors)


@dataclass(eq=False)
class Heads(Smoothed, AnnotatorHeads):
    """A head for each annotator."""


@dataclass(eq=False)
class OneHot(Smoothed, AnnotatorOneHot):
    """The annotator as a one-hot vector."""


@dataclass(eq=False)
class Consensus(Heads):
    """A single head that learns the mean rating of each item, with the network and the losses of
    `Heads`; it predicts all annotators alike."""

    aggregate: bool = True

    def rows(self, corpus: Corpus) -> Any:
        rows = super().rows(corpus)
        own = rows.annotator == self.aggregate_code
        answer, weight = (
            {question: values[own] for question, values in columns.items()}
            for columns in (rows.answer, rows.weight)
        )
        return type(rows)(rows.item[own], rows.annotator[own], answer, weight)

    def predict_pairs(
        self, corpus: Corpus, item: np.ndarray, annotator: np.ndarray
    ) -> dict[str, Answers]:
        return super().predict_pairs(corpus, item, np.full_like(annotator, self.aggregate_code))


@dataclass(eq=False)
class PublishedGrid(GridDensity):
    """`GridDensity` with the network of the released code."""

    def network(self, sizes: Sizes) -> Network:
        return as_published(super().network(sizes))
