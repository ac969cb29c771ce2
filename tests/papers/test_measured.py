"""The page shows what is kept, and what it says of that holds."""

from __future__ import annotations

import runpy
import tarfile
from pathlib import Path
from typing import Any

import pytest

from dissensus.papers.soft_labels import outcomes, report, shown
from dissensus.papers.soft_labels.printed import MODELS, TABLES

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "papers.md"
RESULTS = ROOT / "benchmarks" / "results"


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return report(RESULTS / "soft_labels.json")


def test_the_page_shows_what_is_kept() -> None:
    updated = runpy.run_path(str(ROOT / "docs" / "update_papers.py"))["updated"]
    text = PAGE.read_text(encoding="utf-8")
    assert text == updated(text), "run python docs/update_papers.py"


def test_all_of_the_papers_tables_are_kept(kept: dict[str, Any]) -> None:
    assert {"command", "commits", "date", "machines", "seeds"} <= kept.keys()
    assert kept["conditions"].keys() == TABLES.keys()
    for held in kept["conditions"].values():
        assert list(held["models"]) == list(MODELS) and len(held["seeds"]) >= 7
    assert "What became of its claims" in shown(kept)


def test_a_run_can_go_on_from_what_is_kept(kept: dict[str, Any], tmp_path: Path) -> None:
    with tarfile.open(RESULTS / "soft_labels.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    found = outcomes(tmp_path)
    counted = sum(4 * len(held["seeds"]) for held in kept["conditions"].values())
    assert len(found) == counted + kept["left_out"]
    of_stems = kept["conditions"]["stemming"]["models"]["kl"]["fits"]
    assert [o.seed for o in found if (o.model, o.condition) == ("kl", "stemming")] == [
        fit["seed"] for fit in of_stems
    ]


def test_what_the_page_says_of_words_and_of_the_floor(kept: dict[str, Any]) -> None:
    conditions = kept["conditions"]
    assert conditions["stemming"]["majority"]["gold"] == pytest.approx(0.7486, abs=5e-5)
    for name in ("pos-test", "pos-test-silver"):
        for model, held in conditions[name]["models"].items():
            missing = TABLES[name][model].accuracy / 100 - held["pooled"]["gold"]["accuracy"]
            cost = held["words"]["with"] - held["pooled"]["gold"]["accuracy"]
            assert missing < cost + 0.002
    for fits in zip(
        *(conditions["stemming"]["models"][m]["fits"] for m in ("kl", "ce")), strict=True
    ):
        assert fits[0]["scores"] == fits[1]["scores"]  # one gradient
