"""Nothing from a file changes what a terminal shows, and tables keep every value."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest

from tests.cli.conftest import Run

HOSTILE = "\x1b[31m", "\x9b31m", "\u202edetsurt", "\u2066x", "\x07", "\x7f"
UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    rows = [
        f"item{mark},ann{mark},{'yes' if n % 2 else 'no'}{mark}" for n, mark in enumerate(HOSTILE)
    ]
    rows += [f"item{mark},bob,yes{HOSTILE[0]}" for mark in HOSTILE]
    path.write_text("\n".join(["item,annotator,answer", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "command",
    [
        ("aggregate",),
        ("aggregate", "--json"),
        ("describe",),
        ("describe", "--json"),
        ("agreement", "--as", "markdown"),
    ],
)
def test_no_control_characters_are_printed(run: Run, table: Path, command: tuple[str]) -> None:
    ended = run(command[0], table, *command[1:], "--scale", "nominal")
    assert ended.code == 0
    assert not UNSEEN.search(ended.out) and not UNSEEN.search(ended.err)
    if "--json" in command:  # and what is read from it is what the file contains
        assert "yes\x1b[31m" in json.dumps(json.loads(ended.out), ensure_ascii=False).replace(
            "\\u001b", "\x1b"
        )


def test_a_label_of_megabytes_is_cut_when_it_is_shown(run: Run, tmp_path: Path) -> None:
    rows = [f"i{n},{who},{'L' * 3_000_000 if n == 3 else 'no'}" for n in range(6) for who in "ab"]
    table = tmp_path / "labels.csv"
    table.write_text("\n".join(["item,annotator,answer", *rows]) + "\n", encoding="utf-8")
    ended = run("describe", table, "--scale", "nominal")
    assert ended.code == 0 and f"{'L' * 100}" in ended.out.replace("\n", "").replace(" ", "")
    assert len(ended.out) + len(ended.err) < 20_000


def test_cells_that_a_spreadsheet_would_run(run: Run, tmp_path: Path) -> None:
    """CSV contains values as they are, as pandas writes them; in .xlsx every text is a text."""
    answers = ["=1+1", "+1", "@x", "-1.5"]
    rows = [f"i{n},{who},{answer}" for n, answer in enumerate(answers) for who in "ab"]
    table = tmp_path / "labels.csv"
    table.write_text("\n".join(["item,annotator,answer", *rows]) + "\n", encoding="utf-8")
    named = ("--scale", "nominal")
    assert run("convert", table, tmp_path / "again.csv", *named).code == 0
    assert table.read_text().split("\n") == (tmp_path / "again.csv").read_text().split("\n")
    assert run("convert", table, tmp_path / "again.xlsx", *named).code == 0
    with zipfile.ZipFile(tmp_path / "again.xlsx") as packed:
        sheet = packed.read("xl/worksheets/sheet1.xml").decode()
    assert ">=1+1</t>" in sheet and "<f>" not in sheet
