"""Folds: nothing that belongs together is cut, values are balanced, what is wanting is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dissensus import Annotations, Corpus, Interval, Nominal, datasets
from dissensus.evaluation.protocols import Fold, choose_protocol, k_fold, nested, official, repeated
from tests.crowds import feature_crowd


def crowd(n_items: int = 90, n_groups: int | None = 30, rare: int = 12) -> Corpus:
    """One answer an item, `rare` of them "c"; groups of unequal size."""
    generator = np.random.default_rng(0)
    answer = np.where(np.arange(n_items) < rare, "c", generator.choice(["a", "b"], n_items))
    answers = Annotations.from_rows([(f"t{k}", "ann", str(v)) for k, v in enumerate(answer)])
    facts: dict[str, Any] = {}
    if n_groups is not None:
        of_group = np.sort(generator.integers(n_groups, size=n_items))
        facts = {"item_attributes": {"talk": of_group}, "group": "talk"}
    return Corpus.build("made-up", answers.items, {"q": answers}, **facts)


def dealt(folds: list[Fold], n_items: int) -> np.ndarray:
    """The fold that tests each item; every item exactly once."""
    values = np.full(n_items, -1)
    for number, fold in enumerate(folds):
        assert (values[fold.test] == -1).all()
        values[fold.test] = number
        assert np.array_equal(np.sort(np.concatenate([fold.train, fold.test])), np.arange(n_items))
    assert (values >= 0).all()
    return values


@pytest.mark.parametrize("stratify", [None, "q"])
@pytest.mark.parametrize("k", [2, 5, 7])
def test_every_item_is_tested_once_and_no_group_is_cut(k: int, stratify: str | None) -> None:
    corpus = crowd()
    result = dealt(k_fold(corpus, k, stratify=stratify), 90)
    units = corpus.units()
    assert all(len(set(result[units == unit])) == 1 for unit in np.unique(units))
    largest = np.bincount(units).max()
    assert np.ptp(np.bincount(result)) <= largest + 1


@pytest.mark.parametrize("seed", range(3))
def test_values_are_balanced(seed: int) -> None:
    corpus = crowd(203, None, rare=13)
    answers = np.array(corpus["q"].answers())
    result = dealt(k_fold(corpus, 5, seed, by="item", stratify="q"), 203)
    for value in "abc":
        assert np.ptp(np.bincount(result[answers == value], minlength=5)) <= 1
    assert np.ptp(np.bincount(result)) <= 3
    plain = [dealt(k_fold(corpus, 5, seed, by="item"), 203)[answers == "c"] for seed in range(9)]
    assert max(np.ptp(np.bincount(rare, minlength=5)) for rare in plain) > 1


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "interval", "multi-label"])
def test_every_scale_can_be_balanced(kind: str) -> None:
    corpus = feature_crowd(kind, n_items=100)
    result = dealt(k_fold(corpus, 4, stratify="q"), 100)
    label = corpus["q"].consensus(ties="first")
    if kind == "interval":
        means = [label.answer[result == fold].mean() for fold in range(4)]
        assert np.ptp(means) < 0.5 * label.answer.std()
    assert np.ptp(np.bincount(result)) <= (10 if kind == "multi-label" else 3)


def test_repetitions_differ_and_begin_with_k_fold() -> None:
    corpus = crowd()
    folds = repeated(corpus, 3, 2, seed=5)
    assert [fold.name for fold in folds] == [
        f"run {run}, fold {fold}" for run in (1, 2) for fold in (1, 2, 3)
    ]
    assert [fold.run for fold in folds] == [0, 0, 0, 1, 1, 1]
    once = dealt(k_fold(corpus, 3, seed=5), 90)
    assert np.array_equal(dealt(folds[:3], 90), once)
    assert not np.array_equal(dealt(folds[3:], 90), once)


def test_inner_folds_stay_within_training() -> None:
    corpus = crowd()
    outer = k_fold(corpus, 3)[1]
    inner = nested(corpus, outer, 4)
    assert inner[0].name == "fold 2, inner fold 1"
    tested = np.sort(np.concatenate([fold.test for fold in inner]))
    assert np.array_equal(tested, outer.train)
    units = corpus.units()
    for fold in inner:
        assert not np.isin(fold.train, outer.test).any()
        assert not np.isin(units[fold.test], units[fold.train]).any()


# ---- official splits ----


def with_split(
    parts: list[str | None], scheme: str = "official", talk: list[str] | None = None
) -> Corpus:
    rows = [(f"t{k}", "ann", "ab"[k % 2]) for k in range(len(parts))]
    answers = Annotations.from_rows(rows)
    facts: dict[str, Any] = {"splits": {scheme: parts}}
    if talk is not None:
        facts |= {"item_attributes": {"talk": talk}, "group": "talk"}
    return Corpus.build("made-up", answers.items, {"q": answers}, **facts)


@pytest.mark.parametrize("dev", ["dev", "validation", "valid", "val"])
def test_the_test_part_is_tested_and_dev_validates(dev: str) -> None:
    corpus = with_split(["train", "test", dev, "train", None, "test"])
    (fold,) = official(corpus)
    assert (fold.train.tolist(), fold.test.tolist()) == ([0, 3], [1, 5])
    assert fold.validation is not None and fold.validation.tolist() == [2]
    assert fold.name == "official: test"
    train, test, validation = fold.parts(corpus)
    assert validation is not None and (train.n_items, test.n_items, validation.n_items) == (2, 2, 1)


def test_without_a_test_part_dev_is_tested() -> None:
    (fold,) = official(with_split(["train", "dev", "dev", "train"]))
    assert (fold.test.tolist(), fold.validation) == ([1, 2], None)
    (other,) = official(with_split(["train", "dev", "hard", "train"]), test="hard")
    assert other.test.tolist() == [2]


def test_ready_made_folds_are_each_tested_once() -> None:
    corpus = with_split([str(k % 11) for k in range(33)], "fold11")
    folds = official(corpus, "fold11")
    assert [fold.name for fold in folds[8:]] == ["fold11: 8", "fold11: 9", "fold11: 10"]
    for number, fold in enumerate(folds):
        assert fold.test.tolist() == [number, number + 11, number + 22]
        following = (number + 1) % 11
        assert fold.validation is not None
        assert fold.validation.tolist() == [following, following + 11, following + 22]
        assert len(fold.train) == 27


def test_an_official_split_that_cuts_groups_says_so() -> None:
    corpus = with_split(["train", "test", "train", "test"], talk=["x", "x", "y", "y"])
    (fold,) = official(corpus)
    assert fold.notes == (
        "2 of 2 test items share their talk with training items",
        "q: no training item has the majority 'b'",
        "q: no test item has the majority 'a'",
    )
    (by_item,) = official(corpus, by="item")
    assert by_item.notes[0].startswith("q: ")


def test_a_fold_without_a_value_is_said() -> None:
    corpus = crowd(60, None, rare=2)
    notes = [note for fold in k_fold(corpus, 5, by="item", stratify="q") for note in fold.notes]
    assert notes == ["q: no test item has the majority 'c'"] * 3
    alone = crowd(60, None, rare=1)
    (note,) = {n for f in k_fold(alone, 3, by="item") for n in f.notes if "training" in n}
    assert note == "q: no training item has the majority 'c'"


def test_items_that_nobody_answered_are_dealt_out_too() -> None:
    answers = Annotations.from_rows([("t0", "ann", "a"), ("t1", "ann", "b")], Nominal(("a", "b")))
    corpus = Corpus.build("made-up", [f"t{k}" for k in range(10)], {"q": answers})
    result = dealt(k_fold(corpus, 2, stratify="q"), 10)
    assert np.bincount(result).tolist() == [5, 5]
    none = Annotations.from_rows([("t0", "ann", 1)], Interval(0, 1)).take(np.zeros(0, np.int64))
    empty = Corpus.build("made-up", [f"t{k}" for k in range(10)], {"q": none})
    assert np.bincount(dealt(k_fold(empty, 2, stratify="q"), 10)).tolist() == [5, 5]


# ---- real corpora ----


@pytest.mark.data
def test_real_corpora(data_folder: Path) -> None:
    abuse = datasets.load(data_folder / "lewidi2023", "ConvAbuse")
    (fold,) = official(abuse.select(questions=["abusive"]))
    assert fold.notes == ("284 of 812 test items share their conversation with training items",)
    assert [note for fold in k_fold(abuse, 5, stratify="abusive") for note in fold.notes] == []
    stems = datasets.load(data_folder / "stemming")
    folds = official(stems, "fold10")
    assert len(folds) == 10 and sum(len(fold.test) for fold in folds) == 6679


def test_the_official_split_is_chosen_where_it_can_be_tested() -> None:
    plain = feature_crowd(n_items=20)
    chosen = choose_protocol(plain, folds=4)
    assert chosen.facts == {
        "kind": "k-fold", "folds": 4, "times": 1, "seed": 0, "stratify": "q",
    }  # fmt: skip
    assert (len(chosen.folds), chosen.description) == (4, "4 folds of 20 items")
    parts = pa.array(["train"] * 14 + ["dev"] * 6)
    split = choose_protocol(replace(plain, splits={"official": parts}), by="item")
    assert split.facts == {"kind": "official", "scheme": "official", "test": "dev", "by": "item"}
    assert split.description == "official split: training on 14 items, testing on 6 (dev)"
