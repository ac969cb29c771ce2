"""A progress bar for whatever takes longer than a moment, on stderr, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

_hidden = ContextVar("hidden", default=False)


class Advance(Protocol):
    """Moves a bar by some steps, and shows a note next to it."""

    def __call__(self, steps: int, note: str = "") -> None: ...


@contextmanager
def hidden() -> Iterator[None]:
    """Draw no bars inside."""
    token = _hidden.set(True)
    try:
        yield
    finally:
        _hidden.reset(token)


@contextmanager
def progress(what: str, total: int, *, clock: bool = True) -> Iterator[Advance]:
    """Give a function `advance(steps, note)` that moves the bar; drawn on a terminal only.

    Args:
        clock: whether to show the time left, estimated from the last seconds' steps; where a step
            takes longer, use the note. Of nested bars only the outermost is drawn.
    """
    if _hidden.get() or not sys.stderr.isatty():
        yield _nowhere
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        *([TimeRemainingColumn()] if clock else []),
        TextColumn("{task.fields[note]}"),
    )
    shown = Progress(*columns, console=Console(stderr=True), transient=True)
    with hidden(), shown as bar:
        task = bar.add_task(what, total=total, note="")

        def advance(steps: int, note: str = "") -> None:
            bar.update(task, advance=steps, note=note)

        yield advance


def _nowhere(steps: int, note: str = "") -> None:
    """Advance no bar."""
