"""Pieces of work that wait for one another, in several processes; each writes one file.

The processes are those of `dissensus compare` (`dissensus.evaluation.execution.processes`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dissensus.evaluation.execution.processes import fits_in_processes
from dissensus.evaluation.fit import Job, Key


@dataclass(frozen=True, eq=False)
class Piece:
    """A function of a module that writes the file `path`, once the files in `needs` are there."""

    path: Path
    function: Callable[..., None]  # of its arguments and the path
    arguments: tuple[Any, ...]
    needs: tuple[Path, ...] = ()

    @property
    def key(self) -> Key:
        return Key(str(self.path), 0, "")

    def written(self) -> float:
        """Write the file, whole or not at all; the seconds it took."""
        begin = time.perf_counter()
        new = self.path.with_name(f".new-{self.path.name}")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.function(*self.arguments, new)
        os.replace(new, self.path)
        return time.perf_counter() - begin


@dataclass(frozen=True)
class Written:
    """How a piece ended."""

    key: Key
    seconds: float = 0.0
    reason: str = ""  # why it failed, if it did


@dataclass(frozen=True, eq=False)
class Pieces:
    """What worker processes do."""

    of_key: dict[Key, Piece]

    def opened(self, folder: Path) -> None:
        """Pieces read what they need themselves."""

    def done(self, opened: None, job: Job) -> Iterator[Written]:
        for key in job:
            try:
                yield Written(key, self.of_key[key].written())
            except Exception as error:  # other pieces can still be done
                yield Written(key, reason=str(error) or repr(error))

    def died(self, key: Key, why: str) -> Written:
        return Written(key, reason=why)


def carry_out(
    pieces: Sequence[Piece],
    processes: int,
    seconds: float,
    ended: Callable[[], None] = lambda: None,
) -> int:
    """Do all pieces whose file is missing, the first ones first; return how many are missing then.

    Args:
        seconds: after which nothing more is begun.
        ended: called whenever a piece has ended.
    """
    until = time.monotonic() + seconds
    waiting = [piece for piece in pieces if not piece.path.exists()]
    missing = {piece.key: piece for piece in waiting}
    running: set[Key] = set()

    def jobs() -> Iterator[Job]:
        while waiting and time.monotonic() < until:
            ready = (piece for piece in waiting if all(path.exists() for path in piece.needs))
            piece = next(ready, None)
            if piece is not None:
                waiting.remove(piece)
                running.add(piece.key)
                yield (piece.key,)
            elif running:
                yield ()  # wait for another piece
            else:
                return  # what the others need has failed

    for written in fits_in_processes(Pieces(dict(missing)), Path(), jobs(), processes):
        running.discard(written.key)
        name = Path(written.key.method).stem
        if written.reason:
            print(f"{name} failed: {written.reason}", flush=True)
        else:
            del missing[written.key]
            print(f"{name}: {written.seconds:.1f} s", flush=True)
        ended()
    return len(missing)


@dataclass(frozen=True, eq=False)
class Calls:
    """Calls of one function, which worker processes make."""

    function: Callable[[Any], Any]
    arguments: Sequence[Any]

    def opened(self, folder: Path) -> None:
        """A call reads what it needs itself."""

    def done(self, opened: None, job: Job) -> Iterator[tuple[Any, str]]:
        return ((self.function(self.arguments[key.seed]), "") for key in job)

    def died(self, key: Key, why: str) -> tuple[Any, str]:
        return self.arguments[key.seed], why


def results_of(
    function: Callable[[Any], Any], arguments: Sequence[Any], processes: int
) -> Iterator[Any]:
    """The result of the function for each argument, in the order in which they end."""
    jobs = ((Key("", number, ""),) for number in range(len(arguments)))
    results = fits_in_processes(Calls(function, arguments), Path(), jobs, processes)
    with closing(results):
        for result, why in results:
            if why:
                print(f"{result} failed: {why}", flush=True)
            else:
                yield result
