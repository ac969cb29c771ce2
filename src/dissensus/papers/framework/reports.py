"""A paper's report: plain data, from a folder of outcomes or a file that was kept of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dissensus.errors import DataError
from dissensus.evaluation.execution.folder import FRONT
from dissensus.folders import read_json


def kept_report(path: Path, kind: str, part: str) -> dict[str, Any]:
    """A report from its file.

    Args:
        kind: what it says of itself under "paper".
        part: a key that it has.
    """
    try:
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"{path}: damaged ({error})") from None
    if not isinstance(kept, dict) or kept.get("paper") != kind or part not in kept:
        raise DataError(f"{path}: no report on {kind}; it was not written by us")
    return kept


def begun_with(path: Path, kind: str) -> dict[str, Any]:
    """The facts, command and commits that a folder was begun with; another one is refused."""
    front = read_json(path, FRONT)
    if "paper" in front["facts"] and front["facts"]["paper"] != kind:
        other = front["facts"]["paper"]
        raise DataError(
            f"{path}: holds outcomes of {other}, not of {kind}; show it with: dissensus papers "
            f"{other} --show {path}"
        )
    if front["facts"].get("paper") != kind:
        raise DataError(
            f"{path}: holds a comparison, not outcomes of {kind}; show it with: "
            f"dissensus compare --show {path}"
        )
    return dict(front)


def to_json(content: dict[str, Any]) -> str:
    """A report as a text that is the same each time, an entry of a list in a line."""
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
