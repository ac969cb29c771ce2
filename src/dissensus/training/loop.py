"""The training loop. Read `Trainer.train_step` first: one step is all that happens to the weights.

Three things hook into a step, and do nothing in most trainings. Each can be read later:
`sparse_tables` (large tables with a row per annotator), `processes` (one training that several
processes share) and `Average` (of the weights over the last steps). `checkpoint` has the file of a
training that can be resumed. `stacking` runs many trainings as one.
"""

from __future__ import annotations

import itertools
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
import torch.utils.deterministic
from torch import Tensor, nn

from dissensus.errors import CheckpointError, ModelError, cut
from dissensus.networks.noise import draw_by_key, noise_key
from dissensus.progress import Advance, progress
from dissensus.training import sparse_tables
from dissensus.training.batch import Batch, Loss, Network
from dissensus.training.checkpoint import Checkpoint
from dissensus.training.examples import BatchIndex, Examples, batch_indices, plan_epoch
from dissensus.training.processes import Processes, current_processes
from dissensus.training.settings import Schedule, Training, TrainingEvent, current_callbacks
from dissensus.training.sparse_tables import SparseTables
from dissensus.training.validation import Log, Validation
from dissensus.within import check_deadline

# what a damaged checkpoint may raise where it is used
DAMAGED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError)


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
        checkpoint: where the state of the training is saved; a training that was stopped resumes
            from there and ends with the same weights.
    """
    return Trainer(network, losses, examples, training, validation, learned).train(checkpoint)


@dataclass
class Trainer:
    """One training: the network, what it learns from, and how far it is."""

    network: Network
    losses: tuple[Loss, ...]
    examples: Examples
    training: Training
    validation: Validation | None
    learned: np.ndarray  # codes of the items that it learns from
    kind: str = ""  # trainings of one kind have the same losses
    log: Log = field(default_factory=Log)
    best: dict[str, Tensor] = field(default_factory=dict)  # weights of the best epoch
    notes: list[str] = field(default_factory=list)  # what the user should know about it
    epoch: int = 0  # epochs done
    batches_done: int = 0  # of this epoch
    step: int = 0  # steps done
    consistent: bool = True  # False within a batch: the state cannot be saved
    processes: Processes = field(default_factory=current_processes)

    def __post_init__(self) -> None:
        training = self.training
        draw_by_key(self.network)
        self.sparse_tables = None  # usually: tables of annotators are small
        if sum(table.numel() for table in self.network.tables()) >= sparse_tables.LARGE:
            self.sparse_tables = SparseTables.of(self.network, training, self.examples.device)
        by_rows = {id(table) for table in self.sparse_tables.tables} if self.sparse_tables else ()
        learning = [p for p in self.network.parameters() if p.requires_grad]
        self.parameters = [p for p in learning if id(p) not in by_rows]
        self.groups = training.groups(self.parameters, self.network.pretrained())
        self.max_rates = [group["lr"] for group in self.groups]
        self.order = np.random.default_rng(training.seed)
        self.order_before = self.order.bit_generator.state  # before this epoch
        self.n_batches = len(plan_epoch(self.examples, self.learned, training, None))
        self.n_steps = self.n_batches * sum(
            len(self.losses_of_steps(n)) for n in range(training.epochs)
        )
        self.schedule = Schedule(training, self.n_steps)
        self.average = Average(self.parameters)
        device = self.examples.device
        self.loss_sum = torch.zeros((), dtype=torch.float64, device=device)  # of this epoch
        self.log.best_epoch = training.epochs
        self.log.chosen_by = self.validation.name if self.validation else "loss"
        self.started = time.monotonic()

    @cached_property
    def optimiser(self) -> Any:
        """Built on first use: a stack does not need it, and torch's own imports a compiler, which
        takes two seconds."""
        return self.training.optimise([dict(group) for group in self.groups], self.in_parts)

    # ---- a step ----

    def train_step(self, batch: Batch, losses: tuple[Loss, ...]) -> None:
        """Update the weights once."""
        batch.noise = noise_key(self.training.noise_seed, self.step)  # dropout draws from it
        rate = self.schedule.rate(self.step)
        for group, max_rate in zip(self.optimiser.param_groups, self.max_rates, strict=True):
            group["lr"] = max_rate * rate
        self.optimiser.zero_grad()
        sparse = self.sparse_tables
        no_rows: AbstractContextManager[list[nn.Parameter]] = nullcontext([])
        with sparse.rows_of(batch) if sparse else no_rows as rows:  # of large tables
            loss = self.loss(batch, losses)
            loss.backward()  # type: ignore[no-untyped-call]
        parameters = [*self.parameters, *rows]
        self.loss_sum += self.processes.sum_gradients(parameters, loss)  # loss, if there is one
        if self.training.clip < math.inf:
            torch.nn.utils.clip_grad_norm_(parameters, self.training.clip)
        self.optimiser.step()
        if sparse:
            sparse.step(rows, self.max_rates[0] * rate)
        self.average.update(self.average_share(self.step))
        self.step += 1
        if (called := current_callbacks().on_step) and self.processes.is_first:
            called(self.event(float(loss.detach()), self.max_rates[0] * rate))

    def loss(self, batch: Batch, losses: tuple[Loss, ...]) -> Tensor:
        """The sum of the losses of a batch, in the precision of the training."""
        with self.training.arithmetic(self.examples.device):
            return batch.loss(self.network(batch), losses)

    def average_share(self, step: int) -> float:
        """The share of the weights after a step (from 0) in the mean of all up to it: of the last
        steps, as many as are averaged."""
        if not self.training.averaged:
            return 0.0
        first = self.n_steps - max(1, round(self.training.averaged * self.n_steps))
        return 1 / (step - first + 1) if step >= first else 0.0

    # ---- a batch, an epoch ----

    def train_batch(self, index: BatchIndex) -> None:
        """One step with all losses of a batch, or one with each."""
        batch = self.processes.batch(self.examples, index)
        for losses in self.losses_of_steps(self.epoch):
            self.train_step(batch, losses)

    @property
    def in_parts(self) -> bool:
        """Whether some losses are minimised in a part of the training only."""
        return not all(loss.due(0) and loss.due(1) for loss in self.losses)

    def due(self, epoch: int) -> np.ndarray:
        """Which losses each step on a batch of this epoch minimises, (n_steps, n_losses)."""
        due = np.array([loss.due(epoch / self.training.epochs) for loss in self.losses])
        return (
            np.eye(len(due), dtype=bool)[due]
            if self.training.losses == "interleaved"
            else due[None]
        )

    def reached_by(self, loss: Loss) -> set[str]:
        """The names of the weights that have a gradient of this loss."""
        (index,) = itertools.islice(
            batch_indices(self.examples, self.learned, self.training, None), 1
        )
        batch = self.examples.batch(*index)
        batch.noise = noise_key(self.training.noise_seed, 0)
        named = [(n, p) for n, p in self.network.named_parameters() if p.requires_grad]
        self.network.train()
        gradients = torch.autograd.grad(
            self.loss(batch, (loss,)), [p for _, p in named], allow_unused=True
        )
        pairs = zip(named, gradients, strict=True)
        return {name for (name, _), gradient in pairs if gradient is not None}

    def losses_of_steps(self, epoch: int) -> list[tuple[Loss, ...]]:
        """The losses of each step on a batch of this epoch."""
        return [tuple(itertools.compress(self.losses, due)) for due in self.due(epoch)]

    def train_epoch(
        self, checkpoint: Checkpoint | None, advance: Advance, stopped: Callable[[], bool]
    ) -> None:
        """Train on every batch of this epoch that is not done yet."""
        self.network.train()
        indices = batch_indices(self.examples, self.learned, self.training, self.order)
        for index in itertools.islice(indices, self.batches_done, None):
            self.consistent = False
            self.train_batch(index)
            self.batches_done += 1
            self.consistent = True
            _raise_if(stopped)
            advance(1)
            if checkpoint is not None and checkpoint.due and self.batches_done < self.n_batches:
                self.save(checkpoint)
        n_steps = self.n_batches * len(self.losses_of_steps(self.epoch))
        loss = float(self.loss_sum) / max(n_steps, 1)
        self.consistent = False
        if self.sparse_tables:
            self.sparse_tables.catch_up()
        self.end_epoch(loss, self.optimiser.param_groups[0]["lr"])
        self.consistent = True
        advance(0, f"epoch {self.epoch}, loss {loss:.4f}")

    def end_epoch(self, loss: float, rate: float, score: float | None = None) -> None:
        """Log the mean loss and the last learning rate of an epoch, and score it.

        Args:
            score: on the validation corpus, if it is known already.
        """
        self.epoch, self.batches_done = self.epoch + 1, 0
        if not math.isfinite(loss):
            raise ModelError(
                f"training diverged in epoch {self.epoch}: the loss is {loss}; "
                f"lower the learning rate ({self.training.learning_rate:g})"
            )
        self.loss_sum.zero_()
        self.order_before = self.order.bit_generator.state
        self.log.train.append(loss)
        self.log.rate.append(rate)
        self.log.seconds.append(time.monotonic() - self.started)
        if self.validation is not None:
            with self.average.applied():
                self.validate(self.validation, score)
        else:
            self.schedule.epoch_done(loss)
        if (called := current_callbacks().on_epoch) and self.processes.is_first:
            called(self.event(loss, rate))

    def event(self, loss: float, rate: float) -> TrainingEvent:
        """How far this training is."""
        score = self.log.validation[-1] if self.log.validation else None
        return TrainingEvent(self.training.seed, self.epoch, self.step, loss, rate, score)

    def validate(self, validation: Validation, score: float | None = None) -> None:
        """Score this epoch, and keep its weights if it is the best so far."""
        if score is None:
            score = self.processes.from_first(validation.score)
        sign = -1 if validation.higher_is_better else 1
        before = [sign * earlier for earlier in self.log.validation]
        self.log.validation.append(score)
        lower, best = sign * score, np.nanmin([*before, math.inf])
        self.schedule.epoch_done(math.inf if math.isnan(lower) else lower)
        if lower < best or (lower == best and self.training.ties == "last"):
            self.log.best_epoch = self.epoch
            self.best = {k: v.detach().clone() for k, v in self.network.state_dict().items()}

    # ---- all epochs ----

    def train(self, checkpoint: Checkpoint | None = None) -> Log:
        """Train to the end, from the beginning or from where a checkpoint was saved."""
        device = self.examples.device
        with torch.random.fork_rng(devices=gpus(device)), ordered_sums(device):
            torch.manual_seed(self.training.seed)
            if checkpoint is not None:
                self.restore(checkpoint)
            self.processes.share_weights(self.network)
            own = checkpoint if self.processes.is_first else None
            try:
                with interrupts() as interrupted:
                    self.train_epochs(own, lambda: self.processes.any(interrupted()))
            except KeyboardInterrupt:
                if own is not None and self.consistent:
                    self.save(own)
                raise
            except RuntimeError as error:
                if clearer := memory_error(error, self.training):
                    raise clearer from error
                raise
        self.finish()
        return self.log

    def train_epochs(self, checkpoint: Checkpoint | None, stopped: Callable[[], bool]) -> None:
        """Train the epochs that are not done yet.

        Args:
            stopped: whether the user wants to stop.
        """
        with progress("training", self.training.epochs * self.n_batches) as advance:
            advance(self.epoch * self.n_batches + self.batches_done)
            while not self.finished:
                check_deadline()
                self.train_epoch(checkpoint, advance, stopped)
                _raise_if(stopped)
                if checkpoint is not None and checkpoint.due:
                    self.save(checkpoint)

    @property
    def finished(self) -> bool:
        """Whether all epochs are done, or `patience` epochs brought no better score."""
        if self.epoch >= self.training.epochs:
            return True
        patience = self.training.patience
        if not patience or not self.best:
            return False
        return self.epoch - self._last_gain() >= patience

    def _last_gain(self) -> int:
        """The last epoch whose score was better by more than `smallest_gain`."""
        training = self.training
        if not training.smallest_gain or self.validation is None:
            return self.log.best_epoch
        sign = -1 if self.validation.higher_is_better else 1
        best, last = math.inf, 0
        for epoch, score in enumerate(self.log.validation, 1):
            if sign * score < best - training.smallest_gain:
                best, last = sign * score, epoch
        return last

    def finish(self) -> None:
        """Leave the weights of the best epoch in the network, or else the average, if any."""
        self.average.apply()
        if self.best:
            self.network.load_state_dict(self.best)

    # ---- checkpoints ----

    def save(self, checkpoint: Checkpoint) -> None:
        """Save everything that the rest of the training depends on."""
        tensors = {f"network.{k}": v for k, v in self.network.state_dict().items()}
        tensors |= {f"best.{k}": v for k, v in self.best.items()}
        for number, moments in self.optimiser.state_dict()["state"].items():
            for name, value in moments.items():
                if value is not None:
                    tensors[f"optimiser.{number}.{name}"] = value
        if self.sparse_tables:
            tensors |= {f"tables.{k}": v for k, v in self.sparse_tables.state().items()}
        tensors |= {f"average.{k}": v for k, v in self.average.state().items()}
        tensors["sum"] = self.loss_sum
        tensors["random.cpu"] = torch.get_rng_state()
        if self.examples.device.type == "cuda":
            tensors["random.cuda"] = torch.cuda.get_rng_state(self.examples.device)
        schedule = self.schedule
        facts = {
            "epoch": self.epoch,
            "done": self.batches_done,
            "step": self.step,
            "order": self.order_before,
            "schedule": [schedule.best, schedule.waited, schedule.lowered],
            "log": asdict(self.log),
            "seconds": time.monotonic() - self.started,
        }
        checkpoint.save(tensors, facts)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Resume from the saved state, if there is one."""
        try:
            saved = checkpoint.read()
            if saved is not None:
                self._restore(*saved, checkpoint.folder)
        except CheckpointError:
            raise
        except DAMAGED as error:
            raise CheckpointError(
                f"{checkpoint.folder}: a damaged checkpoint ({cut(error)}); remove it and train "
                "again"
            ) from None
        if self.processes.any(self.step != self.processes.from_first(lambda: self.step)):
            raise CheckpointError(
                f"{checkpoint.folder}: not every process of this training reads the same "
                "checkpoint there; use a folder that all of them can read, or remove it and train "
                "again"
            )

    def _restore(self, tensors: dict[str, Tensor], facts: dict[str, Any], folder: Path) -> None:
        if bool(_under("tables.", tensors)) != (self.sparse_tables is not None):
            raise CheckpointError(
                f"{folder}: saved on another device, or by another version of dissensus, which "
                "steps large tables of annotators in another way; resume there, or remove it and "
                "train again"
            )
        self.network.load_state_dict(_under("network.", tensors))
        self.best = {k: v.to(self.examples.device) for k, v in _under("best.", tensors).items()}
        moments: dict[int, dict[str, Tensor]] = {}
        for path, value in _under("optimiser.", tensors).items():
            number, name = path.split(".", 1)
            moments.setdefault(int(number), {})[name] = value
        now = self.optimiser.state_dict()
        self.optimiser.load_state_dict({"state": moments, "param_groups": now["param_groups"]})
        if self.sparse_tables:
            self.sparse_tables.restore(_under("tables.", tensors))
        self.average.restore(_under("average.", tensors))
        self.loss_sum.copy_(tensors["sum"])
        self.epoch, self.batches_done, self.step = facts["epoch"], facts["done"], facts["step"]
        self.order.bit_generator.state = self.order_before = facts["order"]
        self.schedule.best, self.schedule.waited, self.schedule.lowered = facts["schedule"]
        self.log = Log(**facts["log"])
        self.started = time.monotonic() - facts["seconds"]
        torch.set_rng_state(tensors["random.cpu"])
        if "random.cuda" in tensors:
            torch.cuda.set_rng_state(tensors["random.cuda"], self.examples.device)


@dataclass(eq=False)
class Average:
    """The mean of the weights over steps; empty before the first of them."""

    parameters: Sequence[nn.Parameter]
    means: list[Tensor] = field(default_factory=list)

    def update(self, share: float) -> None:
        """Add the weights after a step, with this share in the mean."""
        if not share:
            return
        now = [parameter.detach() for parameter in self.parameters]
        if not self.means:
            self.means = [weights.clone() for weights in now]
        else:
            torch._foreach_lerp_(self.means, now, share)

    def apply(self) -> None:
        """Copy the mean into the network."""
        for parameter, mean in zip(self.parameters, self.means, strict=False):
            parameter.detach().copy_(mean)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Within the block, the weights of the network are the mean."""
        before = [parameter.detach().clone() for parameter in self.parameters if self.means]
        self.apply()
        try:
            yield
        finally:
            for parameter, weights in zip(self.parameters, before, strict=False):
                parameter.detach().copy_(weights)

    # ---- its state ----

    def state(self) -> dict[str, Tensor]:
        return {str(number): mean for number, mean in enumerate(self.means)}

    def restore(self, state: dict[str, Tensor]) -> None:
        devices = [parameter.device for parameter in self.parameters]
        self.means = [state[str(number)].to(devices[number]) for number in range(len(state))]


def _raise_if(stopped: Callable[[], bool]) -> None:
    if stopped():
        raise KeyboardInterrupt


def memory_error(error: RuntimeError, training: Training) -> ModelError | None:
    """An error for the user where memory is too small; None for any other."""
    text = str(error)
    if not any(sign in text for sign in ("out of memory", "not enough memory", "can't allocate")):
        return None
    smaller = max(1, training.batch_size // 2)
    return ModelError(
        f"out of memory with {training.batch_size} items in a batch; try "
        f"--set training.batch_size={smaller}"
    )


def gpus(device: torch.device) -> list[torch.device]:
    """The devices whose random generators a training leaves as they were."""
    return [device] if device.type == "cuda" else []


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


@contextmanager
def ordered_sums(device: torch.device) -> Iterator[None]:
    """Within the block, the threads of a CPU add the gradients of a row in the same order.

    Otherwise they add them in the order in which they happen to be computed. An item has several
    answers, so `features[item]` has the same row repeatedly. On a GPU nothing is changed; there,
    the order of sums may differ from run to run.
    """
    if device.type != "cpu":
        yield
        return
    enabled = torch.are_deterministic_algorithms_enabled()
    only_warned = torch.is_deterministic_algorithms_warn_only_enabled()
    memory: Any = torch.utils.deterministic
    filled = memory.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True, warn_only=True)
    memory.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(enabled, warn_only=only_warned)
        memory.fill_uninitialized_memory = filled


@contextmanager
def interrupts() -> Iterator[Callable[[], bool]]:
    """Within the block Ctrl-C only sets a flag; gives a function that reads it.

    A second Ctrl-C stops at once.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is signal.SIG_IGN:
        yield lambda: False
        return
    signals: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if signals:
            raise KeyboardInterrupt
        signals.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(signals)
    finally:
        signal.signal(signal.SIGINT, before)
