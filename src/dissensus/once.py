"""Results that are kept for the length of a block, where many callers ask for the same ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Key = TypeVar("Key")
Result = TypeVar("Result")


@contextmanager
def kept_within(results: ContextVar[dict[Key, Result] | None]) -> Iterator[None]:
    """Within it the variable holds a dictionary, outside None; an inner block has the outer one's.

    Example:
        >>> squares: ContextVar[dict[int, int] | None] = ContextVar("squares", default=None)
        >>> with kept_within(squares):
        ...     squares.get()[3] = 9
        ...     with kept_within(squares):
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
