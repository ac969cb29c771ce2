"""Report -> the paper's tables in plain text, with ours beside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dissensus.evaluation.difference import p_text
from dissensus.evaluation.fit import number
from dissensus.papers.soft_labels.claims import claims, holds
from dissensus.papers.soft_labels.conditions import CONDITIONS, STEMS, Condition
from dissensus.papers.soft_labels.printed import (
    CELLS,
    EARLIER,
    KURTOSIS,
    KURTOSIS_CONDITION,
    KURTOSIS_MODEL,
    MODELS,
    NEAR,
    TABLES,
    TITLE,
    Printed,
)

Report = dict[str, Any]
HEADINGS = {
    1: "Table 1: gold labels and soft labels",
    2: "Table 2: silver labels (the crowd's majority) and soft labels",
    0: "Beside the paper: the same with one thing changed",
}
STARS = ((0.01, "**"), (0.05, "*"))
WORDS = (
    "Word vectors are GloVe with 100 numbers, not 300, and characters learn from chance: the "
    "paper's own tables of both are not to be had."
)


def shown(report: Report) -> str:
    """All tables of a report, with what they say in plain words."""
    report = report | {"conditions": _in_order(report["conditions"])}
    parts = [_about(report)]
    for table in (1, 2):
        parts.append(_table(report, table))
    parts += [_cells_table(report), _gap_table(report), _table(report, 0), claims(report)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _in_order(conditions: Report) -> Report:
    """Conditions and models as the paper has them; a kept file has them by name."""
    found = {}
    for name in CONDITIONS:
        if name in conditions:
            held = conditions[name]
            sides = {
                side: {model: held[side][model] for model in MODELS if model in held[side]}
                for side in ("models", "against")
            }
            found[name] = held | sides
    return found


def _about(report: Report) -> str:
    n = len(report["seeds"])
    lines = [
        TITLE,
        f"{n} run{'s' * (n != 1)}, seeds {', '.join(map(str, report['seeds']))}; "
        f"{report['date']}, {'; '.join(report['machines'])}",
        f"commit {', '.join(report['commits'])}: {report['command']}",
    ]
    encoders = [
        str(model["settings"].get("encoder"))
        for held in report["conditions"].values()
        for model in held["models"].values()
    ]
    if any(name.startswith("tagger:") for name in encoders):
        lines.append(WORDS)
    return "\n".join(lines)


# ---- Tables 1 and 2, and ours ----


def _table(report: Report, table: int) -> str:
    """A block for each condition: the paper's figures, ours, the difference, stars, verdicts."""
    rows: list[list[str]] = []
    for name, found in report["conditions"].items():
        condition = CONDITIONS[name]
        if condition.table != table:
            continue
        for kind in condition.tested:
            rows.append([_title(condition, kind)])
            if kind == "gold" and name in EARLIER:
                who, accuracy = EARLIER[name]
                rows.append([f"  {who}", f"{accuracy:.2f}", "", "", "", "", "", ""])
            rows += [_row(name, model, found, kind) for model in MODELS if model in found["models"]]
    if not rows:
        return ""
    names = ["", "paper", "ours", "diff", "F1", "ours", "diff", "verdict"]
    notes = (
        "Accuracy and macro-F1 in percent over the predictions of all folds and runs, with their "
        "standard deviation over runs.\n"
        "Stars are the paper's test: * p <= 0.05, ** p <= 0.01. Intervals are ours: 95 % over "
        "seeds and items, p corrected (Holm)."
    )
    return f"{HEADINGS[table]}\n{_aligned([names, *rows])}\n{notes}"


def _title(condition: Condition, kind: str) -> str:
    if len(condition.tested) == 1:
        return f"{condition.title} ({condition.name})"
    against = "gold, as the paper says" if kind == "gold" else "the majority, as in its code"
    return f"{condition.title} ({condition.name}), tested on {against}"


def _row(name: str, model: str, found: Report, kind: str) -> list[str]:
    pooled = found["models"][model]["pooled"][kind]
    fits = [fit["scores"][kind] for fit in found["models"][model]["fits"]]
    against = found["against"].get(model, {}).get("tests", {}).get(kind)
    printed = TABLES.get(name, {}).get(model)
    cells = [f"  {MODELS[model]}"]
    for metric in ("accuracy", "f1"):
        ours = 100 * pooled[metric]
        stars = _stars(against, metric) if against else ""
        spread = _spread([100 * fit[metric] for fit in fits])
        paper = _paper(printed, metric)
        difference = f"{ours - getattr(printed, metric):+.2f}" if printed else ""
        cells += [paper, f"{ours:.2f}{stars}{spread}", difference]
    return [*cells, "; ".join(_verdicts(printed, pooled, against))]


def _spread(scores: Sequence[float]) -> str:
    return f" +- {np.std(scores, ddof=1):.2f}" if len(scores) > 1 else ""


def _paper(printed: Printed | None, metric: str) -> str:
    if printed is None:
        return "-"
    stars = printed.stars if metric == "accuracy" else printed.f1_stars
    return f"{getattr(printed, metric):.2f}{stars}"


def _stars(against: Report, metric: str) -> str:
    """By the paper's test, which asks only whether MTL is better."""
    p = number(against["published"][metric])
    if not number(against["ours"][metric]["effect"]) > 0:
        return ""
    return next((stars for level, stars in STARS if p <= level), "")


def _verdicts(printed: Printed | None, pooled: Report, against: Report | None) -> list[str]:
    said = []
    if printed is not None:
        below = printed.accuracy / 100 - pooled["accuracy"]
        near = below <= NEAR + 1e-9
        said.append("within 1.5 points or above" if near else f"below by {100 * below:.1f}")
    if against is not None:
        said.append(f"MTL over STL: {_over(against['ours']['accuracy'])}")
    return said


def _over(found: Report) -> str:
    """Whether a difference holds, with its interval in points."""
    return f"{holds(found)}, {_interval(found)}"


def _interval(found: Report, scale: float = 100) -> str:
    low, high, effect = (scale * number(found[name]) for name in ("low", "high", "effect"))
    if np.isnan(low):
        return f"{effect:+.2f} ({found['reason']})"
    alone = ", one seed" * (found["n_runs"] == 1)
    return f"{effect:+.2f} [{low:+.2f}, {high:+.2f}], p {p_text(number(found['adjusted']))}{alone}"


# ---- Table 3 ----


def _cells_table(report: Report) -> str:
    """Who is right where, and how sure the crowd is there."""
    rows: list[list[str]] = []
    for name, found in report["conditions"].items():
        if not any(sum(a["cells"]["n"].values()) for a in found["against"].values()):
            continue
        what = "entropy" if CONDITIONS[name].corpus == STEMS else "kurtosis"
        rows.append([f"{CONDITIONS[name].title} ({name}), {what}"])
        if name == KURTOSIS_CONDITION:
            printed = [f"{KURTOSIS[cell]:.3f}" for cell in CELLS]
            rows.append([f"  paper, {MODELS[KURTOSIS_MODEL]}", *printed, "p <= 0.05"])
        for model, against in found["against"].items():
            cells, p = against["cells"], number(against["cells"]["mann_whitney"])
            figures = [
                f"{number(cells['mean'][cell]):.3f} ({cells['n'][cell]:,})"
                if cells["n"][cell]
                else "-"
                for cell in CELLS
            ]
            rows.append([f"  {MODELS[model]}", *figures, f"p {p_text(p)}"])
    if not rows:
        return ""
    names = ["", *CELLS, "only MTL, only STL"]
    notes = (
        "Mean excess kurtosis of the soft label: high where the crowd agrees. Of two answers it is "
        "always -2, so for stems the entropy in nats, low where the crowd agrees.\n"
        "In brackets the predictions of all runs; p by Mann and Whitney's test, which takes them "
        "for independent, as the paper does."
    )
    return (
        f"Table 3: what the crowd said where models are right\n{_aligned([names, *rows])}\n{notes}"
    )


# ---- overfitting ----


def _gap_table(report: Report) -> str:
    """The main task's loss on the development part less that in training."""
    rows: list[list[str]] = []
    for name, found in report["conditions"].items():
        rows.append([f"{CONDITIONS[name].title} ({name})"])
        for model, of_model in found["models"].items():
            cells = [f"  {MODELS[model]}"]
            for when in ("chosen", "last"):
                gaps = [fit["gap"][when] for fit in of_model["fits"]]
                against = found["against"].get(model)
                less = _interval_of_gap(against["gap"][when]) if against else ""
                cells += [f"{np.mean(gaps):.3f}", less]
            rows.append(cells)
    names = ["", "chosen epoch", "less STL's", "last epoch", "less STL's"]
    heading = "Overfitting: the main task's loss on the development part less that in training"
    return f"{heading}\n{_aligned([names, *rows])}\nIntervals: 95 % over seeds, not corrected."


def _interval_of_gap(found: Report) -> str:
    low, high, effect = (number(found[name]) for name in ("low", "high", "effect"))
    return f"{effect:+.3f}" if np.isnan(low) else f"{effect:+.3f} [{low:+.3f}, {high:+.3f}]"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns under one another; a row of one cell is a heading."""
    widths: dict[int, int] = {}
    for row in rows:
        for at, cell in enumerate(row if len(row) > 1 else ()):
            widths[at] = max(widths.get(at, 0), len(cell))
    lines = []
    for row in rows:
        if len(row) == 1:
            lines.append(row[0])
            continue
        last = len(row) - 1
        padded = [
            cell.ljust(widths[at]) if at in (0, last) else cell.rjust(widths[at])
            for at, cell in enumerate(row)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)
