"""20 seeds of a head on frozen features, as a stack and one after another.

    python benchmarks/bench_stacking.py            every batch size, one thread and two
    python benchmarks/bench_stacking.py --quick    one batch size, one thread

A linear probe and 384-64-6 with dropout on 2,048 items; seconds of all steps, medians of alternated
runs. `--show` prints the saved results.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import torch

from dissensus import Corpus
from dissensus.methods import Single
from dissensus.training import Training
from dissensus.training.stacking.stack import Stack
from keeping import keep, kept
from stacks import crowd, runs_of

NETWORKS: dict[str, tuple[int, ...]] = {"384-64-6": (64,), "384-6, linear": ()}
SIZES, SEEDS, ALONE = (16, 32, 64, 128, 256), 20, 4


def timed(method: Single, corpus: Corpus) -> tuple[float, float]:
    """Seconds of all seeds one after another (a few of them, scaled), and as a stack."""
    few = runs_of(method, corpus, "q", ALONE)
    begin = time.perf_counter()
    for run in few:
        run.train()
    alone = (time.perf_counter() - begin) * SEEDS / ALONE
    stack = Stack(runs_of(method, corpus, "q", SEEDS))
    begin = time.perf_counter()
    stack.train()
    return alone, time.perf_counter() - begin


def measured(corpus: Corpus, name: str, size: int, threads: int, times: int) -> dict[str, Any]:
    torch.set_num_threads(threads)
    training = Training(epochs=2, batch_size=size, device="cpu")
    method = Single(encoder="features", hidden=NETWORKS[name], dropout=0.5, training=training)
    runs = [timed(method, corpus) for _ in range(times)]
    alone, together = (float(np.median(side)) for side in zip(*runs, strict=True))
    return {
        "network": name,
        "batch size": size,
        "threads": threads,
        "alone": alone,
        "together": together,
        "runs": runs,
    }


def show(rows: list[dict[str, Any]]) -> None:
    print(f"{SEEDS} seeds{'':12} batch  threads  one by one     stack   gain")
    for row in rows:
        gain = row["alone"] / row["together"]
        print(
            f"{row['network']:18} {row['batch size']:6} {row['threads']:8} {row['alone']:9.2f} s "
            f"{row['together']:7.2f} s {gain:5.2f}x",
            flush=True,
        )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args(arguments)
    if given.show:
        show(kept("stacking_cpu")["rows"])
        return
    corpus, before = crowd(2048, 384), torch.get_num_threads()
    measured(corpus, "384-64-6", 256, 1, 1)  # imports and caches
    threads, sizes = ((1,), SIZES[1:2]) if given.quick else ((1, 2), SIZES)
    rows = [
        measured(corpus, name, size, n, given.times)
        for n in threads
        for name in NETWORKS
        for size in sizes
    ]
    torch.set_num_threads(before)
    show(rows)
    if given.quick:
        return
    seeds = f"0 to {SEEDS - 1}; one by one: the first {ALONE}, scaled"
    content = {"torch": torch.__version__, "seeds": seeds, "rows": rows}
    keep("stacking_cpu", "bench_stacking.py", content)


if __name__ == "__main__":
    main()
