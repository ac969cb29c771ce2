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
    """The figures of docs/methods.md, in "Which method for which situation"."""
    accuracy: dict[str, dict[str, float]] = {}  # by corpus and method
    for row in json.loads(KEPT.read_text(encoding="utf-8"))["rows"]:
        if row["metric"] == "accuracy (gold)":
            of_corpus = accuracy.setdefault(row["corpus"], {})
            of_corpus[row["method"]] = float(np.mean(row["defaults"]))
    few = [corpus for corpus in accuracy if corpus.endswith("(3 answers)")]
    many = [corpus for corpus in accuracy if corpus not in few]
    shared = set.intersection(*(set(accuracy[corpus]) for corpus in many))
    assert len(many) == 8
    for left_out in many:
        others = [accuracy[corpus] for corpus in many if corpus != left_out]
        assert max(shared, key=lambda m: np.mean([of[m] for of in others])) == "annot-mix"

    def means(corpora: list[str]) -> list[str]:
        both = ("annot-mix", "annotator-heads")
        each = [[accuracy[corpus][method] for corpus in corpora] for method in both]
        best = [max(accuracy[corpus].values()) for corpus in corpora]
        return [f"{np.mean(values):.3f}".removeprefix("0") for values in (*each, best)]

    text = " ".join((ROOT / "docs" / "methods.md").read_text(encoding="utf-8").split())
    mix, heads, best = means(many)
    assert f"is {mix} on average, that of `annotator-heads` {heads}" in text
    assert f"that of the best method of each crowd {best}." in text
    mix, heads, _ = means(few)
    assert f"With three answers of each annotator it is {mix} against {heads}" in text


def test_every_row_has_five_seeds() -> None:
    rows = json.loads(KEPT.read_text(encoding="utf-8"))["rows"]
    assert rows
    for row in rows:
        assert len(row["defaults"]) == 5 and len(row.get("tuned", row["defaults"])) == 5, row


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
