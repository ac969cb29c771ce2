"""Do conclusions about annotators hold? False alarms, levels, coverage and bias, simulated.

    python benchmarks/audit/audit.py run                       all cases; into benchmarks/results
    python benchmarks/audit/audit.py run --cases copies        one case
    python benchmarks/audit/audit.py run --crowds 50 --dry     print only
    python benchmarks/audit/audit.py run --before              with an older version on PYTHONPATH
    python benchmarks/audit/audit.py show                      the kept table

A case is a file `case_NAME.py` of this folder with `CELLS`. A cell simulates one crowd from a
generator and returns one number about it: 1.0 or 0.0 for a false alarm, an error, whether an
interval holds the truth. The table has the means over crowds. Nothing was tuned on the kept seed.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent)]
from keeping import keep, kept  # noqa: E402

NAME = "audit"
CROWDS = 200
SEED = 20261118


def case_names() -> list[str]:
    return sorted(path.stem[5:] for path in Path(__file__).parent.glob("case_*.py"))


def mean_of_cell(case: str, number: int, crowds: int, seed: int) -> dict[str, Any]:
    """The mean of a cell over simulated crowds; crowds without a value (nan) are not counted."""
    cell = importlib.import_module(f"case_{case}").CELLS[number]
    values = np.array(
        [cell.value(np.random.default_rng([seed, number, crowd])) for crowd in range(crowds)]
    )
    known = values[~np.isnan(values)]
    return {
        "case": case,
        "setting": cell.setting,
        "quantity": cell.quantity,
        "bar": cell.bar,
        "mean": round(float(known.mean()), 4) if known.size else None,
        "sd": round(float(known.std()), 4) if known.size else None,
        "crowds": int(known.size),
    }


def run(cases: list[str], crowds: int, seed: int, processes: int) -> list[dict[str, Any]]:
    jobs = [
        (case, number, crowds, seed)
        for case in cases
        for number in range(len(importlib.import_module(f"case_{case}").CELLS))
    ]
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        rows = []
        for row in pool.map(mean_of_cell, *zip(*jobs, strict=True)):
            print(*(row[name] for name in ("case", "setting", "quantity", "mean")), sep="; ")
            rows.append(row)
    return rows


def key(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["case"], row["setting"], row["quantity"]


def merged(old: list[dict[str, Any]], new: list[dict[str, Any]], version: str) -> list[Any]:
    """Kept rows with new figures in the column `version`; cells that are gone are dropped."""
    rows = {key(row): row for row in old}
    cases = {row["case"] for row in new}
    fresh = {}
    for row in new:
        about = {name: row[name] for name in ("case", "setting", "quantity", "bar", "crowds")}
        figures = {name: rows.get(key(row), {}).get(name) for name in ("before", "after")}
        fresh[key(row)] = about | figures | {version: row["mean"]}
    return [row for row in old if row["case"] not in cases] + list(fresh.values())


def table_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The table as Markdown."""
    names = ("case", "setting", "quantity", "bar", "before", "after", "crowds")
    yield f"| {' | '.join(names)} |"
    yield "|" + "---|" * len(names)
    for row in sorted(rows, key=lambda row: row["case"]):
        yield f"| {' | '.join(_text(row[name]) for name in names)} |"


def _text(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("action", choices=("run", "show"))
    parser.add_argument("--cases", default=",".join(case_names()))
    parser.add_argument("--crowds", type=int, default=CROWDS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--before", action="store_true", help="the figures of an older version")
    parser.add_argument("--dry", action="store_true", help="keep nothing")
    options = parser.parse_args()
    old = kept(NAME)["rows"]
    if options.action == "run":
        new = run(options.cases.split(","), options.crowds, options.seed, options.processes)
        old = merged(old, new, "before" if options.before else "after")
        if not options.dry:
            keep(NAME, "audit/audit.py run", {"seed": options.seed, "rows": old})
    print(*table_lines(old), sep="\n")


if __name__ == "__main__":
    main()
