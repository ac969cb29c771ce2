"""What is measured of reports: kept, within its limits, and as the documentation says."""

from __future__ import annotations

import subprocess
import sys

from tests.test_docs import ROOT


def test_the_documented_figures_are_those_that_were_kept() -> None:
    shown = subprocess.run(
        [sys.executable, "benchmarks/bench_report.py", "--show"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert shown in (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    rows = [line.split() for line in shown.splitlines()[2:]]
    assert len(rows) == 2
    for row in rows:
        megabytes, ready = float(row[-6]), float(row[-4])
        assert row[-5] == "MB" and megabytes < 3 and ready < 2
