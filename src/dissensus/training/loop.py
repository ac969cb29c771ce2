"""The training loop: it cuts batches, weighs losses, steps, and keeps the best epoch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from dissensus.errors import ModelError
from dissensus.progress import progress
from dissensus.training.batch import Batch, Loss, Network
from dissensus.training.examples import Examples


@dataclass(frozen=True)
class Training:
    """How a network is trained.

    Args:
        epochs: passes over the items; with a validation corpus the best one is kept.
        batch_size: items per step.
        learning_rate: the highest, reached after `warm_up` and then lowered along a cosine.
        weight_decay: AdamW's.
        warm_up: the share of steps over which the rate rises.
        clip: the largest norm of a gradient.
        patience: epochs without a better validation loss before it stops early.
        max_rows_per_item: an item with more is spread over several batches of an epoch.
        seed: of the order of items and of dropout (`init_seed` of a method: of first weights).
        device: "cpu", "cuda", or "auto" for a GPU where there is one.
    """

    epochs: int = 30
    batch_size: int = 32
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    warm_up: float = 0.1
    clip: float = 1.0
    patience: int | None = None
    max_rows_per_item: int = 256
    seed: int = 0
    device: Literal["auto", "cpu", "cuda"] = "auto"

    def __post_init__(self) -> None:
        counts = ("epochs", "batch_size", "max_rows_per_item")
        wrong = [name for name in counts if getattr(self, name) < 1]
        wrong += [name for name in ("learning_rate", "clip") if not getattr(self, name) > 0]
        wrong += [n for n in ("weight_decay", "warm_up") if not getattr(self, n) >= 0]
        if wrong:
            found = ", ".join(f"{name} = {getattr(self, name)}" for name in wrong)
            raise ModelError(f"training settings out of range: {found}")

    def where(self) -> torch.device:
        """The device to train on."""
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return torch.device(self.device)


@dataclass
class Log:
    """What happened: the mean loss of each epoch, and which epoch was kept."""

    train: list[float]
    validation: list[float]
    best_epoch: int


def fit(
    network: Network,
    losses: tuple[Loss, ...],
    examples: Examples,
    training: Training,
    validation: Examples | None = None,
    *,
    learned: np.ndarray,
) -> Log:
    """Train the network in place on the items `learned` (codes) of the examples."""
    parameters = [p for p in network.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(
        parameters, lr=training.learning_rate, weight_decay=training.weight_decay
    )
    order = np.random.default_rng(training.seed)
    n_steps = training.epochs * sum(1 for _ in _cuts(examples, learned, training, None))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: _rate(step, n_steps, training.warm_up)
    )
    log = Log([], [], training.epochs)
    best: dict[str, Tensor] = {}
    with (
        torch.random.fork_rng(devices=_gpus(examples.device)),
        progress("training", training.epochs) as advance,
    ):
        torch.manual_seed(training.seed)
        step = 0
        for epoch in range(1, training.epochs + 1):
            network.train()
            sums = torch.zeros((), device=examples.device)
            n = 0
            for cut in _cuts(examples, learned, training, order):
                optimiser.zero_grad()
                loss = total_loss(network, losses, examples.batch(*cut, step))
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(parameters, training.clip)
                optimiser.step()
                schedule.step()
                sums += loss.detach()
                n, step = n + 1, step + 1
            log.train.append(float(sums) / max(n, 1))
            if not math.isfinite(log.train[-1]):
                raise ModelError(
                    f"training diverged in epoch {epoch}: the loss is {log.train[-1]}; "
                    f"lower the learning rate ({training.learning_rate:g})"
                )
            if validation is not None:
                log.validation.append(mean_loss(network, losses, validation, training))
                if log.validation[-1] <= min(log.validation):
                    log.best_epoch = epoch
                    best = {k: v.detach().clone() for k, v in network.state_dict().items()}
                elif training.patience and epoch - log.best_epoch >= training.patience:
                    break
            advance(1, f"loss {log.train[-1]:.4f}")
    if best:
        network.load_state_dict(best)
    return log


def total_loss(network: Network, losses: tuple[Loss, ...], batch: Batch) -> Tensor:
    """The sum of the losses of a batch; over rows and items, weighted means."""
    outputs = network(batch)
    total = torch.zeros((), device=batch.items.device)
    for loss in losses:
        value = loss.function(outputs, batch)
        if loss.weight is not None:
            weight = loss.weight(batch)
            value = (value * weight).sum() / weight.sum().clamp(min=1e-12)
        total = total + value
    return total


def mean_loss(
    network: Network, losses: tuple[Loss, ...], examples: Examples, training: Training
) -> float:
    """The loss over all items, without dropout."""
    network.eval()
    total, weight = 0.0, 0
    with torch.inference_mode():
        for cut in _cuts(examples, np.arange(examples.n_items), training, None):
            total += float(total_loss(network, losses, examples.batch(*cut, 0))) * len(cut[0])
            weight += len(cut[0])
    return total / max(weight, 1)


Cut = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _cuts(
    examples: Examples, learned: np.ndarray, training: Training, order: np.random.Generator | None
) -> Iterator[Cut]:
    """An epoch as (items, rows, owner of each row, share of the item's rows) of each batch.

    Every row of the learned items occurs once. An item with more than `max_rows_per_item` rows
    is cut into pieces, its rows shuffled first, and the pieces land in any batch.
    """
    first, last = examples.offsets[learned], examples.offsets[learned + 1]
    pieces = np.maximum(1, -(-(last - first) // training.max_rows_per_item))
    item = np.repeat(np.arange(len(learned)), pieces)
    nth = np.arange(len(item)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    rows = np.arange(len(examples.table.item))
    if order is not None:
        for heavy in np.flatnonzero(pieces > 1):
            order.shuffle(rows[first[heavy] : last[heavy]])
    n = last - first
    start = first[item] + n[item] * nth // pieces[item]
    stop = first[item] + n[item] * (nth + 1) // pieces[item]
    sequence = np.arange(len(item)) if order is None else order.permutation(len(item))
    for begin in range(0, len(sequence), training.batch_size):
        chosen = sequence[begin : begin + training.batch_size]
        lengths = stop[chosen] - start[chosen]
        owner = np.repeat(np.arange(len(chosen)), lengths)
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        share = (1.0 / pieces[item[chosen]]).astype(np.float32)
        yield learned[item[chosen]], rows[start[chosen][owner] + within], owner, share


def batches(examples: Examples, items: np.ndarray, size: int) -> Iterator[tuple[Batch, np.ndarray]]:
    """Batches in order, to predict with, each with the numbers of its rows in the table."""
    everything = Training(batch_size=size, max_rows_per_item=1 << 40)
    for step, cut in enumerate(_cuts(examples, items, everything, None)):
        yield examples.batch(*cut, step), cut[1]


def _rate(step: int, n_steps: int, warm_up: float) -> float:
    rising = warm_up * n_steps
    if step < rising:
        return (step + 1) / (rising + 1)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (step - rising) / max(1.0, n_steps - rising))))


def _gpus(device: torch.device) -> list[torch.device]:
    return [device] if device.type == "cuda" else []
