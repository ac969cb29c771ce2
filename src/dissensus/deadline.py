"""A deadline for long work, looked at between fits, epochs and batches of an encoder."""

from __future__ import annotations

import math
import time
from contextlib import AbstractContextManager
from contextvars import ContextVar

from dissensus.block_cache import set_within

_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


class TimeIsUp(BaseException):
    """The deadline of a block was reached; like KeyboardInterrupt, it is no error of the block."""


def deadline(at: float) -> AbstractContextManager[None]:
    """Within the block, `check_deadline` raises TimeIsUp when `time.monotonic()` is `at` or later.

    A block within a block ends with the outer one at the latest.

    Example:
        >>> try:
        ...     with deadline(time.monotonic() + 0.01):
        ...         while True:
        ...             check_deadline()
        ... except TimeIsUp:
        ...     print("stopped")
        stopped
    """
    return set_within(_deadline, min(at, _deadline.get()))


def current_deadline() -> float:
    """The deadline of the block, in seconds of `time.monotonic`; infinite if there is none."""
    return _deadline.get()


def check_deadline() -> None:
    """Stop here if the deadline is reached: call it where work can be left undone."""
    if time.monotonic() >= _deadline.get():
        raise TimeIsUp
