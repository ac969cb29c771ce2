"""Training time of annotator-queries per labelled pair, by the number of annotators.

    python benchmarks/bench_queries.py            about two minutes
    python benchmarks/bench_queries.py --quick    fewer runs, nothing saved

Sequences of 40 random vectors 384 wide, as MiniLM gives them for a sentence or two, 10 labels an
item, 32 items a step, default sizes; one epoch. Beyond 64 annotators queries attend to landmarks,
heads are low-rank, and tables are stepped by rows. Processor time of one thread, so that other load
matters little; medians of alternated runs. It must not grow with the crowd: 100, 1,000 and 10,000
annotators within 1.3x of each other, and 2x of 10.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from dissensus import Annotations, Corpus, Names, Nominal
from dissensus.contents import Contents
from dissensus.methods import AnnotatorQueries
from dissensus.training import Training
from keeping import keep

PER_ITEM, N_ITEMS, LENGTH, WIDTH = 10, 640, 40, 384
VALUES = Nominal(tuple("abcdef"))
ANNOTATORS = (10, 100, 1_000, 10_000)


def corpus_of(n_annotators: int) -> Corpus:
    """Ten random annotators label each item."""
    generator = np.random.default_rng(0)
    groups = n_annotators // PER_ITEM  # one annotator of each group labels an item
    annotator = generator.integers(0, groups, (N_ITEMS, PER_ITEM)) * PER_ITEM
    annotator += np.arange(PER_ITEM)
    labels = Annotations.from_arrays(
        np.repeat(np.arange(N_ITEMS), PER_ITEM),
        annotator.ravel(),
        generator.integers(0, len(VALUES.values), N_ITEMS * PER_ITEM),
        VALUES,
        items=Names.range(N_ITEMS),
        annotators=Names.range(n_annotators),
    )
    vectors = generator.normal(size=(N_ITEMS, LENGTH, WIDTH)).astype(np.float32)
    shown = {"x": Contents.distinct("features", list(vectors))}
    return Corpus.build("crowd", labels.items, {"q": labels}, contents=shown)


def training(corpus: Corpus) -> Callable[[], float]:
    """Microseconds a labelled pair of one epoch, without preparing the data."""

    def run() -> float:
        settings: Any = {"epochs": 1, "device": "cpu", "max_rows_per_item": 64}
        method = AnnotatorQueries(encoder="features", training=Training(**settings))
        method.begin_fit(corpus, None, None)
        trainer = method.trainer(corpus, None)
        begin = time.process_time()
        trainer.train()
        return (time.process_time() - begin) / corpus["q"].n_rows * 1e6

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_known_args()[0].quick
    torch.set_num_threads(1)
    cases = {n: training(corpus_of(n)) for n in ANNOTATORS}
    for case in cases.values():
        case()
    taken = [{n: case() for n, case in cases.items()} for _ in range(1 if quick else 5)]
    medians = {n: statistics.median(run[n] for run in taken) for n in ANNOTATORS}
    print(f"{'annotators':>11}  {'us a pair':>10}  vs. 10")
    rows = []
    for n, figure in medians.items():
        print(f"{n:11,}  {figure:10.1f}  {figure / medians[10]:.2f}x", flush=True)
        runs = [run[n] for run in taken]
        rows.append({"annotators": n, "microseconds": figure, "runs": runs})
        rows[-1]["of_10"] = figure / medians[10]
    crowds = [medians[n] for n in ANNOTATORS[1:]]
    print(f"the largest of the crowds against the smallest: {max(crowds) / min(crowds):.2f}x")
    if not quick:
        sizes = {"labels an item": PER_ITEM, "items": N_ITEMS, "length": LENGTH, "width": WIDTH}
        keep("queries_crowd", "bench_queries.py", {"threads": 1, "sizes": sizes, "rows": rows})


if __name__ == "__main__":
    main()
