"""What speaks against the scale that answers seem to have: free text, and numbers of classes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from dissensus.readers import read
from dissensus.readers.tables.notes import ordered_words_note
from dissensus.scales import Nominal


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


def test_ordered_words_are_pointed_out_with_the_option_that_orders_them(tmp_path: Path) -> None:
    words = ["Agree", "strongly disagree", "neutral", "Disagree"]
    lines = [f"t{i},{who},{words[i % 4]}" for i in range(12) for who in ("ann", "bob")]
    path = tmp_path / "labels.csv"
    path.write_text("item,annotator,answer\n" + "\n".join(lines) + "\n", encoding="utf-8")
    (note,) = [note for note in read(path).notes if "look ordered" in note]
    scale = "answer=ordinal:strongly disagree,Disagree,neutral,Agree"
    assert note.endswith(f"if they are, use --scale '{scale}'")
    ordered = read(path, scale={"answer": scale.removeprefix("answer=")})
    assert ordered["answer"].scale.kind == "ordinal"
    assert not any("look ordered" in note for note in ordered.notes)


def test_words_without_an_order_are_not() -> None:
    assert ordered_words_note("q", Nominal(("joy", "fear", "neutral"))) == ""
    assert ordered_words_note("q", Nominal(("agree", "disagree"))) == ""  # as in stance
