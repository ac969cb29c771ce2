"""What is said about annotators, in projects whose truth is known: benchmarks/audit has more."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

AUDIT = Path(__file__).parents[2] / "benchmarks" / "audit"
SCALES = ("two values", "three values", "levels", "ratings", "sets")


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(AUDIT)
    for name in ("cells", "case_sentences"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("case_sentences")


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("planted", ["nobody", "one of each", "camps"])
def test_sentences_are_true(case: ModuleType, scale: str, planted: str) -> None:
    who = {"nobody": (), "one of each": case.PLANTED, "camps": ("random",)}[planted]
    generator = np.random.default_rng(1)
    assert list(case.untrue(generator, scale, who, planted == "camps")) == []


def test_an_untrue_sentence_is_recognised(case: ModuleType) -> None:
    corpus = case.project(np.random.default_rng(0), "levels", ("random",), camps=False)
    true = ["project has 2,100 answers by 7 annotators to 1 question (q) on 300 items."]
    true += ["1 annotator stands out and should be looked at: random (contradicts the others)."]
    expected = case.expected_kinds(("random",))
    assert [case.is_true(sentence, corpus, expected) for sentence in true] == [True, False]
    untrue = "None of the 7 annotators with 10 answers or more stands out as careless."
    assert not case.is_true(untrue, corpus, expected)
    assert not case.is_true(true[0].replace("7", "8"), corpus, expected)
    alike = "Some annotators answer alike, more than a common view explains: {} and honest1."
    assert case.is_true(alike.format("honest0"), corpus, expected)
    assert not case.is_true(alike.format("random"), corpus, expected)
