"""A paper's report: plain data, from a folder of outcomes or from a file written before."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dissensus.errors import DataError
from dissensus.evaluation import here
from dissensus.evaluation.execution.folder import FRONT
from dissensus.evaluation.fit import plain
from dissensus.evaluation.results import ComparisonFields
from dissensus.folders import read_json
from dissensus.json_files import parse_json
from dissensus.plain_files import plain_bytes
from dissensus_papers.framework.conditions import in_order

LARGEST = 1_000_000  # bytes of a report


def report_on(
    path: str | Path,
    paper: str,
    conditions: Iterable[str],
    models: Iterable[str],
    judged: Callable[[Path], dict[str, Any]],
) -> dict[str, Any]:
    """The report on a folder of fits, or the one that a file contains, in the paper's order.

    Args:
        judged: from a folder to the report on it.
    """
    path = Path(path)
    report = kept_report(path, paper) if path.is_file() else plain(judged(path))
    return in_order(report, conditions, models)


def kept_report(path: Path, paper: str, part: str = "conditions") -> dict[str, Any]:
    """A report from its file.

    Args:
        paper: the name under the file's key "paper".
        part: a key that it has.
    """
    kept: dict[str, Any] = parse_json(plain_bytes(path), path)
    if not isinstance(kept, dict) or kept.get("paper") != paper or part not in kept:
        raise DataError(f"{path}: not a report on {paper} written by dissensus")
    return kept


def begun_with(path: Path, paper: str) -> dict[str, Any]:
    """The facts, command and commits that a folder was begun with; another one is refused."""
    front = read_json(path, FRONT, ComparisonFields)
    if "paper" in front["facts"] and front["facts"]["paper"] != paper:
        other = front["facts"]["paper"]
        raise DataError(
            f"{path}: holds outcomes of {other}, not of {paper}; show it with: dissensus papers "
            f"{other} --show {path}"
        )
    if front["facts"].get("paper") != paper:
        raise DataError(
            f"{path}: holds a comparison, not outcomes of {paper}; show it with: "
            f"dissensus compare --show {path}"
        )
    return dict(front)


def head(path: Path, front: dict[str, Any], machines: Iterable[str]) -> dict[str, Any]:
    """The first entries of a report: the paper, the command, commits, date and machines.

    Args:
        front: what `begun_with` returned.
        machines: of each fit; a folder without a fit is refused.
    """
    machines = sorted(set(machines))
    if not machines:
        raise DataError(f"{path}: nothing is trained yet; resume with: {front['command']}")
    return {
        "paper": front["facts"]["paper"],
        "command": front["command"],
        "commits": front["commits"],
        "date": here()["date"],
        "machines": machines,
    }


def to_json(content: dict[str, Any]) -> str:
    """A report as a text that is the same each time; a dict without further ones is in a line.

    Numbers have ten digits; fewer, but at least four, if the file would be larger than 1 MB.
    """
    for digits in (10, 6, 5, 4):
        text = _text(_rounded(content, digits), "") + "\n"
        if len(text.encode()) <= LARGEST:
            break
    return text


def _text(content: Any, indent: str) -> str:
    entries = content.values() if isinstance(content, dict) else content
    nested = isinstance(content, (dict, list)) and any(
        isinstance(entry, (dict, list)) for entry in entries
    )
    if not nested:
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    further = indent + " "
    if isinstance(content, dict):
        lines = [
            f"{further}{json.dumps(key, ensure_ascii=False)}: {_text(value, further)}"
            for key, value in content.items()
        ]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return "[\n" + ",\n".join(further + _text(value, further) for value in content) + f"\n{indent}]"


def _rounded(content: Any, digits: int) -> Any:
    if isinstance(content, dict):
        return {str(key): _rounded(value, digits) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_rounded(value, digits) for value in content]
    return float(f"{content:.{digits}g}") if isinstance(content, float) else content
