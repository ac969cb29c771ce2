"""The table of stems in docs/encoders.md is the one that the kept results tell."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
ROWS = {
    "| nine string features, gradient boosting | gold |": "nine string features, boosting",
    "| word forms, gradient boosting | gold |": "strings, boosting",
    "| word forms and GloVe, gradient boosting | gold |": "all, boosting",
    "| word forms and GloVe, `single` with 128 hidden units | gold |": "all, single",
    "| word forms and GloVe, gradient boosting | gold and votes |": "all, boosting, votes too",
    "| word forms and GloVe, gradient boosting | votes |": "all, boosting on votes",
    "| word forms and GloVe, `soft-label-mtl` | gold and votes |": "all, soft-label-mtl",
    "| word forms and GloVe, `soft-label` | votes |": "all, soft-label",
}


def told(accuracy: list[float]) -> str:
    percent = 100 * np.array(accuracy)
    spread = f" ± {percent.std(ddof=1):.2f}" if len(percent) > 1 else ""
    return f"{percent.mean():.2f}{spread}"


def test_the_documented_accuracies_are_the_kept_ones() -> None:
    kept = json.loads((ROOT / "benchmarks/results/stemming_pairs.json").read_text())
    results = {(row["row"], row["protocol"]): told(row["accuracy"]) for row in kept["rows"]}
    lines = (ROOT / "docs/encoders.md").read_text(encoding="utf-8").splitlines()
    for begins, row in ROWS.items():
        wanted = f"{begins} {results[row, 'fold10']} | {results[row, 'by word']} |"
        assert wanted in lines, f"docs/encoders.md lacks {wanted!r}"
