"""Training: how a network is trained, as a dataclass of settings, and functions of yours that it
calls, to log it or to stop it by an exception."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    get_args,
    get_origin,
    get_type_hints,
)

from dissensus.errors import ModelError
from dissensus.within import set_within

if TYPE_CHECKING:
    import torch
    from torch import nn

MOST_TIMES = 10  # as many epochs for the sake of `least_steps`
LARGEST_SEED = 2**63  # torch accepts smaller ones only
BETAS, EPSILON, MOMENTUM = (0.9, 0.999), 1e-8, 0.9  # of the optimisers, torch's defaults
KINDS: dict[str, tuple[type, str]] = {  # by type hint
    "int": (Integral, "an integer"),
    "float": (Real, "a number"),
    "bool": (bool, "True or False"),
    "str": (str, "a text"),
}


@dataclass(frozen=True, repr=False)
class Training:
    """How a network is trained.

    A method completes what it is given by its own defaults: `Training(seed=1)`, or
    `{"seed": 1}`, changes the seed and nothing else. The defaults below are those of no method.

    Args:
        epochs: passes over the items; with a validation corpus the best one is kept.
        least_steps: where all contents are features, which take little time, at least so many steps
            in all: a small corpus has more epochs, at most ten times as many. Where a method is
            given a number of epochs (`epochs`, `--epochs`) without it, it is 0.
        batch_size: items per step.
        batch_by: "item": batches of any items; "content": items with the same content are in one
            batch, as far as they fit, so that a long content is encoded once.
        shuffle: whether the order of items changes from epoch to epoch, or is that of the corpus.
        optimiser: "adamw", "adam", "radam" or "sgd" (momentum .9).
        learning_rate: the highest; after `warm_up` it follows the schedule.
        encoder_learning_rate: the highest for an encoder that is fine-tuned.
        layer_decay: the learning rate of a block of the encoder as a share of that of the next
            block, so that the first ones change least.
        averaged: the share of the steps, the last ones, whose weights are averaged at the end. It
            helped a fine-tuned MiniLM a little in cross-validation, and a frozen one not at all
            (docs/encoders.md).
        schedule: "cosine" or "linear" down to 0, "constant", or "plateau": multiplied by
            `plateau_factor` whenever `plateau` epochs brought no better validation score (or
            training loss).
        smallest_gain: for `plateau` and `patience`, a validation score (or training loss) is better
            if it improves by more than this. It is absolute, in units of the score, as with
            `threshold_mode="abs"` of torch's ReduceLROnPlateau, whose default is relative: 1e-4 of
            the score. The epoch that is kept is the best one, however small its gain.
        weight_decay: the optimiser's.
        warm_up: the share of steps over which the rate rises.
        clip: the largest norm of a gradient; inf for none.
        choose_by: the score on the validation corpus: "loss", or the name of a metric.
        ties: which of several equally good epochs is kept.
        patience: epochs without a better score before training stops early.
        losses: a method's losses "summed", or "interleaved" with a step for each.
        precision: "fp32", or "bf16" for the arithmetic of the network.
        max_rows_per_item: an item with more rows is divided between several batches of an epoch.
        seed: of the order of items and of dropout (`init_seed` of a method: of first weights).
        dropout_seed: of dropout, where it differs from `seed`.
        device: "cpu", "cuda", or "auto" for a GPU where there is one.
        compile: in a stack, compile the blocks of fine-tuned encoders and the optimiser. It takes
            time once and gives the same weights, up to rounding. No effect outside of a stack.
        save_every: seconds between two checkpoints of a training that can be resumed.
    """

    epochs: int = 30
    least_steps: int = 0
    batch_size: int = 32
    batch_by: Literal["item", "content"] = "item"
    shuffle: bool = True
    optimiser: Literal["adamw", "adam", "radam", "sgd"] = "adamw"
    learning_rate: float = 1e-3
    encoder_learning_rate: float = 5e-5
    layer_decay: float = 1.0
    averaged: float = 0.0
    schedule: Literal["cosine", "linear", "plateau", "constant"] = "cosine"
    plateau: int = 2
    plateau_factor: float = 0.5
    smallest_gain: float = 0.0
    weight_decay: float = 0.01
    warm_up: float = 0.1
    clip: float = 1.0
    choose_by: str = "loss"
    ties: Literal["first", "last"] = "first"
    patience: int | None = None
    losses: Literal["summed", "interleaved"] = "summed"
    precision: Literal["fp32", "bf16"] = "fp32"
    max_rows_per_item: int = 256
    seed: int = 0
    dropout_seed: int | None = None
    device: Literal["auto", "cpu", "cuda"] = "auto"
    compile: bool = False
    save_every: float = 30.0
    given: ClassVar[frozenset[str]]  # the names of the settings that this one was given

    def __new__(cls, *values: Any, **settings: Any) -> Self:
        new = super().__new__(cls)
        in_order = [field.name for field in fields(cls)][: len(values)]
        object.__setattr__(new, "given", frozenset(in_order) | settings.keys())
        return new

    def __repr__(self) -> str:
        names = [field.name for field in fields(self) if field.name in self.given]
        return f"Training({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    def over(self, default: Training) -> Training:
        """The settings that were given here, and all others of `default`.

        Example:
            >>> both = Training(seed=1).over(Training(learning_rate=0.1))
            >>> both.seed, both.learning_rate, both.epochs
            (1, 0.1, 30)
        """
        names = [field.name for field in fields(self)]
        if self.given.issuperset(names):
            return self
        own = {name: getattr(self, name) for name in self.given}
        return Training(**{name: getattr(default, name) for name in names} | own)

    def __post_init__(self) -> None:
        self._check_types()
        counts = ("epochs", "batch_size", "max_rows_per_item", "plateau")
        wrong = [name for name in counts if getattr(self, name) < 1]
        above = ("learning_rate", "encoder_learning_rate", "layer_decay")
        wrong += [name for name in above if not 0 < getattr(self, name) < math.inf]
        wrong += [] if self.clip > 0 else ["clip"]
        wrong += [] if 0 < self.plateau_factor < 1 else ["plateau_factor"]
        least_0 = ("least_steps", "weight_decay", "warm_up", "seed", "averaged", "smallest_gain")
        wrong += [name for name in least_0 if not getattr(self, name) >= 0]
        wrong += ["averaged"] if self.averaged > 1 else []
        wrong += ["seed"] if self.seed >= LARGEST_SEED else []
        wrong += ["dropout_seed"] if not 0 <= (self.dropout_seed or 0) < LARGEST_SEED else []
        wrong += ["patience"] if self.patience is not None and self.patience < 1 else []
        if wrong:
            values = ", ".join(f"{name} = {getattr(self, name)}" for name in wrong)
            raise ModelError(f"training settings out of range: {values}")
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise ModelError(
                    f"training.{name} is one of {', '.join(known)}, not {getattr(self, name)!r}"
                )

    def _check_types(self) -> None:
        for field in fields(self):
            hint, _, other = str(field.type).partition(" | ")
            value: Any = getattr(self, field.name)
            kind, words = KINDS.get(hint, (object, ""))
            if other and value is None:
                continue
            if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
                example = getattr(Training, field.name)
                example = 1 if example is None else example
                raise ModelError(
                    f"training.{field.name} must be {words}, e.g. {example}, found {value!r}"
                )
            if kind is Integral or (kind is Real and not isinstance(value, int | float)):
                plain = int if kind is Integral else float  # JSON has no numbers of numpy
                object.__setattr__(self, field.name, plain(getattr(self, field.name)))

    def epochs_of_features(self, n_batches: int) -> int:
        """The number of epochs on features, by the number of batches of an epoch."""
        needed = -(-self.least_steps // max(n_batches, 1))
        return max(self.epochs, min(needed, MOST_TIMES * self.epochs))

    @property
    def noise_seed(self) -> int:
        """The seed of dropout."""
        return self.seed if self.dropout_seed is None else self.dropout_seed

    @property
    def on_gpu(self) -> bool:
        """Whether training uses a GPU."""
        import torch

        return self.device != "cpu" and torch.cuda.is_available()

    def where(self) -> torch.device:
        """The device to train on."""
        import torch

        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise ModelError("training.device is cuda, but there is no GPU that torch can use")
        return torch.device(self.device)

    def arithmetic(self, device: torch.device) -> AbstractContextManager[Any]:
        """A block in which networks compute in the precision of the training."""
        import torch

        half = self.precision == "bf16"
        return torch.autocast(device.type, torch.bfloat16) if half else nullcontext()

    def groups(
        self, parameters: list[nn.Parameter], slow: Mapping[nn.Parameter, int]
    ) -> list[dict[str, Any]]:
        """New and pretrained parameters, in groups of one highest learning rate.

        Args:
            slow: the pretrained ones, and how many of the encoder's blocks come after each.
        """
        new = [parameter for parameter in parameters if parameter not in slow]
        pretrained: dict[float, list[nn.Parameter]] = {}
        for parameter, behind in slow.items():
            rate = self.encoder_learning_rate * self.layer_decay**behind
            pretrained.setdefault(rate, []).append(parameter)
        by_rate = [(self.learning_rate, new), *pretrained.items()]
        decay = self.weight_decay
        return [{"params": group, "lr": rate, "weight_decay": decay} for rate, group in by_rate]

    def optimise(self, groups: list[dict[str, Any]], in_parts: bool = False) -> Any:
        """The optimiser of these groups of parameters.

        Args:
            in_parts: whether some parameters have no gradient in the first steps.
        """
        import torch

        if self.optimiser == "sgd":
            fused = not in_parts  # torch's fused steps need a gradient of all from the first step
            return torch.optim.SGD(groups, momentum=MOMENTUM, fused=fused, foreach=not fused)
        if self.optimiser == "radam":
            return torch.optim.RAdam(groups, foreach=True)
        kind = torch.optim.AdamW if self.optimiser == "adamw" else torch.optim.Adam
        return kind(groups, fused=True)


CHOICES = {  # the settings with few possible values
    name: get_args(hint)
    for name, hint in get_type_hints(Training).items()
    if get_origin(hint) is Literal
}


@dataclass
class Schedule:
    """The learning rate of each step, as a share of the highest."""

    training: Training
    n_steps: int
    best: float = math.inf  # the last loss or score that was better by more than `smallest_gain`
    waited: int = 0  # epochs since then
    lowered: float = 1.0

    def rate(self, step: int) -> float:
        """At this step, from 0."""
        rising = self.training.warm_up * self.n_steps
        if step < rising:
            return (step + 1) / (rising + 1)
        done = min(1.0, (step - rising) / max(1.0, self.n_steps - rising))
        if self.training.schedule == "cosine":
            return 0.5 * (1 + math.cos(math.pi * done))
        return 1 - done if self.training.schedule == "linear" else self.lowered

    def epoch_done(self, figure: float) -> None:
        """Take note of the loss or score of an epoch; lower is better."""
        if figure < self.best - self.training.smallest_gain:
            self.best, self.waited = figure, 0
            return
        self.waited += 1
        if self.training.schedule == "plateau" and self.waited >= self.training.plateau:
            self.lowered, self.waited = self.lowered * self.training.plateau_factor, 0


# ---- functions that training calls ----


class TrainingEvent(NamedTuple):
    """How far a training is."""

    seed: int
    epoch: int  # epochs done, counted from 1 after the first
    step: int  # steps done
    loss: float  # of the step; after an epoch the mean over its steps
    learning_rate: float  # of the last step
    score: float | None = None  # of the epoch on the validation corpus


Callback = Callable[[TrainingEvent], object]


class Callbacks(NamedTuple):
    """What is called after each step and each epoch."""

    on_step: Callback | None = None
    on_epoch: Callback | None = None


NONE = Callbacks()
_callbacks: ContextVar[Callbacks] = ContextVar("callbacks", default=NONE)


def callbacks(
    on_epoch: Callback | None = None, on_step: Callback | None = None
) -> AbstractContextManager[None]:
    """Within the block, trainings of this process call these functions.

    Args:
        on_epoch: called after each epoch.
        on_step: called after each step. Trainings are then not stacked, which is slower where many
            of them could run at the same time.

    Example:
        >>> from dissensus.methods import Single
        >>> from dissensus.testing import example_corpus
        >>> epochs = []
        >>> with callbacks(on_epoch=lambda event: epochs.append((event.epoch, event.step))):
        ...     _ = Single(training={"epochs": 2}).fit(example_corpus("nominal"))
        >>> epochs
        [(1, 2), (2, 4)]
    """
    return set_within(_callbacks, Callbacks(on_step, on_epoch))


def current_callbacks() -> Callbacks:
    """The functions of the block; none outside of one."""
    return _callbacks.get()
