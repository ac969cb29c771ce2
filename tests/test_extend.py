"""The page "Add a part", its changes made in a copy of the source."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def blocks(section: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", SECTIONS[section], re.DOTALL)


def made(section: str, folder: Path) -> set[str]:
    """Make the changes of a section; the files that it adds or changes."""
    files = set()
    for block in blocks(section, "python"):
        name, _, text = block.removeprefix("# ").partition("\n")
        (folder / name).write_text(text, encoding="utf-8")
        files.add(name)
    for block in blocks(section, "diff"):
        name, _, change = block.removeprefix("--- ").partition("\n")
        lines = change.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line.startswith(" "))
        after = "".join(line[1:] for line in lines)
        text = (folder / name).read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{name} has {before!r} {text.count(before)} times"
        (folder / name).write_text(text.replace(before, after), encoding="utf-8")
        files.add(name)
    return files


def commands(section: str) -> list[tuple[str, str]]:
    """The commands of a section, and what each prints."""
    (block,) = blocks(section, "console")
    parts = re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    return [(command, output) for command, output in parts]


@pytest.mark.parametrize("section", SECTIONS)
def test_a_part_is_added_in_three_files_at_most(section: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    assert 1 <= len(made(section, tmp_path)) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS)
def test_the_commands_of_the_page_print_what_it_shows(section: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    made(section, tmp_path)
    labels = re.search(r"```\n(item,.*?)```", PAGE, re.DOTALL)
    assert labels is not None
    (tmp_path / "labels.csv").write_text(labels[1], encoding="utf-8")
    paths = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src"), "PATH": paths}
    for command, expected in commands(section):
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert doctest.OutputChecker().check_output(expected, done.stdout, flags), done.stdout
