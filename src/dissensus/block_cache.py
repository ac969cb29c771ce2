"""Values that hold within a `with` block: set ones, and results that are cached."""

from __future__ import annotations

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
