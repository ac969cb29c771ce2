"""peerannot's answers.json: labels by task and worker, and which labels there are."""

from __future__ import annotations

import json
import re

import pytest

from dissensus.corpus import LeftOut
from dissensus.errors import DataError
from dissensus.readers import read, recognise
from dissensus.scales import Nominal, Ordinal
from tests.readers.conftest import Write

ANSWERS = {"7": {"12": 1, "3": 0}, "9": {"12": 1}}


def test_answers(write: Write) -> None:
    path = write(json.dumps(ANSWERS), "answers.json")
    assert recognise(path) == "peerannot"
    corpus = read(path)
    assert list(corpus.items) == ["7", "9"] and list(corpus.annotators) == ["12", "3"]
    assert corpus["label"].answers() == ["1", "0", "1"]
    assert corpus.notes == (
        "answers.json: peerannot; label (nominal: 0, 1); 3 answers by 2 annotators on 2 items",
    )


def test_the_metadata_tell_the_classes(write: Write) -> None:
    path = write(json.dumps(ANSWERS), "answers.json")
    write('{"name": "x", "n_classes": 4, "n_workers": 99}', "metadata.json")
    assert read(path)["label"].scale == Nominal(("0", "1", "2", "3"))
    assert read(path, scale="ordinal:0,1")["label"].scale == Ordinal(("0", "1"))
    for other in ('{"n_classes": 1}', "{}", "no JSON", '{"n_classes": null}'):
        write(other, "metadata.json")
        assert read(path)["label"].scale == Nominal(("0", "1"))


def test_gaps_and_words(write: Write) -> None:
    corpus = read(write('{"0": {"a": 1, "b": null}, "1": {"a": "2", "b": 3}}', "answers.json"))
    assert corpus["label"].answers() == ["1", "2", "3"]
    assert corpus.left_out == (LeftOut("label", "no answer", 1),)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (
            '{"0": {"a": 1, "b": [1, 2]}}',
            ", task '0': the label of worker 'b' must be a number or a text, found a list",
        ),
        (
            '{"0": {"a": 1}, "1": 2}',
            ", task '1': expected an object of labels by worker, found a number",
        ),
    ],
)
def test_answers_that_cannot_be_read(write: Write, content: str, error: str) -> None:
    path = write(content, "answers.json")
    with pytest.raises(DataError, match=f"^{re.escape(f'{path}{error}')}$"):
        read(path)


def test_no_labels(write: Write) -> None:
    path = write('{"0": {}}', "answers.json")
    with pytest.raises(DataError, match="no labels in 1 task"):
        read(path, format="peerannot")
