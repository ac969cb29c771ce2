"""The page on crowds shows what was measured; the simulated crowds are what it says."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus.methods import MethodEnsemble

ROOT = Path(__file__).parent.parent.parent
SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "benchmarks" / "gpu" / "crowds.py"))
DEFAULTS = ROOT / "benchmarks" / "results" / "defaults.json"


def test_the_page_shows_what_was_measured() -> None:
    updated = runpy.run_path(str(ROOT / "docs" / "update_crowds.py"))["updated"]
    text = (ROOT / "docs" / "crowds.md").read_text(encoding="utf-8")
    assert text == updated(text), "run python docs/update_crowds.py"


def test_the_ensemble_for_a_truth_is_the_best_mean_on_the_other_crowds() -> None:
    """What docs/which.md says in "How the rule was found"."""
    rows = json.loads(DEFAULTS.read_text(encoding="utf-8"))["rows"]
    accuracy = {row["corpus"]: row["together"] for row in rows if row["together"]}
    assert len(accuracy) == 9
    members = MethodEnsemble().members.replace("+", " + ")
    for left_out in accuracy:
        others = [of for corpus, of in accuracy.items() if corpus != left_out]
        assert max(others[0], key=lambda m: np.mean([of[m] for of in others])) == members


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
