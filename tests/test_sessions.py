"""The commands that the README and the docs show, typed again in a folder with the sample tables.

A block of ```console has lines that begin with "$ " and what they print; "..." stands for anything.
Blocks with a title are files in that folder.
After a change that is meant, `python -m tests.test_sessions` writes blocks without "..." anew, and
prints what the others would be.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dissensus.cli import main

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "docs" / "samples"
FILE = re.compile(r"""^```\w+ title="([^"]+)"\n(.*?)```""", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"(```console\n)(.*?)(```)", re.DOTALL)
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if BLOCK.search(page.read_text(encoding="utf-8")) and page.name != "extend.md"
]  # extend.md changes the source, see test_extend.py
TRAINS = re.compile(r"dissensus (run|train|compare) ")
LONG = [page for page in PAGES if "\n$ dissensus run " in page.read_text(encoding="utf-8")]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def typed(line: str) -> str:
    """What a line shows in a terminal, in the current folder."""
    if not line.startswith("dissensus "):
        done = subprocess.run(line, shell=True, capture_output=True, text=True)
        return done.stdout + done.stderr
    shown = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    before, sys.argv = sys.argv, line.partition("   #")[0].split()
    try:
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            main()
    except SystemExit:
        pass  # what is refused is shown, too
    finally:
        sys.argv = before
    return shown.buffer.getvalue().decode()


def write_files(text: str, folder: Path) -> None:
    """The sample tables, and the files that a page shows."""
    shutil.copytree(SAMPLES, folder / "samples")
    for name, content in FILE.findall(text):
        (folder / name).write_text(content, encoding="utf-8")


def commands(block: str) -> list[tuple[str, str]]:
    """The lines of a block that are typed, and what it says that each shows."""
    return re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)


def check(page: Path, folder: Path, patch: pytest.MonkeyPatch, trains: bool) -> None:
    """Type the commands of a page, without training those before the first that trains."""
    patch.setenv("COLUMNS", "80")
    patch.delenv("FORCE_COLOR", raising=False)
    text = page.read_text(encoding="utf-8")
    write_files(text, folder)
    patch.chdir(folder)
    for block in BLOCK.finditer(text):
        for line, expected in commands(block[2]):
            if TRAINS.match(line) and not trains:
                return
            shown = typed(line)
            assert doctest.OutputChecker().check_output(expected, shown, FLAGS), (
                f"$ {line}\n{shown}"
            )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_show_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(page, tmp_path, monkeypatch, trains=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", LONG, ids=lambda page: page.name)
def test_commands_that_train_too(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(page, tmp_path, monkeypatch, trains=True)


def _again(block: re.Match[str]) -> str:
    pairs = [(line, expected, typed(line)) for line, expected in commands(block[2])]
    for line, expected, shown in pairs:
        if "..." in expected and not doctest.OutputChecker().check_output(expected, shown, FLAGS):
            print(f"$ {line}\n{shown}")
    return (
        block[1]
        + "".join(f"$ {line}\n{old if '...' in old else new}" for line, old, new in pairs)
        + block[3]
    )


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    for path in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            text = path.read_text(encoding="utf-8")
            write_files(text, Path(folder))
            os.chdir(folder)
            path.write_text(BLOCK.sub(_again, text), encoding="utf-8")
            os.chdir(ROOT)
