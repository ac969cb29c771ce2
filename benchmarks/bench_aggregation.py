"""Aggregators beside crowd-kit on the same answers: seconds, peak memory, and their ratios.

    python benchmarks/bench_aggregation.py            1 million labels; GLAD 50 thousand
    python benchmarks/bench_aggregation.py --full     and 10 million; 10^5 to 10^8 alone
    python benchmarks/bench_aggregation.py --large    only what --full adds

Each fit runs in a fresh process (on Linux), so that its memory is its own: what it rises by during
the fit is compared. The data are made before the clock starts, and so is a first fit on a few
rows, which loads what is compiled. Crowd-kit gets tol=-inf, because tol=0 may stop early.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from keeping import keep, kept

SIZES = {  # labels -> items, annotators, values; five labels an item
    "50k": (10_000, 200, 5),
    "100k": (20_000, 500, 8),
    "1M": (200_000, 2_000, 8),
    "10M": (2_000_000, 5_000, 8),
    "100M": (20_000_000, 50_000, 8),
}
METHODS = {
    "majority": ("Majority()", "MajorityVote()"),
    "dawid-skene": (
        "DawidSkene(iterations=20, tolerance=0)",
        "DawidSkene(n_iter=20, tol=-np.inf)",
    ),
    "one-coin": (
        "OneCoin(iterations=20, tolerance=0)",
        "OneCoinDawidSkene(n_iter=20, tol=-np.inf)",
    ),
    "mace": (
        "Mace(iterations=20, tolerance=0, restarts=1)",
        "MACE(n_restarts=1, n_iter=20)",
    ),
    "glad": (
        "Glad(iterations=20, tolerance=0)",
        "GLAD(n_iter=20, tol=-np.inf, silent=True)",
    ),
}
QUICK = [("majority", "1M"), ("dawid-skene", "1M"), ("one-coin", "1M"), ("mace", "1M")]
QUICK += [("glad", "50k")]


def crowd(size: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """True values and answers of a simulated crowd, every annotator once an item."""
    n_items, n_annotators, n_values = SIZES[size]
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, n_values, n_items, dtype=np.uint8)
    item = np.repeat(np.arange(n_items, dtype=np.int32), 5)
    first = generator.integers(0, n_annotators, n_items, dtype=np.int32)
    step = generator.integers(1, n_annotators // 5, n_items, dtype=np.int32)
    annotator = (first[:, None] + step[:, None] * np.arange(5, dtype=np.int32)) % n_annotators
    annotator = annotator.reshape(-1)
    skill = generator.uniform(0.4, 0.95, n_annotators).astype(np.float32)
    right = generator.random(len(item), dtype=np.float32) < skill[annotator]
    guess = generator.integers(0, n_values, len(item), dtype=np.uint8)
    return truth, item, annotator, np.where(right, truth[item], guess)


def one(who: str, method: str, size: str, seed: int) -> None:
    """Fit once, and print seconds, peak memory and accuracy as JSON."""
    warnings.simplefilter("ignore")
    truth, item, annotator, answer = crowd(size, seed)
    if who == "ours":
        from dissensus import Annotations, Nominal, aggregation

        scale = Nominal(tuple(str(value) for value in range(SIZES[size][2])))
        build = f"aggregation.{METHODS[method][0]}"
        few = Annotations.from_arrays(item[:50], annotator[:50], answer[:50], scale)
        _fit(build, few, aggregation=aggregation)
        made = Annotations.from_arrays(item, annotator, answer, scale)
        before = settled_mb()
        begin = time.perf_counter()
        label = _fit(build, made, aggregation=aggregation).consensus_.answer
    else:
        import crowdkit.aggregation
        import pandas as pd

        build = f"peer.{METHODS[method][1]}"
        frame = pd.DataFrame({"task": item, "worker": annotator, "label": answer})
        before = settled_mb()
        begin = time.perf_counter()
        labels = _fit(build, frame, peer=crowdkit.aggregation, np=np).labels_
        label = labels.sort_index().to_numpy()
    taken = time.perf_counter() - begin
    peak = memory_mb("VmHWM")
    found = {"seconds": taken, "rise_mb": peak - before, "peak_mb": peak}
    print(json.dumps(found | {"accuracy": float((label == truth).mean())}))


def settled_mb() -> float:
    """Memory now; the peak is counted anew from here."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory_mb("VmRSS")


def memory_mb(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def _fit(build: str, data: Any, **names: Any) -> Any:
    return eval(build, names).fit(data)


def measured(who: str, method: str, size: str, seed: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", who, method, size, str(seed)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{who} {method} {size} failed:\n{done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def compared(method: str, size: str, runs: int) -> dict[str, object]:
    """Alternated runs of both, the median of each."""
    times: dict[str, list[dict[str, float]]] = {"ours": [], "crowd-kit": []}
    for seed in range(runs):
        for who in times:
            times[who].append(measured(who, method, size, seed))
    return {"method": method, "labels": size, "runs": times}


def median(runs: list[dict[str, float]], name: str) -> float:
    return float(np.median([run[name] for run in runs]))


def show(row: dict[str, object]) -> None:
    runs = row["runs"]
    assert isinstance(runs, dict)
    ours, peer = runs["ours"], runs.get("crowd-kit")
    line = f"{row['method']:14} {row['labels']:>5}"
    line += f" {median(ours, 'seconds'):9.3f} {median(ours, 'rise_mb'):9.0f}"
    line += f" {median(ours, 'accuracy'):9.4f}"
    if peer:
        ratio = median(peer, "seconds") / median(ours, "seconds")
        memory = median(peer, "rise_mb") / max(median(ours, "rise_mb"), 1)
        line += f" {median(peer, 'seconds'):10.2f} {median(peer, 'accuracy'):9.4f}"
        line += f" {ratio:8.0f}x {memory:7.1f}x"
    print(line, flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--one", nargs=4)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args(arguments or [])
    if given.one:
        who, method, size, seed = given.one
        one(who, method, size, int(seed))
        return
    print(
        "method        labels  ours s   ours MB  accuracy  crowd-kit s  accuracy  faster  less MB"
    )
    rows = []
    for method, size in [] if given.large else QUICK:
        rows.append(compared(method, size, given.runs))
        show(rows[-1])
    if given.full or given.large:
        rows.append(compared("dawid-skene", "10M", given.runs))
        show(rows[-1])
        for size in ("100k", "1M", "10M", "100M"):
            alone = {"ours": [measured("ours", "dawid-skene", size, 0)]}
            rows.append({"method": "dawid-skene", "labels": size, "runs": alone})
            show(rows[-1])
    new = {_what(row) for row in rows}
    rows = [row for row in kept("aggregation")["rows"] if _what(row) not in new] + rows
    content = {"seeds": list(range(given.runs)), "rows": rows}
    keep("aggregation", "bench_aggregation.py --full", content)


def _what(row: dict[str, Any]) -> tuple[str, str, bool]:
    """Which of the rows of the table it is."""
    return row["method"], row["labels"], "crowd-kit" in row["runs"]


if __name__ == "__main__":
    main(sys.argv[1:])
