"""`import dissensus`, `dissensus --help` and commands that only show load nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dissensus.cli import COMMANDS

HEAVY = ("torch", "transformers", "sklearn", "scipy.stats", "pandas", "numba")
RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"
SHOWING = (
    ("datasets",),
    ("papers", "soft-labels", "--show", str(RESULTS / "soft_labels.json")),
    ("papers", "seedbert", "--show", str(RESULTS / "seedbert.json")),
    ("papers", "individual", "--show", str(RESULTS / "individual.json")),
    ("papers", "qumatl", "--show", str(RESULTS / "qumatl.json")),
)


def loaded_by(program: str) -> list[str]:
    """Which heavy modules a fresh process has loaded at the end of a program."""
    report = f"import json, sys; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{report}"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    fields = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(fields, list)
    return fields


def running(*arguments: str) -> str:
    """A program that does what the `dissensus` command does, and must end well."""
    return f"""
import sys
sys.argv = {["dissensus", *arguments]}
from dissensus.cli import main
try:
    main()
except SystemExit as stop:
    assert stop.code == 0, stop.code
"""


PROGRAMS = {
    "import": "import dissensus",
    "data": "from dissensus import Annotations, Corpus, Predictions, readers, datasets, agreement",
    "densities": "from dissensus.densities import Grid; Grid(8).centres",
    "methods": "from dissensus.methods import METHODS; assert METHODS",
    "evaluation": "from dissensus.evaluation import Results, compare, tables",
    "--help": running("--help"),
    **{f"{command} --help": running(command, "--help") for command in COMMANDS},
    **{" ".join(arguments): running(*arguments) for arguments in SHOWING},
}


def test_nothing_heavy_is_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is loaded stays loaded: one process runs all programs and stops at the first that loads
    a heavy module."""
    monkeypatch.setenv("DISSENSUS_CACHE", str(tmp_path))
    steps = [
        f"{program}\nassert not (heavy & sys.modules.keys()), {name!r}"
        for name, program in PROGRAMS.items()
    ]
    assert loaded_by("\n".join([f"import sys; heavy = set({HEAVY})", *steps])) == []


def test_the_look_at_loaded_modules_sees_a_heavy_one() -> None:
    assert loaded_by("import pandas") == ["pandas"]


def test_a_plan_without_methods_needs_no_torch(tmp_path: Path) -> None:
    """`dissensus run` on answers alone starts at once."""
    table = tmp_path / "labels.csv"
    table.write_text("item,annotator,answer\na,ann,yes\nb,ann,no\n", encoding="utf-8")
    program = (
        "import dissensus, dissensus.cli.run, dissensus.workflow\n"
        "from dissensus.workflow.plan import plan\n"
        f"assert not plan(dissensus.read({str(table)!r})).methods"
    )
    assert "torch" not in loaded_by(program)
