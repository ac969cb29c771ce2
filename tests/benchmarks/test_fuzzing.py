"""Small runs of `make fuzz` and `make chaos`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

FUZZING = Path(__file__).parents[2] / "benchmarks" / "fuzzing"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "options", "first"),
    [
        ("fuzz.py", ("--count", "400"), "400 inputs"),
        ("chaos.py", ("--count", "4", "--commands", "describe"), " disturbances of 1 commands"),
    ],
)
def test_a_small_run_has_no_findings(script: str, options: tuple[str, ...], first: str) -> None:
    command = [sys.executable, str(FUZZING / script), *options]
    result = subprocess.run(command, capture_output=True, text=True)
    assert first in result.stdout.splitlines()[0], result.stderr
    assert result.stdout.endswith("findings: 0\n") and result.returncode == 0, result.stdout


def test_every_format_has_a_sample() -> None:
    from dissensus.readers import READERS

    text = (FUZZING / "samples.py").read_text(encoding="utf-8")
    missing = [name for name in READERS if not re.search(rf"\"{name}[\"-]", text)]
    assert missing == []
