"""The training loop: it cuts batches, weighs losses, steps, and keeps the best epoch."""

from __future__ import annotations

import itertools
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from dissensus.errors import CheckpointError, ModelError
from dissensus.networks.noise import keyed, noise_key
from dissensus.progress import Advance, progress
from dissensus.training.average import Average, share_of_step
from dissensus.training.batch import Batch, Loss, Network, Outputs
from dissensus.training.batches import BatchIndex, batch_indices, plan_epoch
from dissensus.training.checkpoint import Checkpoint
from dissensus.training.examples import Examples
from dissensus.training.log import Log
from dissensus.training.processes import Part, Processes, current_processes
from dissensus.training.settings import Schedule, Training
from dissensus.training.sparse_tables.tables import Tables


class Validation(NamedTuple):
    """The score on the validation corpus that the best epoch is chosen by."""

    name: str
    score: Callable[[], float]
    higher_is_better: bool


def fit(
    network: Network,
    losses: tuple[Loss, ...],
    examples: Examples,
    training: Training,
    validation: Validation | None = None,
    checkpoint: Checkpoint | None = None,
    *,
    learned: np.ndarray,
) -> Log:
    """Train the network in place on the items `learned` (codes) of the examples.

    Args:
        validation: scores each epoch; the best one is kept.
        checkpoint: where states are kept; a training that was stopped goes on from there, and
            ends with the same weights.
    """
    return Trainer(network, losses, examples, training, validation, learned).train(checkpoint)


@dataclass
class Trainer:
    """A training under way. Everything that it depends on can be saved and taken back."""

    network: Network
    losses: tuple[Loss, ...]
    examples: Examples
    training: Training
    validation: Validation | None
    learned: np.ndarray
    kind: str = ""  # runs of one kind have the same losses
    log: Log = field(default_factory=Log)
    best: dict[str, Tensor] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # what the user should know about it
    epoch: int = 0  # epochs that are over
    done: int = 0  # batches of the present epoch that are over
    step: int = 0  # steps of the optimiser
    steady: bool = True  # between two batches, where its state is whole
    processes: Processes = field(default_factory=current_processes)

    def __post_init__(self) -> None:
        training = self.training
        keyed(self.network)
        self.tables = Tables.of(self.network, training, self.examples.device)
        by_rows = {id(table) for table in self.tables.tables}
        learning = [p for p in self.network.parameters() if p.requires_grad]
        self.parameters = [p for p in learning if id(p) not in by_rows]
        self.groups = training.groups(self.parameters, self.network.pretrained())
        self.highest = [group["lr"] for group in self.groups]
        self.order = np.random.default_rng(training.seed)
        self.order_before = self.order.bit_generator.state  # before the present epoch
        self.n_batches = len(plan_epoch(self.examples, self.learned, training, None))
        self.n_steps = self.n_batches * sum(
            self._steps_per_batch(n) for n in range(training.epochs)
        )
        self.schedule = Schedule(training, self.n_steps)
        self.average = Average(self.parameters)
        self.sum = torch.zeros((), dtype=torch.float64, device=self.examples.device)  # of losses
        self.log.best_epoch = training.epochs
        self.log.chosen_by = self.validation.name if self.validation else "loss"
        self.began = time.monotonic()

    @cached_property
    def optimiser(self) -> Any:
        """Made where it is asked for: in a stack nobody does, and torch's own imports a compiler,
        which takes two seconds."""
        return self.training.optimise([dict(group) for group in self.groups])

    # ---- the loop ----

    def train(self, checkpoint: Checkpoint | None = None) -> Log:
        """From the beginning, or from where it was stopped, to the end."""
        with torch.random.fork_rng(devices=gpus(self.examples.device)):
            torch.manual_seed(self.training.seed)
            if checkpoint is not None:
                self.restore(checkpoint)
                self._check_together(checkpoint)
            self.processes.spread(self.network)
            kept = checkpoint if self.processes.leads else None
            try:
                with interrupts() as asked:
                    self.all_epochs(kept, lambda: self.processes.any(asked()))
            except KeyboardInterrupt:
                if kept is not None and self.steady:
                    self.save(kept)
                raise
            except RuntimeError as error:
                raise explained(error, self.training) from error
        self.finish()
        return self.log

    def all_epochs(self, checkpoint: Checkpoint | None, asked: Callable[[], bool]) -> None:
        """Make the epochs that are missing.

        Args:
            asked: whether somebody has asked to stop.
        """
        total = self.training.epochs * self.n_batches
        with progress("training", total) as advance:
            advance(self.epoch * self.n_batches + self.done)
            while not self.over:
                self._one_epoch(checkpoint, advance, asked)
                _stop_if(asked)
                if checkpoint is not None and checkpoint.due:
                    self.save(checkpoint)

    def _one_epoch(
        self, checkpoint: Checkpoint | None, advance: Advance, asked: Callable[[], bool]
    ) -> None:
        self.network.train()
        batches = batch_indices(self.examples, self.learned, self.training, self.order)
        for cut in itertools.islice(batches, self.done, None):
            self.steady = False
            self.train_batch(cut)
            self.done += 1
            self.steady = True
            _stop_if(asked)
            advance(1)
            if checkpoint is not None and checkpoint.due and self.done < self.n_batches:
                self.save(checkpoint)
        loss = float(self.sum) / max(self.n_batches * self._steps_per_batch(self.epoch), 1)
        self.steady = False
        self.tables.catch_up()
        self.end_epoch(loss, self.optimiser.param_groups[0]["lr"])
        self.steady = True
        advance(0, f"epoch {self.epoch}, loss {loss:.4f}")

    def train_batch(self, cut: BatchIndex) -> None:
        batch = self.processes.batch(self.examples, cut)
        for losses in self._together(self.epoch):
            rate = self.schedule.rate(self.step)
            for group, highest in zip(self.optimiser.param_groups, self.highest, strict=True):
                group["lr"] = highest * rate
            batch.noise = noise_key(self.training.noise_seed, self.step)
            self.optimiser.zero_grad()
            with self.tables.rows_of(batch) as rows:
                loss = self._loss(losses, batch)
                loss.backward()  # type: ignore[no-untyped-call]
            learning = [*self.parameters, *rows]
            self.sum += self.processes.add_up(learning, loss)
            if self.training.clip < math.inf:
                torch.nn.utils.clip_grad_norm_(learning, self.training.clip)
            self.optimiser.step()
            self.tables.step(rows, self.highest[0] * rate)
            self.average.see(self.share(self.step))
            self.step += 1

    def _together(self, epoch: int) -> list[tuple[Loss, ...]]:
        """The losses of each step that is made with a batch in this epoch."""
        due = tuple(loss for loss in self.losses if loss.due(epoch / self.training.epochs))
        return [(loss,) for loss in due] if self.training.losses == "interleaved" else [due]

    def _steps_per_batch(self, epoch: int) -> int:
        return len(self._together(epoch))

    def share(self, step: int) -> float:
        """How much the weights after a step count in the mean of all up to it."""
        return share_of_step(self.training.averaged, self.n_steps, step)

    def _loss(self, losses: tuple[Loss, ...], batch: Batch) -> Tensor:
        if self.training.precision == "fp32":
            return total_loss(self.network, losses, batch)
        with torch.autocast(self.examples.device.type, dtype=torch.bfloat16):
            return total_loss(self.network, losses, batch)

    def end_epoch(self, loss: float, rate: float) -> None:
        """Note an epoch's mean loss and last learning rate; judge it, if it is to be judged."""
        self.epoch, self.done = self.epoch + 1, 0
        if not math.isfinite(loss):
            raise ModelError(
                f"training diverged in epoch {self.epoch}: the loss is {loss}; "
                f"lower the learning rate ({self.training.learning_rate:g})"
            )
        self.sum.zero_()
        self.order_before = self.order.bit_generator.state
        self.log.train.append(loss)
        self.log.rate.append(rate)
        self.log.seconds.append(time.monotonic() - self.began)
        if self.validation is not None:
            with self.average.taken():
                self._validate(self.validation)
        else:
            self.schedule.see(loss)

    def _validate(self, validation: Validation) -> None:
        score = self.processes.told(validation.score)
        self.log.validation.append(score)
        sign = -1 if validation.higher_is_better else 1
        lower, seen = sign * score, [sign * score for score in self.log.validation]
        self.schedule.see(math.inf if math.isnan(lower) else lower)
        best = np.nanmin([*seen[:-1], math.inf])
        if lower < best or (lower == best and self.training.ties == "last"):
            self.log.best_epoch = self.epoch
            self.best = {k: v.detach().clone() for k, v in self.network.state_dict().items()}

    @property
    def over(self) -> bool:
        """Whether all epochs are made, or patience is at an end."""
        if self.epoch >= self.training.epochs:
            return True
        patience = self.training.patience
        if not patience or not self.best:
            return False
        return self.epoch - self.log.best_epoch >= patience

    def finish(self) -> None:
        """Take the best epoch, if one was chosen, or else the mean, if there is one."""
        self.average.take()
        if self.best:
            self.network.load_state_dict(self.best)

    # ---- its state ----

    def save(self, checkpoint: Checkpoint) -> None:
        tensors = {f"network.{k}": v for k, v in self.network.state_dict().items()}
        tensors |= {f"best.{k}": v for k, v in self.best.items()}
        for number, held in self.optimiser.state_dict()["state"].items():
            for name, value in held.items():
                if value is not None:
                    tensors[f"optimiser.{number}.{name}"] = value
        tensors |= {f"tables.{k}": v for k, v in self.tables.state().items()}
        tensors |= {f"average.{k}": v for k, v in self.average.state().items()}
        tensors["sum"] = self.sum
        tensors["random.cpu"] = torch.get_rng_state()
        if self.examples.device.type == "cuda":
            tensors["random.cuda"] = torch.cuda.get_rng_state(self.examples.device)
        checkpoint.save(tensors, self._facts())

    def _facts(self) -> dict[str, Any]:
        schedule = self.schedule
        return {
            "epoch": self.epoch,
            "done": self.done,
            "step": self.step,
            "order": self.order_before,
            "schedule": [schedule.best, schedule.waited, schedule.lowered],
            "log": asdict(self.log),
            "seconds": time.monotonic() - self.began,
        }

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from the last state that was kept, if there is one."""
        found = checkpoint.read()
        if found is None:
            return
        tensors, facts = found
        kept_by_rows = bool(_under("tables.", tensors))
        if kept_by_rows != bool(self.tables.tables):
            raise CheckpointError(
                f"{checkpoint.folder}: was kept on another device, or by another version of "
                "dissensus, which steps large tables of annotators in another way; go on there, or "
                "remove it and train again"
            )
        self.network.load_state_dict(_under("network.", tensors))
        self.best = {k: v.to(self.examples.device) for k, v in _under("best.", tensors).items()}
        self._restore_optimiser(_under("optimiser.", tensors))
        self.tables.restore(_under("tables.", tensors))
        self.average.restore(_under("average.", tensors))
        self.sum.copy_(tensors["sum"])
        self.epoch, self.done, self.step = facts["epoch"], facts["done"], facts["step"]
        self.order.bit_generator.state = self.order_before = facts["order"]
        self.schedule.best, self.schedule.waited, self.schedule.lowered = facts["schedule"]
        self.log = Log(**facts["log"])
        self.began = time.monotonic() - facts["seconds"]
        torch.set_rng_state(tensors["random.cpu"])
        if "random.cuda" in tensors:
            torch.cuda.set_rng_state(tensors["random.cuda"], self.examples.device)

    def _check_together(self, checkpoint: Checkpoint) -> None:
        """Refuse processes that go on from different places, as where each has its own disk."""
        if self.processes.any(self.step != self.processes.told(lambda: self.step)):
            raise CheckpointError(
                f"{checkpoint.folder}: not every process of this training finds the same state "
                "there; put it where all of them can read it, or remove it and train again"
            )

    def _restore_optimiser(self, tensors: dict[str, Tensor]) -> None:
        state: dict[int, dict[str, Tensor]] = {}
        for path, value in tensors.items():
            number, name = path.split(".", 1)
            state.setdefault(int(number), {})[name] = value
        now = self.optimiser.state_dict()
        self.optimiser.load_state_dict({"state": state, "param_groups": now["param_groups"]})


@contextmanager
def interrupts() -> Iterator[Callable[[], bool]]:
    """Within the block Ctrl-C waits until it is asked for, so that no batch is left half made.

    A second one does not wait.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is signal.SIG_IGN:
        yield lambda: False
        return
    seen: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if seen:
            raise KeyboardInterrupt
        seen.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(seen)
    finally:
        signal.signal(signal.SIGINT, before)


def _stop_if(asked: Callable[[], bool]) -> None:
    if asked():
        raise KeyboardInterrupt


def total_loss(
    network: Callable[[Batch], Outputs], losses: tuple[Loss, ...], batch: Batch
) -> Tensor:
    """The sum of the losses of a batch; over rows and items, weighted means.

    Of one process's part of a batch, its share of that sum.
    """
    outputs = network(batch)
    if isinstance(batch, Part):
        return batch.loss(outputs, losses)
    total = torch.zeros((), device=batch.items.device)
    for loss in losses:
        value, weight = _summed(loss, loss.function(outputs, batch), batch)
        total = total + value / weight.clamp(min=1e-12)
    return total


def _summed(loss: Loss, value: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
    """The weighted sum of a loss over rows or items, and of the weights; over the batch without
    any, it counts as often as there are items."""
    if loss.weight is None:
        n_items = batch.items.new_tensor(len(batch.items), dtype=value.dtype)
        return value * n_items, n_items
    weight = loss.weight(batch)
    if loss.over == "batch":
        return value * weight.sum(), weight.sum()
    return (value * weight).sum(), weight.sum()


def mean_loss(
    network: Network, losses: tuple[Loss, ...], examples: Examples, training: Training
) -> float:
    """The loss over all items, without dropout: every row or item as much as it weighs."""
    network.eval()
    sums = np.zeros((len(losses), 2))
    with torch.inference_mode():
        for cut in batch_indices(examples, np.arange(examples.n_items), training, None):
            batch = examples.batch(*cut)
            outputs = network(batch)
            for number, loss in enumerate(losses):
                value, weight = _summed(loss, loss.function(outputs, batch), batch)
                sums[number] += float(value), float(weight)
    return float((sums[:, 0] / sums[:, 1].clip(1e-12)).sum())


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


def explained(error: RuntimeError, training: Training) -> Exception:
    """Too little memory is told with what to do about it; anything else stays as it is."""
    text = str(error)
    if not any(sign in text for sign in ("out of memory", "not enough memory", "can't allocate")):
        return error
    smaller = max(1, training.batch_size // 2)
    return ModelError(
        f"out of memory with {training.batch_size} items in a batch; try "
        f"--set training.batch_size={smaller}"
    )


def gpus(device: torch.device) -> list[torch.device]:
    return [device] if device.type == "cuda" else []
