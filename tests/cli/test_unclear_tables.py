"""A person at a terminal is asked how to read an unclear table; a script never is."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

TABLE = "id,toxic,rude\n1,no,yes\n2,yes,no\n3,no,no\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    path.write_text(TABLE)
    return path


def describe(table: Path, typed: str) -> tuple[int, str]:
    """The exit code and all that is printed in a terminal, in which this is typed."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "dissensus", "describe", str(table), "--remember"]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True)
    os.close(theirs)
    os.write(ours, typed.encode())
    printed = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the terminal is closed
            break
        if not part:
            break
        printed += part
    os.close(ours)
    return process.wait(), printed.decode()


def test_the_chosen_way_is_read_and_remembered(table: Path) -> None:
    code, printed = describe(table, "2\n")
    assert code == 0, printed
    assert "1: if each is an annotator" in printed and "2: if each is a question" in printed
    assert "3 items, 2 annotators" in printed
    assert 'answer = ["toxic", "rude"]' in (table.parent / "labels.csv.dissensus.toml").read_text()


def test_nothing_is_read_without_an_answer(table: Path) -> None:
    code, printed = describe(table, "\n")
    assert code == 1 and "not read; type the command above that is right" in printed
    assert [path.name for path in table.parent.iterdir()] == ["labels.csv"]


def script(*words: str) -> tuple[int, str]:
    """The exit code and all that is printed where nobody can answer."""
    command = [sys.executable, "-m", "dissensus", *words]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return result.returncode, (result.stdout + result.stderr).decode()


def test_a_script_is_never_asked(table: Path) -> None:
    code, printed = script("describe", str(table), "--merge-variants", "--missing", "- -")
    assert code == 1 and "Read it as" not in printed
    assert "   3 items, 2 annotators" in printed
    typed = "--merge-variants --missing '- -'"  # goes with what is proposed
    assert f"   dissensus describe {table} --answer toxic --answer rude {typed}\n" in printed
