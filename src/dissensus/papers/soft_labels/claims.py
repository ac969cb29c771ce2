"""What the paper claims, and what became of it here, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dissensus.evaluation.fit import number
from dissensus.papers.soft_labels.conditions import CONDITIONS, STEMS
from dissensus.papers.soft_labels.printed import BASELINE, MODELS, NEAR, TABLES

Report = dict[str, Any]
LEVEL = 0.05


def claims(report: Report) -> str:
    """What the paper claims, and what became of it here."""
    every: tuple[tuple[str, Callable[[Report], str]], ...] = (
        ("Its figures can be met", _met),
        ("MTL beats STL with gold labels (Table 1)", lambda r: _beats(r, 1)),
        ("MTL beats STL with the crowd's labels alone (Table 2)", lambda r: _beats(r, 2)),
        ("Inverse KL is the best of the losses", _best_loss),
        ("Where only MTL is right the crowd agrees more than where only STL is", _agreement),
        ("The soft-label task mitigates overfitting", _overfits_less),
        ("Ours: does cross-validation that cuts through tweets flatter", _flatters),
        ("Ours: does Adam's state from the fold before matter", _carried),
    )
    lines = ["What became of its claims"]
    for claim, judge in every:
        found = judge(report)
        if found:
            lines.append(f"- {claim}: {found}")
    return "\n".join(lines) if len(lines) > 1 else ""


def _of_table(report: Report, *tables: int) -> dict[str, Report]:
    found = report["conditions"]
    return {name: held for name, held in found.items() if CONDITIONS[name].table in tables}


def _met(report: Report) -> str:
    """How many printed accuracies we reach; of stems' silver labels the nearer protocol counts."""
    below, n = [], 0
    for name, found in _of_table(report, 1, 2).items():
        for model, of_model in found["models"].items():
            n += 1
            best = max(pooled["accuracy"] for pooled in of_model["pooled"].values())
            missing = TABLES[name][model].accuracy / 100 - best
            if missing > NEAR + 1e-9:
                below.append(f"{MODELS[model]} in {name} by {100 * missing:.1f}")
    if not n:
        return ""
    tail = f"; below: {', '.join(below)}" if below else ""
    return f"{n - len(below)} of {n} accuracies are within 1.5 points or above{tail}"


def _beats(report: Report, table: int) -> str:
    """In how many comparisons the accuracy of MTL is higher beyond doubt, lower, or neither."""
    said: dict[str, list[str]] = {"holds": [], "the reverse holds": [], "does not hold": []}
    for name, found in _of_table(report, table).items():
        for model, against in found["against"].items():
            where = f"{MODELS[model].removeprefix('MTL + ')} in {name}"
            said[holds(against["tests"]["gold"]["ours"]["accuracy"])].append(where)
    n = sum(map(len, said.values()))
    parts = [
        f"{words} in all {n}"
        if len(where) == n
        else f"{words} in {len(where)} of {n}{_named(where)}"
        for words, where in said.items()
        if where
    ]
    return "; ".join(parts)


def _named(where: Sequence[str]) -> str:
    return f" ({', '.join(where)})" if where else ""


def _best_loss(report: Report) -> str:
    """Which MTL model has the highest accuracy in each condition."""
    best = {}
    for name, found in _of_table(report, 1, 2).items():
        scores = {
            model: held["pooled"]["gold"]["accuracy"]
            for model, held in found["models"].items()
            if model != BASELINE
        }
        if len(scores) == len(MODELS) - 1:
            best[name] = max(scores, key=lambda model: scores[model])
    if not best:
        return ""
    n = sum(model == "inverse-kl" for model in best.values())
    others = [f"{MODELS[m].removeprefix('MTL + ')} in {c}" for c, m in best.items()]
    return f"it is first in {n} of {len(best)} ({', '.join(others)})"


def _agreement(report: Report) -> str:
    """The direction of every comparison of the mixed cells, and how many are significant."""
    more, less, n = [], 0, 0
    for name, found in _of_table(report, 1, 2).items():
        for model, against in found["against"].items():
            cells = against["cells"]
            mine, theirs = (number(cells["mean"][c]) for c in ("only MTL right", "only STL right"))
            if np.isnan(mine) or np.isnan(theirs):
                continue
            n += 1
            agrees = mine < theirs if CONDITIONS[name].corpus == STEMS else mine > theirs
            significant = number(cells["mann_whitney"]) <= LEVEL
            less += (not agrees) and significant
            if agrees:
                more.append(f"{model} in {name}{'*' * significant}")
    if not n:
        return ""
    named = f" ({', '.join(more)}; * p <= 0.05)" if more else ""
    return f"so in {len(more)} of {n}{named}; significantly the other way in {less}"


def _overfits_less(report: Report) -> str:
    """Whether the gap is smaller beyond doubt."""
    smaller = {"chosen": 0, "last": 0}
    larger, n = {"chosen": 0, "last": 0}, 0
    for found in _of_table(report, 1, 2).values():
        for against in found["against"].values():
            n += 1
            for when, gap in against["gap"].items():
                smaller[when] += number(gap["high"]) < 0
                larger[when] += number(gap["low"]) > 0
    if not n:
        return ""
    parts = [
        f"at the {when} epoch the gap of losses is smaller in {smaller[when]} of {n} comparisons, "
        f"larger in {larger[when]}"
        for when in ("chosen", "last")
    ]
    return "; ".join(parts)


def _flatters(report: Report) -> str:
    return _beside(report, "pos-cv-tweets", "by tweet", "by token")


def _carried(report: Report) -> str:
    return _beside(report, "pos-cv-fresh", "with a fresh Adam", "as printed")


def _beside(report: Report, other: str, this: str, that: str) -> str:
    """The accuracy of every model in a condition of ours, and in the one that it changes."""
    found = report["conditions"]
    if other not in found or "pos-cv" not in found:
        return ""
    pairs = []
    for model in MODELS:
        both = [found[name]["models"].get(model) for name in (other, "pos-cv")]
        if all(both):
            scores = [100 * held["pooled"]["gold"]["accuracy"] for held in both if held]
            pairs.append(f"{MODELS[model]} {scores[0]:.2f} against {scores[1]:.2f}")
    return f"{this} against {that}: {', '.join(pairs)}" if pairs else ""


def holds(found: Report) -> str:
    """Whether a difference is above 0 beyond doubt, or below."""
    if not number(found["adjusted"]) <= LEVEL:
        return "does not hold"
    return "holds" if found["effect"] > 0 else "the reverse holds"
