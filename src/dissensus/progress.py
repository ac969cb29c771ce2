"""A progress bar for whatever takes longer than a moment, on stderr: terminals and notebooks."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol

from dissensus.within import set_within

BAR = 30  # characters of a bar in a notebook
REDRAW = 0.2  # seconds between two states of it
REMEMBERED = 3600  # seconds of steps from which the time left is estimated
_hidden = ContextVar("hidden", default=False)


class Advance(Protocol):
    """Moves a bar by some steps, and shows a note next to it; without one, the last note stays."""

    def __call__(self, steps: int, note: str | None = None) -> None: ...


def hidden() -> AbstractContextManager[None]:
    """Draw no bars inside."""
    return set_within(_hidden, True)


@contextmanager
def progress(what: str, total: int) -> Iterator[Advance]:
    """Give a function `advance(steps, note)` that moves the bar; drawn on a terminal with the time
    left, and as one line of text in a notebook. Of nested bars only the outermost is drawn.
    """
    in_notebook = type(sys.stderr).__module__.startswith("ipykernel")
    if _hidden.get() or not (in_notebook or sys.stderr.isatty()):
        yield _nowhere
        return
    if in_notebook:
        with hidden(), _line(what, total) as advance_line:
            yield advance_line
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class NoteColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(task.fields["note"])

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        NoteColumn(),
    )
    shown = Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        speed_estimate_period=REMEMBERED,
    )
    with hidden(), shown as bar:
        task = bar.add_task(what, total=total, note="")

        def advance(steps: int, note: str | None = None) -> None:
            shown_note = bar.tasks[0].fields["note"] if note is None else note
            bar.update(task, advance=steps, note=shown_note)

        yield advance


@contextmanager
def _line(what: str, total: int) -> Iterator[Advance]:
    """A bar in one output of a notebook's cell, which is replaced a few times a second and empty at
    the end, so that a saved notebook does not contain it."""
    from IPython.display import display

    done, shown_at = 0, -REDRAW
    last_note = ""
    handle = display({"text/plain": ""}, raw=True, display_id=True)

    def advance(steps: int, note: str | None = None) -> None:
        nonlocal done, shown_at, last_note
        done += steps
        last_note = last_note if note is None else note
        if time.monotonic() - shown_at < REDRAW and done < total:
            return
        filled = BAR * min(done, total) // max(total, 1)
        bar = f"{what} [{'#' * filled}{'.' * (BAR - filled)}] {done}/{total}"
        handle.update({"text/plain": f"{bar} {last_note}".rstrip()}, raw=True)
        shown_at = time.monotonic()

    try:
        yield advance
    finally:
        handle.update({"text/plain": ""}, raw=True)


def _nowhere(steps: int, note: str | None = None) -> None:
    """Advance no bar."""
