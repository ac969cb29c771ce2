"""Fornaciari et al. (2021), ten seeds of every condition, on a GPU in pieces of some minutes.

    make glove; make gpu-kit RUN=soft_labels
    python benchmarks/gpu/soft_labels.py run OUT --seconds 540 --processes 14
    cp OUT/soft_labels.tar.gz gpu-kit/soft_labels/        to resume on another machine
    python benchmarks/gpu/soft_labels.py keep OUT/soft_labels.tar.gz      into benchmarks/results
    dissensus papers soft-labels --show benchmarks/results/soft_labels.json

The same fits as `dissensus papers soft-labels`. OUT/soft_labels.tar.gz holds all outcomes and is
written every minute, so a run that is killed loses little. A run resumes from that archive, or from
one in the kit. `keep` writes the report of an archive; the archive itself is not part of the
repository.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from archive import archived, resumed, unpack

KIT = Path("gpu-kit/soft_labels")
GLOVE = Path("glove/pos_tweets.txt")
RESULTS = Path(__file__).parents[1] / "results" / "soft_labels.json"
ARCHIVE, COMMIT = "soft_labels.tar.gz", "commit.txt"


def pack(folder: Path, data: Path) -> None:
    """Both corpora in our own form, the word vectors, and which code it is: no clone is there."""
    from dissensus import datasets
    from dissensus.evaluation import code_commit

    if not GLOVE.exists():
        sys.exit(f"{GLOVE} is missing: make glove")
    for name in ("pos_tweets", "stemming"):
        datasets.read(data / name).save(folder / name)
    shutil.copy(GLOVE, folder / GLOVE.name)
    (folder / COMMIT).write_text(code_commit(), encoding="utf-8")


def run(out: Path, conditions: str | None, given: dict[str, Any], device: str) -> None:
    """Train what is missing within the time; earlier outcomes are in the archive of OUT or of the
    kit."""
    from dissensus import Corpus
    from dissensus.errors import Unfinished
    from dissensus.papers import soft_labels

    corpora = {name: Corpus.load(KIT / name) for name in soft_labels.CORPORA}
    done = resumed(out / ARCHIVE, KIT / ARCHIVE)
    command = "python benchmarks/gpu/soft_labels.py run OUT"
    with archived(done, out / ARCHIVE):
        try:
            soft_labels.run(
                corpora,
                soft_labels.named(conditions, tuple(corpora)),
                done,
                glove=KIT / GLOVE.name,
                settings=[("training.device", device)],
                command=command,
                commit=(KIT / COMMIT).read_text(encoding="utf-8"),
                **given,
            )
        except Unfinished as over:
            print(over, flush=True)
    count(done)


def count(done: Path) -> None:
    """How many trainings of each condition are there, and how long they took."""
    from dissensus.papers import soft_labels

    found: dict[str, list[float]] = {}
    for outcome in soft_labels.outcomes(done):
        found.setdefault(outcome.condition, []).append(outcome.seconds)
    for condition, took in found.items():
        mean = sum(took) / len(took)
        print(f"{condition:18} {len(took):4} of 40   {mean:8.1f} s each, {max(took):.1f} s at most")


def keep(archive: Path) -> None:
    """Write the report of an archive into benchmarks/results."""
    from dissensus.papers import soft_labels

    done = unpack(archive)
    RESULTS.write_text(soft_labels.to_json(soft_labels.report(done)), encoding="utf-8")
    print(soft_labels.shown(soft_labels.report(RESULTS)))


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
    if given.stage == "keep":
        return keep(given.out)
    began = time.monotonic()
    how = {
        "runs": given.runs,
        "processes": given.processes,
        "time_limit": given.seconds,
        "stack": not given.alone,
    }
    run(given.out, given.conditions, how, given.device)
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
