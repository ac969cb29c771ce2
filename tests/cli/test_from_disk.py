"""--from-disk and --by-item, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    "words, message",
    [
        (("aggregate", "--method", "glad"), "glad needs all answers in memory; majority, soft-vot"),
        (("aggregate", "--method", "all"), "--method all has no --from-disk; leave it out"),
        (("aggregate", "--annotator-table", "a.csv"), "--from-disk has no --annotator-table; use"),
        (("aggregate", "--item", "x"), "--from-disk opens a corpus folder as it is; leave out --i"),
        (("agreement", "--by", "item"), "--from-disk counts whole measures in blocks of items; le"),
        (("agreement", "--measure", "span-f1"), "--from-disk counts whole measures in blocks of i"),
    ],
)
def test_what_cannot_be_counted_from_disk(
    run: Run, folder: Path, words: tuple[str, ...], message: str
) -> None:
    ended = run(words[0], folder, "--from-disk", *words[1:])
    assert ended.code == 1
    assert ended.err.startswith(f"Error: {message}")


def test_by_item_is_for_folders(run: Run, folder: Path) -> None:
    ended = run("convert", folder, folder.parent / "labels.parquet", "--by-item")
    assert ended.err == ("Error: --by-item is for corpus folders; leave it out, or name a folder\n")
