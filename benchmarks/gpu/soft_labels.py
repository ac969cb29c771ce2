"""Fornaciari et al. (2021), ten seeds of every condition, on a GPU in pieces of some minutes.

    make glove; make gpu-kit RUN=soft_labels              4 MiB; soft_labels:stemming needs no GloVe
    export PYTHONPATH=src:papers/src:gpu-kit/libs         there; DISSENSUS_DATA is not needed
    python benchmarks/gpu/soft_labels.py run OUT --try    on any machine first
    python benchmarks/gpu/soft_labels.py run OUT --seconds 540 --processes 14
    python benchmarks/gpu/soft_labels.py run OUT --seconds 540 --conditions stemming-text
    cp OUT/soft_labels.tar.gz* gpu-kit/soft_labels/       to resume on another machine
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
from collections.abc import Sequence
from pathlib import Path

from paper_runs import Script, typed_settings

from dissensus_papers.soft_labels.protocol import CORPORA, TAGS

SCRIPT = Script("soft_labels", __doc__, ("pos-test,stemming-silver,stemming-text", ()))
GLOVE = Path("glove/pos_tweets.txt")


def pack(folder: Path, data: Path, names: Sequence[str] = CORPORA) -> None:
    """The corpora, word vectors for tweets, and the commit."""
    from dissensus import datasets

    if TAGS in names and not GLOVE.exists():
        sys.exit(f"{GLOVE} is missing: make glove")
    for name in names:
        datasets.read(data / name).save(folder / "corpora" / name)
    if TAGS in names:
        shutil.copy(GLOVE, folder / GLOVE.name)
    SCRIPT.pack_commit(folder)


def run(given: argparse.Namespace) -> None:
    corpora = SCRIPT.corpora(items=given.items)
    glove = SCRIPT.kit / GLOVE.name
    device = "auto" if given.device == "here" else given.device
    SCRIPT.run(
        given,
        corpora=corpora,
        conditions=SCRIPT.paper.named(given.conditions, tuple(corpora)),
        glove=glove if glove.exists() else None,
        stack=not given.unstacked,
        settings=[("training.device", device), *typed_settings(given)],
    )


def main() -> None:
    parser = SCRIPT.options(seconds=540, processes=14, runs=10)
    parser.add_argument("--unstacked", action="store_true", help="no networks side by side")
    SCRIPT.main(parser, run)


if __name__ == "__main__":
    main()
