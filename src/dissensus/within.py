"""Values that hold within a `with` block: set ones, cached results, and a deadline, which long work
looks at between fits, epochs and batches of an encoder."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TypeVar

Key = TypeVar("Key")
Result = TypeVar("Result")
Value = TypeVar("Value")


@contextmanager
def set_within(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Within the block, the variable has this value."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


def cached_within(
    results: ContextVar[dict[Key, Result] | None],
) -> AbstractContextManager[None]:
    """Set the variable to a dictionary within the block; it is None outside.

    A block within a block shares the dictionary of the outer one.

    Example:
        >>> squares: ContextVar[dict[int, int] | None] = ContextVar("squares", default=None)
        >>> with cached_within(squares):
        ...     squares.get()[3] = 9
        ...     with cached_within(squares):
        ...         print(squares.get())
        {3: 9}
        >>> print(squares.get())
        None
    """
    return set_within(results, {}) if results.get() is None else nullcontext()


# ---- a deadline ----

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
