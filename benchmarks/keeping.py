"""What benchmarks keep: results/NAME.json, with the command that finds it again, when and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def kept(name: str) -> dict[str, Any]:
    """What was kept last; no rows, if nothing was."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"rows": []}


def keep(
    name: str, command: str, content: dict[str, Any], folder: str = "", commit: str | None = None
) -> None:
    """Write what was found in the place of what was kept.

    Args:
        command: how the script of this folder was called, "bench_training.py --runs 5".
        content: what was found, and how: seeds, threads, sizes.
        folder: if it is to be written elsewhere.
        commit: of the code, if it is no git clone.
    """
    from dissensus.evaluation import code_commit, here  # loads torch, so not while others are timed

    about = {"command": f"python benchmarks/{command}", "commit": commit or code_commit(), **here()}
    text = json.dumps(about | content, indent=1) + "\n"
    (Path(folder or RESULTS) / f"{name}.json").write_text(text, encoding="utf-8")
