"""Every known corpus can be described, made or real."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dissensus.corpus import Corpus
from dissensus.datasets import DATASETS, dataset
from dissensus.description import describe
from tests.datasets.folders import ABSENT

EVERY = [(name, corpus) for name in DATASETS for corpus in dataset(name).corpora]
MADE = [
    pytest.param(name, corpus, marks=() if corpus == first else pytest.mark.slow)
    for name, corpus in EVERY
    for first in dataset(name).corpora[:1]
]


def check_description(corpus: Corpus) -> None:
    fields = json.loads(json.dumps(describe(corpus).to_dict(), allow_nan=False))
    assert fields["items"] == corpus.n_items
    assert {requested["name"]: requested["loaded"] for requested in fields["questions"]} == {
        question: requested.n_answers for question, requested in corpus.questions.items()
    }


@pytest.mark.parametrize(("name", "corpus"), MADE)
def test_a_made_corpus_is_described(
    name: str, corpus: str, sample_folder: Callable[[str], Path]
) -> None:
    check_description(dataset(name).load(sample_folder(name), corpus))


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(("name", "corpus"), [e for e in EVERY if e[0] not in ABSENT])
def test_a_real_corpus_is_described(name: str, corpus: str, data_folder: Path) -> None:
    check_description(dataset(name).load(data_folder / name, corpus))
