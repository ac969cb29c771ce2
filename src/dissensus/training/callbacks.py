"""Functions of yours that training calls: to log it, or to stop it by an exception."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import NamedTuple

from dissensus.block_cache import set_within


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
