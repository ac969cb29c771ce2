"""Results that are cached within a `with` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Key = TypeVar("Key")
Result = TypeVar("Result")


@contextmanager
def cached_within(results: ContextVar[dict[Key, Result] | None]) -> Iterator[None]:
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
    token = results.set({}) if results.get() is None else None
    try:
        yield
    finally:
        if token is not None:
            results.reset(token)
