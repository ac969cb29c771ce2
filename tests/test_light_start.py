"""`import dissensus`, `dissensus --help` and commands that only show load nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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
    "papers",
    "cache",
)
RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"
SHOWING = (
    ("cache",),
    ("papers", "soft-labels", "--show", str(RESULTS / "soft_labels.json")),
    ("papers", "seedbert", "--show", str(RESULTS / "seedbert.json")),
    ("papers", "seedbert", "--hypothesis", str(RESULTS / "seedbert_hypothesis.json")),
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


@pytest.mark.parametrize(
    "program",
    [
        "import dissensus",
        "from dissensus import Annotations, Corpus, Predictions, readers, datasets, agreement",
        "from dissensus.densities import Grid, fixed_kde; fixed_kde([[0.5]], Grid(8), 0.2)",
        "from dissensus.methods import METHODS; assert METHODS",
        "from dissensus.evaluation import Results, compare, tables",
        running("--help"),
        *(running(command, "--help") for command in COMMANDS),
    ],
    ids=[
        "import",
        "data",
        "densities",
        "methods",
        "evaluation",
        "--help",
        *(f"{command} --help" for command in COMMANDS),
    ],
)
def test_nothing_heavy_is_loaded(program: str) -> None:
    assert loaded_by(program) == []


@pytest.mark.parametrize("arguments", SHOWING, ids=lambda words: " ".join(words[:3]))
def test_showing_needs_nothing_heavy(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DISSENSUS_CACHE", str(tmp_path))
    assert loaded_by(running(*arguments)) == []


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
