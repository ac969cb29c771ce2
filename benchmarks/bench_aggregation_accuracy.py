"""How often each aggregator finds the gold label, beside crowd-kit's on the same answers.

Needs the real corpora (DISSENSUS_DATA). Methods that draw at random run with ten seeds; crowd-kit's
GLAD, as it comes, runs only where it ends within minutes. One-coin and Dawid-Skene make twenty
iterations on both sides.
"""

import datetime
import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dissensus import Annotations, Corpus, datasets
from dissensus.aggregation import (
    Aggregator,
    DawidSkene,
    Glad,
    Mace,
    Majority,
    OneCoin,
    Wawa,
    ZeroBasedSkill,
)

RESULTS = Path(__file__).parent / "results" / "aggregation_accuracy.json"
SEEDS = range(10)
CORPORA = [
    ("bluebirds_ducks", "bluebirds"),
    ("bluebirds_ducks", "ducks"),
    ("snow2008", "rte"),
    ("snow2008", "temp"),
    ("snow2008", "wsd"),
    ("labelme_crowds", None),
    ("pos_tweets", None),
]
SMALL = 20_000  # answers up to which crowd-kit's GLAD is waited for


def peers() -> dict[str, Any]:
    """A crowd-kit aggregator for a seed, by our name; Wawa and zero-based skill crash there.

    MACE gets one start, since all restarts of a seed are the same there.
    """
    from crowdkit.aggregation import GLAD, MACE, MajorityVote, OneCoinDawidSkene
    from crowdkit.aggregation import DawidSkene as PeerDawidSkene

    return {
        "majority": lambda seed: MajorityVote(),
        "one-coin": lambda seed: OneCoinDawidSkene(n_iter=20, tol=-np.inf),
        "dawid-skene": lambda seed: PeerDawidSkene(n_iter=20, tol=-np.inf),
        "mace": lambda seed: MACE(n_restarts=1, n_iter=50, random_state=seed),
        "glad": lambda seed: GLAD(silent=True),
    }


def ours(seed: int) -> list[Aggregator]:
    found = [
        Majority(ties="random", seed=seed),
        Wawa(),
        ZeroBasedSkill(),
        OneCoin(20, 0),
        DawidSkene(20, 0),
    ]
    return [*found, Mace(seed=seed), Glad()]


def accuracy(label: np.ndarray, item: np.ndarray, gold: Annotations) -> float:
    """The share of gold labels found among the items that have one and were answered."""
    known = np.full(gold.n_items, -1)
    known[gold.item] = gold.answer
    there = known[item] >= 0
    return float((label == known[item])[there].mean())


def scored(corpus: Corpus, question: str) -> dict[str, dict[str, list[float]]]:
    asked, gold = corpus[question], corpus.gold[question].to(corpus[question].scale)
    frame = pd.DataFrame({"task": asked.item, "worker": asked.who("voting"), "label": asked.answer})
    random = ("majority", "mace")
    rows: dict[str, dict[str, list[float]]] = {}
    for seed in SEEDS:
        for model in ours(seed):
            if seed == 0 or model.name in random:
                found = model.fit(asked).consensus_
                of_ours = rows.setdefault(model.name, {"ours": [], "crowd-kit": []})["ours"]
                of_ours.append(accuracy(found.answer, found.item, gold))
    for name, build in peers().items():
        if name == "glad" and asked.n_rows > SMALL:
            continue
        for seed in SEEDS if name == "mace" else range(1):
            labels = build(seed).fit(frame).labels_
            theirs = accuracy(labels.to_numpy(), labels.index.to_numpy(), gold)
            rows[name]["crowd-kit"].append(theirs)
    return rows


def main() -> None:
    named = os.environ.get("DISSENSUS_DATA")
    if not named:
        print("DISSENSUS_DATA is not set: the real corpora are not here")
        return
    warnings.simplefilter("ignore")
    print(f"{'corpus':26} {'aggregator':17} {'ours':>14} {'crowd-kit':>14}")
    results = []
    for folder, name in CORPORA:
        corpus = datasets.load(Path(named) / folder, name)
        question = next(q for q in corpus.questions if q in corpus.gold)
        for method, found in scored(corpus, question).items():
            results.append({"corpus": corpus.name, "question": question, "method": method} | found)
            shown = [_shown(found[who]) for who in ("ours", "crowd-kit")]
            print(f"{corpus.name:26} {method:17} {shown[0]:>14} {shown[1]:>14}", flush=True)
    about = {
        "command": "python benchmarks/bench_aggregation_accuracy.py",
        "date": datetime.date.today().isoformat(),
        "seeds": list(SEEDS),
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(about | {"rows": results}, indent=1) + "\n")


def _shown(values: list[float]) -> str:
    if not values:
        return "-"
    spread = f" ± {np.std(values):.4f}" if len(values) > 1 else ""
    return f"{np.mean(values):.4f}{spread}"


if __name__ == "__main__":
    main()
