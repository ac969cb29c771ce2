"""Cells with several values, and the empty set, written and read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dissensus as ds
from dissensus.corpus import Corpus

ROLES: dict[str, Any] = {"item": "item", "annotator": "annotator", "answer": "emotion"}
CELLS = ["joy{}fear", "joy", "fear", "anger{} fear", "[]", "fear", "joy", "anger"]


def written(folder: Path, separator: str) -> Path:
    cells = [cell.format(separator) for cell in CELLS]
    rows = [f't{n // 2},{"ann" if n % 2 else "bob"},"{cell}"' for n, cell in enumerate(cells)]
    path = folder / "sets.csv"
    path.write_text("\n".join(["item,annotator,emotion", *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    ("separator", "name"), [("|", "'|'"), (";", "';'"), ("\n", "line breaks")], ids=["|", ";", "n"]
)
def test_cells_are_split_at_what_separates_them(tmp_path: Path, separator: str, name: str) -> None:
    corpus = ds.read(written(tmp_path, separator), **ROLES)
    emotion = corpus["emotion"]
    assert emotion.scale.to_dict()["values"] == ["anger", "fear", "joy"]
    assert emotion.answers()[:5] == [("fear", "joy"), ("joy",), ("fear",), ("anger", "fear"), ()]
    assert f"emotion: cells split at {name} into sets of values" in "\n".join(corpus.notes)


def test_a_declared_scale_of_single_values_keeps_cells_whole(tmp_path: Path) -> None:
    corpus = ds.read(written(tmp_path, "|"), **ROLES, scale="nominal")
    assert corpus["emotion"].scale.kind == "nominal"
    declared = ds.read(written(tmp_path, "|"), **ROLES, scale="multi-label:joy,fear,anger,calm")
    assert len(declared["emotion"].scale.to_dict()["values"]) == 4


def test_the_empty_set_and_many_values_come_back(tmp_path: Path) -> None:
    from dissensus.annotations import Annotations
    from dissensus.scales import MultiLabel
    from dissensus.writers import write

    scale = MultiLabel(tuple(f"v{i:02}" for i in range(70)))
    sets = [[], ["v00", "v69"], list(scale.values), ["v63"], [], ["v01"]]
    rows = [(f"t{n // 2}", "ann" if n % 2 else "bob", one) for n, one in enumerate(sets)]
    corpus = Corpus.build("many", ["t0", "t1", "t2"], {"q": Annotations.from_rows(rows, scale)})
    write(corpus, tmp_path / "many.csv")
    back = ds.read(tmp_path / "many.csv", item="item", annotator="annotator", answer="q")
    assert back["q"].answers() == [tuple(one) for one in sets]


def test_declared_values_say_what_separates(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(
        "item,annotator,answer\na,ann,joy|fear\na,bob,calm\nb,ann,calm|joy\nb,bob,calm\n"
    )
    answers = ds.read(path, scale="multi-label:joy,fear,calm")["answer"]
    assert answers.answers()[:2] == [("joy", "fear"), ("calm",)]
