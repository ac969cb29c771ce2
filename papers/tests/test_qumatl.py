"""The paper qumatl: its corpora, its models, and conditions in parts."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from dissensus import Annotations, Corpus
from dissensus.encoders.framework.store import Store
from dissensus.errors import DataError
from dissensus.evaluation.execution.task import drawn
from dissensus.scales import Interval, Ordinal
from dissensus_papers.framework.declared import ComparisonCondition
from dissensus_papers.qumatl import CLAIMS, CONDITIONS, PAPER
from dissensus_papers.qumatl.corpora import (
    CELLS,
    FRAMES,
    N_LEADERS,
    N_LED,
    TOKENS,
    WHOLE,
    as_levels,
    averaged,
    best_possible,
    followers,
    last_fifth,
    tokens,
)


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda condition: condition.name)
def test_every_model_can_be_built_and_tries_as_many_settings(
    condition: ComparisonCondition,
) -> None:
    assert condition.corpus in PAPER.sources
    for name, method in PAPER._methods(condition, ()).items():
        choices = PAPER.models[name].choices
        if condition.trials and choices:
            settings = drawn(method, choices, condition.trials, seed=0)
            grid = [
                dict(zip(choices, values, strict=True)) for values in product(*choices.values())
            ]
            assert all(one in grid for one in settings)


def test_every_claim_names_conditions_that_have_its_models() -> None:
    for claim in CLAIMS:
        for name in claim.conditions:
            models = {*PAPER.conditions[name].models}
            assert {claim.first, claim.second} <= models, (claim.claim, name)


def test_whole_ratings_are_levels() -> None:
    rows = [("t1", "ann", 3), ("t2", "ann", 0), ("t1", "bob", 10)]
    levels = as_levels(Annotations.from_rows(rows, Interval(0, 10)))
    assert isinstance(levels.scale, Ordinal) and len(levels.scale) == 11
    assert levels.answer.tolist() == [3, 0, 10]
    with pytest.raises(DataError, match="whole numbers"):
        as_levels(Annotations.from_rows([("t1", "ann", 2.5)], Interval(0, 10)))


def test_frames_are_averaged_within_each_clip() -> None:
    lengths = [FRAMES + 5, 3]
    vectors = np.random.default_rng(0).normal(size=(sum(lengths), 4)).astype(np.float32)
    offsets = np.array([0, lengths[0], sum(lengths)])
    contents = averaged(Store(vectors, np.zeros((len(vectors), 1, 2)), offsets))
    first, second = (np.array(contents[code]) for code in range(2))
    expected = [vectors[:FRAMES].mean(0), vectors[FRAMES : FRAMES + 5].mean(0)]
    np.testing.assert_allclose(first, expected, rtol=1e-5)
    np.testing.assert_allclose(second, [vectors[-3:].mean(0)], rtol=1e-5)


def test_a_picture_is_a_class_token_and_cells_or_one_vector() -> None:
    n = 1 + CELLS**2
    vectors = np.random.default_rng(0).normal(size=(2 * n, 3)).astype(np.float32)
    store = Store(vectors, np.zeros((2 * n, 2, 2)), np.array([0, n, 2 * n]))
    contents = tokens(store)
    second = vectors[n:]
    grid = second[1:].reshape(CELLS, CELLS, 3)
    parts = np.array(contents[TOKENS][1])
    assert parts.shape == (65, 3)
    np.testing.assert_allclose(parts[0], second[0])
    np.testing.assert_allclose(parts[1 + 8 + 2], grid[2:4, 4:6].mean((0, 1)), rtol=1e-4)
    np.testing.assert_allclose(
        np.array(contents[WHOLE][1]), np.r_[second[0], second[1:].mean(0)], rtol=1e-3, atol=1e-5
    )


def test_followers_answer_as_the_plurality_of_leaders() -> None:
    corpus = followers(n_items=200)
    answers = corpus["emotion"]
    counts = answers.per_annotator()
    assert (counts[:N_LEADERS] == 160).all() and (counts[N_LEADERS:] == N_LED + 40).all()
    (fold,) = last_fifth(corpus)
    assert fold.test.tolist() == list(range(160, 200))
    best = best_possible(corpus)["emotion"]["best possible"]["annotator accuracy"]
    p = answers.extra["distribution"].flatten().to_numpy().reshape(answers.n_rows, -1)
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-5)
    right = (p.argmax(1) == answers.answer)[answers.item >= 160]
    assert abs(right.mean() - best) < 0.06  # the best prediction is as good as it says


def test_answers_are_deleted_from_training_items_alone(data_folder: Path) -> None:
    corpora = PAPER.read(data_folder)
    whole, sparse = (
        PAPER.sources[name].prepared(corpora[name]) for name in ("HS-Brexit", "HS-Brexit-40")
    )

    def answers(corpus: Corpus, part: str) -> np.ndarray:
        return corpus.part(part)["hate"].per_annotator()

    np.testing.assert_array_equal(answers(whole, "dev"), answers(sparse, "dev"))
    left = answers(sparse, "train") / answers(whole, "train")
    np.testing.assert_allclose(left, 0.6, atol=0.001)
