"""Report -> the paper's tables in plain text, ours beside, and what became of each claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dissensus.evaluation.difference import p_text
from dissensus.evaluation.fit import number
from dissensus.papers.soft_labels.conditions import CONDITIONS, STEMS, Condition
from dissensus.papers.soft_labels.printed import (
    BASELINE,
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
LEVEL = 0.05
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
    parts += [_cells_table(report), _gap_table(report), _table(report, 0), _claims(report)]
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
    return f"{_holds(found)}, {_interval(found)}"


def _holds(found: Report) -> str:
    if not number(found["adjusted"]) <= LEVEL:
        return "does not hold"
    return "holds" if found["effect"] > 0 else "the reverse holds"


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


# ---- in plain words ----


def _claims(report: Report) -> str:
    """What the paper claims, and what became of it here."""
    claims: tuple[tuple[str, Callable[[Report], str]], ...] = (
        ("Its figures can be met", _met),
        ("MTL beats STL with gold labels (Table 1)", lambda r: _beats(r, 1)),
        ("MTL beats STL with the crowd's labels alone (Table 2)", lambda r: _beats(r, 2)),
        ("Inverse KL is the best of the losses", _best_loss),
        ("Where only MTL is right the crowd agrees more than where only STL is", _agreement),
        ("The soft-label task mitigates overfitting", _overfits_less),
        ("Cross-validation that cuts through tweets flatters", _flatters),
        ("Adam's state from the fold before matters", _carried),
    )
    lines = ["What became of its claims"]
    for claim, judge in claims:
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
            said[_holds(against["tests"]["gold"]["ours"]["accuracy"])].append(where)
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
