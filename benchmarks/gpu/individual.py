"""Tavernor et al. (2024) on public ratings, five seeds of every condition, on a GPU.

    make gpu-kit RUN=individual                              the corpora, as pooled features
    python benchmarks/gpu/individual.py run OUT --seconds 480
    python benchmarks/gpu/individual.py run OUT --at-once 6 --conditions jokes,tasks
    cp -r OUT/* gpu-kit/individual/                          to resume on another machine
    python benchmarks/gpu/individual.py keep OUT OTHER       archives in folders, into
                                                             benchmarks/results
    python benchmarks/gpu/individual.py show
    dissensus papers individual --show benchmarks/results/individual.json      the same

The same fits as `dissensus papers individual`. OUT/individual.tar.gz holds all outcomes and is
written twice a minute, so a run that is killed loses little. A run resumes from that archive, or
from one in the kit. With `--at-once`, each condition has a process and an archive of its own, in a
folder of its name; they begin in the order in which they are given. `keep` writes the report of all
archives that it finds; archives are not part of the repository.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import paper_runs
from archive import unpack
from sharing import shared_gpu

KIT = Path("gpu-kit/individual")
RESULTS = Path(__file__).parents[1] / "results" / "individual.json"
ARCHIVE, COMMIT = "individual.tar.gz", "commit.txt"
COMMAND = "python benchmarks/gpu/individual.py run OUT"
LEAST_SECONDS = 20  # to begin a condition


def pack(folder: Path, data: Path) -> None:
    """The corpora with one vector for each content, so that no encoder is needed there."""
    from kit import pooled

    from dissensus.evaluation import code_commit
    from dissensus.papers import individual

    for name, corpus in individual.PAPER.read(data).items():
        prepared = individual.SOURCES[name].prepared(corpus)
        pooled(prepared).save(folder / "corpora" / name)
    (folder / COMMIT).write_text(code_commit(), encoding="utf-8")


def run_at_once(given: argparse.Namespace) -> None:
    """Each condition in a process of its own, so many at the same time."""
    from dissensus.papers import individual

    began = time.monotonic()
    corpora = [path.name for path in (KIT / "corpora").iterdir()]
    names = [condition.name for condition in individual.named(given.conditions, corpora)]
    options = [f"--processes={given.processes}", "--device=here"]
    options += [f"--runs={given.runs}"] * (given.runs is not None)
    options += [f"--items={given.items}"] * (given.items is not None)
    options += [f"--set={text}" for text in given.set]

    def one(name: str) -> None:
        left = given.seconds - (time.monotonic() - began)
        if left < LEAST_SECONDS:
            print(f"{name}: no time left", flush=True)
            return
        words = [sys.executable, __file__, "run", str(given.out / name), f"--conditions={name}"]
        ended = subprocess.run(
            [*words, f"--seconds={left:.0f}", *options], capture_output=True, text=True, check=False
        )
        lines = (ended.stdout + ended.stderr[-2000:] * (ended.returncode != 0)).rstrip()
        print(f"== {name}, {time.monotonic() - began:.0f} s\n{lines}", flush=True)

    with ThreadPoolExecutor(given.at_once) as pool:
        list(pool.map(one, names))


def run(given: argparse.Namespace) -> None:
    from dissensus import Corpus
    from dissensus.papers import individual

    began = time.monotonic()
    folders = {path.name: path for path in sorted((KIT / "corpora").iterdir())}
    conditions = individual.named(given.conditions, tuple(folders))
    needed = {condition.corpus for condition in conditions}
    corpora = {name: Corpus.load(path) for name, path in folders.items() if name in needed}
    if given.items:
        corpora = {name: _some(corpus, given.items) for name, corpus in corpora.items()}
    print(f"{time.monotonic() - began:.0f} s to read", flush=True)
    paper_runs.run(
        _Paper,  # type: ignore[arg-type]
        given.out,
        KIT / given.out.name if (KIT / given.out.name / ARCHIVE).exists() else KIT,
        ARCHIVE,
        corpora=corpora,
        conditions=conditions,
        runs=given.runs,
        processes=given.processes,
        time_limit=given.seconds - (time.monotonic() - began),
        settings=[tuple(text.split("=", 1)) for text in given.set],
        command=COMMAND,
        commit=(KIT / COMMIT).read_text(encoding="utf-8").strip(),
    )


class _Outcome(NamedTuple):
    condition: str
    model: str
    seconds: float


class _Paper:
    """The paper, and what `paper_runs` counts."""

    @staticmethod
    def run(**given: Any) -> None:
        from dissensus.papers import individual

        individual.run(**given)

    @staticmethod
    def outcomes(done: Path) -> list[_Outcome]:
        files = sorted(done.glob("conditions/*/fits/[!.]*/fit.json"))
        fits = [(path.parents[2].name, json.loads(path.read_text())) for path in files]
        bad = [fit for _, fit in fits if fit["status"] != "ok"]
        for fit in bad[:5]:
            print(f"{fit['method']}, seed {fit['seed']}, {fit['fold']}: {fit['reason']}")
        return [_Outcome(name, fit["method"], fit["seconds"]) for name, fit in fits]


def _some(corpus: Any, n: int) -> Any:
    import numpy as np

    chosen = np.unique(np.linspace(0, corpus.n_items - 1, n).astype(int))
    return corpus.select(items=chosen)


def keep(folders: Sequence[Path]) -> None:
    """The report of all archives; of a condition that is in several, the last counts."""
    from dissensus.papers import individual

    together = Path(tempfile.mkdtemp())
    for archive in (path for folder in folders for path in sorted(folder.rglob(ARCHIVE))):
        shutil.copytree(unpack(archive), together, dirs_exist_ok=True)
    paper_runs.keep_folder(individual, together, RESULTS)


def show() -> None:
    from dissensus.papers import individual

    print(individual.shown(individual.report(RESULTS)), end="")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("run", "keep", "show"))
    parser.add_argument("out", type=Path, nargs="*", default=[Path("individual")])
    parser.add_argument("--conditions")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seconds", type=float, default=480)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--at-once", type=int, default=0, help="conditions at the same time")
    parser.add_argument("--device", default="cuda", help="cuda, or here: as torch finds it")
    parser.add_argument("--set", action="append", default=[], help="a setting, for trying out")
    parser.add_argument("--items", type=int, help="only so many of each corpus, for trying out")
    given = parser.parse_args()
    if given.stage != "run":
        return keep(given.out) if given.stage == "keep" else show()
    (given.out,) = given.out
    with shared_gpu() if given.device == "cuda" else nullcontext():
        (run_at_once if given.at_once else run)(given)


if __name__ == "__main__":
    main()
