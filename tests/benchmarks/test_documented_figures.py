"""The tables of the documentation are those that were kept."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.test_docs import ROOT


@pytest.mark.parametrize(
    ("script", "page"),
    [("bench_report.py --show", "report.md"), ("attention_scores.py --show", "metrics.md")],
)
def test_the_documented_figures_are_those_that_were_kept(script: str, page: str) -> None:
    command = [sys.executable, *f"benchmarks/{script}".split()]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    table = shown[max(shown.find("| corpus"), 0) :].strip()
    assert table in (ROOT / "docs" / page).read_text(encoding="utf-8")
