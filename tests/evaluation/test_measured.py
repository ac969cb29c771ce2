"""The page's table of levels is what was measured, and what the page says of it holds."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "comparison.md"
MEASURED: dict[str, Any] = json.loads(
    (ROOT / "benchmarks" / "results" / "significance.json").read_text(encoding="utf-8")
)
ERROR = (0.05 * 0.95 / MEASURED["comparisons"]) ** 0.5


def levels(test: str) -> dict[str, float]:
    return {r["design"]["name"]: r["level"] for r in MEASURED["rows"] if r["test"] == test}


def test_the_page_shows_what_was_measured() -> None:
    updated = runpy.run_path(str(ROOT / "docs" / "update_comparison.py"))["updated"]
    text = PAGE.read_text(encoding="utf-8")
    assert text == updated(text), "run python docs/update_comparison.py"


@pytest.mark.parametrize(
    "test", ["over_both", "over_both, groups", "statistic_over_both, macro-F1"]
)
def test_tests_over_seeds_and_items_hold_their_level(test: str) -> None:
    """Within three standard errors; items that come in groups want the test that knows them."""
    result = levels(test)
    if test == "over_both":
        result = {name: level for name, level in result.items() if "groups" not in name}
    assert result and max(result.values()) <= 0.05 + 3 * ERROR


def test_tests_over_one_side_hold_it_only_for_their_question() -> None:
    items = levels("over_items")
    assert abs(items["fits at hand: 1 seed, 500 items"] - 0.05) <= 3 * ERROR
    assert items["5 seeds, 2000 items"] > 0.2
    assert levels("over_seeds")["10 seeds, 100 items"] > 0.1


def test_holm_keeps_the_level_of_a_family() -> None:
    family = MEASURED["family"]
    assert family["Holm"] <= 0.05 + 3 * ERROR < family["plain"]
