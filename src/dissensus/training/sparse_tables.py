"""Step only the rows of a large table that a batch uses; the others catch up when they are needed.

A table has a row for each annotator. A row whose annotator is not in the batch has no gradient,
but torch's optimisers still step it, by momentum and by weight decay. Such steps are the same for
all rows, so that any number of them can be computed at once, when the row is next needed:

**AdamW** (and Adam without decay) keeps moments m and v, of which beta1 m and beta2 v are left,
exactly. Its weights move along m / (sqrt(v / (1 - beta2^i)) + eps). With s the last step of a
row, and h = sqrt(beta2^(i - s) (1 - beta2^s) / (1 - beta2^i)), step i moves it along

    beta1^(i - s) m_s / (h S + eps),    S = sqrt(v_s / (1 - beta2^s)),

which is taken as beta1^(i - s) / h times the direction x = m_s / (S + eps) of step s. So a missed
step is a 2 x 2 matrix times (p, x), and missed steps are their product:

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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.training.batch import Batch, Network
from dissensus.training.processes import BatchPart
from dissensus.training.settings import BETAS, EPSILON, Training

ROWS_AT_ONCE = 1 << 12  # rows that catch up together, to save memory
LARGE = 1 << 18  # smallest size of tables that are stepped by rows; see bench_annotators.py


@dataclass(eq=False)
class SparseTables:
    """The tables of a network that are stepped by rows, by AdamW.

    Args:
        tables: parameters of the network, with one row per annotator.
    """

    network: Network
    tables: list[nn.Parameter]
    weight_decay: float
    count: int = 0  # steps done
    now: int = 0  # steps since all rows were up to date
    _begin: int = 0  # see sparse_kernels.note_step

    def __post_init__(self) -> None:
        self.moments = [
            [torch.zeros_like(table, requires_grad=False) for _ in BETAS] for table in self.tables
        ]
        self.last = np.zeros(len(self.tables[0]), np.int64)  # last step of each row, as `now`
        self._since = _nothing(0)[None]  # (more than now, 6), see sparse_kernels.note_step
        self._places = [_place(self.network, table) for table in self.tables]
        self._flat: list[list[np.ndarray]] = []  # weights and moments, (n_annotators, width) each
        self._codes = np.zeros(0, np.int64)  # of the last rows

    @classmethod
    def of(cls, network: Network, training: Training, device: torch.device) -> SparseTables | None:
        """The large tables of a network that is trained like this; None if missed steps have no
        closed form, or whole tables are as fast."""
        decay = training.weight_decay
        decoupled = training.optimiser == "adamw" or (training.optimiser == "adam" and not decay)
        by_rows = decoupled and training.losses == "summed" and not training.averaged
        return cls(network, network.tables(), decay) if by_rows and device.type == "cpu" else None

    # ---- a step ----

    @contextmanager
    def rows_of(self, batch: Batch) -> Iterator[list[nn.Parameter]]:
        """Within the block, the tables of the network are the rows of the batch's annotators.

        Gives these rows, up to date, as parameters with gradients. Where several processes share a
        batch, each takes all its rows.
        """
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
        from dissensus.training.sparse_kernels import note_step, step_adam

        codes = self._codes
        self.count, self.now = self.count + 1, self.now + 1
        beta, beta_square = BETAS
        kept, corrected = 1 - rate * self.weight_decay, rate / (1 - beta**self.count)
        moments = (beta, 1 - beta, beta_square, 1 - beta_square)
        settings = [kept, corrected, *moments, _correction(self.count), EPSILON]
        for table, of_table in zip(self._flat, rows, strict=True):
            gradients = torch.zeros_like(of_table) if of_table.grad is None else of_table.grad
            gradient = gradients.detach().reshape(len(codes), -1).numpy()
            step_adam(codes, gradient, *table, np.array(settings, gradient.dtype))
        if self.now >= len(self._since):
            self._since = np.concatenate([self._since, np.empty_like(self._since)])
        missed, nothing = self.missed(rate), _nothing(self.count)
        self._begin = note_step(self._since, self._begin, self.now, missed, nothing)
        self.last[codes] = self.now

    def missed(self, rate: float) -> np.ndarray:
        """The last step, without a gradient."""
        beta, beta_square = BETAS
        before = 1 - beta_square ** (self.count - 1)  # 0 at first: nothing has a direction
        grown = (1 - beta_square**self.count) / (beta_square * before) if before else 0.0
        faded = beta * math.sqrt(grown)
        drift = -rate / (1 - beta**self.count) * faded
        return np.array([1 - rate * self.weight_decay, drift, faded, beta, beta_square, 1.0])

    def _caught_up(self, codes: np.ndarray) -> list[nn.Parameter]:
        """Apply the steps that these rows have missed; their weights, of each table."""
        from dissensus.training.sparse_kernels import catch_up_adam, write_missed

        if not self._flat:
            with_moments = zip(self.tables, self.moments, strict=True)
            self._flat = [
                [part.detach().view(len(part), -1).numpy() for part in (table, *moments)]
                for table, moments in with_moments
            ]
        dtype = self._flat[0][0].dtype
        missed = np.empty((len(codes), self._since.shape[1]), dtype)
        write_missed(self._since, self._begin, self.last[codes], missed)
        parameters = []
        for table, flat in zip(self.tables, self._flat, strict=True):
            rows = np.empty((len(codes), flat[0].shape[1]), dtype)
            catch_up_adam(codes, missed, *flat, np.array([EPSILON], dtype), rows)
            shape = (len(codes), *table.shape[1:])
            parameters.append(nn.Parameter(torch.from_numpy(rows).view(shape)))
        self.last[codes], self._codes = self.now, codes
        return parameters

    def catch_up(self) -> None:
        """Bring all rows up to date, so that the network can be read."""
        if self.now:
            for first in range(0, len(self.last), ROWS_AT_ONCE):
                self._caught_up(np.arange(first, min(first + ROWS_AT_ONCE, len(self.last))))
            self.last[:] = self.now = self._begin = 0
            self._since[0] = _nothing(self.count)
        self._flat = []  # the network's weights may lie elsewhere from now on

    # ---- its state ----

    def state(self) -> dict[str, Tensor]:
        """All that is needed to resume exactly; rows that are behind stay so."""
        counts = torch.tensor([self.count, self.now, self._begin])
        state = {"counts": counts, "last": torch.from_numpy(self.last)}
        state["since"] = torch.from_numpy(self._since[: self.now + 1])
        for number, moments in enumerate(self.moments):
            state |= {f"{number}.{nth}": moment for nth, moment in enumerate(moments)}
        return state

    def restore(self, state: dict[str, Tensor]) -> None:
        self.count, self.now, self._begin = state["counts"].tolist()
        self.last, self._since = state["last"].numpy(), state["since"].numpy()
        for number, moments in enumerate(self.moments):
            for nth, moment in enumerate(moments):
                moment.copy_(state[f"{number}.{nth}"])


def _nothing(count: int) -> np.ndarray:
    """No step after the count-th, as a sequence of steps (see `sparse_kernels`)."""
    return np.array([1.0, 0.0, 1.0, 1.0, 1.0, _correction(max(count, 1))])


def _correction(count: int) -> float:
    return 1 / math.sqrt(1 - BETAS[1] ** count)


def _place(network: nn.Module, table: nn.Parameter) -> tuple[nn.Module, str]:
    for module in network.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter is table:
                return module, name
    raise KeyError("tables() returns a parameter that is not part of the network")
