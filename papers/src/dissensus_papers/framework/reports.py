"""A paper's report, which is plain data: its head, its file, and the tests of differences in it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.errors import DataError
from dissensus.evaluation import (
    Difference,
    FitFolder,
    here,
    over_both,
    over_items,
    resampling,
    statistic_over_both,
    statistic_over_items,
)
from dissensus.files import parse_json, plain_bytes, staged

Report = dict[str, Any]  # tables are written from it alone
RESAMPLES = 1000  # of macro-F1 over the items of a single run


# ---- its head and its file ----


def kept_report(path: Path, paper: str) -> Report:
    """A report from its file, which has the paper's name, and conditions."""
    kept = read_json(path)
    if not isinstance(kept, dict) or kept.get("paper") != paper or "conditions" not in kept:
        raise DataError(f"{path}: not a report on {paper} written by dissensus")
    return dict(kept)


def begun_with(path: Path, paper: str) -> Report:
    """The facts, command and commits that a folder was begun with; another one is refused."""
    front = FitFolder(path).begun()
    other = front["facts"].get("paper")
    if other is None:
        raise DataError(
            f"{path}: holds a comparison, not outcomes of {paper}; show it with: "
            f"dissensus compare --show {path}"
        )
    if other != paper:
        raise DataError(
            f"{path}: holds outcomes of {other}, not of {paper}; show it with: dissensus papers "
            f"{other} --show {path}"
        )
    return front


def head(path: Path, front: Report, machines: Iterable[str]) -> Report:
    """The first entries of a report: the paper, the command, commits, date and machines.

    Args:
        front: what `begun_with` returned.
        machines: of each fit; a folder without a fit is refused.
    """
    machines = sorted(set(machines))
    if not machines:
        raise DataError(f"{path}: nothing is trained yet; resume with: {front['command']}")
    about = {"paper": front["facts"]["paper"], **{n: front[n] for n in ("command", "commits")}}
    return {**about, "date": here()["date"], "machines": machines}


def read_json(path: Path) -> Any:
    """What a JSON file contains; a damaged one is refused in one line."""
    return parse_json(plain_bytes(path), path)


def write_json(path: Path, content: Report) -> None:
    """Write a JSON file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with staged(path) as new:
        new.write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")


# ---- tests of differences ----


def over(first: np.ndarray, second: np.ndarray, groups: np.ndarray) -> Report:
    """Of scores (n_runs, n_items), over runs and items; of a single run, over items alone."""
    return short((over_both if len(first) > 1 else over_items)(first, second, groups=groups))


def accuracy_and_f1(
    label: np.ndarray, first: np.ndarray, second: np.ndarray, groups: np.ndarray
) -> Report:
    """Of answers (n_runs, n_items), accuracy and macro-F1; of a single run, over items alone."""
    right = (first == label).astype(float), (second == label).astype(float)
    scored = resampling.macro_f1(label, first), resampling.macro_f1(label, second)
    if len(first) > 1:
        f1 = statistic_over_both(*scored, groups=groups)
    else:
        f1 = statistic_over_items(*scored, groups=groups, resamples=RESAMPLES)
    return {"accuracy": over(*right, groups), "f1": short(f1)}


def macro_f1(label: np.ndarray, answers: np.ndarray) -> float:
    """Of answers (n_items,)."""
    ones = np.ones((1, len(label)))
    return float(resampling.macro_f1(label, answers[None])(ones)[0, 0])


def short(difference: Difference) -> Report:
    """What tables say of a difference; the reason only if it has no interval."""
    names = ("test", "effect", "low", "high", "p", "adjusted", "n_runs")
    reason = {"reason": difference.reason} if difference.reason else {}
    return {name: getattr(difference, name) for name in names} | reason
