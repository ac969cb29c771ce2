"""A kept report is continued with the conditions of another run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dissensus.corpus import Corpus
from dissensus.evaluation import k_fold
from dissensus_papers.framework.comparison import ComparisonPaper
from dissensus_papers.framework.declared import BetterThan, ComparisonCondition, Model, Source
from tests.benchmarks.test_archive import script as script
from tests.crowds import feature_crowd

METRICS = ("accuracy", "cross-entropy")


def _condition(name: str, seeds: tuple[int, ...], not_counted: str = "") -> ComparisonCondition:
    return ComparisonCondition(
        name, f"Condition {name}", "crowd", ("prior", "each", "network"), METRICS, seeds, "prior",
        folds=lambda corpus: k_fold(corpus, 2), not_counted=not_counted,
    )  # fmt: skip


PAPER = ComparisonPaper(
    name="tiny",
    title="A tiny paper",
    sources={"crowd": Source("crowd")},
    models={
        "prior": Model("Most frequent answer", "prior"),
        "each": Model("That of each annotator", "annotator-majority"),
        "network": Model("Network", "single", {"training.epochs": 1}),
    },
    blocks=(
        _condition("first", (0, 1)),
        _condition("second", (2, 3)),
        _condition("apart", (0,), "tried out"),
    ),
    claims=(
        BetterThan("The network is more accurate", "network", "prior", metric="accuracy"),
        BetterThan(
            "The network has less loss", "network", "each", ("second", "apart"), "cross-entropy"
        ),
    ),
)  # fmt: skip
HALVES = (("first",), ("second", "apart"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All conditions, and in two more folders half of them each."""
    folder = tmp_path_factory.mktemp("paper")
    corpus: Corpus = feature_crowd(n_items=40)
    PAPER.run({"crowd": corpus}, PAPER.blocks, folder / "all", processes=1, commit="a")
    for at, names in enumerate(HALVES):
        half = folder / f"half {at}"
        half.mkdir()
        shutil.copy(folder / "all" / "comparison.json", half)
        for name in names:
            path = Path("conditions") / name
            shutil.copytree(folder / "all" / path, half / path)
    return folder


def kept(folder: Path) -> dict[str, Any]:
    """The report on a folder as it is read from its file."""
    path = folder.with_suffix(".json")
    path.write_text(json.dumps(PAPER.report(folder) | {"date": ""}), encoding="utf-8")
    return PAPER.report(path)


def test_two_halves_are_the_report_on_all(folder: Path, script: Any) -> None:
    merged_reports = script("merged_reports")
    whole, first, second = (kept(folder / name) for name in ("all", "half 0", "half 1"))
    for one, other in ((first, second), (second, first)):
        merged = json.loads(merged_reports.to_json(merged_reports.merged(PAPER, one, other)))
        assert _equal(merged, whole)


def _equal(first: Any, second: Any) -> bool:
    """Equal but for the last digits that a file has."""
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(_equal(first[k], second[k]) for k in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(_equal, first, second))
    return bool(first == (pytest.approx(second, rel=1e-8) if isinstance(first, float) else second))


def test_a_condition_is_replaced_with_its_tests(folder: Path, script: Any) -> None:
    before = kept(folder / "all")
    new = json.loads(json.dumps(before))
    for name in ("second", "apart"):
        del new["conditions"][name]
    new |= {"commits": ["b"], "machines": ["another"]}
    new["conditions"]["first"]["seeds"] = [0]
    tests = [entry["tests"] for entry in new["claims"]]
    new["claims"][0]["tests"] = {"first": tests[0]["first"] | {"p": 0.5}}
    tests[1].clear()
    merged = script("merged_reports").merged(PAPER, before, new)
    assert merged["conditions"]["first"]["seeds"] == [0]
    assert merged["conditions"]["second"]["seeds"] == [2, 3]
    assert merged["commits"] == [*before["commits"], "b"] and len(merged["machines"]) == 2
    accuracy, loss = (entry["tests"] for entry in merged["claims"])
    assert accuracy["first"]["p"] == 0.5 and set(accuracy) == {"first", "second"}
    assert set(loss) == {"second", "apart"}  # those of the report that has the condition
    assert script("merged_reports").origins(before, new) == [
        "conditions of the kept report: second, apart",
        "replaced: first, 3 models, seeds 0, 1 -> 3 models, seeds 0",
    ]


def test_other_models_join_a_condition(folder: Path, script: Any) -> None:
    whole = kept(folder / "all")
    before, new = (json.loads(json.dumps(whole)) for _ in range(2))
    models = list(whole["conditions"]["first"]["models"])
    for report, names in ((before, models[:1]), (new, models[1:])):
        part = report["conditions"]["first"]
        part["models"] = {name: part["models"][name] for name in names}
    new["conditions"] = {"first": new["conditions"]["first"]}
    new["claims"] = [entry | {"tests": {}} for entry in new["claims"]]
    merged = script("merged_reports").merged(PAPER, before, new)
    assert merged["conditions"]["first"]["models"] == whole["conditions"]["first"]["models"]
    assert [entry["tests"] for entry in merged["claims"]] == [
        entry["tests"] for entry in whole["claims"]
    ]
    new["conditions"]["first"]["trials"] = 5  # not tried as often: it replaces the condition
    merged = script("merged_reports").merged(PAPER, before, new)
    assert list(merged["conditions"]["first"]["models"]) == models[1:]
