"""The repository sets itself up, and holds nothing of the machine it was written on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from dissensus import __version__

ROOT = Path(__file__).parent.parent
MACHINE_PATH = re.compile(r"/(work|root|farm|home|Users)/[A-Za-z.]")
TEST_THAT_SKIPS = """
import pytest

@pytest.mark.data
def test_marked():
    pytest.skip("no such corpus")

def test_asks(data_folder):
    assert data_folder

def test_other():
    pytest.skip("another reason")
"""


def committed() -> list[Path]:
    """The files that git keeps; none where this is no clone."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    names = done.stdout.split("\0") if done.returncode == 0 else []
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def test_committed_files_name_no_paths_of_a_machine() -> None:
    assert MACHINE_PATH.search("see /" + "home/ann/data") and not MACHINE_PATH.search(
        "and/or src/a"
    )
    results = []
    for path in committed():
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        results += [f"{path.name}: {line}" for line in lines if MACHINE_PATH.search(line)]
    assert results == []


def pins() -> dict[str, str]:
    """Package -> version, of constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line.split("==") for line in lines if line and not line.startswith("#")]
    assert all(len(pair) == 2 for pair in pinned), "a line is NAME==VERSION"
    return {_normal(name): version for name, version in pinned}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_direct_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    direct = [
        *project["project"]["dependencies"],
        *project["dependency-groups"]["dev"],
        *project["build-system"]["requires"],
    ]
    names = {_normal(re.split(r"[\[<>=!~; ]", requirement)[0]) for requirement in direct}
    assert sorted(names - pins().keys()) == []
    assert "pip" not in pins()  # the Makefile pins it, since it reads this file


def test_the_changelog_begins_with_this_version() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / ".ci" / "check_version.py"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    files = "CHANGELOG.md, CITATION.cff, papers/pyproject.toml"
    assert done.stdout == f"version {__version__}, as in {files}\n"


def test_the_check_before_landing_can_be_run() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", script]).returncode == 0


@pytest.mark.parametrize(
    ("required", "code", "closing"),
    [("0", 0, "3 skipped"), ("1", 1, "1 failed, 1 skipped, 1 error")],
)
def test_a_skipped_data_test_fails_where_data_is_required(
    tmp_path: Path, required: str, code: int, closing: str
) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "test_made.py").write_text(TEST_THAT_SKIPS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    data: needs real corpora\n")
    environment = {k: v for k, v in os.environ.items() if k != "DISSENSUS_DATA"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_made.py"],
        cwd=tmp_path,
        env=environment | {"DISSENSUS_REQUIRE_DATA": required},
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stdout
    assert done.stdout.splitlines()[-1].startswith(closing)
