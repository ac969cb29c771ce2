"""The options that read FILE, as every command takes them."""

from __future__ import annotations

import json
from pathlib import Path

from .conftest import Run


def test_the_columns_of_a_wide_table(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("id,anna,ben,toxic\n1,yes,no,yes\n2,no,,no\n", encoding="utf-8")
    ended = run("describe", table, "--annotator-columns", "anna, ben", "--json")
    assert ended.err == (
        "labels.csv: wide table; item = id, annotators = anna, ben (nominal: no, yes); "
        "also toxic; 3 answers by 2 annotators on 2 items\n"
    )
    assert json.loads(ended.out)["questions"][0]["loaded"] == 3
    assert "annotators = anna, ben, toxic" in run("describe", table, "--format", "wide").err


def test_a_file_that_is_cut_off(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "labels.csv.gz"
    table.write_bytes(b"\x1f\x8b\x08")
    ended = run("describe", table)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        f"Error: {table}: damaged gzip (Compressed file ended before the end-of-stream marker "
        "was reached); is the file cut off?\n"
    )
