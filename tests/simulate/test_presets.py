"""What every preset promises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.simulate import PRESETS, truth
from tests.simulate.looking import blind_auroc, every_pair


@pytest.fixture(params=list(PRESETS.values()), ids=list(PRESETS))
def preset(request: pytest.FixtureRequest) -> Callable[..., Corpus]:
    built: Callable[..., Corpus] = request.param
    return built


def test_sizes_are_as_asked(preset: Callable[..., Corpus]) -> None:
    corpus = preset(n_items=40, n_annotators=6, labels_per_item=3, seed=1)
    assert (corpus.n_items, corpus.n_annotators) == (40, 6)
    assert {answers.n_rows for answers in corpus.questions.values()} == {120}
    assert all(len(contents) == 40 for contents in corpus.contents.values())


def test_what_is_known_comes_back_from_the_folder(
    preset: Callable[..., Corpus], tmp_path: Path
) -> None:
    corpus = preset(n_items=40, n_annotators=6, labels_per_item=3, seed=1)
    corpus.save(tmp_path / "corpus")
    again = Corpus.load(tmp_path / "corpus")
    assert again.equals(corpus)
    for question, answers in again.questions.items():
        known = truth(again, question)
        stored = answers.extra["distribution"].flatten().to_numpy().reshape(answers.n_rows, -1)
        result = known.distribution(answers.item, answers.annotator)
        np.testing.assert_allclose(result, stored, atol=1e-6)
        np.testing.assert_allclose(result.sum(axis=1), 1)
    first = truth(again).distribution([0], [0])
    np.testing.assert_allclose(
        first, truth(corpus, next(iter(corpus.questions))).distribution([0], [0])
    )


def test_the_blind_means_are_means_over_all_pairs(preset: Callable[..., Corpus]) -> None:
    corpus = preset(n_items=30, n_annotators=7, labels_per_item=3, seed=1)
    for question in corpus.questions:
        known, pairs = truth(corpus, question), every_pair(corpus)
        for own, blind in (
            (known.distribution(*pairs), known.blind_distribution()),
            (known.focus(*pairs), known.blind_focus()),
        ):
            mean = own.reshape(30, 7, -1).mean(axis=1)
            np.testing.assert_allclose(blind, mean, atol=1e-12)


def test_knowing_the_annotator_helps(preset: Callable[..., Corpus]) -> None:
    corpus = preset(n_items=200)
    for question in corpus.questions:
        known = truth(corpus, question)
        best, blind = known.best(*every_pair(corpus))
        gain = best - blind if known.measure == "accuracy" else blind - best
        assert gain > 0.1


def test_rationales_lie_on_parts_and_follow_the_focus(preset: Callable[..., Corpus]) -> None:
    corpus = preset(n_items=1000)
    known, spans = truth(corpus), corpus.rationales
    assert spans is not None
    assert len(spans) == sum(answers.n_rows for answers in corpus.questions.values())
    start, stop = (
        ends.reshape(*known.parts.aspect.shape, -1)[spans.item]
        for ends in (known.start, known.stop)
    )
    here = (start == spans.start[:, None]).all(axis=2) & (stop == spans.stop[:, None]).all(axis=2)
    assert (here.sum(axis=1) == 1).all()
    focus = known.focus(spans.item, spans.annotator)
    likely = focus.max(axis=1).mean()
    assert (focus.argmax(axis=1) == here.argmax(axis=1)).mean() == pytest.approx(likely, abs=0.015)


@pytest.mark.parametrize("n_annotators", [4, 6, 10, 13])
def test_looking_where_the_crowd_looks_says_little_about_one(
    preset: Callable[..., Corpus], n_annotators: int
) -> None:
    corpus = preset(n_items=500, n_annotators=n_annotators, labels_per_item=4)
    known, (item, annotator) = truth(corpus), every_pair(corpus)
    preferred = known.focus(item, annotator).argmax(axis=1)
    assert blind_auroc(known, item, preferred) <= 0.65


def test_a_selection_knows_what_the_whole_knew(preset: Callable[..., Corpus]) -> None:
    corpus = preset(n_items=40, n_annotators=6, labels_per_item=3)
    items, people = np.array([17, 3, 30]), np.array([5, 0])
    chosen = corpus.select(items=items, annotators=people)
    pairs = np.array([0, 1, 2, 2]), np.array([1, 0, 1, 0])
    whole = items[pairs[0]], people[pairs[1]]
    for question in corpus.questions:
        result = truth(chosen, question).distribution(*pairs)
        np.testing.assert_allclose(result, truth(corpus, question).distribution(*whole))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n_items": 0}, "simulate: n_items must be at least 1, found 0"),
        ({"n_annotators": 0}, "simulate: n_annotators must be at least 1, found 0"),
        ({"labels_per_item": 0}, "simulate: labels_per_item must be at least 1, found 0"),
        ({"seed": -1}, "simulate: seed must be 0 or more, found -1"),
        (
            {"labels_per_item": 11},
            "simulate: labels_per_item is 11, but there are only 10 annotators and each answers "
            "an item once; ask for fewer labels or more annotators",
        ),
    ],
)
def test_impossible_sizes_are_refused(
    preset: Callable[..., Corpus], sizes: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError) as error:
        preset(**sizes)
    assert str(error.value) == message


@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 200, 150), (5, 2, 1)])
def test_odd_sizes_work(preset: Callable[..., Corpus], sizes: tuple[int, int, int]) -> None:
    corpus = preset(*sizes)
    for question, answers in corpus.questions.items():
        best, blind = truth(corpus, question).best(answers.item, answers.annotator)
        assert np.isfinite([best, blind]).all()


def test_one_seed_is_one_corpus(preset: Callable[..., Corpus]) -> None:
    assert preset(n_items=40).equals(preset(n_items=40))
    assert not preset(n_items=40).equals(preset(n_items=40, seed=1))
