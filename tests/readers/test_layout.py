"""Layouts: what a person says about a file, and what is read from it."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from dissensus import Layout, read
from dissensus.errors import DataError
from dissensus.files.tabular import write_workbook
from dissensus.readers.layout import file_beside, layouts_taken
from tests.error_texts import error_text

from .conftest import Write

FILE = "labels.csv"
# name of the file, its text, the layout, and the rows: item, annotator, answer
CASES: dict[str, tuple[str, str, str, str]] = {
    "pairs of columns": (
        FILE,
        "Id,Score1,Score2,TurkId1,TurkId2\na,1,2,w1,w2\nb,3,4,w2,w3\n",
        "item = 'Id'\nannotator = 'TurkId{k}'\nanswer = 'Score{k}'",
        "a w1 1|a w2 2|b w2 3|b w3 4",
    ),
    "a column for each annotator and question": (
        FILE,
        "id,r1_x,r2_x,r3_x\na,1,2,\nb,3,4,\n",
        "item = 'id'\nanswer = 'r{annotator}_{question}'",
        "a 1 1|a 2 2|b 1 3|b 2 4",
    ),
    "a row for each person": (
        FILE,
        "name,age,p_7,p_8\nann,30,yes,no\nbob,40,no,no\n",
        "annotator = 'name'\nanswer = 'p_{item}'",
        "7 ann yes|8 ann no|7 bob no|8 bob no",
    ),
    "an item of two columns": (
        FILE,
        "a,b,who,label\nx,y,ann,1\nx,z,ann,2\nx,y,bob,3\n",
        "item = ['a', 'b']\nannotator = 'who'\nanswer = 'label'",
        "x | y ann 1|x | z ann 2|x | y bob 3",
    ),
    "lists that belong together": (
        FILE,
        "t,who,what\n1,\"['ann', 'bob']\",\"['x', 'y']\"\n2,\"['eve']\",\"['x']\"\n",
        "item = 't'\nannotator = 'who'\nanswer = 'what'\ncells = 'lists'",
        "1 ann x|1 bob y|2 eve x",
    ),
    "an object with an answer for each annotator": (
        "labels.jsonl",
        '{"t": "1", "by": {"ann": "x", "bob": "y"}}\n{"t": "2", "by": {"ann": "y"}}\n',
        "item = 't'\nanswer = 'by'\ncells = 'keys'",
        "1 ann x|1 bob y|2 ann y",
    ),
    "records": (
        "labels.jsonl",
        '{"t": "1", "all": [{"p": "ann", "v": "x"}, {"p": "bob", "v": "y"}]}\n',
        "item = 't'\nanswer = 'all.v'\nannotator = 'p'\ncells = 'records'",
        "1 ann x|1 bob y",
    ),
    "no line of names": (
        "labels.txt",
        "ann\t1\tx\nbob\t1\ty\nann\t2\tx\n",
        "header = 0\ncolumns = ['coder', 'item', 'label']\nannotator = 'coder'\nitem = 'item'",
        "1 ann x|1 bob y|2 ann x",
    ),
    "two lines of names": (
        FILE,
        "who,Which?,\nResponse,tea,cake\nann,yes,no\nbob,no,no\n",
        "header = 2\nannotator = 'who'\nanswer = 'Which? | {item}'",
        "tea ann yes|cake ann no|tea bob no|cake bob no",
    ),
    "comments and lines above": (
        FILE,
        "about,this\n% more\nitem;worker;label\n1;ann;x\n% no row\n2;ann;y\n",
        "skip = 1\ncomment = '%'\ndelimiter = ';'",
        "1 ann x|2 ann y",
    ),
    "quotes that are letters": (
        FILE,
        'item\tworker\tlabel\n1\tann\t"x\n2\tann\ty\n',
        "delimiter = '\\t'\nquotes = false",
        '1 ann "x|2 ann y',
    ),
    "all annotators by their part of a name": (
        FILE,
        "id,Annot1,Annot-Eve\na,x,y\nb,y,y\n",
        "item = 'id'\nanswer = 'Annot{annotator}'",
        "a 1 x|a -Eve y|b 1 y|b -Eve y",
    ),
}


FILES = {
    "ann/1.conll": 'a  b x\n" y\n\nc x\n',
    "bob/1.conll": 'a  b x\n" x\n\nc x\n',
    "about.md": "nothing",
}
CONLL = """files = "{annotator}/{file}.conll"
header = 0
delimiter = " "
quotes = false
columns = ["token", "label"]
item = ["file", "{row}"]
text = "token"
answer = "label"
"""


@pytest.mark.parametrize("packed", [False, True])
def test_names_of_files(tmp_path: Path, packed: bool) -> None:
    folder = tmp_path / "tokens"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    layout = Layout.from_toml(CONLL)
    path = Path(shutil.make_archive(str(folder), "zip", folder)) if packed else folder
    rows = "1 | 1 ann x|1 | 2 ann y|1 | 3 ann x|1 | 1 bob x|1 | 2 bob x|1 | 3 bob x"
    assert long_rows(path, layout=layout) == rows
    assert read(path, layout=layout).contents["text"].values.to_pylist() == ["a  b", '"', "c"]
    with pytest.raises(DataError, match="no file is named like .*; there are 'about.md'"):
        read(path, layout=layout.with_changes(files="{annotator}.csv"))


def test_names_of_sheets(tmp_path: Path) -> None:
    path = tmp_path / "labels.xlsx"
    sheets: dict[str, list[list[Any]]] = {"about": [["this"], ["study"]]}
    sheets |= {
        f"{who} May": [["id", "rude"], ["a", x], ["b", 1]] for who, x in (("A", 1), ("B", 2))
    }
    write_workbook(path, sheets)
    assert long_rows(path, layout={"files": "{annotator} May"}) == "a A 1|b A 1|a B 2|b B 1"


def test_a_list_inside_a_document(write: Write) -> None:
    answers = [{"item": "a", "annotator": who, "label": n} for who, n in (("x", 1), ("y", 2))]
    path = write(json.dumps({"about": "this", "data": {"all": answers}}, indent=1), "labels.json")
    with layouts_taken() as taken:
        assert long_rows(path, corpus="data.all") == "a x 1|a y 2"
    assert long_rows(path, layout=taken[-1]) == "a x 1|a y 2"
    with pytest.raises(DataError, match="no key 'al'; there are 'all'"):
        read(path, corpus="data.al")


def test_a_zip(tmp_path: Path) -> None:
    path = tmp_path / "labels.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("a.csv", "item,annotator,label\n1,ann,x\n1,bob,y\n")
        packed.writestr("b.csv", "task,worker,mood\n1,ann,x\n1,bob,y\n1,bob,y,z\n")
        packed.writestr("__MACOSX/._a.csv", b"\0")
    assert long_rows(path, corpus="a.csv") == "1 ann x|1 bob y"
    assert error_text(read, path, corpus="b.csv").startswith(f"{path}/b.csv, line 4: 4 fields")


def test_columns_that_are_ignored(write: Write) -> None:
    path = write("item,worker,label,gold\n1,ann,x,x\n1,bob,y,x\n")
    corpus = read(path, layout={"ignore": ["worker", "gold"]})
    assert corpus.n_annotators == 0 and not corpus.gold and corpus["label"].n_answers == 2


def long_rows(path: Path, **options: Any) -> str:
    corpus = read(path, scale="nominal", **options)
    (answers,) = corpus.questions.values()
    assert answers.annotator is not None
    rows = zip(answers.item, answers.annotator, answers.answers(), strict=True)
    return "|".join(f"{corpus.items[i]} {corpus.annotators[a]} {value}" for i, a, value in rows)


@pytest.mark.parametrize("case", CASES)
def test_a_layout(write: Write, case: str) -> None:
    name, text, toml, rows = CASES[case]
    path = write(text, name)
    layout = Layout.from_toml(toml)
    assert Layout.from_toml(layout.to_toml()) == layout
    assert long_rows(path, layout=layout) == rows
    file_beside(path).write_text(toml, encoding="utf-8")
    assert long_rows(path) == rows
    with layouts_taken() as taken:
        read(path, layout=layout)
    assert long_rows(path, layout=taken[-1]) == rows


@pytest.mark.parametrize(
    ("text", "layout", "counts"),
    [
        ("id,v_no,v_1\na,2,0\nb,1,3\n", {"answer": "v_{value}"}, {"no": 3, "1": 3}),
        ("id,v_no,v_1\na,2,0\nb,1,3\n", {"answer": ["v_no", "v_1"], "cells": "counts"}, {}),
        ('id,n\na,"{""x"": 2}"\nb,"{""y"": 1}"\n', {"answer": "n", "cells": "counts"}, {"x": 2}),
        ("id,given\na,112\nb,21\n", {"answer": "given", "cells": "digits"}, {"1": 3, "2": 2}),
    ],
)
def test_answers_of_unknown_annotators(
    write: Write, text: str, layout: dict[str, Any], counts: dict[str, int]
) -> None:
    corpus = read(write(text), layout=layout)
    (answers,) = corpus.questions.values()
    totals = dict(zip(answers.scale.values, answers.counts().sum(axis=0), strict=True))  # type: ignore[attr-defined]
    assert corpus.n_items == 2 and answers.annotator is None
    assert totals.items() >= counts.items() and sum(totals.values()) == answers.n_answers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Id,Score1,Score2,TurkId1,TurkId2\na,1,2,w1,w2\nb,3,4,w2,w3\n", {"answer": ("Score{k}",)}),
        (
            "id,annotator_1,annotator_2,label_1,label_2\na,ann,bob,x,y\nb,bob,eve,x,x\n",
            {"annotator": "annotator_{k}"},
        ),
        ("id,rater1_x,rater2_x,x_sum\na,1,2,3\nb,3,4,7\n", {"annotators": ("rater1", "rater2")}),
        ("task,worker,label\n1,ann,x\n1,bob,y\n", {"annotator": "worker", "answer": ("label",)}),
        (
            "rater,age,img1.jpg,img2.jpg\nann,30,1,2\nbob,40,2,2\neve,20,1,1\n",
            {"item": "{column}", "annotator": "rater", "answer": ("img1.jpg", "img2.jpg")},
        ),
        (
            "# about\n# this file\n,,\ntask,worker,label\n1,ann,x\n1,bob,y\n",
            {"item": "task"},
        ),
    ],
)
def test_what_is_found_is_a_layout(write: Write, text: str, found: dict[str, Any]) -> None:
    path = write(text)
    with layouts_taken() as taken:
        first = read(path)
    assert taken[-1].columns_named.items() >= found.items()
    again = read(path, layout=taken[-1])
    assert again.questions.keys() == first.questions.keys()
    assert (again.n_items, again.n_annotators) == (first.n_items, first.n_annotators)


def test_what_is_stated_overrules_a_layout(write: Write) -> None:
    path = write("item,worker,mood,rating\n1,ann,x,1\n1,bob,y,2\n")
    layout = {"answer": "mood"}
    assert list(read(path, layout=layout).questions) == ["mood"]
    assert list(read(path, layout=layout, answer="rating").questions) == ["rating"]


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ({"answr": "x"}, "layout: no field 'answr' (did you mean 'answer'?)"),
        ({"delimiter": "\0"}, "layout: delimiter is one letter or sign of ASCII, found"),
        ({"header": 3}, "layout: header is one of 0, 1, 2, found 3"),
        ({"quotes": "no"}, 'layout: quotes must be true or false, found "no"'),
        ({"skip": -1}, "layout: skip must be a number such as 0 or 2, found -1"),
        ({"answer": [1]}, "layout: answer must be a text or a list of texts, found [1]"),
        ({"scale": ["x"]}, 'layout: scale must be a text, or a table of texts, found ["x"]'),
        ({"item": True}, "layout: item must be a text or a list of texts, found true"),
        ({"ignore": "x"}, "labels.csv: no column 'x'; it has 'a', 'b', 'c'"),
        ({"answer": "Q{k}"}, "labels.csv: no column is named like 'Q{k}'; it has 'a', 'b', 'c'"),
        ({"answer": "b{k}", "annotator": "w{k}"}, "labels.csv: no column is named like 'b{k}'"),
        ({"cells": "lists"}, "labels.csv: cells='lists' says what a cell of an answer contains"),
        ({"answer": "a", "cells": "lists"}, "labels.csv, line 2: 'a' is no list, found '1'"),
        ({"columns": ["x"]}, "labels.csv: 3 columns, but 1 names: 'x'"),
    ],
)
def test_a_layout_that_does_not_fit(write: Write, layout: dict[str, Any], message: str) -> None:
    path = write("a,b,c\n1,ann,x\n1,bob,y\n")
    assert error_text(read, path, layout=layout).replace(f"{path.parent}/", "").startswith(message)


UNNAMED = "".join(f"t{i}\tw{w}\t{'xyz'[i * w * 5 % 3]}\n" for i in range(8) for w in range(3))


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (UNNAMED, "the first line is read as data"),
        ("a\t1\tx\nb\t1\tx\na\t2\tx\nb\t2\ty\na\t3\ty\nb\t3\ty\n", "no line of column names"),
        ('item\tworker\tlabel\n1\tann\t"x\n2\tann\ty\n', "a quote is never closed"),
        ("#x\nitem,worker,label\n1,ann,x\n", "1 line above the column names left out"),
        ("item,worker,label,\n1,ann,x,\n", ""),
        ("#item,worker,label\n1,ann,x\n1,bob,x\n", ""),
    ],
)
def test_plain_texts(write: Write, text: str, note: str) -> None:
    try:
        notes = read(write(text, "labels.tsv"), repeats="last").notes
    except DataError as refusal:
        notes = (str(refusal),)
    assert any(note in one for one in notes)
