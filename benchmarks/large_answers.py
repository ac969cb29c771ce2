"""Commands that count many simulated answers: seconds, and the memory that each takes.

A table is written with ids and labels as texts, in no order; it is converted and counted with the
commands that a user types, which may not take more than LIMIT. `show` prints what was measured
last.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from keeping import keep, kept

ROWS = 100_000_000
VALUES = ("anger", "fear", "joy", "neutral")
PER_ITEM = 5
N_ANNOTATORS = 2000
ITEMS_AT_ONCE = 200_000
LIMIT = 6_000_000_000  # bytes of private memory of a command
STRIDE = 61_803_399  # rows are in the order of its multiples, modulo their number
MEASURES = ("percent", "krippendorff-alpha", "fleiss-kappa", "randolph-kappa", "gwet-ac1")
COMMANDS = {
    "convert": ("convert", "{table}", "{folder}"),
    "describe": ("describe", "{folder}"),
    "agreement": ("agreement", "{folder}", *(f"--measure={name}" for name in MEASURES)),
    "dawid-skene": (
        *("aggregate", "{folder}", "--method", "dawid-skene"),
        *("--output", "{consensus}"),
    ),
}


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


def measured(n_rows: int) -> dict[str, Any]:
    """Convert and count a table with the commands."""
    row: dict[str, Any] = {"rows": n_rows, "limit_gb": LIMIT / 1e9}
    with tempfile.TemporaryDirectory() as place:
        paths = {
            "table": f"{place}/labels.csv",
            "folder": f"{place}/answers",
            "consensus": f"{place}/consensus.parquet",
        }
        write_table(Path(paths["table"]), n_rows)
        row["table_gb"] = Path(paths["table"]).stat().st_size / 1e9
        for name, words in COMMANDS.items():
            row[name] = command_cost([word.format(**paths) for word in words])
            print(name, row[name], flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["measure", "show"], nargs="?", default="measure")
    parser.add_argument("--rows", type=int, default=ROWS)
    options = parser.parse_args()
    if options.part == "show":
        print(json.dumps(kept("large_answers"), indent=1))
        return
    row = measured(options.rows)
    print(json.dumps(row, indent=1))
    if options.rows == ROWS:
        keep("large_answers", "large_answers.py", {"cores": os.cpu_count(), **row})


if __name__ == "__main__":
    main()
