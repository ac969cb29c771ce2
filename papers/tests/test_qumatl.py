"""The paper qumatl: its corpora, and every model on a small panel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dissensus import Annotations, Corpus, datasets
from dissensus.encoders.framework.store import Store
from dissensus.errors import DataError
from dissensus.scales import Interval, Ordinal
from dissensus_papers.qumatl import CONDITIONS, FRAMES, PAPER, as_levels, averaged


def test_every_model_of_a_condition_can_be_built() -> None:
    for condition in CONDITIONS:
        assert condition.corpus in PAPER.sources
        for name in condition.models:
            PAPER.models[name].built(condition.settings)


def test_annotator_heads_have_no_prior_as_in_the_kept_results() -> None:
    for name in ("heads", "heads-tuned", "base"):
        assert not PAPER.models[name].built({}).has_prior


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


@pytest.mark.parametrize("name", ["faces", "labelme"])
def test_every_item_and_annotator_that_is_compared_has_answers(
    data_folder: Path, name: str
) -> None:
    (condition,) = (condition for condition in CONDITIONS if condition.name == name)
    source = PAPER.sources[condition.corpus]
    corpus = source.prepared(datasets.read(data_folder / source.folder))
    (question,) = corpus.questions
    assert corpus[question].per_annotator().all() and corpus[question].per_item().all()
    assert condition.folds is not None and condition.folds(corpus)
