"""The page on crowds shows what was measured; the simulated crowds are what it says."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent.parent
SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "benchmarks" / "gpu" / "crowds.py"))
KEPT = ROOT / "benchmarks" / "results" / "crowds.json"


def test_the_page_shows_what_was_measured() -> None:
    updated = runpy.run_path(str(ROOT / "docs" / "update_crowds.py"))["updated"]
    text = (ROOT / "docs" / "crowds.md").read_text(encoding="utf-8")
    assert text == updated(text), "run python docs/update_crowds.py"


def test_the_method_for_a_truth_was_found_there() -> None:
    """What docs/methods.md says in "Which method for which situation"."""
    accuracy: dict[str, dict[str, float]] = {}  # by corpus and method
    for row in json.loads(KEPT.read_text(encoding="utf-8"))["rows"]:
        if row["metric"] == "accuracy (gold)":
            of_corpus = accuracy.setdefault(row["corpus"], {})
            of_corpus[row["method"]] = float(np.mean(row["defaults"]))
    many = [corpus for corpus in accuracy if not corpus.endswith("(3 answers)")]
    shared = set.intersection(*(set(accuracy[corpus]) for corpus in many))
    assert len(many) == 8
    for left_out in many:
        others = [accuracy[corpus] for corpus in many if corpus != left_out]
        assert max(shared, key=lambda m: np.mean([of[m] for of in others])) == "annot-mix"


@pytest.mark.parametrize(("spammers", "n_answers"), [(0.0, 3), (0.6, 3)])
def test_simulated_crowds(spammers: float, n_answers: int) -> None:
    corpus = SCRIPT["simulated"](spammers, n_answers)
    rows, gold = corpus["answer"], corpus.gold["answer"].answer
    per_annotator = np.bincount(rows.annotator_codes("test"), minlength=corpus.n_annotators)
    assert abs(per_annotator.mean() - n_answers) < 0.1
    right = rows.answer == gold[rows.item]
    honest = rows.annotator_codes("test") >= round(spammers * corpus.n_annotators)
    assert right[honest].mean() == pytest.approx(8 / 10.5, abs=0.02)
    if spammers:
        assert right[~honest].mean() == pytest.approx(0.25, abs=0.03)
