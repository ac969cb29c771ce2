"""Dawid-Skene and agreement of many simulated answers: from disk, and on a Dask cluster.

`csv` writes a table with ids and labels as texts, in no order, and converts and counts it with the
commands that a user types: seconds, and the peak memory of each command, which may not take more
than LIMIT. `disk` writes a corpus folder block by block, and counts it without loading it: seconds,
and the peak memory of the process that counts. `cluster` compares one process with a scheduler and
two workers on this machine: seconds, the largest difference of a posterior, and the bytes over the
loopback. `show` prints what was found last.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from dissensus.aggregation import DawidSkene
from dissensus.agreement import summarise
from dissensus.annotations import AnnotationBlocks, Annotations
from dissensus.corpus import Corpus, open_corpus, save_blocks
from dissensus.names import Names
from dissensus.scales import Nominal
from keeping import keep, kept

ROWS = {"csv": 100_000_000, "disk": 100_000_000, "cluster": 10_000_000}
VALUES = ("anger", "fear", "joy", "neutral")
PER_ITEM = 5
N_ANNOTATORS = 2000
ITEMS_AT_ONCE = 200_000
ITERATIONS = 10
LIMIT = 6_000_000_000  # bytes of private memory of a command
STRIDE = 61_803_399  # rows are in the order of its multiples, modulo their number
COMMANDS = {
    "convert": ("convert", "{table}", "{folder}", "--by-item"),
    "describe": ("describe", "{folder}", "--from-disk"),
    "agreement": ("agreement", "{folder}", "--from-disk"),
    "dawid-skene": (
        *("aggregate", "{folder}", "--from-disk", "--method", "dawid-skene"),
        *("--output", "{consensus}"),
    ),
}


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedBlocks(AnnotationBlocks):
    """Answers of annotators who are right in 35 to 95 % of the items, drawn block by block."""

    @classmethod
    def of(cls, n_rows: int) -> "SimulatedBlocks":
        n_items = n_rows // PER_ITEM
        bounds = (*range(0, n_items, ITEMS_AT_ONCE), n_items)
        names = Names.range(n_items), Names.range(N_ANNOTATORS)
        return cls(Nominal(VALUES), *names, n_items * PER_ITEM, bounds)

    def block(self, number: int) -> Annotations:
        draw = np.random.default_rng((0, number))
        n_items = self.bounds[number + 1] - self.bounds[number]
        truth = draw.integers(len(VALUES), size=n_items)
        item = np.repeat(np.arange(n_items, dtype=np.int32), PER_ITEM)
        first = draw.integers(N_ANNOTATORS, size=(n_items, 1))
        annotator = (first + 97 * np.arange(PER_ITEM)) % N_ANNOTATORS
        annotator = annotator.ravel().astype(np.int32)
        skill = 0.35 + 0.6 * annotator / N_ANNOTATORS
        right = draw.random(len(item)) < skill
        answer = np.where(right, truth[item], draw.integers(len(VALUES), size=len(item)))
        scale = self.scale
        ranges = Names.range(n_items), Names.range(N_ANNOTATORS)
        return Annotations(item, annotator, answer.astype(scale.dtype), scale, *ranges)


def whole(n_rows: int) -> Corpus:
    """All blocks in memory."""
    blocks = SimulatedBlocks.of(n_rows)
    parts = [(items.start, block) for items, block in blocks]
    annotations = Annotations(
        np.concatenate([first + block.item for first, block in parts]),
        np.concatenate([block.annotator_codes("counting") for _, block in parts]),
        np.concatenate([block.answer for _, block in parts]),
        blocks.scale,
        blocks.items,
        blocks.annotators,
    )
    return Corpus.build("simulated", blocks.items, {"q": annotations}, annotators=blocks.annotators)


def timed(function: Any, *given: Any, **options: Any) -> tuple[Any, float]:
    begin = time.perf_counter()
    return function(*given, **options), time.perf_counter() - begin


def model() -> DawidSkene:
    return DawidSkene(iterations=ITERATIONS, tolerance=0.0)


def count_from_disk(folder: str) -> dict[str, Any]:
    """Count a folder in this process."""
    corpus = open_corpus(folder)
    agreement, agreement_seconds = timed(summarise, corpus, measures=["krippendorff-alpha"])
    fitted, seconds = timed(model().fit, corpus["q"])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {
        "alpha": agreement[0].measures[0].value,
        "alpha_seconds": agreement_seconds,
        "items": fitted.consensus_.n_rows,
        "dawid_skene_seconds": seconds,
        "peak_gb": peak,
    }


def from_disk(n_rows: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "answers")
        _, seconds = timed(save_blocks, folder, "simulated", {"q": SimulatedBlocks.of(n_rows)})
        size = sum(path.stat().st_size for path in folder.iterdir()) / 1e9
        command = [sys.executable, __file__, "count", "--folder", str(folder)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    about = {"rows": n_rows, "iterations": ITERATIONS, "write_seconds": seconds, "folder_gb": size}
    return about | json.loads(printed)


def write_table(path: Path, n_rows: int) -> None:
    """A table with a row for each answer; each item has PER_ITEM of them, far from one another."""
    draw = np.random.default_rng(0)
    skill = draw.uniform(0.35, 0.95, N_ANNOTATORS)
    annotators = pa.array([f"worker-{n:04d}" for n in range(N_ANNOTATORS)])
    with path.open("wb") as file:
        for first in range(0, n_rows, ITEMS_AT_ONCE):
            row = np.arange(first, min(first + ITEMS_AT_ONCE, n_rows)) * STRIDE % n_rows
            item, slot = np.divmod(row, PER_ITEM)
            annotator = (item * 7919 + slot * 401) % N_ANNOTATORS
            right = draw.random(len(row)) < skill[annotator]
            other = draw.integers(len(VALUES), size=len(row))
            columns = {
                "item": pc.binary_join_element_wise("tweet-", pa.array(item).cast(pa.string()), ""),
                "annotator": annotators.take(pa.array(annotator)),
                "label": pa.array(VALUES).take(pa.array(np.where(right, item % 4, other))),
            }
            options = pyarrow.csv.WriteOptions(include_header=not first, quoting_style="none")
            pyarrow.csv.write_csv(pa.table(columns), file, options)


def limited() -> None:
    """Give this process no more than LIMIT bytes of private memory."""
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))


def command_cost(words: list[str]) -> dict[str, Any]:
    """Seconds and peak memory of a command."""
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "dissensus", *words], preexec_fn=limited)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"dissensus {' '.join(words)} failed")
    return {"seconds": time.perf_counter() - begin, "peak_gb": usage.ru_maxrss / 1e6}


def from_table(n_rows: int) -> dict[str, Any]:
    """Convert and count a table with the commands."""
    row: dict[str, Any] = {"rows": n_rows, "limit_gb": LIMIT / 1e9}
    with tempfile.TemporaryDirectory() as place:
        paths = {
            "table": f"{place}/labels.csv",
            "folder": f"{place}/answers",
            "consensus": f"{place}/consensus.parquet",
        }
        _, row["write_seconds"] = timed(write_table, Path(paths["table"]), n_rows)
        row["table_gb"] = Path(paths["table"]).stat().st_size / 1e9
        for name, words in COMMANDS.items():
            row[name] = command_cost([word.format(**paths) for word in words])
            print(name, row[name], flush=True)
    return row


def carried() -> int:
    """Bytes that the loopback of this machine has carried."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.strip().startswith("lo:"))


def on_cluster(n_rows: int) -> dict[str, Any]:
    from distributed import LocalCluster

    from dissensus.cluster import connect

    corpus = whole(n_rows)
    model().fit(SimulatedBlocks.of(1000).block(0))  # compiles
    here, seconds = timed(model().fit, corpus["q"])
    row: dict[str, Any] = {"rows": n_rows, "iterations": ITERATIONS, "one_process_seconds": seconds}
    options = {"processes": True, "dashboard_address": None, "threads_per_worker": 1}
    with LocalCluster(n_workers=2, **options) as cluster:  # type: ignore[no-untyped-call]
        client = connect(cluster.scheduler_address)
        model().fit(SimulatedBlocks.of(1000).block(0), cluster=client)
        before = carried()
        there, row["cluster_seconds"] = timed(model().fit, corpus["q"], cluster=client)
        row["carried_mb"] = (carried() - before) / 1e6
        row["answers_mb"] = 12 * n_rows / 1e6  # three columns of 4 bytes
        row["posteriors_mb"] = here.distribution_.nbytes / 1e6
        client.close()
    row["largest_difference"] = float(np.abs(here.distribution_ - there.distribution_).max())
    row["same_consensus"] = here.consensus_.equals(there.consensus_)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=[*ROWS, "show", "count"])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--folder")
    options = parser.parse_args()
    if options.part == "count":
        print(json.dumps(count_from_disk(options.folder)))
        return
    if options.part == "show":
        print(json.dumps(kept("large_answers"), indent=1))
        return
    n_rows = options.rows or ROWS[options.part]
    row = {"csv": from_table, "disk": from_disk, "cluster": on_cluster}[options.part](n_rows)
    print(json.dumps(row, indent=1))
    if n_rows == ROWS[options.part]:
        parts = kept("large_answers").get("parts", {}) | {options.part: row}
        keep(
            "large_answers",
            f"large_answers.py {options.part}",
            {"cores": os.cpu_count(), "parts": parts},
        )


if __name__ == "__main__":
    main()
