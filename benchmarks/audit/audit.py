"""Do conclusions about annotators hold? False alarms, levels, coverage and bias, simulated.

    python benchmarks/audit/audit.py run                       all cases; into benchmarks/results
    python benchmarks/audit/audit.py run --cases copies        one case
    python benchmarks/audit/audit.py run --settings dawid      cells whose setting begins like this
    python benchmarks/audit/audit.py run --crowds 50 --dry     print only
    python benchmarks/audit/audit.py run --journal FILE        go on with what a stopped run wrote
    python benchmarks/audit/audit.py run --before              with an older version on PYTHONPATH
    python benchmarks/audit/audit.py show                      the kept table

A case is a file `case_NAME.py` of this folder with `CELLS`. A cell simulates one crowd from a
generator and returns a number about it, or several: 1.0 or 0.0 for a false alarm, an error,
whether an interval holds the truth. The table has the means over crowds. Nothing was tuned on the
kept seed.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import math
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent)]
from cells import Cell, Cells, bars_of, values_of_cell  # noqa: E402

from keeping import keep, kept  # noqa: E402

Job = tuple[str, int, int, int]  # case, number of the cell, crowd, seed
NAME = "audit"
CROWDS = 200
SEED = 20261118


def case_names() -> list[str]:
    return sorted(path.stem[5:] for path in Path(__file__).parent.glob("case_*.py"))


def cells_of(cases: list[str], settings: str = "") -> dict[tuple[str, int], Cell | Cells]:
    """The cells of these cases whose setting begins like this, by case and number."""
    return {
        (case, number): cell
        for case in cases
        for number, cell in enumerate(importlib.import_module(f"case_{case}").CELLS)
        if cell.setting.startswith(settings)
    }


def values_of(job: Job) -> tuple[Job, dict[str, Any]]:
    """What the cell says about one simulated crowd, by quantity."""
    case, number, crowd, seed = job
    cell = importlib.import_module(f"case_{case}").CELLS[number]
    generator = np.random.default_rng([seed, number, crowd])
    return job, values_of_cell(cell, generator)


def run(
    cells: dict[tuple[str, int], Cell | Cells],
    crowds: int,
    seed: int,
    processes: int,
    journal: Path | None,
) -> list[dict[str, Any]]:
    """The rows of the table; what is in the journal is not simulated again.

    The first crowds of all cells come first, so that a run which is stopped has some of each.
    """
    jobs = [(*cell, crowd, seed) for crowd in range(crowds) for cell in cells]
    lines = journal.read_text().splitlines() if journal and journal.exists() else []
    done = {tuple(job): values for job, values in map(json.loads, lines)}
    missing = [job for job in jobs if job not in done]
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for job, values in pool.map(values_of, missing, chunksize=5):
            done[job] = values
            if journal:
                with journal.open("a") as file:
                    print(json.dumps([job, values]), file=file)
    return [
        row
        for place, cell in cells.items()
        for row in means(place[0], cell, [done[*place, crowd, seed] for crowd in range(crowds)])
    ]


def means(case: str, cell: Cell | Cells, crowds: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The means of a cell over simulated crowds; crowds without a value (nan) are not counted."""
    for quantity, bar in bars_of(cell).items():
        values = np.array([crowd[quantity] for crowd in crowds], dtype=float)
        known = values[~np.isnan(values)]
        row: dict[str, Any] = {
            "case": case,
            "setting": cell.setting,
            "quantity": quantity,
            "bar": bar,
        }
        row["mean"] = round(float(known.mean()), 4) if known.size else None
        print(*(row[name] for name in ("case", "setting", "quantity", "mean")), sep="; ")
        yield row | {"crowds": int(known.size)}


def key(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["case"], row["setting"], row["quantity"]


def merged(old: list[dict[str, Any]], new: list[dict[str, Any]], version: str) -> list[Any]:
    """Kept rows with new figures in the column `version`; cells that are gone are dropped."""
    rows = {key(row): row for row in old}
    fresh = {}
    for row in new:
        about = {name: row[name] for name in ("case", "setting", "quantity", "bar", "crowds")}
        figures = {name: rows.get(key(row), {}).get(name) for name in ("before", "after")}
        today = {"date": str(datetime.date.today())}
        fresh[key(row)] = about | figures | {version: row["mean"]} | today
    cases = {row["case"] for row in new}
    there = {
        (case, cell.setting, quantity)
        for (case, _), cell in cells_of(sorted(cases)).items()
        for quantity in bars_of(cell)
    }
    return [row for at, row in (rows | fresh).items() if at[0] not in cases or at in there]


def table_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The table as Markdown."""
    names = ("case", "setting", "quantity", "bar", "before", "after", "crowds", "date")
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
    parser.add_argument("--settings", default="", help="how the settings of cells begin")
    parser.add_argument("--crowds", type=int, default=CROWDS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--journal", type=Path, help="file of results, one crowd in a line")
    parser.add_argument("--before", action="store_true", help="the figures of an older version")
    parser.add_argument("--dry", action="store_true", help="keep nothing")
    options = parser.parse_args()
    old = [{"date": kept(NAME)["date"][:10]} | row for row in kept(NAME)["rows"]]
    if options.action == "run":
        cells = cells_of(options.cases.split(","), options.settings)
        new = run(cells, options.crowds, options.seed, options.processes, options.journal)
        old = merged(old, new, "before" if options.before else "after")
        if not options.dry:
            keep(NAME, "audit/audit.py run", {"seed": options.seed, "rows": old})
    print(*table_lines(old), sep="\n")


if __name__ == "__main__":
    main()
