"""What every preset promises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.corpus import Corpus
from dissensus.simulate import PRESETS, truth


@pytest.fixture(params=list(PRESETS.values()), ids=list(PRESETS))
def preset(request: pytest.FixtureRequest) -> Callable[..., Corpus]:
    made: Callable[..., Corpus] = request.param
    return made


def test_sizes_are_as_asked(preset: Callable[..., Corpus]) -> None:
    corpus = preset(n_items=40, n_annotators=6, labels_per_item=3, seed=1)
    (asked,) = corpus.questions.values()
    assert (corpus.n_items, corpus.n_annotators, asked.n_rows) == (40, 6, 120)


def test_what_is_known_comes_back_from_the_folder(
    preset: Callable[..., Corpus], tmp_path: Path
) -> None:
    corpus = preset(n_items=40, n_annotators=6, labels_per_item=3, seed=1)
    corpus.save(tmp_path / "corpus")
    again = Corpus.load(tmp_path / "corpus")
    assert again.equals(corpus)
    ((question, asked),) = again.questions.items()
    known = truth(again, question)
    stored = asked.extra["distribution"].flatten().to_numpy().reshape(asked.n_rows, -1)
    np.testing.assert_allclose(known.distribution(asked.item, asked.annotator), stored, atol=1e-6)


def test_one_seed_is_one_corpus(preset: Callable[..., Corpus]) -> None:
    assert preset(n_items=40).equals(preset(n_items=40))
    assert not preset(n_items=40).equals(preset(n_items=40, seed=1))
