"""The page on crowds shows what was measured; the simulated crowds are what it says."""

from __future__ import annotations

import json
import re
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


def test_every_row_has_five_seeds() -> None:
    rows = json.loads(KEPT.read_text(encoding="utf-8"))["rows"]
    assert rows
    for row in rows:
        assert len(row["defaults"]) == 5 and len(row.get("tuned", row["defaults"])) == 5, row


def test_what_the_page_says_holds() -> None:
    rows = json.loads(KEPT.read_text(encoding="utf-8"))["rows"]
    means = {(r["corpus"], r["metric"], r["method"]): np.mean(r["defaults"]) for r in rows}
    on_labelme = {
        method: mean for (corpus, _, method), mean in means.items() if corpus == "labelme"
    }
    best = sorted(on_labelme, key=lambda method: -on_labelme[method])[:2]
    assert sorted(best) == ["annotator-confusions", "joint-em"]
    assert [round(on_labelme[method], 3) for method in best] == [0.861, 0.861]
    lines = list(SCRIPT["claim_lines"](rows))
    n_close, n_cells = map(int, re.findall(r"(\d+) of (\d+) cells", lines[0])[0])
    assert round(100 * n_close / n_cells) == 91
    below = [r for r in rows if r["metric"] != "accuracy (gold)" and SCRIPT["worse"](r)]
    assert {r["method"] for r in below} == {"padl", "crowd-layer", "joint-em", "madl", "annot-mix"}
    assert (len(below), sum("(3 answers)" in r["corpus"] for r in below)) == (9, 8)
    of_gold = [r for r in rows if r["metric"] == "accuracy (gold)" and SCRIPT["worse"](r)]
    assert ("annotator-queries", "labelme") in {(r["method"], r["corpus"]) for r in of_gold}
    answers = "labelme (answers)", "annotator accuracy"
    below_best = means[*answers, "repeated-label"] - means[*answers, "annotator-queries"]
    assert round(100 * below_best) == 5


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
