"""The page on which roles of columns are changed: what it shows, refuses and keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

import dissensus as ds
from dissensus.cli.layout_page import LayoutPage
from dissensus.errors import DataError
from dissensus.readers.layout import Layout

TITLED = """Survey of comments,May 2024,,,
id,comment,anna,ben,cleo
1,"Nice, thanks",ok,ok,ok
2,go away,toxic,ok,toxic
3,hmm,ok,unsure,ok
4,you fool,toxic,toxic,ok
"""


@pytest.fixture
def page(tmp_path: Path) -> LayoutPage:
    path = tmp_path / "survey <1>.csv"
    path.write_text(TITLED)
    return LayoutPage(path)


def test_a_title_above_the_names_is_shown_as_a_row(page: LayoutPage) -> None:
    state = page.state(Layout())
    assert "no name" in state["error"] and state["header"] == 0
    assert state["rows"][:2] == [
        ["Survey of comments", "May 2024", "", "", ""],
        ["id", "comment", "anna", "ben", "cleo"],
    ]
    html = page.html()
    assert "survey &lt;1&gt;.csv" in html and "<1>" not in html


def test_an_unclear_table_is_shown_with_the_ways_to_read_it(tmp_path: Path) -> None:
    path = tmp_path / "study.csv"
    rows = "".join(f"{i},{'ab'[i % 2]},{'ba'[i // 2 % 2]},{'ab'[i % 3 > 0]}\n" for i in range(12))
    path.write_text(f"Our study, wave 2\nid,red one,blue one,green one\n{rows}")
    state = LayoutPage(path).state(Layout())
    assert state["error"].startswith("study.csv: no column of answers") and state["header"] == 1
    assert [way["words"] for way in state["ways"]][:2] == [
        "Each is an annotator",
        "Each is a question",
    ]
    state = LayoutPage(path).read({"layout": state["ways"][0]["layout"]})
    assert state["words"][0] == "12 items, 3 annotators" and not state["ways"]
    fields = {**state["layout"], "item": None, "ignore": ["id"]}
    state = LayoutPage(path).read({"layout": fields})
    assert state["roles"]["id"] == "ignore" and state["words"][0] == "12 items, 3 annotators"


def test_lines_of_different_widths_are_named(tmp_path: Path) -> None:
    path = tmp_path / "study.csv"
    path.write_text("id,ann,bob\n1,x,y\n2,x\n")
    state = LayoutPage(path).state(Layout())
    assert state["columns"] == [] and "study.csv, line 3: 2 fields" in state["error"]


def test_roles_are_changed_and_kept(page: LayoutPage) -> None:
    state = page.read({"layout": {"skip": 1}})
    assert state["error"] == "" and state["words"][0] == "4 items, 3 annotators"
    assert state["roles"]["id"] == "item" and state["roles"]["comment"] == "text"
    fields = {"skip": 1, "item": ["id"], "text": ["comment"], "annotators": ["anna", "ben"]}
    state = page.read({"layout": fields | {"gold": None, "answer": []}})
    assert state["words"][0] == "4 items, 2 annotators"
    assert any("alpha of" in line for line in state["words"])
    assert {name for name, role in state["roles"].items() if role == "annotators"} == {
        "anna",
        "ben",
    }
    cleared = page.read({"layout": dict.fromkeys(fields)})
    assert cleared["roles"] == {} and cleared["error"].startswith("no column has a role")
    kept = page.keep({"toml": state["toml"]})["kept"]
    assert (page.path.parent / kept).is_file() and ds.read(page.path).n_annotators == 2
    assert LayoutPage(page.path).read({"toml": state["toml"]}) == state


def test_a_pattern_colours_the_columns_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("Id,Turk1,Score1,Turk2,Score2\n" + "".join(
        f"{i},a{i % 3},{1 + i % 5},b{i % 2},{1 + i % 4}\n" for i in range(12)
    ))  # fmt: skip
    toml = 'item = "Id"\nannotator = "Turk{k}"\nanswer = "Score{k}"'
    state = LayoutPage(path).read({"toml": toml})
    assert state["error"] == "" and state["roles"] == {
        "Id": "item", "Turk1": "annotator", "Turk2": "annotator", "Score1": "answer",
        "Score2": "answer",
    }  # fmt: skip


@pytest.mark.parametrize(
    "request_",
    [{}, {"layout": []}, {"layout": {"colour": "red"}}, {"toml": "item ="}, {"toml": "x = 1"}],
)
def test_requests_that_are_refused(page: LayoutPage, request_: dict[str, object]) -> None:
    with pytest.raises(DataError):
        page.read(request_)


def test_nothing_is_kept_that_cannot_be_read(page: LayoutPage) -> None:
    with pytest.raises(DataError):
        page.keep({"toml": 'item = "nothing"'})
    assert list(page.path.parent.iterdir()) == [page.path]
