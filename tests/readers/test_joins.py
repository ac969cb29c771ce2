"""Features, and files that are joined by item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dissensus.errors import DataError
from dissensus.readers import read
from tests.readers.conftest import Write

ANSWERS = "image,worker,label\na,ann,yes\na,bob,no\nb,ann,no\n"


@pytest.fixture
def answers(write: Write) -> Path:
    return write(ANSWERS.replace("image", "image_id"), "answers.csv")


def test_items_gold_and_features_in_files_of_their_own(
    write: Write, answers: Path, tmp_path: Path
) -> None:
    items = write("image_id,split,topic\nc,test,x\na,train,y\nb,train,x\n", "items.csv")
    gold = write("image_id,truth\nc,yes\na,no\n", "gold.csv")
    np.save(tmp_path / "x.npy", np.array([[3.0, 3], [1, 1], [2, 2]]))
    corpus = read(answers, items=items, gold=gold, features=tmp_path / "x.npy")
    assert list(corpus.items) == ["a", "b", "c"]
    assert corpus.splits["official"].to_pylist() == ["train", "train", "test"]
    assert corpus.item_attributes["topic"].to_pylist() == ["y", "x", "x"]
    labels = corpus.gold["label"]
    assert {corpus.items[i]: a for i, a in zip(labels.item, labels.answers(), strict=True)} == {
        "c": "yes",
        "a": "no",
    }
    contents, codes = corpus.contents["features"], corpus.content["features"]
    assert [contents[code] for code in codes] == [[1, 1], [2, 2], [3, 3]]
    assert corpus.notes[-3:] == (
        "items.csv: items joined: 2 of 2 items with answers, 1 item without",
        "gold.csv: gold labels of 2 items for 'label'",
        "x.npy: features of 3 of 3 items",
    )


@pytest.mark.parametrize(
    "table",
    [
        "annotator,gender,age\nann,f,31\nbob,m,\neve,f,50\n",
        "name,age,gender\neve,50,f\nann,31,f\nbob,,m\n",  # in any order, under any name
        "gender,age,annotated by\nf,31,ann\nf,50,eve\nm,,bob\n",
        "age,annotator,gender\n31,ann,f\n,bob,m\n50,eve,f\n",  # ages are distinct too
        "id,gender,user,age\n1,f,ann,31\n2,m,bob,\n",
        ",age,gender\nann,31,f\nbob,,m\n",  # the index of a pandas table
        ",age,gender,name\n0,31,f,ann\n1,,m,bob\n",
        "age;gender;worker\n31;f;ann\n;;\n;m;bob\n",
    ],
)
def test_attributes_of_annotators(write: Write, answers: Path, table: str) -> None:
    corpus = read(answers, annotator_attributes=write(table, "people.csv"))
    assert list(corpus.annotators) == ["ann", "bob"]
    assert corpus.annotator_attributes["gender"].to_pylist() == ["f", "m"]
    assert corpus.annotator_attributes["age"].to_pylist() == [31, None]
    assert corpus.annotator_attributes.keys() <= {"gender", "age", "id"}
    assert corpus.notes[-1].endswith("of 2 of 2 annotators")


def test_attributes_of_others(write: Write, answers: Path) -> None:
    people = write("annotator,gender\nzoe,f\nmax,m\n", "people.csv")
    message = "people.csv: no annotator in common: annotator has 'zoe', 'max', the answers have "
    with pytest.raises(DataError, match=message):
        read(answers, annotator_attributes=people)
    people = write("age,annotator\n31,ann\n32,ann\n33,bob\n", "people.csv")
    message = "people.csv: 2 rows for the annotator 'ann' in 'annotator'; keep one row for each"
    with pytest.raises(DataError, match=message):
        read(answers, annotator_attributes=people)


@pytest.mark.parametrize("named", [False, True])
def test_many_numeric_columns_are_features(write: Write, named: bool) -> None:
    n = 4 if named else 20
    header = ",".join(["item", "worker", "label", *(f"x{k}" for k in range(n))])
    vectors = {"a": [f"{k / 7:.3f}" for k in range(n)], "b": [f"{k / 9:.3f}" for k in range(n)]}
    rows = [("a", "ann", "yes"), ("a", "bob", "no"), ("b", "ann", "no")]
    path = write("\n".join([header, *(",".join([*row, *vectors[row[0]]]) for row in rows)]))
    corpus = read(path, features="x*" if named else None)
    assert corpus.contents["features"].kind == "features"
    assert corpus.content["features"].tolist() == [0, 1]
    assert corpus.contents["features"][1][1] == pytest.approx(0.111)
    assert corpus.item_attributes == {}


def test_a_list_column_is_features() -> None:
    vectors = np.random.default_rng(0).random((2, 16)).tolist()
    table = {"item": ["a", "b"], "worker": ["ann", "ann"], "label": ["yes", "no"]}
    corpus = read(pa.table({**table, "embedding": vectors}))
    assert np.allclose(corpus.contents["features"][0], vectors[0])
    assert list(corpus.questions) == ["label"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"items": "image_id,split\nq,test\nr,test\n"}, "no item in common: it has 'q', 'r'"),
        ({"gold": "image_id,truth\na,no\na,yes\n"}, "no column with one gold label for each item"),
        ({"features": "nothing*"}, "no column 'nothing\\*' for features, and no such file"),
    ],
)
def test_what_cannot_be_joined(
    write: Write, answers: Path, options: dict[str, str], message: str
) -> None:
    files: dict[str, Any] = {
        k: v if k == "features" else write(v, f"{k}.csv") for k, v in options.items()
    }
    with pytest.raises(DataError, match=message):
        read(answers, **files)


def test_an_array_without_an_order(answers: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((2, 3)))
    with pytest.raises(DataError, match=r"2 rows, but no order of items; give the items"):
        read(answers, features=tmp_path / "x.npy")
