"""What the runs of papers on a GPU machine share: resume, archive, count, keep the report."""

from __future__ import annotations

import time
from pathlib import Path
from types import ModuleType
from typing import Any

from archive import archived, resumed, unpack

from dissensus.errors import Unfinished


def run(paper: ModuleType, out: Path, kit: Path, archive: str, **given: Any) -> None:
    """Train what is missing. OUT's archive is written twice a minute and at the end.

    Args:
        archive: its name; earlier outcomes are in the archive of OUT, or else in that of the kit.
        given: arguments of the paper's `run` other than the folder.
    """
    began = time.monotonic()
    done = resumed(out / archive, kit / archive)
    with archived(done, out / archive):
        try:
            paper.run(out=done, **given)
        except Unfinished as unfinished:
            print(unfinished, flush=True)
        finally:
            count(paper, done)
    print(f"{time.monotonic() - began:.0f} s")


def count(paper: ModuleType, done: Path) -> None:
    """Print how many outcomes of each condition and model there are, and how long they took."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for outcome in paper.outcomes(done) if done.exists() else ():
        seconds.setdefault((outcome.condition, outcome.model), []).append(outcome.seconds)
    for (condition, model), took in seconds.items():
        print(f"{condition:24} {model:22} {len(took):3}   {sum(took) / len(took):7.1f} s each")


def keep(paper: ModuleType, archive: Path, results: Path) -> None:
    """Write the report of an archive into benchmarks/results."""
    keep_folder(paper, unpack(archive), results)


def keep_folder(paper: ModuleType, done: Path, results: Path) -> None:
    results.write_text(paper.to_json(paper.report(done)), encoding="utf-8")
    print(paper.shown(paper.report(results)), end="")
