"""Tavernor et al. (2024) on public ratings, five seeds of every condition, on a GPU.

    make gpu-kit RUN=individual                              9 MiB: corpora as pooled features
    make gpu-kit RUN=individual:nsc_voices,trompa_mer        some of them
    export PYTHONPATH=src:papers/src:gpu-kit/libs            there; DISSENSUS_DATA is not needed
    python benchmarks/gpu/individual.py run OUT --try        on any machine first
    python benchmarks/gpu/individual.py run OUT --seconds 480
    python benchmarks/gpu/individual.py run OUT --at-once 6 --conditions voices,music
    cp OUT/individual.tar.gz* gpu-kit/individual/            to resume on another machine
    python benchmarks/gpu/individual.py keep OUT OTHER       archives in folders, into
                                                             benchmarks/results
    python benchmarks/gpu/individual.py show
    dissensus papers individual --show benchmarks/results/individual.json      the same

The same fits as `dissensus papers individual`. OUT/individual.tar.gz holds all outcomes and is
written twice a minute, so a run that is killed loses little. A run resumes from that archive, or
from one in the kit. With `--at-once`, each condition has a process of its own; they begin in the
order in which they are given, and the archive is written when one ends; one that has not ended some
seconds after the time limit is killed, and its finished fits count. `keep` adds the conditions
of all archives in these folders to the report, or replaces those of the same name (`--alone`:
writes a report of these archives only); archives are not part of the repository.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from archive import resumed, unpack, write_archive
from paper_runs import Script

from dissensus_papers.framework.declared import with_models

SCRIPT = Script("individual", __doc__)
LEAST_SECONDS = 20  # to begin a condition
GRACE = 40  # seconds after the time limit, for trainings that have begun


def pack(folder: Path, data: Path, names: list[str] | None = None) -> None:
    """The corpora, all or these, with one vector for each content instead of an encoder."""
    from kit import pooled

    individual = SCRIPT.paper
    for name, corpus in individual.read(data).items():
        if names and name not in names:
            continue
        prepared = individual.sources[name].prepared(corpus)
        pooled(prepared).save(folder / "corpora" / name)
    SCRIPT.pack_commit(folder)


def run_at_once(given: argparse.Namespace) -> None:
    """Each condition in a process of its own, so many at the same time; one archive of all."""
    began, parts = time.monotonic(), Path(tempfile.mkdtemp())
    together = resumed(given.out / SCRIPT.archive, SCRIPT.kit / SCRIPT.archive)
    together.mkdir(parents=True, exist_ok=True)
    corpora = [path.name for path in (SCRIPT.kit / "corpora").iterdir()]
    names = [condition.name for condition in SCRIPT.paper.named(given.conditions, corpora)]
    options = [f"--models={given.models}"] * (given.models is not None)
    options += [f"--processes={given.processes}", "--device=here"]
    options += [f"--runs={given.runs}"] * (given.runs is not None)
    options += [f"--items={given.items}"] * (given.items is not None)
    options += [f"--set={text}" for text in given.set]
    one_at_a_time = threading.Lock()

    def one(name: str) -> None:
        left = given.seconds - (time.monotonic() - began)
        if left < LEAST_SECONDS:
            print(f"{name}: no time left", flush=True)
            return
        words = [sys.executable, __file__, "run", str(parts / name), f"--conditions={name}"]
        log = parts / f"{name}.log"
        with log.open("w") as lines:
            command = [*words, f"--seconds={left:.0f}", *options]
            with suppress(subprocess.TimeoutExpired):  # what is in its archive is not lost
                subprocess.run(command, stdout=lines, stderr=lines, timeout=left + GRACE)
        with one_at_a_time:
            _add(parts / name / SCRIPT.archive, name, together)
            write_archive(together, given.out / SCRIPT.archive)
        print(f"== {name}, {time.monotonic() - began:.0f} s\n{log.read_text()[-3000:]}", flush=True)

    with ThreadPoolExecutor(given.at_once) as pool:
        list(pool.map(one, names))


def _add(archive: Path, condition: str, together: Path) -> None:
    """Add the outcomes of one condition to a folder."""
    if not archive.exists():
        return
    folder = unpack(archive)
    shutil.copy(folder / "comparison.json", together)
    for path in (f"conditions/{condition}", "figures"):
        if (folder / path).is_dir():
            shutil.copytree(folder / path, together / path, dirs_exist_ok=True)


def run(given: argparse.Namespace) -> None:
    if given.at_once:
        return run_at_once(given)
    names = [path.name for path in (SCRIPT.kit / "corpora").iterdir()]
    conditions = SCRIPT.paper.named(given.conditions, names)
    if given.models:
        conditions = with_models(conditions, given.models.split(","))
    corpora = SCRIPT.corpora({condition.corpus for condition in conditions}, given.items)
    SCRIPT.run(given, corpora=corpora, conditions=conditions)


def gathered(folders: Sequence[Path]) -> list[Path]:
    """One folder of all archives; of a condition that is in several, the last counts."""
    together = Path(tempfile.mkdtemp())
    for archive in (path for folder in folders for path in sorted(folder.rglob(SCRIPT.archive))):
        shutil.copytree(unpack(archive), together, dirs_exist_ok=True)
    return [together]


def main() -> None:
    parser = SCRIPT.options(seconds=480, processes=4, runs=None)
    parser.add_argument("--models", help="with commas between; all if left out")
    parser.add_argument("--at-once", type=int, default=0, help="conditions at the same time")
    SCRIPT.main(parser, run, gathered)


if __name__ == "__main__":
    main()
