"""A progress bar for whatever takes longer than a moment, on stderr, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int, str], None]


@contextmanager
def progress(what: str, total: int) -> Iterator[Advance]:
    """Give a function `advance(steps, note)` that moves the bar; nothing is drawn off a terminal."""
    if not sys.stderr.isatty():
        yield lambda steps, note="": None
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
        yield lambda steps, note="": bar.update(task, advance=steps, note=note)
