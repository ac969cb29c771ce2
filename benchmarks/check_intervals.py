"""Do intervals of agreement hold what they should? Coverage of every measure, simulated.

An interval says how much a measure would vary with as many other items of the same kind. So tables
of one design are drawn again and again, with the same annotators and other items: of 95 % intervals
about 95 in 100 should hold the measure's mean over all these tables. On sparse tables two
annotators share few items; measures that are means over pairs (cohen-kappa, correlation, ...) are
biased there, and the mean over tables is biased with them.
"""

import math
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus import Annotations, Interval, MultiLabel, Nominal, Ordinal
from dissensus.agreement import MEASURES, interval, why_unfit
from dissensus.names import Names
from dissensus.scales import Scale
from keeping import keep

TABLES = 400
SEED = 0
SCALES: tuple[Scale, ...] = (
    Nominal(("a", "b", "c")),
    Ordinal(("1", "2", "3", "4", "5")),
    Interval(0, 10),
    MultiLabel(("a", "b", "c")),
)


@dataclass(frozen=True)
class Design:
    """How many items and annotators, and how many of these answer each item."""

    name: str
    n_items: int
    n_annotators: int
    per_item: int


DESIGNS = (
    Design("dense, few items", 20, 3, 3),
    Design("dense", 50, 5, 5),
    Design("sparse", 200, 40, 4),
    Design("very sparse", 100, 40, 3),
)


def drawn(
    design: Design, scale: Scale, skill: np.ndarray, lenient: np.ndarray, generator: Any
) -> Annotations:
    """A table of new items. Annotators (n_annotators,) differ in skill, and in leniency."""
    n_items, n_annotators = design.n_items, design.n_annotators
    item = np.repeat(np.arange(n_items), design.per_item)
    order = generator.random((n_items, n_annotators)).argsort(axis=1)
    annotator = order[:, : design.per_item].ravel()
    n, own = len(item), skill[annotator]
    if isinstance(scale, Nominal):
        truth = generator.choice(3, n_items, p=[0.6, 0.3, 0.1])
        guess = generator.choice(3, n, p=[0.5, 0.3, 0.2])
        answer = np.where(generator.random(n) < own, truth[item], guess)
    elif isinstance(scale, MultiLabel):
        true = generator.random((n_items, 3)) < [0.5, 0.3, 0.15]
        guesses = generator.random((n, 3)) < [0.5, 0.3, 0.2]
        chosen = np.where(generator.random((n, 3)) < own[:, None], true[item], guesses)
        answer = chosen @ [1, 2, 4]
    else:
        place = generator.normal(5, 1.7, n_items)[item] + lenient[annotator]
        rating = place + generator.normal(0, 1, n) * (2.2 - 2 * own)
        whole = isinstance(scale, Ordinal)
        answer = (rating / 2).clip(0, 4).astype(int) if whole else rating.clip(0, 10)
    return Annotations.from_arrays(
        item,
        annotator,
        answer.astype(scale.dtype),
        scale,
        items=Names.range(n_items),
        annotators=Names.range(n_annotators),
    )


def checked(design: Design, scale: Scale, tables: int) -> list[dict[str, Any]]:
    """Each measure's mean and spread over tables, and what its intervals hold."""
    generator = np.random.default_rng([SEED, DESIGNS.index(design), SCALES.index(scale)])
    skill = generator.uniform(0.55, 0.95, design.n_annotators)
    lenient = generator.normal(0, 0.5, design.n_annotators)
    values: dict[str, list[tuple[float, float, float]]] = {}
    for _ in range(tables):
        table = drawn(design, scale, skill, lenient, generator)
        for name, measure in MEASURES.items():
            if why_unfit(measure, table) is None:
                low, high = interval(name, table)
                values.setdefault(name, []).append((measure.function(table), low, high))
    rows = []
    for name, of_tables in values.items():
        value, low, high = np.array(of_tables).T
        defined = ~np.isnan(value)
        if not defined.any():
            continue  # forms of ICC that need everybody's rating of every item
        mean = value[defined].mean()
        there = ~np.isnan(low)
        rows.append(
            {
                "design": design.name,
                "scale": scale.kind,
                "measure": name,
                "mean": float(mean),
                "spread": float(value[defined].std()),
                "coverage": float(((low <= mean) & (mean <= high))[there].mean()),
                "above": float((low > mean)[there].mean()),
                "below": float((high < mean)[there].mean()),
                "width": float((high - low)[there].mean()),
                "excludes": int(((value < low) | (value > high))[there].sum()),
                "none": int(defined.sum() - there.sum()),
            }
        )
    return rows


def main() -> None:
    tables = int(sys.argv[1]) if len(sys.argv) > 1 else TABLES
    error = 2 * math.sqrt(0.95 * 0.05 / tables)
    print(f"{tables} tables each; a coverage of 0.950 is found within ± {error:.3f}")
    begin, rows = time.perf_counter(), []
    for design in DESIGNS:
        print(
            f"\n{design.name}: {design.n_items} items, {design.n_annotators} annotators, "
            f"{design.per_item} for each item\n"
            f"  {'scale':12} {'measure':24} {'mean':>7} {'spread':>7} {'width':>7} coverage"
        )
        for scale in SCALES:
            for row in checked(design, scale, tables):
                rows.append(row)
                print(
                    f"  {row['scale']:12} {row['measure']:24} {row['mean']:7.3f} "
                    f"{row['spread']:7.3f} {row['width']:7.3f} {row['coverage']:8.3f}",
                    flush=True,
                )
    print(f"\n{sum(row['excludes'] for row in rows)} intervals exclude their estimate; "
          f"{sum(row['none'] for row in rows)} estimates have none")  # fmt: skip
    if tables != TABLES:
        print("not kept: another number of tables")
        return
    content = {
        "seed": SEED,
        "tables": tables,
        "level": 0.95,
        "seconds": round(time.perf_counter() - begin),
        "rows": rows,
    }
    keep("intervals", "check_intervals.py", content)


if __name__ == "__main__":
    main()
