"""A person at a terminal is asked how to read an unclear table; a script never is."""

from __future__ import annotations

import os
import pty
import shlex
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


def test_who_may_be_the_annotator_is_said_with_a_command_that_works(tmp_path: Path) -> None:
    """Two columns may be; annotators are joined from a table, which needs their names."""
    path, people = tmp_path / "calls.csv", tmp_path / "people.csv"
    agents, desks = ("ann", "bob", "cy", "dee", "eve"), ("north", "south", "east", "west")
    rows = ["call,agent,desk,verdict"]
    for call in range(40):
        for one in range(3):
            who, desk = agents[(call + one) % 5], desks[(call // 2 + 3 * one) % 4]
            rows.append(f"c{call},{who},{desk},{'ok' if (call * one) % 3 else 'bad'}")
    path.write_text("\n".join(rows))
    people.write_text("agent,gender\nann,f\nbob,m\ncy,f\ndee,m\neve,f\n")
    note = "calls.csv: 'agent', 'desk' may name the annotators, as no item has one of its values "
    code, printed = script("describe", str(path), "--item", "call", "--answer", "verdict")
    assert code == 0 and f"{note}twice: dissensus describe {path} --annotator agent" in printed
    joined = ("--annotator-attributes", str(people), "--scale", "nominal:ok,bad")
    code, printed = script("describe", str(path), "--item", "call", "--answer", "verdict", *joined)
    assert code == 1 and note in printed
    words = shlex.split(printed[printed.index("dissensus describe") :])[1:]
    assert {*joined, "--item", "call"} <= {*words}
    code, printed = script(*words)
    assert code == 0 and "people.csv: gender of 5 of 5 annotators" in printed
    assert note not in printed
