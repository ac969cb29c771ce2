"""The likelihood of answers on each scale, given the outputs of a network.

`Likelihood.n_outputs` numbers are computed from the content; `n_constants` more are learned once
(per annotator), such as the spread of an annotator's ratings. `raw` has both, outputs first.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale

Divergence = Literal["ce", "kl", "inverse-kl"]

FLOOR = 1e-6  # least mass of a target that a logarithm is taken of, as in Fornaciari et al.'s data


class Grouped(NamedTuple):
    """Answers in groups: one for each annotator, or one for all."""

    answer: np.ndarray  # (n,) as the scale stores it
    weight: np.ndarray  # (n,)
    group: np.ndarray  # (n,) codes
    n_groups: int
    smoothing: float  # how many answers of all groups together are added to each group's own

    def sums(self, values: np.ndarray) -> np.ndarray:
        """The weighted sum of (n,) values in each group, (n_groups,)."""
        return np.bincount(self.group, self.weight * values, self.n_groups)


class Likelihood(ABC):
    """The interface of all scales; `raw` is (n, n_outputs + n_constants)."""

    n_outputs: int
    n_constants: int = 0

    @property
    def width(self) -> int:
        """The number of columns of `raw`."""
        return self.n_outputs + self.n_constants

    @abstractmethod
    def loss(self, raw: Tensor, answer: Tensor) -> Tensor:
        """The negative log-likelihood of each answer, (n,)."""

    def mixed_loss(self, raw: Tensor, answer: Tensor) -> Tensor:
        """The negative log-likelihood of each answer under the mean of several predictions, (n,).

        Args:
            raw: (n, n_predictions, width).
        """
        answers = answer.unsqueeze(1).expand(*raw.shape[:2], *answer.shape[1:])
        each = self.loss(raw.flatten(0, 1), answers.flatten(0, 1)).reshape(raw.shape[:2])
        return -_log_mean(-each)

    def soft_loss(self, raw: Tensor, distribution: Tensor, kind: Divergence = "ce") -> Tensor:
        """The divergence of the prediction from a target distribution, (n,).

        Args:
            distribution: mass over values or over the grid, or marginals, (n, n_columns).
        """
        return DIVERGENCES[kind](distribution, self.log_masses(raw))

    @abstractmethod
    def log_masses(self, raw: Tensor) -> Tensor:
        """Logarithms of the distribution, exact far out where it is 0 in floating point,
        (n, n_columns); multi-label: of no and yes, (n, n_values, 2)."""

    @abstractmethod
    def distribution(self, raw: Tensor) -> Tensor:
        """The distribution over the scale's columns, (n, n_columns)."""

    @abstractmethod
    def value(self, raw: Tensor) -> Tensor:
        """The predicted answer, (n,): a code, a mask, or a position on [-1, 1]."""

    @abstractmethod
    def target(self, answer: np.ndarray) -> np.ndarray:
        """Answers in the form that `loss` expects."""

    def start(self, answer: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Biases to start from, (n_outputs + n_constants,): the distribution of all answers."""
        together = Grouped(answer, weight, np.zeros(len(answer), np.int64), 1, smoothing=0.0)
        return self.starts(together)[0]

    @abstractmethod
    def starts(self, grouped: Grouped) -> np.ndarray:
        """Biases for each group of answers, (n_groups, n_outputs + n_constants)."""


@dataclass(frozen=True)
class CategoricalLikelihood(Likelihood):
    """Nominal and ordinal answers: a softmax over the values."""

    scale: Nominal | Ordinal

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        return len(self.scale)

    def loss(self, raw: Tensor, answer: Tensor) -> Tensor:
        return F.cross_entropy(raw, answer, reduction="none")

    def log_masses(self, raw: Tensor) -> Tensor:
        return raw.log_softmax(dim=-1)

    def distribution(self, raw: Tensor) -> Tensor:
        return raw.softmax(dim=-1)

    def value(self, raw: Tensor) -> Tensor:
        if isinstance(self.scale, Nominal):
            return raw.argmax(dim=-1)
        return (self.distribution(raw).cumsum(dim=-1) >= 0.5 - 1e-6).int().argmax(dim=-1)

    def target(self, answer: np.ndarray) -> np.ndarray:
        return answer.astype(np.int64)

    def starts(self, grouped: Grouped) -> np.ndarray:
        counts = [grouped.sums(grouped.answer == value) for value in range(len(self.scale))]
        return np.log(_shrunk(np.stack(counts, axis=1), grouped.smoothing))


@dataclass(frozen=True)
class NormalLikelihood(Likelihood):
    """Interval answers, mapped to [-1, 1]: a normal density around a predicted position.

    Its spread is a learned constant. Mass beyond the ends of the scale counts to the first and last
    bin, as annotators cannot go further. `raw` has the position and the logarithm of the spread.
    """

    scale: Interval
    n_outputs = 1
    n_constants = 1

    def loss(self, raw: Tensor, answer: Tensor) -> Tensor:
        log_spread = _log_spread(raw)
        off = (answer - raw[:, 0]) / log_spread.exp()
        return 0.5 * off**2 + log_spread + _HALF_LOG_2_PI

    def distribution(self, raw: Tensor) -> Tensor:
        below = torch.special.ndtr(self._steps(raw))  # (n, n_bins - 1)
        return torch.diff(F.pad(F.pad(below, (1, 0), value=0.0), (0, 1), value=1.0), dim=-1)

    def log_masses(self, raw: Tensor) -> Tensor:
        steps = self._steps(raw)
        low, high = steps[:, :-1], steps[:, 1:]
        right = low + high > 0  # the mass between two points is computed by the nearer tail
        low, high = torch.where(right, -high, low), torch.where(right, -low, high)
        log_low, log_high = log_normal_mass(low), log_normal_mass(high)
        gap = (log_high - log_low).clamp(min=torch.finfo(low.dtype).tiny)
        between = log_high + torch.log(-torch.expm1(-gap))
        ends = log_normal_mass(steps[:, :1]), log_normal_mass(-steps[:, -1:])
        return torch.cat([ends[0], between, ends[1]], dim=-1)  # (n, n_bins)

    def _steps(self, raw: Tensor) -> Tensor:
        """How many spreads each inner edge of the grid is from the position."""
        edges = torch.linspace(-1, 1, self.scale.n_bins + 1, dtype=raw.dtype, device=raw.device)
        return (edges[1:-1] - raw[:, :1]) / _log_spread(raw).exp()[:, None]

    def value(self, raw: Tensor) -> Tensor:
        return raw[:, 0].clamp(-1, 1)

    def target(self, answer: np.ndarray) -> np.ndarray:
        return self.scale.to_unit(answer).astype(np.float32)

    def starts(self, grouped: Grouped) -> np.ndarray:
        units = self.scale.to_unit(grouped.answer)
        crowd = np.average(units, weights=grouped.weight)
        spread = np.average((units - crowd) ** 2, weights=grouped.weight)
        n = grouped.sums(np.ones(len(units))) + grouped.smoothing
        n[n == 0] = np.nan
        mean = (grouped.sums(units) + grouped.smoothing * crowd) / n
        square = grouped.sums((units - mean[grouped.group]) ** 2)
        variance = (square + grouped.smoothing * spread) / n
        return np.stack([mean, np.log(np.sqrt(variance).clip(0.02))], axis=1)


@dataclass(frozen=True)
class BernoulliLikelihood(Likelihood):
    """Multi-label answers: yes or no for each value."""

    scale: MultiLabel

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        return len(self.scale)

    def loss(self, raw: Tensor, answer: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(raw, answer, reduction="none").mean(dim=-1)

    def mixed_loss(self, raw: Tensor, answer: Tensor) -> Tensor:
        """Under the mean of the marginals, as if values were independent."""
        chosen = torch.where(answer.unsqueeze(1) > 0.5, raw, -raw)  # answers are 0 or 1
        return -_log_mean(F.logsigmoid(chosen)).mean(dim=-1)

    def soft_loss(self, raw: Tensor, distribution: Tensor, kind: Divergence = "ce") -> Tensor:
        both = torch.stack([1 - distribution, distribution], dim=-1)
        return DIVERGENCES[kind](both, self.log_masses(raw)).mean(dim=-1)

    def log_masses(self, raw: Tensor) -> Tensor:
        return torch.stack([F.logsigmoid(-raw), F.logsigmoid(raw)], dim=-1)

    def distribution(self, raw: Tensor) -> Tensor:
        return raw.sigmoid()

    def value(self, raw: Tensor) -> Tensor:
        bits = torch.arange(len(self.scale), device=raw.device)
        return ((raw > 0).long() << bits).sum(dim=-1)

    def target(self, answer: np.ndarray) -> np.ndarray:
        return self.scale.one_hot(answer).astype(np.float32)

    def starts(self, grouped: Grouped) -> np.ndarray:
        starts = []
        for on in self.scale.one_hot(grouped.answer).T:
            counts = np.stack([grouped.sums(1 - on), grouped.sums(on)], axis=1)
            share = _shrunk(counts, grouped.smoothing)
            starts.append(np.log(share[:, 1] / share[:, 0]))
        return np.stack(starts, axis=1)


def _shrunk(counts: np.ndarray, smoothing: float) -> np.ndarray:
    """The shares of the answers of each group, shrunk towards those of all; none is 0."""
    crowd = counts.sum(axis=0) + 1.0
    crowd = crowd / crowd.sum()
    drawn = counts + (smoothing + 1.0) * crowd
    return drawn / drawn.sum(axis=1, keepdims=True)


def _log_mean(logarithms: Tensor) -> Tensor:
    """The logarithm of the mean over the second axis."""
    return logarithms.logsumexp(dim=1) - math.log(logarithms.shape[1])


def _log_spread(raw: Tensor) -> Tensor:
    return raw[:, 1].clamp(-4, 2)


_HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)


def likelihood(scale: Scale) -> Likelihood:
    """The likelihood of answers on this scale."""
    if isinstance(scale, Interval):
        return NormalLikelihood(scale)
    if isinstance(scale, MultiLabel):
        return BernoulliLikelihood(scale)
    assert isinstance(scale, Nominal | Ordinal)
    return CategoricalLikelihood(scale)


# ---- divergences, as losses, in nats ----
#
# All take the masses `p` of the target and the logarithms `log_q` of the predicted ones, (..., n),
# and return (...). Without a gradient of p they are smooth in log_q, also where masses are 0.


def cross_entropy(p: Tensor, log_q: Tensor) -> Tensor:
    """The negative log-likelihood of the target under the prediction."""
    return -(p * log_q).sum(dim=-1)


def kl(p: Tensor, log_q: Tensor) -> Tensor:
    """KL(p || q): the cross-entropy minus the entropy of the target, which is a constant."""
    return (torch.xlogy(p, p) - p * log_q).sum(dim=-1)


def inverse_kl(p: Tensor, log_q: Tensor) -> Tensor:
    """KL(q || p): high where q has mass and p has none; p is at least 1e-6."""
    return (log_q.exp() * (log_q - p.clamp(min=FLOOR).log())).sum(dim=-1)


DIVERGENCES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "ce": cross_entropy,
    "kl": kl,
    "inverse-kl": inverse_kl,
}


# ---- the mass of a standard normal below a point ----


def log_normal_mass(points: Tensor) -> Tensor:
    """The logarithm of the mass of a standard normal below each point.

    `torch.special.log_ndtr`, but also for a stack: vmap would compute that one network after
    another, and warn.

    Example:
        >>> log_normal_mass(torch.zeros(1)).exp().tolist()
        [0.5]
    """
    below, above = points.clamp(max=0), points.clamp(min=0)
    tail = (torch.special.erfcx(below * -math.sqrt(0.5)) / 2).log() - below.square() / 2
    middle = torch.log1p(-torch.special.erfc(above * math.sqrt(0.5)) / 2)
    return torch.where(points < 0, tail, middle)
