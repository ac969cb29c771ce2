"""SeedBERT's Table 4 on public corpora, five times five folds of every method, on a GPU.

    make gpu-kit RUN=seedbert                             the corpora
    python benchmarks/gpu/seedbert.py run OUT --seconds 440
    cp OUT/seedbert.tar.gz gpu-kit/seedbert/              to resume on another machine
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
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import paper_runs
from archive import unpack
from sharing import shared_gpu

KIT = Path("gpu-kit/seedbert")
RESULTS = Path(__file__).parents[1] / "results" / "seedbert.json"
ARCHIVE, COMMIT, BLOCK = "seedbert.tar.gz", "commit.txt", "block.safetensors"
COMMAND = "python benchmarks/gpu/seedbert.py run OUT"


def pack(folder: Path, data: Path) -> None:
    """The corpora of which something is missing, as they are learned from, MiniLM for their words,
    and the last block of EfficientNet-Lite0."""
    from kit import pack_minilm
    from safetensors.torch import save_file

    from dissensus.encoders.studies.last_block import LastBlockEncoder
    from dissensus.evaluation import code_commit
    from dissensus.papers.seedbert.corpora import read, ready

    texts: list[str] = []
    every = read(data)
    for name in wanted():
        corpus = ready(every[name])
        _small(corpus).save(folder / "corpora" / name)
        for held in corpus.contents.values():
            texts += held.values.to_pylist() if held.kind == "text" else []
    pack_minilm(folder / "minilm", texts)
    save_file(LastBlockEncoder().network.state_dict(), folder / BLOCK)
    (folder / COMMIT).write_text(code_commit(), encoding="utf-8")


def wanted() -> list[str]:
    """The corpora that the kept report lacks something of; all if it lacks nothing."""
    from dissensus.papers import seedbert

    missing = seedbert.report(RESULTS)["missing"] if RESULTS.exists() else {}
    lacking = {seedbert.CONDITIONS[name].corpus for name in missing}
    return [name for name in seedbert.SOURCES if name in lacking or not lacking]


def _small(corpus: Any) -> Any:
    """Features in half precision, as they were made."""
    import pyarrow as pa

    from dissensus.contents import Contents

    held = dict(corpus.contents)
    for role, contents in held.items():
        if contents.kind == "features":
            half = pa.list_(pa.list_(pa.float16()))
            held[role] = Contents("features", contents.values.cast(half))
    return replace(corpus, contents=held)


def run(given: argparse.Namespace) -> None:
    from dissensus import Corpus
    from dissensus.papers import seedbert

    began = time.monotonic()
    corpora = {path.name: Corpus.load(path) for path in sorted((KIT / "corpora").iterdir())}
    if given.items:
        corpora = {n: corpus.select(items=_first(corpus, given.items)) for n, corpus in
                   corpora.items()}  # fmt: skip
    encoders = readers(corpora)
    settings = [tuple(text.split("=", 1)) for text in given.set]
    if given.device == "cuda":
        settings.append(("training.precision", "bf16"))
    print(f"{time.monotonic() - began:.0f} s to read", flush=True)
    paper_runs.run(
        seedbert,
        given.out,
        KIT,
        ARCHIVE,
        corpora=corpora,
        conditions=seedbert.named(given.conditions, tuple(corpora)),
        runs=given.runs,
        processes=given.processes,
        time_limit=given.seconds - (time.monotonic() - began),
        settings=settings,
        encoders=encoders,
        together=given.device == "cuda",
        command=COMMAND,
        commit=(KIT / COMMIT).read_text(encoding="utf-8").strip(),
    )


def _first(corpus: Any, n: int) -> Any:
    import numpy as np

    return np.arange(corpus.n_items) < n


def readers(corpora: Any) -> dict[str, Any]:
    """What reads each corpus here: a MiniLM that knows no words but its own, which saves steps of
    weights that never change, and the last block from its file."""
    from kit import pack_minilm

    folder = Path(tempfile.mkdtemp())
    found: dict[str, Any] = {}
    for name, corpus in corpora.items():
        kinds = {held.kind for held in corpus.contents.values()}
        if kinds != {"text"}:
            found[name] = f"last-block:{KIT / BLOCK}"
            continue
        texts = [text for held in corpus.contents.values() for text in held.values.to_pylist()]
        pack_minilm(folder / name, texts, KIT / "minilm")
        found[name] = {"+".join(corpus.contents): f"{folder / name}:max_length=64"}
    return found


def keep(archive: Path) -> None:
    """Write the report of an archive into benchmarks/results."""
    from dissensus.papers import seedbert

    done = unpack(archive)
    if os.environ.get("DISSENSUS_DATA"):
        _add_kappas(done, Path(os.environ["DISSENSUS_DATA"]))
    paper_runs.keep_folder(seedbert, done, RESULTS)


def _add_kappas(done: Path, data: Path) -> None:
    """How much people agree on emotions: a kit holds no ratings of theirs."""
    from dissensus import datasets
    from dissensus.papers.seedbert.corpora import SOURCES, kappas, ready
    from dissensus.papers.seedbert.items import Items

    source = SOURCES["snow2008-affect"]
    rated = datasets.read(data / source.folder, corpus=source.corpus)
    Items.of(ready(rated), kappas(rated)).keep(done)


def show() -> None:
    from dissensus.papers import seedbert

    print(seedbert.shown(seedbert.report(RESULTS)), end="")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("run", "keep", "show"))
    parser.add_argument("out", type=Path, nargs="?", default=Path("seedbert"))
    parser.add_argument("--conditions")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=440)
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
