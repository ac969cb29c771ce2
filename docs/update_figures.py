"""Write the measured figures of the README, which.md and speed.md anew from benchmarks/results."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import vl_convert

ROOT = Path(__file__).parent.parent
BENCHMARKS = ROOT / "benchmarks"
BLOCK = re.compile(r"(<!-- (figures|defaults|speed|newcomers) -->\n).*?(<!-- end -->)", re.DOTALL)
PAGES = (ROOT / "README.md", ROOT / "docs" / "which.md", ROOT / "docs" / "speed.md")
PLOT = ROOT / "docs" / "pictures" / "cost.svg"


def kept(name: str) -> dict[str, Any]:
    """What a benchmark measured last, with its command."""
    path = BENCHMARKS / "results" / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def figures() -> str:
    """Five figures, each with the command that prints it."""
    rows = [_speed(), _kappa(), _coverage(), _honest(), _default()]
    lines = [f"| {what} | {found} | `{command}` |" for what, found, command in rows]
    return "\n".join(["| what | measured | printed by |", "|---|---|---|", *lines, ""])


def _speed() -> tuple[str, str, str]:
    report = kept("aggregation")
    runs = next(r for r in report["rows"] if (r["method"], r["labels"]) == ("dawid-skene", "1M"))
    ours, peer = (
        min(run["seconds"] for run in runs["runs"][name]) for name in ("ours", "crowd-kit")
    )
    return (
        "Dawid-Skene on a million answers",
        f"{ours:.2f} s; crowd-kit 1.4.2: {peer:.0f} s",
        report["command"],
    )


def _kappa() -> tuple[str, str, str]:
    report = kept("agreement")
    row = next(r for r in report["results"] if r["measure"] == "kappa of all pairs, sparse")
    what = (
        f"Cohen's kappa of all pairs of {row['annotators']} annotators, {row['answers']:,} answers"
    )
    found = f"{row['seconds']:.3f} s; {row['peer']}: {row['peer_seconds']:.0f} s"
    return what, found, report["command"]


def _coverage() -> tuple[str, str, str]:
    report = kept("intervals")
    shares = [row["coverage"] for row in report["rows"]]
    mean = sum(shares) / len(shares)
    ends = f"{min(shares):.1%} to {max(shares):.1%} in one of {len(shares)} designs"
    found = f"{mean:.1%} on average, {ends}"
    what = "How often 95 % intervals of agreement contain the true value"
    return what, found.replace("%", " %"), report["command"]


def _honest() -> tuple[str, str, str]:
    report = kept("suspicious")
    crowds = sum(row["crowds"] for row in report["results"])
    named = sum(row["crowds"] * row["honest_named_per_crowd"] for row in report["results"])
    what = "Honest annotators who are called suspicious"
    return (
        what,
        f"one in {crowds / named:.0f} of {crowds:,} simulated crowds",
        f"{report['command']} --table",
    )


def _default() -> tuple[str, str, str]:
    script, rows = _defaults()
    near = sum(script["is_near"](row) for row in rows)
    below = sum(script["worse"](row, name) for row in rows for name in script["BASELINES"])
    tried = len({name for row in rows for name in row["scores"]})
    what = f"Corpora on which the default method is within a point or 2 % of the best of {tried}"
    found = f"{near} of {len(rows)}; significantly below a logistic regression on {below or 'none'}"
    return what, found, "python benchmarks/gpu/defaults.py show"


def _defaults() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    return runpy.run_path(str(BENCHMARKS / "gpu" / "defaults.py")), kept("defaults")["rows"]


def defaults() -> str:
    """The default method on each corpus, the best one and the best of three baselines."""
    script, rows = _defaults()
    lines = []
    for row in rows:
        scores = {name: cell[row["metric"]] for name, cell in row["scores"].items()}
        pick = min if row["metric"] in script["LOSSES"] else max
        best, baseline = script["best_of"](row), pick(scores[name] for name in script["BASELINES"])
        default, own = script["default_of"](row)
        same = pick(own, scores[best]) == own
        other = ["the same", ""] if same else [f"`{best}`", f"{scores[best]:.3f}"]
        cells = [row["corpus"], row["metric"], f"`{default}`", f"{own:.3f}", *other]
        cells.append(f"{baseline:.3f}")
        lines.append(f"| {' | '.join(cells)} |")
    near = sum(script["is_near"](row) for row in rows)
    head = "| corpus | score | chosen | | best | | logistic regression, best of 3 |"
    near_best = f"Within a point or 2 % of the best: {near} of {len(rows)}."
    closing = f"{near_best} `python benchmarks/gpu/defaults.py show`"
    return "\n".join([head, "|---|---|---|--:|---|--:|--:|", *lines, "", closing, ""])


def newcomers() -> str:
    """How well newcomers are predicted, by corpus and method."""
    script = runpy.run_path(str(BENCHMARKS / "newcomers.py"))
    return "\n".join([*script["short_lines"](kept("newcomers")["rows"]), ""])


def costs() -> list[dict[str, Any]]:
    """Seconds and megabytes by task, program and number of answers."""
    rows = []
    size = {"k": 1e3, "M": 1e6}
    for row in kept("aggregation")["rows"]:
        if row["method"] == "dawid-skene":
            n = int(row["labels"][:-1]) * size[row["labels"][-1]]
            for name, runs in row["runs"].items():
                best = min(runs, key=lambda run: run["seconds"])
                rows.append(_cost("Dawid-Skene", name, n, best["seconds"], best["peak_mb"] / 1e3))
    for row in kept("reading")["rows"]:
        if row["order"] == "random":
            for name in ("dissensus", "pyarrow"):
                took, peak = row[f"{name}_seconds"], row[f"{name}_peak_gb"]
                rows.append(_cost("reading a CSV file", name, row["rows"], took, peak))
    return sorted({(r["task"], r["by"], r["answers"]): r for r in rows}.values(), key=_key)


def _cost(task: str, by: str, answers: float, seconds: float, gigabytes: float) -> dict[str, Any]:
    name = "dissensus" if by == "ours" else by
    return {"task": task, "by": name, "answers": int(answers), "seconds": seconds, "GB": gigabytes}


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["task"], row["by"] != "dissensus", row["answers"]


def speed() -> str:
    """What is in the plot, as a table."""
    lines = [
        f"| {r['task']} | {r['by']} | {r['answers']:,} | {r['seconds']:.2f} | {r['GB']:.2f} |"
        for r in costs()
    ]
    head = ["| task | by | answers | seconds | GB at most |", "|---|---|--:|--:|--:|"]
    made = " and ".join(f"`{kept(name)['command']}`" for name in ("aggregation", "reading"))
    return "\n".join([*head, *lines, "", f"{made}.", ""])


def plot(rows: Iterable[dict[str, Any]]) -> str:
    """Seconds by number of answers, both on logarithmic axes, as SVG."""
    number = {"type": "quantitative", "scale": {"type": "log", "nice": True}}
    rows = [row | {"what": f"{row['task']}, {row['by']}"} for row in rows]
    names = list(dict.fromkeys(row["what"] for row in rows))
    ticks = [10.0**power for power in (-2, -1, 0, 1, 2, 3, 5, 6, 7, 8)]
    colours = ["#2a78b5", "#86b4da", "#b5652a", "#dfa77c"]
    grey = {
        "labelColor": "#7d7d7d",
        "titleColor": "#7d7d7d",
        "gridColor": "#8884",
        "tickColor": "#888",
    }
    spec = {
        "data": {"values": rows},
        "width": 460,
        "height": 280,
        "background": "transparent",
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "answers", "axis": {"format": "~s", "values": ticks[6:]}} | number,
            "y": {"field": "seconds", "axis": {"format": "~g", "values": ticks[:6]}} | number,
            "color": {
                "field": "what",
                "type": "nominal",
                "scale": {"domain": names, "range": colours},
                "title": "",
            },
        },
        "config": {
            "axis": grey | {"domainColor": "#888"},
            "legend": {"labelColor": "#7d7d7d", "titleColor": "#7d7d7d"},
            "view": {"stroke": None},
        },
    }
    return vl_convert.vegalite_to_svg(spec)


def updated(text: str) -> str:
    """A page with what was measured last."""
    blocks = {"figures": figures, "defaults": defaults, "speed": speed, "newcomers": newcomers}
    return BLOCK.sub(lambda block: f"{block[1]}{blocks[block[2]]()}{block[3]}", text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(updated(page.read_text(encoding="utf-8")), encoding="utf-8")
    PLOT.write_text(plot(costs()), encoding="utf-8")
