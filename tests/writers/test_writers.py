"""What is written and read again is the same, where the format can hold it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import dissensus as ds
from dissensus.cli import app
from dissensus.errors import DataError
from dissensus.writers import write
from tests.readers.conftest import rows_of

TABLE = pa.table(
    {
        "item": ["t1", "t1", "t2", "t2", "t3"],
        "annotator": ["ann", "bob", "ann", "bob", "ann"],
        "mood": [["joy", "fear"], [], ["joy"], ["joy"], []],
        "rude": ["1", "3", "2", "2", "1"],
        "text": ['a, "b"', 'a, "b"', "c\nd", "c\nd", "é"],
        "age": ["30", "40", "30", "40", "30"],
        "split": ["train"] * 4 + ["test"],
        "gold_rude": ["1", "1", "2", "2", None],
    }
)


@pytest.fixture
def corpus() -> ds.Corpus:
    return ds.read(TABLE, answer=["mood", "rude"])


@pytest.mark.parametrize(
    ("name", "to"),
    [(f"labels.{ending}", None) for ending in ("csv", "tsv", "parquet", "jsonl", "json", "xlsx")]
    + [("labels", "datasets")],
)
def test_tables_hold_everything(corpus: ds.Corpus, tmp_path: Path, name: str, to: Any) -> None:
    assert write(corpus, tmp_path / name, to) == []
    again = ds.read(tmp_path / name, answer=["mood", "rude"])
    for question in corpus.questions:
        assert sorted(rows_of(again, question)) == sorted(rows_of(corpus, question))
        assert again[question].scale == corpus[question].scale
    assert again.gold["rude"].answers() == corpus.gold["rude"].answers()
    assert sorted(again.parts()) == ["test", "train"]
    assert sorted(again.text_of(item) for item in range(3)) == ['a, "b"', "c\nd", "é"]
    assert list(map(str, again.annotator_attributes["age"].to_pylist())) == ["30", "40"]


def test_wide_and_crowd_kit(corpus: ds.Corpus, tmp_path: Path) -> None:
    rude = corpus.select(questions=["rude"])
    (lost, hint) = write(rude, tmp_path / "wide.csv", "wide")
    assert lost == "not in the file: annotator attribute age"
    assert hint == "to read it back: --format wide --annotator-columns ann,bob"
    wide = ds.read(tmp_path / "wide.csv", format="wide", annotators=["ann", "bob"])
    assert rows_of(wide, "answer") == rows_of(rude, "rude") and len(wide.gold) == 1
    (lost,) = write(rude, tmp_path / "labels.csv", "crowd-kit")
    assert lost.startswith("not in the file: content text, ")
    header = (tmp_path / "labels.csv").read_text().splitlines()[0]
    assert header == "task,worker,label"
    with pytest.raises(
        DataError, match="crowd-kit holds one question; choose one of 'mood', 'rude'"
    ):
        write(corpus, tmp_path / "both.csv", "crowd-kit")
    assert not (tmp_path / "both.csv").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_wide_with_several_questions(corpus: ds.Corpus, tmp_path: Path) -> None:
    *_, hint = write(corpus, tmp_path / "wide.csv", "wide")
    assert hint == "to read it back: --answer 'mood_{annotator}' --answer 'rude_{annotator}'"
    header = (tmp_path / "wide.csv").read_text().splitlines()[0]
    assert header == "item,text,mood_ann,mood_bob,rude_ann,rude_bob,gold_rude,split"
    wide = ds.read(tmp_path / "wide.csv", answer=["mood_{annotator}", "rude_{annotator}"])
    for question in corpus.questions:
        assert sorted(rows_of(wide, question)) == sorted(rows_of(corpus, question))
    assert wide.gold["rude"].answers() == ["1", "2"]


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item,annotator,answer\nt1,ann,low\nt1,bob,high\n")
    out = tmp_path / "labels.xlsx"
    options = ["--scale", "ordinal:low,high"]
    shown = CliRunner().invoke(app, ["convert", str(path), str(out), *options])
    assert shown.exit_code == 0, shown.output
    assert "to read it back: --scale ordinal:low,high" in shown.stderr.replace("\n", " ")
    assert ds.read(out)["answer"].answers() == ["low", "high"]
    for name, to, error in (
        ("a.csv", "datasets", "datasets is a folder; name one"),
        ("a", "wide", "wide is a table; the path must end in"),
        ("a.csv", "excel", "no format 'excel' to write; there are"),
        ("a.xls", None, "write a file that ends in"),
    ):
        with pytest.raises(DataError, match=error):
            write(ds.read(path), tmp_path / name, to)


def test_tasks_of_label_studio_have_the_consensus_as_a_prediction(tmp_path: Path) -> None:
    rows = {
        "item": ["t1"] * 3 + ["t2"] * 2,
        "annotator": ["ann", "bob", "eve", "ann", "bob"],
        "text": ["so good"] * 3 + ['"no"'] * 2,
        "mood": ["joy", "joy", "fear", "fear", "fear"],
        "score": [1.5, 2.5, 2.0, 4.25, 4.75],
    }
    corpus = ds.read(rows, answer=["mood", "score"])
    (tmp_path / "tasks.json").write_text("old")
    with pytest.raises(DataError, match="tasks.json: already exists; replace it with --over"):
        write(corpus, tmp_path / "tasks.json", "label-studio")
    notes = write(corpus, tmp_path / "tasks.json", "label-studio", overwrite=True)
    first, second = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    assert first["data"] == {
        "item": "t1",
        "text": "so good",
        "votes_mood": "ann: joy; bob: joy; eve: fear",
        "votes_score": "ann: 1.5; bob: 2.5; eve: 2",
    }
    (prediction,) = first["predictions"]
    assert prediction["score"] == 0.6667  # of the votes; ratings have no share
    assert [(one["from_name"], one["type"], one["value"]) for one in prediction["result"]] == [
        ("mood", "choices", {"choices": ["joy"]}),
        ("score", "number", {"number": 2.0}),
    ]
    assert second["predictions"][0]["score"] == 1 and second["data"]["text"] == '"no"'
    configuration = notes[-1].partition(": ")[2]
    view = ElementTree.fromstring(configuration)
    assert [one.tag for one in view] == ["Text", "Choices", "Number"]
    assert [choice.get("value") for choice in view.iter("Choice")] == ["fear", "joy"]
    with pytest.raises(DataError, match=r"the path must end in \.json"):
        write(corpus, tmp_path / "tasks.csv", "label-studio")
