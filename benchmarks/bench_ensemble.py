"""20 members of `seed-ensemble` on HS-Brexit, side by side and one after another.

    DISSENSUS_DATA=... python benchmarks/bench_ensemble.py            keeps what it finds
    DISSENSUS_DATA=... python benchmarks/bench_ensemble.py --quick    two epochs, keeps nothing

MiniLM frozen, its vectors cached; each member pools them by attention, 20 epochs on the training
part. Seconds of training alone, medians of runs in which the ways take turns: 20 one after another
(the first four, scaled) and 20 side by side. `--show` prints what was kept.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import dissensus as ds
from dissensus.corpus import Corpus
from dissensus.methods import SeedEnsemble
from dissensus.training import Training
from dissensus.training.loop import Trainer
from dissensus.training.stacking.groups import train_all
from keeping import keep, kept

MEMBERS, ALONE, EPOCHS = 20, 4, 20
VARIED = {"last-layer": 3, "everything": 1}  # what differs between members -> times measured


def hs_brexit() -> Corpus:
    folder = Path(os.environ["DISSENSUS_DATA"]) / "lewidi2023"
    return ds.read(folder, corpus="HS-Brexit").part("train")


def runs_of(method: SeedEnsemble, corpus: Corpus) -> list[Trainer]:
    """Trainings about to begin."""
    method.begin_fit(corpus, None, None)
    return method.trainers(corpus, None)


def seconds(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def timed(method: SeedEnsemble, corpus: Corpus) -> dict[str, float]:
    few = runs_of(replace(method, n_members=ALONE), corpus)
    one = seconds(lambda: train_all(few, False)) / ALONE
    runs = runs_of(method, corpus)
    together = seconds(lambda: train_all(runs))
    return {"one": one, "one by one": one * MEMBERS, "together": together}


def measured(corpus: Corpus, vary: str, epochs: int, times: int) -> dict[str, Any]:
    training = Training(epochs=epochs, device="cpu")
    method = SeedEnsemble(n_members=MEMBERS, vary=vary, training=training)
    runs = [timed(method, corpus) for _ in range(times)]
    medians = {name: float(np.median([run[name] for run in runs])) for name in runs[0]}
    return {"vary": vary, **medians, "runs": runs}


def show(rows: list[dict[str, Any]], n_items: int, epochs: int) -> None:
    print(f"{MEMBERS} members, {n_items} items, {epochs} epochs; seconds of training")
    print("vary               one   one by one   together    gain   of one")
    for row in rows:
        alone, together = row["one by one"], row["together"]
        print(
            f"{row['vary']:12} {row['one']:9.2f} {alone:12.2f} {together:10.2f} "
            f"{alone / together:6.2f}x {together / row['one']:7.2f}x",
            flush=True,
        )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args(arguments or [])
    if given.show:
        found = kept("ensemble")
        show(found["rows"], found["items"], found["epochs"])
        return
    if "DISSENSUS_DATA" not in os.environ:
        print("DISSENSUS_DATA is not set; HS-Brexit is in its lewidi2023 folder")
        return
    corpus, before = hs_brexit(), os.getloadavg()
    measured(corpus, "last-layer", 1, 1)  # encodes, and loads what is loaded once
    epochs = 2 if given.quick else EPOCHS
    rows = [
        measured(corpus, vary, epochs, 1 if given.quick else times)
        for vary, times in VARIED.items()
    ]
    show(rows, corpus.n_items, epochs)
    if given.quick:
        return
    content = {
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "load": [round(load, 1) for load in before],
        "items": corpus.n_items,
        "epochs": epochs,
        "seeds": f"init_seed 0 to {MEMBERS - 1}; one by one: the first {ALONE}, scaled",
        "rows": rows,
    }
    keep("ensemble", "bench_ensemble.py", content)


if __name__ == "__main__":
    main(sys.argv[1:])
