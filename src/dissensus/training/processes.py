"""One training in several processes, each with its part of every batch; the same result as in one.

All processes have the same batches and the same weights; each computes the outputs of its own
items. Gradients are summed over processes once a step, by hand: torch's DistributedDataParallel
takes the mean, which is wrong for parts of unequal weight, and must know beforehand which
parameters a step uses. Only the first process writes, prints and scores epochs.
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
from dissensus.training.examples import BatchIndex, Examples
from dissensus.within import set_within

SET_BY_TORCHRUN = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
TIMEOUT = timedelta(days=7)  # the first process may encode for long; a dead one is noticed at once
STOPPED = 130  # exit code after Ctrl-C


@dataclass(frozen=True)
class Processes:
    """The processes of a training: how many there are, and the number of this one."""

    n: int = 1
    rank: int = 0

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def check(self, device: torch.device) -> None:
        """Refuse more processes than there are GPUs on this machine."""
        here = int(os.environ.get("LOCAL_WORLD_SIZE", self.n)) if self.n > 1 else 1
        if device.type == "cuda" and here > torch.cuda.device_count():
            raise ModelError(
                f"{here} processes need {here} GPUs, torch sees {torch.cuda.device_count()}; "
                "start fewer, or train on the CPU with --set training.device=cpu"
            )

    # ---- a batch ----

    def batch(self, examples: Examples, index: BatchIndex) -> Batch:
        """The part of a batch that this process computes; the whole batch if there is no other."""
        if self.n == 1:
            return examples.batch(*index)
        edges = len(index.items) * np.arange(self.n + 1) // self.n
        row_edges = np.searchsorted(index.owner, edges)
        first, first_row = edges[self.rank], row_edges[self.rank]
        at, of = slice(first, edges[self.rank + 1]), slice(first_row, row_edges[self.rank + 1])
        owner = index.owner[of] - first
        mine = BatchIndex(index.items[at], index.rows[of], owner, index.share[at])
        batch = examples.batch(*mine)
        batch.places = {
            "items": torch.arange(at.start, at.stop, device=examples.device),
            "rows": torch.arange(of.start, of.stop, device=examples.device),
        }
        for role in batch.content:
            whole, _ = examples.distinct(role, index.items)
            own, _ = examples.distinct(role, mine.items)
            places = torch.from_numpy(np.searchsorted(whole, own))
            batch.places[f"content.{role}"] = places.to(examples.device)
        every = examples.batch(*index, with_contents=False)
        n_items, n_rows = np.diff(edges).tolist(), np.diff(row_edges).tolist()
        parts: Any = vars(batch)
        return BatchPart(**parts, whole=every, n_items=n_items, n_rows=n_rows, rank=self.rank)

    def sum_gradients(self, parameters: Sequence[nn.Parameter], loss: Tensor) -> Tensor:
        """Sum the gradients over all processes; returns the loss of the whole batch.

        A parameter without a gradient in any process stays without one.
        """
        if self.n == 1:
            return loss.detach()
        has_gradient = torch.tensor([p.grad is not None for p in parameters], device=loss.device)
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        ends = [loss.detach().reshape(1), has_gradient.to(loss.dtype)]
        flat = torch.cat([*ends, *(gradient.reshape(-1) for gradient in gradients)])
        with _collective():
            dist.all_reduce(flat)
        anywhere, start = flat[1 : len(parameters) + 1].tolist(), len(parameters) + 1
        for parameter, gradient, used in zip(parameters, gradients, anywhere, strict=True):
            if used:
                gradient.copy_(flat[start : start + gradient.numel()].view(gradient.shape))
                parameter.grad = gradient
            start += gradient.numel()
        return flat[0]

    # ---- what they agree on ----

    def share_weights(self, network: nn.Module) -> None:
        """Copy the weights of the first process to all others."""
        if self.n > 1:
            for weights in network.state_dict().values():
                whole = weights.contiguous()  # those of image networks may lie in another order
                with _collective():
                    dist.broadcast(whole, 0)
                weights.copy_(whole)

    def from_first(self, compute: Callable[[], float]) -> float:
        """A number that the first process computes alone and sends to the others."""
        if self.n == 1:
            return compute()
        number = torch.zeros(1, dtype=torch.float64)
        if self.is_first:
            with set_within(_present, ALONE):
                number[0] = compute()
        with _collective():
            dist.broadcast(number, 0)
        return float(number)

    def any(self, mine: bool) -> bool:
        """Whether it is true in any process."""
        if self.n == 1:
            return mine
        count = torch.tensor([float(mine)])
        with _collective():
            dist.all_reduce(count)
        return bool(count > 0)

    @contextmanager
    def first_alone(self) -> Iterator[None]:
        """The first process runs the block before the others, which then read the features that it
        has cached."""
        if not self.is_first:
            self.any(False)
        yield
        if self.is_first and self.n > 1:
            self.any(False)


@dataclass(eq=False, kw_only=True)
class BatchPart(Batch):
    """The part of a batch that one of several processes has: some items with all their rows."""

    whole: Batch  # without contents
    n_items: list[int]  # of each process
    n_rows: list[int]
    rank: int

    def loss(self, outputs: Outputs, losses: tuple[Loss, ...]) -> Tensor:
        """This process's share of the loss of the whole batch; all shares add up to it.

        A loss over the batch is computed in every process from the outputs of all. Each counts an
        equal share of it, with the whole gradient with respect to its own outputs.
        """
        gathered: Outputs | None = None  # of all processes, with a gradient through its own
        total = torch.zeros((), device=self.items.device)
        for loss in losses:
            if loss.over == "batch":
                gathered = gathered or Outputs(
                    {name: self._joined(v, self.n_rows) for name, v in outputs.rows.items()},
                    {name: self._joined(v, self.n_items) for name, v in outputs.items.items()},
                )
                value = loss.function(gathered, self.whole)
                total = total + value - (value * (1 - 1 / len(self.n_items))).detach()
            else:
                assert loss.weight is not None
                value = (loss.function(outputs, self) * loss.weight(self)).sum()
                total = total + value / loss.weight(self.whole).sum().clamp(min=1e-12)
        return total

    def _joined(self, mine: Tensor, lengths: Sequence[int]) -> Tensor:
        padded = mine.new_zeros((max(lengths), *mine.shape[1:]))
        padded[: len(mine)] = mine.detach()
        parts = [torch.empty_like(padded) for _ in lengths]
        with _collective():
            dist.all_gather(parts, padded)
        parts = [part[:length] for part, length in zip(parts, lengths, strict=True)]
        parts[self.rank] = mine
        return torch.cat(parts)


# ---- start and end ----

ALONE = Processes()
_present: ContextVar[Processes] = ContextVar("processes", default=ALONE)


def current_processes() -> Processes:
    """The processes of the training here; outside of `joined` there is only this one."""
    return _present.get()


@contextmanager
def joined() -> Iterator[Processes]:
    """Within the block, all processes that torchrun started share each training.

    Without other processes it has no effect. An error in several processes is raised in one of
    them; the others exit without a message.

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
        store = _connect(processes)
        with set_within(_present, processes), nullcontext() if processes.is_first else hidden():
            yield processes
        dist.destroy_process_group()
    except KeyboardInterrupt:
        if processes.is_first:
            raise
        raise SystemExit(STOPPED) from None
    except Exception:
        first = _is_first(processes, store)
        with suppress(RuntimeError):  # its threads might abort when other processes end first
            if dist.is_initialized() and dist.get_backend() == "gloo":
                dist.destroy_process_group()
        if first:
            raise
        raise SystemExit(ProcessLost.code) from None


def _connect(processes: Processes) -> Any:
    """Connect the processes; returns a key-value store that all of them share."""
    backend = "gloo"
    if torch.cuda.is_available():
        backend = "cpu:gloo,cuda:nccl"
        mine = int(os.environ.get("LOCAL_RANK", processes.rank))
        if mine < torch.cuda.device_count():
            torch.cuda.set_device(mine)
    try:
        store, rank, n = next(rendezvous("env://"))
        dist.init_process_group(backend, store=store, rank=rank, world_size=n, timeout=TIMEOUT)
    except RuntimeError as error:
        where = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
        reason = str(error).splitlines()[0]
        raise ModelError(f"the processes cannot connect at {where} ({reason})") from None
    return store


def _is_first(processes: Processes, store: Any) -> bool:
    """Whether this is the first process with an error; without a store, whether it is number 0."""
    if store is None:
        return processes.is_first
    try:
        return bool(store.add("dissensus/failed", 1) == 1)
    except RuntimeError:  # the first process had the store, and has ended
        return False


@contextmanager
def _collective() -> Iterator[None]:
    """A collective operation of all processes; it fails when one of them has ended."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise ProcessLost(f"another process of this training has ended ({reason})") from error
