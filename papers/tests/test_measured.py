"""The page shows what is kept, and what it says of that holds."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from dissensus_papers import paper
from dissensus_papers.soft_labels.protocol import MODELS, PRINTED, PRINTED_TABLES

ROOT = Path(__file__).parent.parent.parent
RESULTS = ROOT / "benchmarks" / "results"


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return paper("soft-labels").report(RESULTS / "soft_labels.json")


@pytest.fixture(scope="module")
def of_seedbert() -> dict[str, Any]:
    return paper("seedbert").report(RESULTS / "seedbert.json")


def test_the_pages_show_what_is_kept() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "update_papers.py"))
    pages = [page.read_text(encoding="utf-8") for page in script["PAGES"]]
    assert pages == script["updated"](*pages), "run python docs/update_papers.py"


def test_all_of_the_papers_tables_are_kept(kept: dict[str, Any]) -> None:
    assert {"command", "commits", "date", "machines", "seeds"} <= kept.keys()
    assert set(PRINTED) <= kept["conditions"].keys() and PRINTED_TABLES.keys() == set(PRINTED)
    for stored in kept["conditions"].values():
        assert list(stored["models"]) == list(MODELS) and len(stored["seeds"]) == 10
    assert "\nClaims\n" in paper("soft-labels").shown(kept)


def test_all_of_seedbert_is_trained(of_seedbert: dict[str, Any]) -> None:
    for name, stored in of_seedbert["conditions"].items():
        condition = paper("seedbert").conditions[name]
        assert sorted(stored["models"]) == sorted(condition.models)
        fits = {len(of_model["fits"]["f1"]) for of_model in stored["models"].values()}
        assert fits == {5 * condition.repeats}
