"""Does a prior on what annotators have of their own help annotators with few answers?

    python benchmarks/annotator_prior.py run     some minutes; into benchmarks/results
    python benchmarks/annotator_prior.py show

Simulated crowds of benchmarks/gpu/crowds.py, of four classes and three answers per item, 30 % of
the annotators are spammers; and a panel. Methods have their default prior, or none (spread inf).
Scores are those of each annotator's answers to a fifth of the items, which are not learned, for
three crowds each. The defaults were chosen on crowds of other seeds (0 to 2, and 10 to 15).
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.methods import method as method_class
from dissensus.methods.framework.settings import changed
from dissensus.metrics import scores

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "gpu")]
from crowds import simulated  # noqa: E402
from keeping import keep, kept  # noqa: E402

NAME = "annotator_prior"
SEEDS = (3, 4, 5)
CROWDS = {  # name: answers of each annotator, items
    "500 annotators, 6 answers": (6, 1000),
    "50 annotators, 6 answers": (6, 100),
    "50 annotators, 30 answers": (30, 500),
    "8 annotators, 500 answers": (500, 1333),
}
METHODS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("repeated-label", {}),
    ("annotator-heads", {}),
    *(
        (name, settings)
        for name in ("annotator-embedding", "annotator-queries")
        for settings in ({}, {"spread": math.inf})
    ),
)
LOSS, ACCURACY = "annotator cross-entropy", "annotator accuracy"


def measured(crowd: str, name: str, settings: dict[str, Any], seed: int) -> dict[str, float]:
    """The scores of a method on a fifth of the items of a crowd."""
    n_answers, n_items = CROWDS[crowd]
    train, test = simulated(0.3, n_answers, n_items, seed).split(test_share=0.2, seed=seed)
    seeds = {"init_seed": seed, "training.seed": seed, "training.device": "cpu"}
    fitted = changed(method_class(name)(), seeds | settings).fit(train)
    (question,) = test.questions
    return scores(fitted.predict(test)[question], test[question], None, [LOSS, ACCURACY])


def run(processes: int) -> None:
    cells = [(crowd, name, settings) for crowd in CROWDS for name, settings in METHODS]
    jobs = [(*cell, seed) for cell in cells for seed in SEEDS]
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        results = list(pool.map(measured, *zip(*jobs, strict=True)))
    rows = []
    for number, (crowd, name, settings) in enumerate(cells):
        of_seeds = results[number * len(SEEDS) : (number + 1) * len(SEEDS)]
        row: dict[str, Any] = {"crowd": crowd, "method": name, "prior": not settings}
        row |= {metric: [round(s[metric], 4) for s in of_seeds] for metric in (LOSS, ACCURACY)}
        rows.append(row)
    keep(NAME, "annotator_prior.py run", {"seeds": list(SEEDS), "rows": rows})


def table_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Means over crowds as Markdown: cross-entropy, accuracy."""
    crowds = list(dict.fromkeys(row["crowd"] for row in rows))
    yield f"| cross-entropy, accuracy | {' | '.join(crowds)} |"
    yield "|---" + "|--:" * len(crowds) + "|"
    cells: dict[str, list[str]] = {}
    for row in rows:
        title = f"`{row['method']}`" + ("" if row["prior"] else ", `spread=inf`")
        means = (f"{np.mean(row[metric]):.3f}" for metric in (LOSS, ACCURACY))
        cells.setdefault(title, []).append(", ".join(means))
    for title, texts in cells.items():
        yield f"| {title} | {' | '.join(texts)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stage", choices=("run", "show"))
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    if given.stage == "run":
        run(given.processes)
    for line in table_lines(kept(NAME)["rows"]):
        print(line)


if __name__ == "__main__":
    main()
