"""How long a long CSV with ids and labels as texts takes to read, against pyarrow.

pyarrow only parses the file and encodes its columns as dictionaries. `dissensus.read` also
recognises the format, the columns and the scale, and checks every row. Each runs in a process of
its own, in turn; both times are the median of several runs, the ratio is of the medians.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from keeping import keep

SIZES = (1_000_000, 10_000_000)
RUNS = 3
PER_ITEM = 5
N_ANNOTATORS = 2000
BLOCK = 1_000_000  # rows that are written at once
LABELS = np.array(["joy", "anger", "fear", "neutral"])


def write_table(path: Path, n_rows: int, shuffled: bool) -> None:
    """A table with PER_ITEM answers for each item, in the order of items or in a random one."""
    draw = np.random.default_rng(0)
    item = np.repeat(np.arange(n_rows // PER_ITEM), PER_ITEM)
    first = draw.integers(N_ANNOTATORS, size=(n_rows // PER_ITEM, 1))
    annotator = ((first + 97 * np.arange(PER_ITEM)) % N_ANNOTATORS).ravel()
    if shuffled:
        order = draw.permutation(len(item))
        item, annotator = item[order], annotator[order]
    schema = pa.schema([(name, pa.string()) for name in ("item", "annotator", "label")])
    with pyarrow.csv.CSVWriter(path, schema) as writer:
        for start in range(0, len(item), BLOCK):
            part = slice(start, start + BLOCK)
            columns = [
                np.char.add("item_", item[part].astype(str)),
                np.char.add("worker_", annotator[part].astype(str)),
                LABELS[draw.integers(len(LABELS), size=len(item[part]))],
            ]
            writer.write_table(pa.table([pa.array(column) for column in columns], schema))


def with_pyarrow(path: Path) -> int:
    """Parse, and encode each column as a dictionary."""
    table = pyarrow.csv.read_csv(path)
    return len([column.dictionary_encode() for column in table.columns][0])


def with_dissensus(path: Path) -> int:
    """Read a corpus."""
    import dissensus

    return dissensus.read(path)["label"].n_rows


READERS = {"pyarrow": with_pyarrow, "dissensus": with_dissensus}


def measure(reader: str, path: Path, small: Path) -> dict[str, float]:
    """Seconds and peak memory; packages are loaded before, by reading a small file."""
    read = READERS[reader]
    read(small)
    begin = time.perf_counter()
    read(path)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"seconds": seconds, "peak_gb": peak}


def compare(path: Path, small: Path, runs: int) -> dict[str, Any]:
    """Both readers in turn, each time in a fresh process."""
    outcomes: dict[str, list[dict[str, float]]] = {name: [] for name in READERS}
    for _ in range(runs):
        for name in READERS:
            command = [sys.executable, __file__, "--measure", name, str(path), str(small)]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            outcomes[name].append(json.loads(printed))
    row: dict[str, Any] = {}
    for name, measured in outcomes.items():
        row[f"{name}_seconds"] = statistics.median(one["seconds"] for one in measured)
        row[f"{name}_peak_gb"] = max(one["peak_gb"] for one in measured)
    row["ratio"] = row["dissensus_seconds"] / row["pyarrow_seconds"]
    return row


def main() -> None:
    """Compare all sizes, or measure one reader in this process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        reader, path, small = options.measure
        print(json.dumps(measure(reader, Path(path), Path(small))))
    else:
        compare_sizes(options.rows, options.runs)


def compare_sizes(sizes: list[int], runs: int) -> None:
    """Print the times, and keep them if these are all sizes."""
    rows = []
    print(f"{'rows':>10}  order     pyarrow  dissensus  ratio  peak GB")
    with tempfile.TemporaryDirectory() as folder:
        small, path = Path(folder, "small.csv"), Path(folder, "labels.csv")
        write_table(small, 1000, shuffled=False)
        for n_rows in sizes:
            for order in ("by item", "random"):
                write_table(path, n_rows, order == "random")
                row = {"rows": n_rows, "order": order} | compare(path, small, runs)
                rows.append(row)
                print(
                    f"{n_rows:>10}  {order:8} {row['pyarrow_seconds']:6.2f} s "
                    f"{row['dissensus_seconds']:8.2f} s  {row['ratio']:5.2f}  "
                    f"{row['dissensus_peak_gb']:7.2f}",
                    flush=True,
                )
    if tuple(sizes) == SIZES:
        keep(
            "reading",
            f"bench_reading.py --runs {runs}",
            {"runs": runs, "cores": os.cpu_count(), "rows": rows},
        )


if __name__ == "__main__":
    main()
