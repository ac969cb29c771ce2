"""The page shows what is kept, and what it says of that holds."""

from __future__ import annotations

import runpy
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus.papers import seedbert
from dissensus.papers.soft_labels import outcomes, report, shown
from dissensus.papers.soft_labels.printed import MODELS, TABLES

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "papers.md"
RESULTS = ROOT / "benchmarks" / "results"


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return report(RESULTS / "soft_labels.json")


@pytest.fixture(scope="module")
def of_seedbert() -> dict[str, Any]:
    return seedbert.report(RESULTS / "seedbert.json")


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


# ---- seedbert ----


def test_the_first_corpus_of_seedbert_is_whole(of_seedbert: dict[str, Any]) -> None:
    held = of_seedbert["conditions"]["HS-Brexit"]
    condition = seedbert.CONDITIONS["HS-Brexit"]
    assert sorted(held["models"]) == sorted(condition.models)
    assert all(len(of_model["fits"]["f1"]) == 25 for of_model in held["models"].values())
    assert all(of["best"] is not None for of in of_seedbert["choosing"]["HS-Brexit"].values())


def test_seedbert_can_go_on_from_what_is_kept(of_seedbert: dict[str, Any], tmp_path: Path) -> None:
    with tarfile.open(RESULTS / "seedbert.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    assert len(list(tmp_path.glob("fits/*/fit.json"))) == of_seedbert["done"]
    again = seedbert.report(tmp_path)
    changing = ("date", "conditions")
    assert {n: v for n, v in again.items() if n not in changing} == {
        n: v for n, v in of_seedbert.items() if n not in changing
    }


def test_what_the_page_says_of_hs_brexit(of_seedbert: dict[str, Any]) -> None:
    held = of_seedbert["conditions"]["HS-Brexit"]
    floor = np.mean(held["floors"]["majority"]["accuracy"])
    for of_model in held["models"].values():
        assert abs(np.mean(of_model["fits"]["accuracy"]) - floor) < 0.01
    for tests in held["against"].values():
        assert all(test["p"] > 0.05 for test in tests.values())
    against = of_seedbert["variant"]["against"]["HS-Brexit"]
    whole, left = (against[read]["cross-entropy"] for read in ("tempered", "votes"))
    assert whole["effect"] == pytest.approx(-0.096, abs=5e-4) and whole["high"] > 0
    assert left["effect"] == pytest.approx(-0.023, abs=5e-4) and left["high"] < 0
    assert against["tempered"]["JSD"]["low"] > 0 and against["tempered"]["TVD"]["low"] > 0
    temperatures = held["models"]["single"]["temperatures"]
    assert (round(min(temperatures), 1), round(max(temperatures), 1)) == (0.4, 3.1)
    accuracies = {name: of_seedbert["conditions"][name] for name in ("ConvAbuse", "MD-Agreement")}
    for held in accuracies.values():
        floor = np.mean(held["floors"]["majority"]["accuracy"])
        for of_model in held["models"].values():
            assert np.mean(of_model["fits"]["accuracy"]) - floor > 0.07
        for tests in held["against"].values():
            assert all(test["adjusted"] > 0.05 for test in tests.values())


def test_what_the_page_says_of_votes_elsewhere(of_seedbert: dict[str, Any]) -> None:
    variant = of_seedbert["variant"]
    for corpus, farther in (("ConvAbuse", 0.016), ("MD-Agreement", 0.070)):
        against = variant["against"][corpus]
        crossed = against["tempered"]["cross-entropy"]
        assert crossed["effect"] == pytest.approx(farther, abs=5e-4) and crossed["low"] > 0
        assert against["votes"]["cross-entropy"]["high"] < 0
        assert against["tempered"]["JSD"]["low"] > 0
        for tests in of_seedbert["conditions"][corpus]["recovery"]["everything"].values():
            assert tests["JSD"]["low"] > 0 and tests["TVD"]["low"] > 0
    assert variant["against"]["MD-Agreement"]["tempered"]["TVD"]["low"] > 0
    for of_model in of_seedbert["conditions"]["ConvAbuse"]["models"].values():
        tvd = {read: np.mean(held["TVD"]) for read, held in of_model["reads"].items()}
        assert tvd["tempered"] > max(tvd["votes"], tvd["mean"])


def test_what_the_page_says_of_temperatures(of_seedbert: dict[str, Any]) -> None:
    tempering = of_seedbert["tempering"]
    first = tempering["HS-Brexit"]
    assert (round(first["items"]), first["rare"]) == (77, [1, 10])
    deep = first["models"]["everything"]
    assert (deep["below"], deep["fits"]) == (5, 25)
    figures = [deep["there"], deep["elsewhere"], deep["votes"]]
    assert figures == pytest.approx([1.14, 0.346, 0.354], abs=1.1e-3)
    cautious = {model: held["cautious"] for model, held in first["models"].items()}
    assert cautious.pop("single") == pytest.approx(0.40, abs=5e-3)
    ensembles = cautious.values()
    assert (min(ensembles), max(ensembles)) == pytest.approx((0.38, 0.41), abs=5e-3)
    assert min(ensembles) > 0.355  # what was chosen
    chosen = {"model": "everything", "read": "tempered"}
    assert of_seedbert["variant"]["by"]["JSD"] == of_seedbert["variant"]["by"]["TVD"] == chosen
    others = [tempering[corpus] for corpus in ("ConvAbuse", "MD-Agreement")]
    assert min(held["rare"][0] for held in others) == 24
    assert sum(held["models"]["everything"]["below"] for held in others) == 1


def test_what_the_page_says_was_found_after_the_fact(of_seedbert: dict[str, Any]) -> None:
    asked = of_seedbert["calibrated"]
    for corpus in ("ConvAbuse", "MD-Agreement"):
        both = [asked[corpus][model]["single"] for model in ("seeds", "everything")]
        assert all(test["high"] < 0 for tests in both for test in tests.values())
        assert all(both[1][name]["effect"] < both[0][name]["effect"] for name in both[0])
    deep, seeds = (asked["MD-Agreement"][model] for model in ("everything", "seeds"))
    assert deep["single"]["cross-entropy"]["effect"] == pytest.approx(-0.018, abs=5e-4)
    assert deep["member"]["cross-entropy"]["effect"] == pytest.approx(-0.013, abs=5e-4)
    assert seeds["member"]["cross-entropy"]["effect"] == pytest.approx(-0.007, abs=5e-4)
    assert seeds["member"]["cross-entropy"]["high"] > 0
