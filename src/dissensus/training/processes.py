"""Several processes at one training, each with its part of every batch; they end as one would.

All of them cut the same batches and keep the same weights; a process computes the outputs of its
own items. What is summed over processes is the gradient, once a step and by hand: torch's
DistributedDataParallel takes the mean, which is wrong for parts of unequal weight, and wants to
know beforehand which parameters a step will use. Whatever is written, said or judged, the first
process does alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.rendezvous import rendezvous

from dissensus.errors import ModelError, ProcessLost
from dissensus.progress import hidden
from dissensus.training.batch import Batch, Loss, Outputs
from dissensus.training.batches import BatchIndex
from dissensus.training.examples import Examples

SET_BY_TORCHRUN = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
PATIENCE = timedelta(days=7)  # the first process may encode for long; a dead one is noticed at once
STOPPED = 130  # exit code after Ctrl-C


@dataclass(frozen=True)
class Processes:
    """Those that train together: how many there are, and which of them this is."""

    n: int = 1
    rank: int = 0

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def check(self, device: torch.device) -> None:
        """Refuse GPUs of which there are fewer than processes on this machine."""
        here = int(os.environ.get("LOCAL_WORLD_SIZE", self.n)) if self.n > 1 else 1
        if device.type == "cuda" and here > torch.cuda.device_count():
            raise ModelError(
                f"{here} processes train on as many GPUs, torch sees {torch.cuda.device_count()}; "
                "start fewer, or train on the CPU with --set training.device=cpu"
            )

    # ---- a batch ----

    def batch(self, examples: Examples, cut: BatchIndex) -> Batch:
        """The part of a batch that this process computes; all of it where there is no other."""
        if self.n == 1:
            return examples.batch(*cut)
        edges = len(cut.items) * np.arange(self.n + 1) // self.n
        row_edges = np.searchsorted(cut.owner, edges)
        mine = _slice(cut, edges[self.rank : self.rank + 2], row_edges[self.rank : self.rank + 2])
        batch = examples.batch(*mine)
        batch.places = {
            "items": _range(edges[self.rank], len(mine.items), examples.device),
            "rows": _range(row_edges[self.rank], len(mine.rows), examples.device),
        }
        for role in batch.content:
            whole, _ = examples.distinct(role, cut.items)
            own, _ = examples.distinct(role, mine.items)
            at = torch.from_numpy(np.searchsorted(whole, own)).to(examples.device)
            batch.places[f"content.{role}"] = at
        return BatchPart(
            **vars(batch),
            whole=examples.batch(*cut, shown=False),
            n_items=np.diff(edges).tolist(),
            n_rows=np.diff(row_edges).tolist(),
            rank=self.rank,
        )

    def sum_gradients(self, parameters: Sequence[nn.Parameter], loss: Tensor) -> Tensor:
        """Sum the gradients over all processes; gives the loss of the whole batch.

        A parameter that has a gradient nowhere is left without one, as in a single process.
        """
        if self.n == 1:
            return loss.detach()
        there = torch.tensor([p.grad is not None for p in parameters], device=loss.device)
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        ends = [loss.detach().reshape(1), there.to(loss.dtype)]
        flat = torch.cat([*ends, *(held.reshape(-1) for held in gradients)])
        with _collective():
            dist.all_reduce(flat)
        found, start = flat[1 : len(parameters) + 1].tolist(), len(parameters) + 1
        for parameter, held, anywhere in zip(parameters, gradients, found, strict=True):
            if anywhere:
                held.copy_(flat[start : start + held.numel()].view(held.shape))
                parameter.grad = held
            start += held.numel()
        return flat[0]

    # ---- what they agree on ----

    def share_weights(self, network: nn.Module) -> None:
        """Give everybody the first process's weights."""
        if self.n > 1:
            for held in network.state_dict().values():
                whole = held.contiguous()  # a picture network's weights may lie in another order
                with _collective():
                    dist.broadcast(whole, 0)
                held.copy_(whole)

    def from_first(self, figure: Callable[[], float]) -> float:
        """A figure that the first process finds, alone, and tells the others."""
        if self.n == 1:
            return figure()
        found = torch.zeros(1, dtype=torch.float64)
        if self.is_first:
            with _among(ALONE):
                found[0] = figure()
        with _collective():
            dist.broadcast(found, 0)
        return float(found)

    def any(self, mine: bool) -> bool:
        """Whether it holds for one of them."""
        if self.n == 1:
            return mine
        found = torch.tensor([float(mine)])
        with _collective():
            dist.all_reduce(found)
        return bool(found > 0)

    @contextmanager
    def first_alone(self) -> Iterator[None]:
        """The first process goes through the block before the others do: what it leaves in the
        feature cache they read."""
        if not self.is_first:
            self.any(False)
        yield
        if self.is_first and self.n > 1:
            self.any(False)


@dataclass(eq=False, kw_only=True)
class BatchPart(Batch):
    """What one of several processes has of a batch: some of its items with all their rows."""

    whole: Batch  # without what was shown
    n_items: list[int]  # of each process
    n_rows: list[int]
    rank: int

    def loss(self, outputs: Outputs, losses: tuple[Loss, ...]) -> Tensor:
        """This process's share of the loss of the whole batch; all shares add up to it.

        A loss over the batch is computed by everybody from everybody's outputs. Each counts an
        equal share of it, with the whole gradient with regard to the process's own outputs.
        """
        gathered: Outputs | None = None
        total = torch.zeros((), device=self.items.device)
        for loss in losses:
            if loss.over == "batch":
                gathered = gathered or self._gathered(outputs)
                value = loss.function(gathered, self.whole)
                total = total + value - (value * (1 - 1 / len(self.n_items))).detach()
            else:
                assert loss.weight is not None
                value = (loss.function(outputs, self) * loss.weight(self)).sum()
                total = total + value / loss.weight(self.whole).sum().clamp(min=1e-12)
        return total

    def _gathered(self, outputs: Outputs) -> Outputs:
        """The outputs of all processes; through its own a process learns."""
        return Outputs(
            {name: self._joined(held, self.n_rows) for name, held in outputs.rows.items()},
            {name: self._joined(held, self.n_items) for name, held in outputs.items.items()},
        )

    def _joined(self, mine: Tensor, lengths: Sequence[int]) -> Tensor:
        padded = mine.new_zeros((max(lengths), *mine.shape[1:]))
        padded[: len(mine)] = mine.detach()
        parts = [torch.empty_like(padded) for _ in lengths]
        with _collective():
            dist.all_gather(parts, padded)
        parts = [held[:length] for held, length in zip(parts, lengths, strict=True)]
        parts[self.rank] = mine
        return torch.cat(parts)


def _slice(cut: BatchIndex, items: np.ndarray, rows: np.ndarray) -> BatchIndex:
    at, of = slice(*items), slice(*rows)
    return BatchIndex(cut.items[at], cut.rows[of], cut.owner[of] - items[0], cut.share[at])


def _range(start: int, length: int, device: torch.device) -> Tensor:
    return torch.arange(int(start), int(start) + length, device=device)


# ---- coming together ----

ALONE = Processes()
_present: ContextVar[Processes] = ContextVar("processes", default=ALONE)


def current_processes() -> Processes:
    """Those that train together here; outside of `joined` there is only this one."""
    return _present.get()


@contextmanager
def _among(processes: Processes) -> Iterator[None]:
    before = _present.set(processes)
    try:
        yield
    finally:
        _present.reset(before)


@contextmanager
def joined(*, watched: bool = False) -> Iterator[Processes]:
    """Within the block, a training is that of all processes that torchrun started.

    A process without others goes through it as if it were not there. What goes wrong in several
    of them is raised in one; the others end without a word.

    Args:
        watched: whether somebody else says which process is gone, if one is.

    Example:
        >>> with joined() as processes:
        ...     processes.n, processes.is_first
        (1, True)
    """
    if any(name not in os.environ for name in SET_BY_TORCHRUN) or os.environ["WORLD_SIZE"] == "1":
        yield ALONE
        return
    processes = Processes(int(os.environ["WORLD_SIZE"]), int(os.environ["RANK"]))
    store: Any = None
    try:
        store = _met(processes)
        with _among(processes), nullcontext() if processes.is_first else hidden():
            yield processes
        dist.destroy_process_group()
    except KeyboardInterrupt:
        if processes.is_first:
            raise
        raise SystemExit(STOPPED) from None
    except Exception as error:
        told = watched and isinstance(error, ProcessLost)
        first = not told and _is_first(processes, store)
        _leave()
        if first:
            raise
        raise SystemExit(ProcessLost.code) from None


def _leave() -> None:
    """End what runs beside Python, which might abort where the others are gone before it."""
    with suppress(RuntimeError):
        if dist.is_initialized() and dist.get_backend() == "gloo":
            dist.destroy_process_group()


def _met(processes: Processes) -> Any:
    """Where the processes have found one another: a store that all of them see."""
    backend = "gloo"
    if torch.cuda.is_available():
        backend = "cpu:gloo,cuda:nccl"
        mine = int(os.environ.get("LOCAL_RANK", processes.rank))
        if mine < torch.cuda.device_count():
            torch.cuda.set_device(mine)
    try:
        store, rank, n = next(rendezvous("env://"))
        dist.init_process_group(backend, store=store, rank=rank, world_size=n, timeout=PATIENCE)
    except RuntimeError as error:
        where = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
        reason = str(error).splitlines()[0]
        raise ModelError(f"the processes cannot meet at {where} ({reason})") from None
    return store


def _is_first(processes: Processes, store: Any) -> bool:
    """Whether nobody else has something to say yet; without a store only one speaks."""
    if store is None:
        return processes.is_first
    try:
        return bool(store.add("dissensus/failed", 1) == 1)
    except RuntimeError:  # it was held by the first process, which has ended
        return False


@contextmanager
def _collective() -> Iterator[None]:
    """What all processes do at once; it fails where one of them is no longer there."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise ProcessLost(f"another process of this training is gone ({reason})") from error
