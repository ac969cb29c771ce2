"""What is said about annotators, in projects whose truth is known: benchmarks/audit has more."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

AUDIT = Path(__file__).parents[2] / "benchmarks" / "audit"
SCALES = ("two values", "three values", "levels", "ratings", "sets")
PROJECTS = [
    *(("one of each", scale) for scale in SCALES),
    ("honest", "ratings"),
    ("groups divide on a fifth", "two values"),
    ("minority of 3 of 9", "levels"),
]


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(AUDIT)
    for name in ("cells", "case_projects"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("case_projects")


@pytest.mark.parametrize(("setting", "scale"), PROJECTS)
def test_sentences_are_true(case: ModuleType, setting: str, scale: str) -> None:
    project = case.project(np.random.default_rng(3), scale, **case.SETTINGS[setting])
    assert list(case.untrue(project)) == []


UNTRUE_ONCE = {
    "a camp of three copies": ("minority of 3 of 9", 15, 5),
    "who agrees .70 is less careful than with .71": ("minority of 3 of 9", 16, 50),
    "alpha 0.667 is below 0.667": ("honest", 2, 47),
    "groups divide with 34 % against 58 %": ("minority of 3 of 9", 15, 1),
    "who is at random is less careful later": ("groups divide on a fifth", 12, 45),
}


@pytest.mark.parametrize("untrue", UNTRUE_ONCE)
def test_what_was_untrue_once(case: ModuleType, untrue: str) -> None:
    setting, cell, crowd = UNTRUE_ONCE[untrue]
    draw = np.random.default_rng([20261118, cell, crowd])
    project = case.project(draw, SCALES[cell % 5], **case.SETTINGS[setting])
    assert {kind for kind, _ in case.untrue(project)} <= {"hint"}


def test_what_chance_gives_in_one_of_twenty_projects_may_be(case: ModuleType) -> None:
    project = case.project(np.random.default_rng([20261118, 0, 3]), "two values")
    ((kind, text),) = case.untrue(project)
    assert kind == "hint" and text.startswith("gender: f and m may answer some items differently")
    assert not any("Keep the views of groups apart" in text for text in project.sentences)


def test_the_documentation_says_what_was_measured() -> None:
    path = AUDIT.parent / "results" / "audit.json"
    cells: dict[str, list[tuple[float, int]]] = {}
    for row in json.loads(path.read_text())["rows"]:
        if row["case"] == "projects":
            of_quantity = cells.setdefault(row["quantity"].removeprefix("found: "), [])
            of_quantity.append((100 * row["after"], row["crowds"]))
    text = " ".join((AUDIT.parents[1] / "docs" / "commands.md").read_text().split())
    mean = {
        name: sum(a * n for a, n in rows) / sum(n for _, n in rows) for name, rows in cells.items()
    }
    assert {mean[name] for name in ("constant", "contrary", "tired", "groups")} == {100}
    copier = f"{mean['copier']:.1f} % of copiers are named ({min(cells['copier'])[0]:.1f} %"
    for words in (
        f"{mean['random']:.1f} % of annotators at random", copier,
        f"{mean['honest ones accused']:.2f} % of honest annotators are named wrongly",
        f"{mean['projects with an untrue sentence']:.1f} % of projects have a sentence",
    ):  # fmt: skip
        assert words in text


def test_an_untrue_sentence_is_recognised(case: ModuleType) -> None:
    project = case.project(np.random.default_rng(0), "levels", ("random",))
    true = ["project has 2,700 answers by 9 annotators to 1 question (q) on 300 items."]
    true += ["No difference between annotators by gender is shown."]
    untrue = ["1 annotator stands out and should be looked at: random (contradicts the others)."]
    untrue += ["None of the 9 annotators with 10 answers or more stands out as careless or unlike "
               "the others.", true[0].replace("9", "8"), "All is well."]  # fmt: skip
    text = " ".join(true + untrue)
    assert [is_true for _, _, is_true in case.checked(text, project)] == [True] * 2 + [False] * 4


@pytest.mark.parametrize(("who", "is_true"), [("honest6 and honest7", True), ("random", False)])
def test_a_minority_is_recognised(case: ModuleType, who: str, is_true: bool) -> None:
    project = case.project(np.random.default_rng(0), "levels", ("random",), minority=2)
    text = f"{who} and honest6 agree with one another, but not with the rest. They may hold "
    text += "another view, or understand the task differently: look at the items they dispute."
    assert [true for *_, true in case.checked(text, project)] == [is_true]
