"""Pairs of a word and a form of it as numbers, with a made-up vocabulary of a handful."""

from __future__ import annotations

import math
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SCRIPT: dict[str, Any] = runpy.run_path(
    str(Path(__file__).parent.parent.parent / "benchmarks" / "word_forms.py")
)
Vocabulary, edits, pair_features, vector = (
    SCRIPT[name] for name in ("Vocabulary", "edits", "pair_features", "vector")
)

# the most frequent first; the first number tells what a word is about
LINES = [
    "stop 1 0",
    "walk 0 1",
    "stopped 1 0.1",
    "wall 0 -1",
    "walked 0 1",
    "back 1 1",
    "bone 1 -1",
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "made.txt").write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return tmp_path / "made.txt"


@pytest.fixture
def known(file: Path) -> Any:
    return Vocabulary.read(file)


# ---- the two texts alone ----


@pytest.mark.parametrize(
    ("word", "form", "expected"),
    [
        (
            "stopped",
            "stop",
            {"common letters": 4, "letters cut off": 3, "letters put on": 0, "edits": 3}
            | {"a doubled letter is cut": True, "the same": False},
        ),
        ("homilies", "homily", {"letters cut off": 3, "letters put on": 1, "letters lost": 2}),
        ("box", "box", {"the same": True, "common share": 1.0, "letters cut off": 0}),
        (
            "unsparing",
            "sparing",
            {"only a beginning is cut off": True, "common letters at the end": 7},
        ),
        (
            "backbone",
            "back bone",
            {"the word in parts": True, "the form has a blank inside": True}
            | {"the form begins or ends with a blank": False},
        ),
        (
            "crooned",
            "croon ",
            {"the form has a blank": True, "the form begins or ends with a blank": True}
            | {"the form has a blank inside": False, "letters cut off": 2, "letters put on": 0},
        ),
        ("thrips", "DELETED", {"the form is in capitals": True, "common letters": 0}),
        ("ee", " ", {"the form is empty": True, "letters of the form": 1, "vowels of the form": 0}),
        ("ee", "", {"the form is empty": True, "only a beginning is cut off": False, "edits": 2}),
        ("", "", {"common share": 0.0, "the same": True}),
        ("Box", "box", {"the same": True, "edits": 0}),
        ("Ärzte", "arzt", {"common letters": 0, "letters of the word": 5}),
        ("बिल्लियाँ", "बिल्ली", {"common letters": 5}),
    ],
)
def test_what_is_seen_of_a_pair(word: str, form: str, expected: dict[str, float]) -> None:
    result = pair_features(word, form)
    assert {name: result[name] for name in expected} == expected


def test_edits_are_levenshteins() -> None:
    assert [edits(*pair) for pair in (("kitten", "sitting"), ("", "abc"), ("ab", "ba"))] == [
        3,
        3,
        2,
    ]


# ---- with a vocabulary ----


def test_rare_and_related_words(known: Any) -> None:
    result = pair_features("Stopped", "stop", known)
    assert result["rarity of the form"] == 0
    assert result["rarity of the word"] == pytest.approx(math.log(3))
    assert result["likeness of the form"] == pytest.approx(1 / math.sqrt(1.01))
    assert result["likeness of the form is known"]
    assert result["other bases"] == 0  # stop is the form itself


@pytest.mark.parametrize("form", ["", " ", "DELETED", "é", "a b c"])
def test_every_form_is_finite_and_as_wide(known: Any, form: str) -> None:
    result = vector(pair_features("walked", form, known))
    assert result.shape == vector(pair_features("", "", known)).shape
    assert np.isfinite(result).all()
