"""What the runs on tweets are made of: tokens, the truth behind a crowd, pieces of work."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus import Annotations, Corpus
from dissensus.aggregation import DawidSkene
from dissensus.contents import Contents
from dissensus.corpus import Focus

SCRIPTS = Path(__file__).parents[2] / "benchmarks" / "gpu"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    return importlib.import_module


def crowd(n_items: int = 300, n_annotators: int = 12, seed: int = 0) -> Annotations:
    """Five answers an item, of which two in three are right."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(3, size=n_items)
    people = np.stack([generator.permutation(n_annotators)[:5] for _ in range(n_items)])
    right = generator.random(people.shape) < 2 / 3
    answer = np.where(right, truth[:, None], generator.integers(3, size=people.shape))
    item = np.repeat(np.arange(n_items), 5)
    return Annotations.from_arrays(item, people.reshape(-1), answer.reshape(-1).astype(str))


def rows(asked: Annotations) -> np.ndarray:
    return np.stack([asked.item, asked.who("a test"), asked.answer])


# ---- the truth behind a crowd ----


def test_without_a_teacher_it_is_dawid_and_skenes_model(script: Any) -> None:
    module, asked = script("crowd_truth"), crowd()
    fitted = DawidSkene(iterations=2000, tolerance=1e-12).fit(asked)
    prior = np.tile(fitted.prior_, (asked.n_items, 1))
    found = module.expected(rows(asked), prior, fitted.confusion_)
    np.testing.assert_allclose(found, fitted.distribution_, atol=1e-6)
    confusion = module.confusions(rows(asked), fitted.distribution_, asked.n_annotators, 0)
    np.testing.assert_allclose(confusion, fitted.confusion_, atol=1e-6)


def test_smoothing_makes_annotators_like_everybody(script: Any) -> None:
    module, asked = script("crowd_truth"), crowd()
    found = module.confusions(rows(asked), asked.distribution(), asked.n_annotators, 1e9)
    np.testing.assert_allclose(found, np.broadcast_to(found[0], found.shape), atol=1e-6)
    np.testing.assert_allclose(found.sum(axis=2), 1)


def test_a_teacher_decides_where_the_answers_weigh_nothing(script: Any) -> None:
    module, asked = script("crowd_truth"), crowd()
    prior = np.random.default_rng(1).dirichlet(np.ones(3), asked.n_items)
    silent = module.truth(rows(asked), prior, asked.n_annotators, weight=0.0)
    np.testing.assert_allclose(silent, prior)
    heard = module.truth(rows(asked), prior, asked.n_annotators, weight=1.0)
    np.testing.assert_allclose(heard.sum(axis=1), 1)
    assert np.abs(heard - prior).max() > 0.5


# ---- tokens ----


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("<user> I won’t pay $20.5!! :) <url>", "@USER I won't pay $ NUMBER . NUMBER !! :) URL"),
        ("@ann see https://a.b/c, #now &amp; 4 u", "@USER see URL #now & 4 u"),
        ("so-so... U.S. <3 covid19?!", "so-so ... U.S. <3 covid19 ?!"),
    ],
)
def test_tokens_are_cut_as_those_of_the_crowd(script: Any, text: str, wanted: str) -> None:
    assert script("tweet_tokens").tokens(text) == wanted.split()


def test_untagged_tweets_stand_beside_the_others_as_a_part(script: Any) -> None:
    asked = Annotations.from_rows([("0", "ann", "NOUN"), ("1", "ann", "VERB")])
    corpus = Corpus.build(
        "two",
        asked.items,
        {"tag": asked},
        contents={"text": (Contents.distinct("text", ["dogs bark"])[0], np.zeros(2, np.int32))},
        item_attributes={"tweet": ["train-0"] * 2, "auto_labelled": [False] * 2},
        gold={"tag": Annotations.from_arrays(np.arange(2), None, np.arange(2), asked.scale)},
        focus=Focus("text", np.array([[0.0], [5.0]]), np.array([[4.0], [9.0]])),
        splits={"official": ["train", "train"]},
    )
    tokens = script("tweet_tokens")
    whole = tokens.beside(corpus, [["dogs", "bark"], ["cats", "do", "not"]])
    assert whole.parts() == ["train", "unlabelled"] and whole.n_items == 5
    more = whole.part("unlabelled")
    assert more["tag"].n_rows == 0 and more.gold["tag"].n_rows == 0
    starts, stops = (np.ravel(ends).astype(int) for ends in (more.focus.start, more.focus.stop))
    text = more.contents["text"][0]
    found = [text[start:stop] for start, stop in zip(starts, stops, strict=True)]
    assert found == ["cats", "do", "not"]


# ---- pieces ----


def _write(text: str, path: Path) -> None:
    path.write_text(text)


def _fail(path: Path) -> None:
    raise ValueError("no luck")


def test_pieces_wait_for_one_another_and_are_not_done_twice(
    script: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = script("pieces")
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    made = [
        module.Piece(second, _write, ("b",), (first,)),
        module.Piece(first, _write, ("a",)),
        module.Piece(third, _fail, ()),
    ]
    assert module.carry_out(made, 1, 60) == 1
    assert (first.read_text(), second.read_text(), third.exists()) == ("a", "b", False)
    assert "third failed: no luck" in capsys.readouterr().out
    first.write_text("kept")
    assert module.carry_out(made[:2], 1, 0) == 0
    assert first.read_text() == "kept"
