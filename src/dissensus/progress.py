"""A progress bar for whatever takes longer than a moment, on stderr, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Advance(Protocol):
    """Moves a bar by some steps, and says something beside it."""

    def __call__(self, steps: int, note: str = "") -> None: ...


@contextmanager
def progress(what: str, total: int) -> Iterator[Advance]:
    """Give a function `advance(steps, note)` that moves the bar; drawn on a terminal only."""
    if not sys.stderr.isatty():
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
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, note="")

        def advance(steps: int, note: str = "") -> None:
            bar.update(task, advance=steps, note=note)

        yield advance


def _nowhere(steps: int, note: str = "") -> None:
    """Advance no bar."""
