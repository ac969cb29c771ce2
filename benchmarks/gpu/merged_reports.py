"""Continue the kept report of a paper: conditions of a new run join or replace those in it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from dissensus.evaluation import plain
from dissensus_papers.framework.comparison import ComparisonPaper
from dissensus_papers.framework.paper import Paper, in_order

Report = dict[str, Any]


def merged(paper: ComparisonPaper, kept: Report, new: Report) -> Report:
    """A kept report continued, as the paper would write it for all fits of both.

    A condition is taken from one report as a whole, with its tests of claims: from the new one if
    it is there. Claims are those of the new report.
    """
    kept, new = deepcopy(kept), deepcopy(new)
    conditions = kept["conditions"] | new["conditions"]
    claims = [entry | {"tests": _tests(kept, new, entry)} for entry in new["claims"]]
    unfinished = kept["unfinished"] | new["unfinished"]
    report = new | {
        "commits": list(dict.fromkeys([*kept["commits"], *new["commits"]])),
        "machines": sorted({*kept["machines"], *new["machines"]}),
        "unfinished": {name: n for name, n in unfinished.items() if name not in conditions},
        "conditions": conditions,
        "claims": claims,
    }
    return in_order(plain(report), paper.conditions, paper.models)


def joined(paper: Paper, kept: Report, new: Report) -> Report:
    """The report on outcomes of a paper continued: entries of the new report join or replace those
    of the same name in every part."""
    report = kept | new
    for name, part in new.items():
        if isinstance(part, dict) and name != "settings":
            report[name] = kept.get(name, {}) | part
    for name in ("commits", "machines", "seeds"):
        if name in new:
            report[name] = sorted({*kept[name], *new[name]})
    if "done" in new:
        report["done"] = kept["done"] + new["done"]
    return in_order(plain(report), paper.conditions, paper.models)


def _tests(kept: Report, new: Report, claim: Report) -> Report:
    """The tests of a claim in both reports; only those of the new one in its conditions."""
    same = (entry for entry in kept["claims"] if entry["claim"] == claim["claim"])
    tests: Report = next(same, {"tests": {}})["tests"]
    others = {name: test for name, test in tests.items() if name not in new["conditions"]}
    return others | claim["tests"]


def origins(kept: Report, new: Report) -> list[str]:
    """Which conditions a merged report has from where, a line each."""
    before, now = kept["conditions"], new["conditions"]
    unchanged = [name for name in before if name not in now]
    lines = [f"conditions of the kept report: {', '.join(unchanged) or 'none'}"]
    for name, entry in now.items():
        if name in before:
            lines.append(f"replaced: {name}, {_extent(before[name])} -> {_extent(entry)}")
        else:
            lines.append(f"new: {name}, {_extent(entry)}")
    return lines


def _extent(entry: Report) -> str:
    """How many models a condition has, and its seeds."""
    return f"{len(entry['models'])} models, seeds {', '.join(map(str, entry['seeds']))}"
