"""Tavernor et al. (2024) on public ratings, five seeds of every condition, on a GPU.

    make gpu-kit RUN=individual                              the corpora, as pooled features
    python benchmarks/gpu/individual.py run OUT --seconds 480
    cp OUT/individual.tar.gz gpu-kit/individual/             to resume on another machine
    python benchmarks/gpu/individual.py keep OUT/individual.tar.gz      into benchmarks/results
    python benchmarks/gpu/individual.py show
    dissensus papers individual --show benchmarks/results/individual.json      the same

The same fits as `dissensus papers individual`. OUT/individual.tar.gz holds all outcomes and is
written twice a minute, so a run that is killed loses little. A run resumes from that archive, or
from one in the kit. `keep` writes the report of an archive; the archive itself is not part of the
repository.
"""

from __future__ import annotations

import argparse
import json
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import paper_runs
from sharing import shared_gpu

KIT = Path("gpu-kit/individual")
RESULTS = Path(__file__).parents[1] / "results" / "individual.json"
ARCHIVE, COMMIT = "individual.tar.gz", "commit.txt"
COMMAND = "python benchmarks/gpu/individual.py run OUT"


def pack(folder: Path, data: Path) -> None:
    """The corpora with one vector for each content, so that no encoder is needed there."""
    from kit import pooled

    from dissensus.evaluation import code_commit
    from dissensus.papers import individual

    for name, corpus in individual.PAPER.read(data).items():
        pooled(corpus).save(folder / "corpora" / name)
    (folder / COMMIT).write_text(code_commit(), encoding="utf-8")


def run(given: argparse.Namespace) -> None:
    from dissensus import Corpus
    from dissensus.papers import individual

    began = time.monotonic()
    corpora = {path.name: Corpus.load(path) for path in sorted((KIT / "corpora").iterdir())}
    if given.items:
        corpora = {name: _first(corpus, given.items) for name, corpus in corpora.items()}
    print(f"{time.monotonic() - began:.0f} s to read", flush=True)
    paper_runs.run(
        _Paper,  # type: ignore[arg-type]
        given.out,
        KIT,
        ARCHIVE,
        corpora=corpora,
        conditions=individual.named(given.conditions, tuple(corpora)),
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


def _first(corpus: Any, n: int) -> Any:
    import numpy as np

    return corpus.select(items=np.arange(corpus.n_items) < n)


def keep(archive: Path) -> None:
    from dissensus.papers import individual

    paper_runs.keep(individual, archive, RESULTS)


def show() -> None:
    from dissensus.papers import individual

    print(individual.shown(individual.report(RESULTS)), end="")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("run", "keep", "show"))
    parser.add_argument("out", type=Path, nargs="?", default=Path("individual"))
    parser.add_argument("--conditions")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seconds", type=float, default=480)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--set", action="append", default=[], help="a setting, for trying out")
    parser.add_argument("--items", type=int, help="only so many of each corpus, for trying out")
    given = parser.parse_args()
    if given.stage != "run":
        return keep(given.out) if given.stage == "keep" else show()
    with shared_gpu() if given.device == "cuda" else nullcontext():
        run(given)


if __name__ == "__main__":
    main()
