"""SeedBERT's Table 4 on public corpora, five times five folds of every method, on a GPU.

    make gpu-kit RUN=seedbert                             29 MiB: the corpora and MiniLM
    export PYTHONPATH=src:papers/src:gpu-kit/libs         there; DISSENSUS_DATA is not needed
    python benchmarks/gpu/seedbert.py run OUT --try       on any machine first
    python benchmarks/gpu/seedbert.py run OUT --seconds 440
    python benchmarks/gpu/seedbert.py run OUT --seconds 440 --conditions HS-Brexit-frozen
    cp OUT/seedbert.tar.gz* gpu-kit/seedbert/             to resume on another machine
    python benchmarks/gpu/seedbert.py keep OUT/seedbert.tar.gz       into benchmarks/results
    python benchmarks/gpu/seedbert.py show
    dissensus papers seedbert --show benchmarks/results/seedbert.json    the same

The same fits as `dissensus papers seedbert`, the most important first. OUT/seedbert.tar.gz holds
all outcomes and is written twice a minute, so a run that is killed loses little. A run resumes from
that archive, or from one in the kit. `keep` writes the report of an archive; the archive itself is
not part of the repository.

Measured on an H200, four processes, seconds of one process for a piece (a model in one repetition
of five folds): on HS-Brexit 20.8 an ensemble of five (25 networks, 4 epochs), 4.5 a single network,
3.0 soft-label, 4.4 label-and-uncertainty, 8.8 bayesian; on cifar10h 1.8 soft-label, 6.9 with the
paper's epochs. With `--set training.compile=true`, which takes a minute at first, 103 pieces of
ConvAbuse, MD-Agreement and HS-Brexit took 370 s; 460 s were reckoned without. The last 80 took
281 s without: HS-Brexit with 20 members 88 s each, ConvAbuse with 20 134 s, the paper's rate on
ConvAbuse and MD-Agreement 24 to 56 s each, snow2008 up to 5 s.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from archive import unpack
from paper_runs import Script, typed_settings

TRIED = "HS-Brexit-paper,HS-Brexit-frozen,snow2008-affect-paper,cifar10h-frozen-paper"
SCRIPT = Script("seedbert", __doc__, (TRIED, ("n_members=2",)))
MANY = 100  # annotators of a text that was used to test them
EMOTIONS = (  # corpora of emotions: name, folder, which
    ("snow2008 affect", "snow2008", "affect"),
    ("CREMA-D", "crema_d_votes", None),
    ("FER+", "ferplus_votes", None),
)


def pack(folder: Path, data: Path, names: Sequence[str] = ()) -> None:
    """Corpora as they are learned from, and MiniLM for their words.

    Args:
        names: of the corpora; if empty, those of which something is missing.
    """
    from kit import pack_minilm

    from dissensus_papers.seedbert.protocol import ready

    texts: list[str] = []
    every = SCRIPT.paper.read(data)
    for name in names or wanted():
        corpus = ready(every[name])
        corpus.save(folder / "corpora" / name)
        for contents in corpus.contents.values():
            texts += contents.values.to_pylist() if contents.kind == "text" else []
    pack_minilm(folder / "minilm", texts)
    SCRIPT.pack_commit(folder)


def wanted() -> list[str]:
    """The corpora of conditions that the kept report lacks; all if it lacks nothing."""
    seedbert = SCRIPT.paper
    missing = seedbert.not_run(seedbert.report(SCRIPT.results)) if SCRIPT.results.exists() else ()
    lacking = {seedbert.conditions[name].corpus for name in missing}
    return [name for name in seedbert.sources if name in lacking or not lacking]


def run(given: argparse.Namespace) -> None:
    corpora = SCRIPT.corpora(items=given.items)
    on_gpu = given.device == "cuda"
    SCRIPT.run(
        given,
        corpora=corpora,
        conditions=SCRIPT.paper.named(given.conditions, tuple(corpora)),
        settings=[*typed_settings(given), *[("training.precision", "bf16")] * on_gpu],
        encoders=encoders(corpora),
        together=on_gpu,
    )


def encoders(corpora: Any) -> dict[str, Any]:
    """The encoder of each corpus of texts here: a MiniLM that has only the words of the corpus,
    which saves steps of weights that never change."""
    from kit import pack_minilm

    folder = Path(tempfile.mkdtemp())
    by_corpus: dict[str, Any] = {}
    for name, corpus in corpora.items():
        if {contents.kind for contents in corpus.contents.values()} != {"text"}:
            continue
        texts = [text for each in corpus.contents.values() for text in each.values.to_pylist()]
        pack_minilm(folder / name, texts, SCRIPT.kit / "minilm")
        by_corpus[name] = {"+".join(corpus.contents): f"{folder / name}:max_length=64"}
    return by_corpus


def gathered(archives: Sequence[Path]) -> list[Path]:
    """The outcomes of an archive, with how annotators rate emotions: a kit has no ratings."""
    from dissensus import datasets
    from dissensus.evaluation import plain
    from dissensus_papers.framework.reports import write_json
    from dissensus_papers.seedbert.emotions import EMOTIONS_FILE, emotions

    done = unpack(*archives)
    if data := os.environ.get("DISSENSUS_DATA"):
        corpora = {name: datasets.read(Path(data) / folder, corpus=which)
                   for name, folder, which in EMOTIONS}  # fmt: skip
        known = emotions(corpora) | {"evidence": evidence(Path(data) / "toxic_spans")}
        write_json(done / EMOTIONS_FILE, plain(known))
    return [done]


def evidence(folder: Path) -> dict[str, Any]:
    """Table 3, by toxic_spans. Of two annotators of a text who marked what led them to a type of
    toxicity: F1 of their marks if they name the same type, less that if they name different ones,
    over texts with both.
    """
    import pyarrow.csv

    from dissensus.evaluation import over_items
    from dissensus_papers.framework.reports import short

    types: dict[int, set[str]] = {}
    marks: dict[int, set[int]] = {}
    for row in pyarrow.csv.read_csv(folder / "spans.csv").to_pylist():
        types.setdefault(row["annotation"], set()).add(row["type"])
        marks.setdefault(row["annotation"], set()).update(range(row["start"], row["end"]))
    of_text: dict[int, list[int]] = {}
    for row in pyarrow.csv.read_csv(folder / "annotations.csv").to_pylist():
        if len(types.get(row["annotation"], ())) == 1 and marks[row["annotation"]]:
            of_text.setdefault(row["comment_id"], []).append(row["annotation"])
    sides = []
    for marked in (each for each in of_text.values() if len(each) < MANY):
        f1: dict[bool, list[float]] = {True: [], False: []}
        for first, second in combinations(marked, 2):
            both = len(marks[first] & marks[second])
            overlap = 2 * both / (len(marks[first]) + len(marks[second]))
            f1[types[first] == types[second]].append(overlap)
        if f1[True] and f1[False]:
            sides.append([float(np.mean(f1[same])) for same in (True, False)])
    same, different = np.array(sides).T
    test = over_items(same[None], different[None])
    figures = {"same": float(same.mean()), "different": float(different.mean())}
    return {"n_items": len(same), **figures, **short(test)}


if __name__ == "__main__":
    SCRIPT.main(SCRIPT.options(seconds=440, processes=4, runs=5), run, gathered)
