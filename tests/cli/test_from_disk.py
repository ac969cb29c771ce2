"""--from-disk and --by-item, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dissensus.readers import files
from tests.cli.conftest import Run

LINES = """item,annotator,label
t1,ann,yes
t2,ann,no
t1,bob,yes
t2,bob,no
t1,cy,no
t3,ann,no
t3,bob,yes
"""


@pytest.fixture
def folder(run: Run, tmp_path: Path) -> Path:
    table = tmp_path / "labels.csv"
    table.write_text(LINES)
    assert run("convert", table, tmp_path / "answers", "--by-item").code == 0
    return tmp_path / "answers"


@pytest.mark.parametrize("method", ["majority", "dawid-skene"])
def test_aggregate_from_disk_writes_the_same_table(run: Run, folder: Path, method: str) -> None:
    from_disk = run("aggregate", folder, "--from-disk", "--method", method)
    assert from_disk.out == run("aggregate", folder, "--method", method).out


def test_the_table_of_annotators_is_the_same_from_disk(run: Run, folder: Path) -> None:
    table = folder.parent / "annotators.csv"
    words = ("aggregate", folder, "--method", "dawid-skene", "--annotator-table", table)
    assert run(*words, "--from-disk").code == 0
    from_disk = table.read_text()
    assert run(*words).code == 0
    assert from_disk == table.read_text() and from_disk.count("\n") == 4


def test_gold_labels_are_used_from_disk(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    lines = LINES.splitlines()
    gold = [f"{line},{'yes' if line[:2] == 't1' else 'no'}" for line in lines[1:]]
    table.write_text("\n".join([f"{lines[0]},gold", *gold, ""]))
    folder = tmp_path / "answers"
    assert run("convert", table, folder, "--by-item").code == 0
    for options in ((), ("--use-gold",)):
        words = ("aggregate", folder, "--method", "dawid-skene", *options)
        from_disk = run(*words, "--from-disk")
        whole = run(*words)
        assert from_disk.out == whole.out
        assert from_disk.err.splitlines()[-1] == whole.err.splitlines()[-1]
        assert "on 3 gold labels" in from_disk.err


def test_describe_from_disk_counts_the_same(run: Run, folder: Path) -> None:
    from_disk = run("describe", folder, "--from-disk").out.splitlines()
    whole = run("describe", folder).out.splitlines()
    assert from_disk == whole[: len(from_disk)]
    assert "krippendorff-alpha" in "".join(from_disk) and "most disputed" in "".join(from_disk)


def test_agreement_from_disk_has_the_same_numbers_and_sentence(run: Run, folder: Path) -> None:
    from_disk = run("agreement", folder, "--from-disk", "--interval", "--json")
    entries = json.loads(from_disk.out)["questions"][0]["measures"]
    names = [option for one in entries for option in ("--measure", one["measure"])]
    whole = run("agreement", folder, "--interval", "--json", *names)
    assert entries == json.loads(whole.out)["questions"][0]["measures"]
    assert from_disk.code == 0 and len(entries) == 5
    last = run("agreement", folder, "--from-disk").out.splitlines()[-1]
    assert last == run("agreement", folder).out.splitlines()[-1]
    assert last.startswith("label: Krippendorff's alpha = ")


def test_a_large_table_is_converted_in_parts(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "labels.csv"
    table.write_text(LINES)
    whole = run("convert", table, tmp_path / "whole", "--by-item")
    monkeypatch.setattr(files, "LARGE", 0)
    in_parts = run("convert", table, tmp_path / "parts", "--by-item")
    assert in_parts.err.replace("parts", "whole") == whole.err and in_parts.code == 0
    for file in (tmp_path / "whole").iterdir():
        assert file.read_bytes() == (tmp_path / "parts" / file.name).read_bytes()
