"""Training time per rating, by the number of annotators; and how it grows.

    python benchmarks/bench_annotators.py            everything, about two minutes
    python benchmarks/bench_annotators.py --quick    fewer runs, nothing saved

`annotator-heads` learns ratings of 1 to 5 from 384 frozen features, 10 ratings an item, 32 items
a step; one epoch of 32,000 ratings. Tables of heads are stepped by rows where they are large, and
densely for comparison. Processor time of one thread, so that other load matters little; medians of
alternated runs.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from dissensus import Annotations, Corpus, Names, Ordinal
from dissensus.contents import Contents
from dissensus.encoders import TextEncoder
from dissensus.methods import AnnotatorHeads
from dissensus.training import Training
from dissensus.training import sparse_tables as tables
from dissensus.training.loop import Trainer
from keeping import keep

PER_ITEM, N_ITEMS, WIDTH = 10, 3200, 384
STARS = Ordinal(tuple("12345"))
ANNOTATORS = (10, 1_000, 13_000)
OPTIMISERS = ("adamw",)


def corpus_of(n_items: int, n_annotators: int) -> Corpus:
    """Ten random annotators rate each item."""
    generator = np.random.default_rng(0)
    groups = n_annotators // PER_ITEM  # one annotator of each group rates an item
    annotator = generator.integers(0, groups, (n_items, PER_ITEM)) * PER_ITEM
    annotator += np.arange(PER_ITEM)
    rated = Annotations.from_arrays(
        np.repeat(np.arange(n_items), PER_ITEM),
        annotator.ravel(),
        generator.integers(0, 5, n_items * PER_ITEM),
        STARS,
        items=Names.range(n_items),
        annotators=Names.range(n_annotators),
    )
    features = generator.normal(size=(n_items, WIDTH)).astype(np.float32)
    shown = {"x": Contents.distinct("features", features)}
    return Corpus.build("ratings", rated.items, {"stars": rated}, contents=shown)


def training(corpus: Corpus, optimiser: str, dense: bool = False) -> Callable[[], float]:
    """Microseconds a rating of one epoch, without preparing the data."""

    def run() -> float:
        settings: Any = {"epochs": 1, "device": "cpu", "optimiser": optimiser}
        method = AnnotatorHeads(encoder="features", training=Training(**settings))
        method.begin_fit(corpus, None, None)
        default = tables.LARGE
        tables.LARGE = math.inf if dense else default  # type: ignore[assignment]
        try:
            trainer: Trainer = method.trainer(corpus, None)
        finally:
            tables.LARGE = default
        begin = time.process_time()
        trainer.train()
        return (time.process_time() - begin) / corpus["stars"].n_rows * 1e6

    return run


def encoding(n_tokens: int) -> Callable[[], float]:
    """Microseconds a text of this length, through MiniLM."""
    encoder = TextEncoder(max_length=n_tokens)
    words = np.random.default_rng(0).choice(["day", "sun", "tree", "road"], (8, n_tokens))
    texts, _ = Contents.distinct("text", [" ".join(row) for row in words])
    assert set(np.diff(encoder.prepare(texts).offsets)) == {n_tokens}

    def run() -> float:
        begin = time.process_time()
        encoder.encode(texts)
        return (time.process_time() - begin) / len(texts) * 1e6

    return run


def figures_of(cases: dict[Any, Callable[[], float]], runs: int) -> dict[Any, list[float]]:
    """All times of each case, in alternated runs; the first of each is discarded."""
    for case in cases.values():
        case()
    taken = [{name: case() for name, case in cases.items()} for _ in range(runs)]
    return {name: [found[name] for found in taken] for name in cases}


def by_annotators(runs: int) -> list[dict[str, Any]]:
    corpora = {n: corpus_of(N_ITEMS, n) for n in ANNOTATORS}
    cases = {
        (optimiser, n, dense): training(corpora[n], optimiser, dense)
        for optimiser in OPTIMISERS
        for n in ANNOTATORS
        for dense in (False, True)
    }
    found = figures_of(cases, runs)
    rows = []
    print(f"{'':8}{'annotators':>11}  {'us a rating':>11}  vs. 10     vs. 1,000     {'dense':>7}")
    for (optimiser, n, dense), figures in found.items():
        if dense:
            continue
        mine, whole = (statistics.median(found[optimiser, n, kind]) for kind in (False, True))
        few, more = (statistics.median(found[optimiser, k, False]) for k in ANNOTATORS[:2])
        print(
            f"{optimiser:8}{n:11,}  {mine:11.2f}  {mine / few:8.2f}x  {mine / more:11.2f}x  "
            f"{whole:7.2f} ({whole / few:.2f}x)",
            flush=True,
        )
        facts = {"what": "by annotators", "optimiser": optimiser, "annotators": n}
        measured = {
            "microseconds": mine,
            "dense": whole,
            "of_10": mine / few,
            "of_1000": mine / more,
        }
        runs_of = {"runs": figures, "dense_runs": found[optimiser, n, True]}
        rows.append(facts | measured | {"dense_of_10": whole / few} | runs_of)
    return rows


def growth(runs: int) -> list[dict[str, Any]]:
    """AdamW, with everything else as above."""
    cases: dict[Any, Callable[[], float]] = {}
    for n in (400, 1_600, 6_400):
        cases["items", n, "a rating"] = training(corpus_of(n, 1_000), "adamw")
    for n in (100, 1_000, 10_000):
        cases["annotators", n, "a rating"] = training(corpus_of(1_600, n), "adamw")
    for n in (16, 64, 256):
        cases["tokens", n, "a text"] = encoding(n)
    rows = []
    print(f"\n{'how cost grows with':20}{'':>9}  {'us':>9}")
    for (what, n, unit), figures in figures_of(cases, runs).items():
        middle = statistics.median(figures)
        print(f"{what:20}{n:9,}  {middle:9.2f} {unit}", flush=True)
        facts = {"what": f"growth with {what}", what: n, "unit": unit}
        rows.append(facts | {"microseconds": middle, "runs": figures})
    return rows


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args([] if arguments is None else arguments)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    runs = 1 if given.quick else given.runs
    rows = by_annotators(runs) + growth(runs)
    torch.set_num_threads(threads)
    if given.quick:
        return
    content = {"timed": "one thread, processor time", "seeds": [0], "rows": rows}
    keep("annotators", f"bench_annotators.py --runs {runs}", content)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
