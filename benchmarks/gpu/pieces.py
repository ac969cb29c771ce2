"""Pieces of work that wait for one another, in several processes, each kept the moment it ends."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, eq=False)
class Piece:
    """A function of a module that writes the file `path`, once the files in `needs` are there."""

    path: Path
    function: Callable[..., None]  # of its arguments and the path
    arguments: tuple[Any, ...]
    needs: tuple[Path, ...] = ()

    def done(self) -> float:
        """Do it; a file that is there is whole. The seconds it took."""
        begin = time.perf_counter()
        new = self.path.with_name(f".new-{self.path.name}")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.function(*self.arguments, new)
        os.replace(new, self.path)
        return time.perf_counter() - begin


def carry_out(pieces: Sequence[Piece], processes: int, seconds: float) -> int:
    """Do all that is missing, the first ones first; how many are missing then.

    Args:
        seconds: after which nothing more is begun.
    """
    over = time.monotonic() + seconds
    waiting = [piece for piece in pieces if not piece.path.exists()]
    running: dict[Piece, Any] = {}
    failed: list[Piece] = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context) as pool:  # one that tells if a process dies
        while True:
            for piece in list(waiting):
                ready = all(path.exists() for path in piece.needs)
                if ready and len(running) < processes and time.monotonic() < over:
                    waiting.remove(piece)
                    running[piece] = pool.submit(piece.done)
            if not running:
                return len(waiting) + len(failed)
            for piece in [piece for piece, result in running.items() if result.done()]:
                try:
                    print(f"{piece.path.stem}: {running.pop(piece).result():.1f} s", flush=True)
                except Exception as error:  # what does not need it goes on
                    failed.append(piece)
                    print(f"{piece.path.stem} failed: {error}", flush=True)
            time.sleep(0.02)
