"""Fornaciari et al. (2021), ten seeds of every condition, on a GPU in pieces of some minutes.

    make glove; make gpu-kit RUN=soft_labels
    python benchmarks/gpu/soft_labels.py run OUT --seconds 540 --processes 14
    cp OUT/soft_labels.tar.gz gpu-kit/soft_labels/        to resume on another machine
    python benchmarks/gpu/soft_labels.py keep OUT/soft_labels.tar.gz      into benchmarks/results
    dissensus papers soft-labels --show benchmarks/results/soft_labels.json

The same fits as `dissensus papers soft-labels`. OUT/soft_labels.tar.gz holds all outcomes and is
written twice a minute, so a run that is killed loses little. A run resumes from that archive, or
from one in the kit. `keep` writes the report of an archive; the archive itself is not part of the
repository.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import paper_runs

KIT = Path("gpu-kit/soft_labels")
GLOVE = Path("glove/pos_tweets.txt")
RESULTS = Path(__file__).parents[1] / "results" / "soft_labels.json"
ARCHIVE, COMMIT = "soft_labels.tar.gz", "commit.txt"


def pack(folder: Path, data: Path) -> None:
    """Both corpora, the word vectors, and the commit: no clone is on the machine."""
    from dissensus import datasets
    from dissensus.evaluation import code_commit

    if not GLOVE.exists():
        sys.exit(f"{GLOVE} is missing: make glove")
    for name in ("pos_tweets", "stemming"):
        datasets.read(data / name).save(folder / name)
    shutil.copy(GLOVE, folder / GLOVE.name)
    (folder / COMMIT).write_text(code_commit(), encoding="utf-8")


def run(given: argparse.Namespace) -> None:
    from dissensus import Corpus
    from dissensus.papers import soft_labels

    corpora = {name: Corpus.load(KIT / name) for name in soft_labels.CORPORA}
    paper_runs.run(
        soft_labels,
        given.out,
        KIT,
        ARCHIVE,
        corpora=corpora,
        conditions=soft_labels.named(given.conditions, tuple(corpora)),
        glove=KIT / GLOVE.name,
        runs=given.runs,
        processes=given.processes,
        time_limit=given.seconds,
        stack=not given.alone,
        settings=[("training.device", given.device)],
        command="python benchmarks/gpu/soft_labels.py run OUT",
        commit=(KIT / COMMIT).read_text(encoding="utf-8"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("run", "keep"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--conditions")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--processes", type=int, default=14)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--alone", action="store_true", help="no networks side by side")
    given = parser.parse_args()
    if given.stage == "run":
        run(given)
    else:
        from dissensus.papers import soft_labels

        paper_runs.keep(soft_labels, given.out, RESULTS)


if __name__ == "__main__":
    main()
