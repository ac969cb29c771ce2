"""20 seeds of a head on frozen features, side by side and one after another.

    python benchmarks/bench_stacking.py            every batch size, one thread and two
    python benchmarks/bench_stacking.py --quick    one batch size, one thread

A linear probe and 384-64-6 with dropout on 2,048 items; seconds of all steps, medians of runs in
which both ways take turns. `--show` prints what was kept.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dissensus import Annotations, Corpus, Names, Nominal
from dissensus.contents import Contents
from dissensus.evaluation import code_commit
from dissensus.methods import Single
from dissensus.methods.trained import LaidOut
from dissensus.training import Training
from dissensus.training.loop import Run
from dissensus.training.stack import Stack

RESULTS = Path(__file__).parent / "results" / "stacking_cpu.json"
NETWORKS: dict[str, tuple[int, ...]] = {"384-64-6": (64,), "384-6, linear": ()}
SIZES, SEEDS, ALONE = (16, 32, 64, 128, 256), 20, 4


def crowd(n_items: int = 2048, width: int = 384) -> Corpus:
    """Random features with labels of six kinds."""
    generator = np.random.default_rng(0)
    items = Names.range(n_items)
    asked = Annotations.from_arrays(
        np.arange(n_items),
        np.zeros(n_items, np.int64),
        generator.integers(0, 6, n_items),
        Nominal(tuple("abcdef")),
        items=items,
    )
    vectors = generator.normal(size=(n_items, width)).astype(np.float32)
    shown = Contents.distinct("features", vectors)
    return Corpus.build("random", items, {"q": asked}, contents={"x": shown})


def runs_of(method: Single, corpus: Corpus, n: int) -> list[Run]:
    """Trainings about to begin, of one corpus laid out once."""
    laid_out: LaidOut = {}
    runs = []
    for seed in range(n):
        one = replace(method, init_seed=seed, training=replace(method.training, seed=seed))
        one._begin(corpus, "q", None)
        runs.append(one._run(corpus, None, laid_out))
    return runs


def timed(method: Single, corpus: Corpus) -> tuple[float, float]:
    """Seconds of all seeds one after another (of a few of them, scaled), and side by side."""
    few = runs_of(method, corpus, ALONE)
    begin = time.perf_counter()
    for run in few:
        run.train()
    alone = (time.perf_counter() - begin) * SEEDS / ALONE
    stack = Stack(runs_of(method, corpus, SEEDS))
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
    print(f"{SEEDS} seeds{'':12} batch  threads  one by one  together   gain")
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
        show(json.loads(RESULTS.read_text())["rows"])
        return
    corpus, before = crowd(), torch.get_num_threads()
    measured(corpus, "384-64-6", 256, 1, 1)  # loads what is loaded once
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
    about = {
        "command": "python benchmarks/bench_stacking.py",
        "commit": code_commit(),
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, torch {torch.__version__}",
        "seeds": f"0 to {SEEDS - 1}; one by one: the first {ALONE}, scaled",
    }
    RESULTS.write_text(json.dumps(about | {"rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
