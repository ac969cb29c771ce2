"""Continue the kept report of a paper: conditions of a new run join or replace those in it."""

from __future__ import annotations

import json
from collections.abc import Collection
from copy import deepcopy
from typing import Any

from dissensus.evaluation import plain
from dissensus_papers.framework.comparison import ComparisonPaper
from dissensus_papers.framework.paper import Paper, in_order

Report = dict[str, Any]


def merged(paper: ComparisonPaper, kept: Report, new: Report) -> Report:
    """A kept report continued, as the paper would write it for all fits of both.

    A condition is taken from one report as a whole, with its tests of claims: from the new one if
    it is there. Only other models of it, with the same seeds and number of trials, join those that
    are kept. Claims are those of the new report.
    """
    kept, new = deepcopy(kept), deepcopy(new)
    joining = _joining(kept, new)
    conditions = kept["conditions"] | new["conditions"]
    for name in joining:
        conditions[name] = _with_models(kept["conditions"][name], new["conditions"][name])
    replaced = new["conditions"].keys() - joining
    claims = [entry | {"tests": _tests(kept, replaced, entry)} for entry in new["claims"]]
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


def _joining(kept: Report, new: Report) -> set[str]:
    """The conditions of which the new report has other models, tried and repeated as often."""
    before, now = kept["conditions"], new["conditions"]
    return {
        name
        for name in before.keys() & now.keys()
        if all(before[name][part] == now[name][part] for part in ("seeds", "trials", "n_items"))
        and before[name]["models"].keys().isdisjoint(now[name]["models"])
    }


def _with_models(kept: Report, new: Report) -> Report:
    """A condition with the models of both reports, each with its comparisons."""
    joined = {part: kept[part] | new[part] for part in ("models", "against")}
    seconds = [one["seconds"] for one in (kept, new) if "seconds" in one]
    joined |= {"seconds": sum(seconds)} if len(seconds) == 2 else {}
    return new | joined


def _tests(kept: Report, replaced: Collection[str], claim: Report) -> Report:
    """The tests of a claim in both reports; only those of the new one where it replaces."""
    same = (entry for entry in kept["claims"] if entry["claim"] == claim["claim"])
    tests: Report = next(same, {"tests": {}})["tests"]
    return {name: test for name, test in tests.items() if name not in replaced} | claim["tests"]


def origins(kept: Report, new: Report) -> list[str]:
    """Which conditions a merged report has from where, a line each."""
    before, now = kept["conditions"], new["conditions"]
    unchanged = [name for name in before if name not in now]
    joining = _joining(kept, new)
    lines = [f"conditions of the kept report: {', '.join(unchanged) or 'none'}"]
    for name, entry in now.items():
        if name in joining:
            lines.append(f"joined: {name}, {_extent(before[name])} and {_extent(entry)}")
        elif name in before:
            lines.append(f"replaced: {name}, {_extent(before[name])} -> {_extent(entry)}")
        else:
            lines.append(f"new: {name}, {_extent(entry)}")
    return lines


def _extent(entry: Report) -> str:
    """How many models a condition has, and its seeds."""
    return f"{len(entry['models'])} models, seeds {', '.join(map(str, entry['seeds']))}"


# ---- the file of a report ----

LARGEST = 1_000_000  # bytes


def to_json(content: Report) -> str:
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
    if not isinstance(content, (dict, list)) or not any(
        isinstance(entry, (dict, list)) for entry in entries
    ):
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    names = [f"{json.dumps(key, ensure_ascii=False)}: " for key in content]
    begin, end = "{}" if isinstance(content, dict) else "[]"
    names = names if isinstance(content, dict) else [""] * len(content)
    lines = [
        f"{indent} {name}{_text(entry, indent + ' ')}"
        for name, entry in zip(names, entries, strict=True)
    ]
    return begin + "\n" + ",\n".join(lines) + f"\n{indent}{end}"


def _rounded(content: Any, digits: int) -> Any:
    if isinstance(content, dict):
        return {str(key): _rounded(value, digits) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_rounded(value, digits) for value in content]
    return float(f"{content:.{digits}g}") if isinstance(content, float) else content
