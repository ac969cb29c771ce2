"""peerannot's answers.json: labels by task and worker, and which labels there are."""

from __future__ import annotations

import json

from dissensus.readers import read, recognise
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
