"""Does `judge` hold its level, and what does it find? Simulated LLMs of known quality.

On real answers, a simulated LLM answers an item as a random annotator of it does, who is then left
out of this item, with probability `quality`, and at random among all answers otherwise. With
quality 1 it is as good as an annotator by construction. The loss of an annotator is how much more
often they agree better than the LLM does, the mean over systems: what the margin is compared with.
Of annotators whose loss is the margin or more, the test may let the LLM replace 5 % at most
(level); of all others, as many as possible (power). The constant system gives the most frequent
answer.

    DISSENSUS_DATA=data python benchmarks/check_judge.py
    python benchmarks/check_judge.py --show
"""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

import dissensus as ds
from dissensus.annotations import Annotations
from dissensus.evaluation import judge
from keeping import keep, kept

CORPORA = (
    *(("lewidi2023", name) for name in ("HS-Brexit", "ArMIS", "ConvAbuse")),
    *(("lewidi2025", name) for name in ("Paraphrase", "VariErrNLI")),
)
QUALITIES = (1.0, 0.8, 0.5, 0.0)
N_ITEMS = (50, 100, 300)
SYSTEMS = 100
MARGIN = 0.1
SEED = 20261118


def system_of(
    answers: Annotations, quality: float, draw: np.random.Generator
) -> tuple[Annotations, Annotations]:
    """A simulated LLM, and the answers without those that it took."""
    order = draw.permutation(answers.n_rows)
    several = answers.per_item()[answers.item] > 2  # two annotators remain to be compared
    items, first = np.unique(answers.item[order], return_index=True)
    rows = order[first]
    rows = rows[several[rows]]
    taken = rows[draw.random(len(rows)) < quality]
    guessed = np.setdiff1d(rows, taken)
    value = answers.answer.copy()
    value[guessed] = draw.choice(answers.answer, len(guessed))
    chosen = np.concatenate([taken, guessed])
    system = Annotations(
        answers.item[chosen], None, value[chosen], answers.scale, answers.items, answers.annotators
    )
    rest = np.ones(answers.n_rows, dtype=bool)
    rest[rows] = False
    return system, answers.take(np.flatnonzero(rest))


def rows_of(name: str, answers: Annotations) -> list[dict[str, Any]]:
    """A row for each number of items and quality."""
    rows = []
    for n_items in (n for n in N_ITEMS if n < answers.n_items):
        for quality in QUALITIES:
            draw = np.random.default_rng((SEED, n_items, round(quality * 10)))
            tested: dict[str, list[tuple[float, bool]]] = {}
            passed, constant = [], []
            for _ in range(SYSTEMS):
                items = np.sort(draw.choice(answers.n_items, n_items, replace=False))
                part = answers.select_items(items, answers.items.take(items))
                result = judge(*system_of(part, quality, draw), margin=MARGIN)
                for one in result.tested:
                    tested.setdefault(one.annotator, []).append((one.loss, one.replaced))
                if len(result.tested) > 1:
                    passed.append(result.passed)
                    constant.append(result.constant_winning_rate >= 0.5)
            if passed:
                worse: list[bool] = []
                better: list[bool] = []
                for pairs in tested.values():
                    loss = np.mean([one for one, _ in pairs])
                    (worse if loss >= MARGIN else better).extend(found for _, found in pairs)
                rows.append(
                    {
                        "corpus": name,
                        "items": n_items,
                        "quality": quality,
                        "level": float(np.mean(worse)) if worse else None,
                        "power": float(np.mean(better)) if better else None,
                        "passed": float(np.mean(passed)),
                        "constant_passed": float(np.mean(constant)),
                        "judged": len(passed),
                    }
                )
    return rows


def show(content: dict[str, Any]) -> None:
    print(f"margin {MARGIN}, {SYSTEMS} simulated LLMs each; at least 30 items for each annotator")
    names = ("quality", "level", "power", "passed", "constant_passed")
    print(f"{'corpus':14}{'items':>6}" + "".join(f"{name:>17}" for name in names))
    for row in content["rows"]:
        cells = ("-" if row[name] is None else f"{row[name]:.2f}" for name in names)
        print(f"{row['corpus']:14}{row['items']:6}" + "".join(f"{cell:>17}" for cell in cells))


def main() -> None:
    if "--show" not in sys.argv:
        data = Path(os.environ["DISSENSUS_DATA"])
        rows = []
        for folder, corpus in CORPORA:
            loaded = ds.read(data / folder, corpus=corpus)
            question = next(iter(loaded.questions))
            rows += rows_of(corpus, loaded[question])
        keep("judge", "check_judge.py", {"seed": SEED, "systems": SYSTEMS, "rows": rows})
    show(kept("judge"))


if __name__ == "__main__":
    main()
