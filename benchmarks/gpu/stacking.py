"""Networks trained as a stack on a GPU, compared with the same ones one after another.

    make gpu-kit RUN=stacking
    python benchmarks/gpu/stacking.py OUT            heads, MiniLMs, a comparison, its command
    python benchmarks/gpu/stacking.py OUT --small    the same in small, on any machine
    python benchmarks/gpu/stacking.py --show         the saved results in benchmarks/results

Seconds of steps alone (captured or compiled before); a few trainings in the plain loop, scaled.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.append(str(Path(__file__).parents[1]))  # stacks.py serves a benchmark on the CPU too

KIT = Path("gpu-kit/stacking")
RESULTS = Path(__file__).parents[1] / "results" / "stacking.json"


def pack(folder: Path, data: Path) -> None:
    """HS-Brexit, and MiniLM for its words."""
    from kit import pack_minilm

    from dissensus import datasets

    corpus = datasets.read(data / "lewidi2023", corpus="HS-Brexit")
    corpus.save(folder / "HS-Brexit")
    pack_minilm(folder / "minilm", corpus.contents["text"].values.to_pylist())


def timed(work: Callable[[], object]) -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    begin = time.perf_counter()
    work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def one_by_one(runs: list[Any]) -> float:
    """Seconds of the plain loop over all of them."""
    return timed(lambda: [run.train() for run in runs])


def side_by_side(runs: list[Any], graph: bool | None = None) -> tuple[float, float]:
    """Seconds of all epochs, and of all but the first, in which a step is captured."""
    from dissensus.training.stacking.stack import Stack

    stack = Stack(runs, graph=graph)
    first = timed(stack.train_epoch)
    rest = timed(stack.train)
    return first + rest, rest


def heads(members: int, epochs: int, n_items: int) -> dict[str, Any]:
    """384-128-6 heads over frozen features at batch 32."""
    from dissensus.methods import Single
    from dissensus.training import Training
    from stacks import crowd, runs_of

    corpus = crowd(n_items, 384)
    training = Training(epochs=epochs, batch_size=32)
    method = Single(encoder="features", hidden=(128,), dropout=0.5, training=training)

    def fresh(n: int) -> list[Any]:
        return runs_of(method, corpus, "q", n)

    one_by_one(fresh(1))  # imports and caches
    few = max(1, members // 10)
    plain = one_by_one(fresh(few)) / few * members
    side_by_side(fresh(members))
    whole, rest = side_by_side(fresh(members))
    uncaptured = side_by_side(fresh(members), graph=False)[0]
    captured_alone = side_by_side(fresh(1))[1] * members
    alone, together = fresh(2), fresh(2)
    for run in alone:
        run.train()
    side_by_side(together)
    n_steps = epochs * -(-n_items // 32)
    return {
        "what": f"{members} heads 384-128-6, batch 32, {n_steps} steps",
        "plain": plain,
        "stacked": uncaptured,
        "stacked and captured": rest * epochs / (epochs - 1),
        "stacked and captured, with capturing": whole,
        "captured one by one": captured_alone * epochs / (epochs - 1),
        "losses": [[run.log.train[-1] for run in side] for side in (alone, together)],
    }


def minilms(members: int, epochs: int, n_items: int, encoder: str) -> dict[str, Any]:
    """Fine-tuned MiniLMs on HS-Brexit at batch 32."""
    import dissensus as ds
    from dissensus.methods import SoftLabel
    from dissensus.training import Training
    from stacks import runs_of

    corpus = ds.read(KIT / "HS-Brexit").part("train")
    corpus = corpus.select(items=np.arange(corpus.n_items) < n_items)
    training = Training(epochs=epochs, batch_size=32, precision="bf16")
    method = SoftLabel(encoder=encoder, tune="all", training=training)

    def fresh(n: int, compile: bool = False) -> list[Any]:
        own = replace(method, training=replace(training, compile=compile))
        return runs_of(own, corpus, "hate", n)

    one_by_one(fresh(1))
    few = min(members, 3)
    alone = fresh(few)
    plain = one_by_one(alone) / few * members
    whole, rest = side_by_side(fresh(members))
    together = fresh(members)
    again = side_by_side(together)
    compiling = side_by_side(fresh(members, compile=True))[0]
    compiled = fresh(members, compile=True)
    whole_compiled = side_by_side(compiled)[0]
    return {
        "what": f"{members} MiniLMs fine-tuned, batch 32, bf16, {epochs} epochs of {n_items} texts",
        "plain": plain,
        "stacked": min(whole, again[0]),
        "stacked and compiled": whole_compiled,
        "stacked and compiled, with compiling": compiling,
        "losses": [[run.log.train[-1] for run in side] for side in (alone, together, compiled)],
    }


def comparison(folds: int, seeds: int, encoder: str) -> dict[str, Any]:
    """Five methods, folds and seeds on frozen features of HS-Brexit, fitted as one."""
    import dissensus as ds
    from dissensus.evaluation import k_fold
    from dissensus.methods import method
    from dissensus.methods.framework.stacked_fits import Job, fit_many

    corpus = ds.read(KIT / "HS-Brexit")
    names = ("single", "soft-label", "repeated-label", "label-and-uncertainty", "annotator-heads")

    def jobs() -> list[Any]:
        made = []
        for fold in k_fold(corpus, folds, seed=0):
            train = corpus.select(items=np.isin(np.arange(corpus.n_items), fold.train))
            for name in names:
                for seed in range(seeds):
                    found: Any = method(name)(encoder=encoder)  # type: ignore[call-arg]
                    found.init_seed, found.training = seed, replace(found.training, seed=seed)
                    made.append(Job(found, train, "hate"))
        return made

    fit_many(jobs()[:1])  # the encoder runs once, and is cached
    together = timed(lambda: fit_many(jobs()))
    few = jobs()[:: max(1, seeds)]
    alone = timed(lambda: fit_many(few, stack=False)) / len(few) * folds * seeds * len(names)
    return {
        "what": f"{len(names)} methods x {folds} folds x {seeds} seeds on HS-Brexit",
        "plain": alone,
        "stacked": together,
    }


def command(folds: int, seeds: int, encoder: str) -> dict[str, Any]:
    """The same as it is typed, with all three questions: from the shell and back."""
    import subprocess
    import tempfile

    names = "single,soft-label,repeated-label,label-and-uncertainty,annotator-heads"
    typed = f"compare {KIT / 'HS-Brexit'} --encoder {encoder} --methods {names} --protocol k-fold"
    typed = f"{typed} --folds {folds} --seeds {seeds}"
    seconds = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as out:
            line = [sys.executable, "-m", "dissensus", *typed.split(), "-o", f"{out}/made"]
            seconds.append(timed(lambda line=line: subprocess.run(line, check=True)))  # type: ignore[misc]
    return {
        "what": f"dissensus compare, 5 methods x {folds} folds x {seeds} seeds on HS-Brexit",
        "whole command, first time": seconds[0],
        "whole command": seconds[1],
    }


def told(row: dict[str, Any]) -> str:
    """Seconds, and how many times faster than the plain loop."""
    lines = [row["what"]]
    for way in [way for way in row if way not in ("what", "losses")]:
        ratio = f"{row['plain'] / row[way]:8.1f}x" if "plain" in row else ""
        lines.append(f"  {way:40} {row[way]:9.3f} s {ratio}".rstrip())
    if "losses" in row:
        lines.append(f"  last losses {row['losses']}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, nargs="?", default=Path("stacking"))
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", default="heads,minilms,comparison,command")
    given = parser.parse_args()
    if given.show:
        for row in json.loads(RESULTS.read_text())["rows"]:
            print(told(row))
        return
    encoder = str(KIT / "minilm")
    cases: dict[str, Callable[[], dict[str, Any]]] = {
        "heads": lambda: heads(20, 10, 3200),
        "minilms": lambda: minilms(25, 3, 784, encoder),
        "comparison": lambda: comparison(5, 5, encoder),
        "command": lambda: command(5, 5, encoder),
    }
    if given.small:
        cases = {
            "heads": lambda: heads(4, 3, 128),
            "minilms": lambda: minilms(2, 2, 32, encoder),
            "comparison": lambda: comparison(2, 2, encoder),
            "command": lambda: command(2, 2, encoder),
        }
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else platform.machine()
    rows = []
    for name in given.only.split(","):
        rows.append(cases[name]())
        print(told(rows[-1]), flush=True)
    given.out.mkdir(parents=True, exist_ok=True)
    about = {
        "command": "python benchmarks/gpu/stacking.py OUT",
        "date": datetime.date.today().isoformat(),
        "machine": device,
        "seeds": "0 to members - 1",
    }
    (given.out / "stacking.json").write_text(json.dumps(about | {"rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
