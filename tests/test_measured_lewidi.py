"""The table of LeWiDi 2023 in docs/encoders.md is the one that the kept results tell."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

from dissensus.evaluation import corrected, over_items

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "benchmarks/gpu/lewidi2023.py"
NAMES = {
    ("ConvAbuse", "fine-tuned"): "fine-tuned, turns apart",
    ("ConvAbuse", "frozen"): "frozen, agent and user apart",
    ("ConvAbuse", "frozen, read together"): "frozen, the dialogue as one text",
}


def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lewidi2023", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_documented_figures_are_the_kept_ones() -> None:
    script = benchmark()
    fields = json.loads(script.RESULTS.read_text())
    rows = script.first_rows(fields) | script.third_rows(fields["third"])
    lines = (ROOT / "docs/encoders.md").read_text(encoding="utf-8").splitlines()
    probes = [key for key in rows if key[1] != "fine-tuned" and len(rows[key].items)]
    differences = [
        over_items(rows[name, "fine-tuned"].items, rows[name, how].items) for name, how in probes
    ]
    told = dict(zip(probes, map(str, corrected(differences)), strict=True))
    for key, row in rows.items():
        means = row.items.mean(axis=1)
        wanted = (
            f"| {key[0]} | {NAMES.get(key, key[1])} | {row.n_trials} | {row.folds:.4f} | "
            f"{means.mean():.4f} ± {means.std(ddof=1):.4f} | {told.get(key, '')} |"
        ).replace("|  |", "| |")
        assert wanted in lines, f"docs/encoders.md lacks {wanted!r}"
    assert len(rows) == 7 and len(told) == 4
