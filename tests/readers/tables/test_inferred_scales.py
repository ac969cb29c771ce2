"""What speaks against the scale that answers seem to have: free text, and numbers of classes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dissensus.readers import read
from dissensus.readers.tables.answers import ordered_values
from dissensus.scales import Nominal, Ordinal
from tests.readers.conftest import Write


@pytest.mark.parametrize("name", ["class", "topic_category", "Klasse"])
def test_numbers_of_classes_by_name_are_nominal(name: str) -> None:
    rows = [(f"t{n // 4}", f"p{n % 4}", str(1 + n * 7 % 5)) for n in range(60)]
    cells = dict(zip(("item", "annotator", name), zip(*rows, strict=True), strict=True))
    corpus = read(pa.table(cells), answer=name)
    assert corpus[name].scale.kind == "nominal"
    assert any(f"numbers of classes, by the name {name!r}" in note for note in corpus.notes)
    assert read(pa.table(cells), answer=name, scale="ordinal")[name].scale.kind == "ordinal"


def test_free_text_is_read_as_names_with_a_note() -> None:
    cells = {
        "clip": [f"c{n // 3}" for n in range(60)],
        "annotator": [f"p{n % 3}" for n in range(60)],
        "answer": [f"they went to number {n}" for n in range(60)],
    }
    corpus = read(pa.table(cells))
    (note,) = [note for note in corpus.notes if "free text" in note]
    assert note.startswith("table: answer: 60 different answers in 60 rows look like free text;")
    assert not any("free text" in note for note in read(pa.table(cells), scale="nominal").notes)


@pytest.mark.parametrize(
    ("words", "levels"),
    [
        ("Agree,strongly disagree,Disagree,neutral", "strongly disagree,Disagree,neutral,Agree"),
        ("always,NEVER,Sometimes,Sometimes", "NEVER,Sometimes,always"),
    ],
)
def test_words_with_an_order_are_levels(write: Write, words: str, levels: str) -> None:
    given = words.split(",")
    lines = [f"t{i},{who},{given[i % 4]}" for i in range(12) for who in ("ann", "bob")]
    path = write("item,annotator,answer\n" + "\n".join(lines) + "\n")
    assert read(path)["answer"].scale == Ordinal(tuple(levels.split(",")))
    assert any("words with an order are read as ordinal" in note for note in read(path).notes)
    assert read(path, scale="nominal")["answer"].scale.kind == "nominal"


def test_words_without_an_order_are_not() -> None:
    assert ordered_values(("joy", "fear", "neutral")) == []
    assert ordered_values(("agree", "disagree")) == []  # as in stance


def test_sentiment_is_nominal(write: Write) -> None:
    words = ["positive", "negative", "neutral"]
    lines = [f"t{i},{who},{words[i % 3]}" for i in range(12) for who in ("ann", "bob")]
    path = write("item,annotator,answer\n" + "\n".join(lines) + "\n")
    assert isinstance(read(path)["answer"].scale, Nominal)
