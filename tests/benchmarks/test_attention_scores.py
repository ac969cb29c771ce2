"""The table of docs/metrics.md is the one that was kept."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_documentation_has_the_kept_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    scores, keeping = map(importlib.import_module, ("attention_scores", "keeping"))
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert scores.table(keeping.kept(scores.NAME)["rows"]) in page
