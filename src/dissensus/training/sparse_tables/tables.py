"""Step only the rows of a large table that a batch uses; the others catch up when they are needed.

A table has a row for each annotator. A row whose annotator is not in the batch has no gradient,
but torch's optimisers still step it, by momentum and by weight decay. Such steps are the same for
all rows, so that any number of them can be computed at once, when the row is next needed:

**SGD** keeps a momentum b for each weight p. A step without a gradient, at rate l and decay w, is

    b' = momentum b + w p,    p' = p - l b',

a 2 x 2 matrix times (p, b). Missed steps are their product: exact, but for rounding.

**AdamW** (and Adam without decay) keeps moments m and v, of which beta1 m and beta2 v are left,
exactly. Its weights move along m / (sqrt(v / (1 - beta2^i)) + eps). With s the last step of a
row, and h = sqrt(beta2^(i - s) (1 - beta2^s) / (1 - beta2^i)), step i moves it along

    beta1^(i - s) m_s / (h S + eps),    S = sqrt(v_s / (1 - beta2^s)),

which is taken as beta1^(i - s) / h times the direction x = m_s / (S + eps) of step s. So a missed
step is again a 2 x 2 matrix, times (p, x):

    x' = r x,    p' = (1 - l w) p - l / (1 - beta1^i) x',
    r = beta1 sqrt((1 - beta2^i) / (beta2 (1 - beta2^(i - 1)))).

It moves a weight too far by the share eps / (S + eps) (1 / h - 1) of that step: nothing without
eps. 1 / h - 1 is at most sqrt((1 + (i - s) / s) / beta2^(i - s)) - 1; over the steps in which m
fades (some ten) it averages 2.1 after the first step of all, 0.4 after the tenth, below 0.06 after
the hundredth, and 0.005 late in training. So, after the hundredth step and with torch's eps of
1e-8, a weight drifts during an absence as in dense steps to 6e-5 of that drift where S, the root
mean square of its gradients with all absences, is 1e-5 or larger; and to 6 % however small S is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.training.batch import Batch, Network
from dissensus.training.processes import BatchPart
from dissensus.training.settings import BETAS, EPSILON, MOMENTUM, Training

ROWS_AT_ONCE = 1 << 12  # rows that catch up together, to save memory
SINCE = ("since", "since of biases")  # names in a checkpoint, of the missed steps of each rule
LARGE = 1 << 18  # smallest size of tables that are stepped by rows; see bench_annotators.py


@dataclass(eq=False)
class _Table:
    """A table and its moments, (n_annotators, width) each, in the memory of the network."""

    weights: np.ndarray
    moments: list[np.ndarray]

    @classmethod
    def of(cls, table: Tensor, moments: list[Tensor]) -> _Table:
        flat = [part.detach().view(len(part), -1).numpy() for part in (table, *moments)]
        return cls(flat[0], flat[1:])


class Rule(ABC):
    """How an optimiser steps the rows of a table; `kernels` says how missed steps are stored."""

    n_moments: ClassVar[int]  # of each weight

    @abstractmethod
    def nothing(self, count: int) -> np.ndarray:
        """No step after the count-th."""

    @abstractmethod
    def missed(self, rate: float, count: int) -> np.ndarray:
        """The count-th step, without a gradient."""

    @abstractmethod
    def catch_up(
        self, table: _Table, codes: np.ndarray, missed: np.ndarray, rows: np.ndarray
    ) -> None:
        """Apply the missed steps to these rows, (n_rows, 7), and write their weights to `rows`."""

    @abstractmethod
    def step(
        self, table: _Table, codes: np.ndarray, gradient: np.ndarray, rate: float, count: int
    ) -> None:
        """The count-th step of these rows, with their gradient, (n_rows, width)."""


@dataclass(frozen=True)
class Momentum(Rule):
    """As torch's SGD."""

    weight_decay: float
    momentum: float = MOMENTUM
    n_moments: ClassVar[int] = 1

    def nothing(self, count: int) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0])

    def missed(self, rate: float, count: int) -> np.ndarray:
        decay, momentum = self.weight_decay, self.momentum
        return np.array([1 - rate * decay, -rate * momentum, decay, momentum, 1.0, 1.0, 1.0])

    def catch_up(
        self, table: _Table, codes: np.ndarray, missed: np.ndarray, rows: np.ndarray
    ) -> None:
        from dissensus.training.sparse_tables.kernels import catch_up_momentum

        catch_up_momentum(codes, missed, table.weights, table.moments[0], rows)

    def step(
        self, table: _Table, codes: np.ndarray, gradient: np.ndarray, rate: float, count: int
    ) -> None:
        from dissensus.training.sparse_tables.kernels import step_momentum

        settings = np.array([rate, self.weight_decay, self.momentum], gradient.dtype)
        step_momentum(codes, gradient, table.weights, table.moments[0], settings)


@dataclass(frozen=True)
class AdamW(Rule):
    """As torch's AdamW; as its Adam without weight decay."""

    weight_decay: float
    betas: tuple[float, float] = BETAS
    epsilon: float = EPSILON
    n_moments: ClassVar[int] = 2

    def nothing(self, count: int) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 1.0, 1.0, 1.0, self._correction(max(count, 1))])

    def missed(self, rate: float, count: int) -> np.ndarray:
        beta, beta_square = self.betas
        before = 1 - beta_square ** (count - 1)  # 0 at first: nothing has a direction
        grown = (1 - beta_square**count) / (beta_square * before) if before else 0.0
        faded = beta * math.sqrt(grown)
        drift = -rate / (1 - beta**count) * faded
        return np.array([1 - rate * self.weight_decay, drift, 0.0, faded, beta, beta_square, 1.0])

    def catch_up(
        self, table: _Table, codes: np.ndarray, missed: np.ndarray, rows: np.ndarray
    ) -> None:
        from dissensus.training.sparse_tables.kernels import catch_up_adam

        epsilon = np.array([self.epsilon], missed.dtype)
        catch_up_adam(codes, missed, table.weights, *table.moments, epsilon, rows)

    def step(
        self, table: _Table, codes: np.ndarray, gradient: np.ndarray, rate: float, count: int
    ) -> None:
        from dissensus.training.sparse_tables.kernels import step_adam

        beta, beta_square = self.betas
        kept, corrected = 1 - rate * self.weight_decay, rate / (1 - beta**count)
        moments = (beta, 1 - beta, beta_square, 1 - beta_square)
        ends = (self._correction(count), self.epsilon)
        settings = np.array([kept, corrected, *moments, *ends], gradient.dtype)
        step_adam(codes, gradient, table.weights, *table.moments, settings)

    def _correction(self, count: int) -> float:
        return 1 / math.sqrt(1 - self.betas[1] ** count)


@dataclass(eq=False)
class Tables:
    """The tables of a network that are stepped by rows; most networks have none.

    Args:
        tables: parameters of the network, with one row per annotator.
        rules: how each of them is stepped.
    """

    network: Network
    tables: list[nn.Parameter]
    rules: list[Rule]
    count: int = 0  # steps done
    now: int = 0  # steps since all rows were up to date
    _begin: int = 0  # see kernels.note_step

    def __post_init__(self) -> None:
        self.moments = [
            [torch.zeros_like(table, requires_grad=False) for _ in range(rule.n_moments)]
            for table, rule in zip(self.tables, self.rules, strict=True)
        ]
        n_rows = len(self.tables[0]) if self.tables else 0
        self.last = np.zeros(n_rows, np.int64)  # the last step of each row, counted as `now` is
        # of each rule, (more than now, 7), see kernels.note_step
        self._since = {rule: rule.nothing(0)[None] for rule in self.rules}
        self._places = [_place(self.network, table) for table in self.tables]
        self._flat: list[_Table] = []
        self._codes = np.zeros(0, np.int64)  # of the last rows

    @classmethod
    def of(cls, network: Network, training: Training, device: torch.device) -> Tables:
        """The tables of a network that is trained like this, if they are large enough."""
        tables, decay = network.tables(), training.weight_decay
        large = sum(table.numel() for table in tables) >= LARGE and device.type == "cpu"
        kind: type[Momentum | AdamW] = Momentum if training.optimiser == "sgd" else AdamW
        coupled = training.optimiser == "adam" and decay > 0
        whole = coupled or training.optimiser == "radam"  # missed steps have no closed form
        if not large or whole or training.losses == "interleaved" or training.averaged:
            return cls(network, [], [])
        undecayed = training.undecayed(network)
        return cls(network, tables, [kind(0.0 if t in undecayed else decay) for t in tables])

    # ---- a step ----

    @contextmanager
    def rows_of(self, batch: Batch) -> Iterator[list[nn.Parameter]]:
        """Within the block, the tables of the network are the rows of the batch's annotators.

        Gives these rows, up to date, as parameters with gradients. Where several processes share a
        batch, each takes all its rows.
        """
        if not self.tables:
            yield []
            return
        whole = batch.whole if isinstance(batch, BatchPart) else batch
        rows = self._caught_up(whole.annotators.numpy())
        self.network.rows = whole.annotators
        for (owner, name), of_table in zip(self._places, rows, strict=True):
            vars(owner)[name] = of_table  # hides the whole table, which stays in place
        try:
            yield rows
        finally:
            self.network.rows = None
            for owner, name in self._places:
                del vars(owner)[name]

    def step(self, rows: list[nn.Parameter], rate: float) -> None:
        """Step the rows of the batch by their gradients; all others miss a step."""
        if not self.tables:
            return
        from dissensus.training.sparse_tables.kernels import note_step

        codes = self._codes
        self.count, self.now = self.count + 1, self.now + 1
        for table, rule, of_table in zip(self._flat, self.rules, rows, strict=True):
            gradients = torch.zeros_like(of_table) if of_table.grad is None else of_table.grad
            gradient = gradients.detach().reshape(len(codes), -1).numpy()
            rule.step(table, codes, gradient, rate, self.count)
        begin = self._begin
        for rule, since in self._since.items():
            if self.now >= len(since):
                since = np.concatenate([since, np.empty_like(since)])
            missed, nothing = rule.missed(rate, self.count), rule.nothing(self.count)
            self._begin = note_step(since, begin, self.now, missed, nothing)
            self._since[rule] = since
        self.last[codes] = self.now

    def _caught_up(self, codes: np.ndarray) -> list[nn.Parameter]:
        """Apply the steps that these rows have missed; their weights, of each table."""
        from dissensus.training.sparse_tables.kernels import write_missed

        if not self._flat:
            with_moments = zip(self.tables, self.moments, strict=True)
            self._flat = [_Table.of(table, moments) for table, moments in with_moments]
        dtype = self._flat[0].weights.dtype
        missed = {}
        for rule, since in self._since.items():
            missed[rule] = np.empty((len(codes), since.shape[1]), dtype)
            write_missed(since, self._begin, self.last[codes], missed[rule])
        weights = [np.empty((len(codes), table.weights.shape[1]), dtype) for table in self._flat]
        for table, rule, rows in zip(self._flat, self.rules, weights, strict=True):
            rule.catch_up(table, codes, missed[rule], rows)
        self.last[codes], self._codes = self.now, codes
        shapes = [(len(codes), *table.shape[1:]) for table in self.tables]
        both = zip(weights, shapes, strict=True)
        return [nn.Parameter(torch.from_numpy(rows).view(shape)) for rows, shape in both]

    def catch_up(self) -> None:
        """Bring all rows up to date, so that the network can be read."""
        if self.now:
            for first in range(0, len(self.last), ROWS_AT_ONCE):
                self._caught_up(np.arange(first, min(first + ROWS_AT_ONCE, len(self.last))))
            self.last[:] = self.now = self._begin = 0
            for rule, since in self._since.items():
                since[0] = rule.nothing(self.count)
        self._flat = []  # the network's weights may lie elsewhere from now on

    # ---- its state ----

    def state(self) -> dict[str, Tensor]:
        """All that is needed to resume exactly; rows that are behind stay so."""
        if not self.tables:
            return {}
        counts = torch.tensor([self.count, self.now, self._begin])
        state = {"counts": counts, "last": torch.from_numpy(self.last)}
        for name, since in zip(SINCE, self._since.values(), strict=False):
            state[name] = torch.from_numpy(since[: self.now + 1])
        for number, moments in enumerate(self.moments):
            state |= {f"{number}.{nth}": moment for nth, moment in enumerate(moments)}
        return state

    def restore(self, state: dict[str, Tensor]) -> None:
        if not self.tables:
            return
        self.count, self.now, self._begin = state["counts"].tolist()
        self.last = state["last"].numpy()
        for name, rule in zip(SINCE, self._since, strict=False):
            self._since[rule] = state[name].numpy()
        for number, moments in enumerate(self.moments):
            for nth, moment in enumerate(moments):
                moment.copy_(state[f"{number}.{nth}"])


def _place(network: nn.Module, table: nn.Parameter) -> tuple[nn.Module, str]:
    """The module that owns this parameter, and its name there."""
    for module in network.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter is table:
                return module, name
    raise KeyError("tables() returns a parameter that is not part of the network")
