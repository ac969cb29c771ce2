"""JSON lines: numbers as they are written, sets, gaps, and lines that are wrong."""

from __future__ import annotations

import pytest

from dissensus.errors import DataError
from dissensus.readers import read
from tests.readers.conftest import Write

FIRST = '{"item": "t1", "annotator": "ann", "label": "yes"}\n'


@pytest.mark.parametrize("name", ["labels.jsonl", "labels.ndjson", "labels.json1", "labels.txt"])
def test_ending_or_content_tells(write: Write, name: str) -> None:
    corpus = read(write(FIRST + "\n" + FIRST.replace('"ann"', '"bob"').replace("yes", "no"), name))
    assert corpus["label"].answers() == ["yes", "no"]
    assert corpus.name == "labels"


# ---- bad input ----


def test_nested_too_deep(write: Write) -> None:
    path = write('{"a":' * 200_000, "a.jsonl")
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}, line 1: not a complete JSON object (")
