"""`import dissensus` and `dissensus --help` load nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("torch", "transformers", "sklearn", "scipy.stats", "pandas", "numba")
COMMANDS = (
    "describe",
    "agreement",
    "convert",
    "simulate",
    "train",
    "predict",
    "evaluate",
    "compare",
    "cache",
)


def loaded_by(program: str) -> list[str]:
    """Which heavy modules a fresh process has loaded at the end of a program."""
    report = f"import json, sys; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{report}"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(found, list)
    return found


def help_of(*arguments: str) -> str:
    """A program that prints a help text the way the `dissensus` command does."""
    return f"""
import sys
sys.argv = {["dissensus", *arguments, "--help"]}
from dissensus.cli import main
try:
    main()
except SystemExit as stop:
    assert stop.code == 0, stop.code
"""


@pytest.mark.parametrize(
    "program",
    [
        "import dissensus",
        "from dissensus import Annotations, Corpus, Predictions, readers, datasets, agreement",
        "from dissensus.methods import METHODS; assert METHODS",
        help_of(),
        *(help_of(command) for command in COMMANDS),
    ],
    ids=["import", "data", "methods", "--help", *(f"{command} --help" for command in COMMANDS)],
)
def test_nothing_heavy_is_loaded(program: str) -> None:
    assert loaded_by(program) == []


def test_the_look_at_loaded_modules_sees_a_heavy_one() -> None:
    assert loaded_by("import pandas") == ["pandas"]
