"""Features, and files that are joined by item."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

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
