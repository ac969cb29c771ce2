"""Continue the kept report of a paper: conditions of a new run join or replace those in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

from dissensus.agreement import holm
from dissensus.evaluation import number, plain
from dissensus_papers.framework.comparison import ComparisonPaper
from dissensus_papers.framework.paper import in_order

Report = dict[str, Any]


def merged(paper: ComparisonPaper, kept: Report, new: Report) -> Report:
    """A kept report continued, as the paper would write it for all fits of both.

    A condition is taken from one report as a whole, with its tests of claims: from the new one if
    it is there. Measurements are taken by seed. Claims are those of the new report.
    """
    kept, new = deepcopy(kept), deepcopy(new)
    conditions = kept["conditions"] | new["conditions"]
    counted = [name for name in conditions if not paper.comparisons[name].not_counted]
    _correct(test for name in counted for test in _against(conditions[name]))
    claims = [entry | {"tests": _tests(kept, new, entry)} for entry in new["claims"]]
    _correct(test for entry in claims for test in entry["tests"].values())
    measured: dict[str, dict[int, Any]] = {}
    for report in (kept, new):
        for name, entries in report.get("measurements", {}).items():
            measured.setdefault(name, {}).update({entry["seed"]: entry for entry in entries})
    unfinished = kept["unfinished"] | new["unfinished"]
    report = new | {
        "commits": list(dict.fromkeys([*kept["commits"], *new["commits"]])),
        "machines": sorted({*kept["machines"], *new["machines"]}),
        "unfinished": {name: n for name, n in unfinished.items() if name not in conditions},
        "conditions": conditions,
        "measurements": {
            name: [seeds[seed] for seed in sorted(seeds)] for name, seeds in measured.items()
        },
        "claims": claims,
    }
    return in_order(plain(report), paper.comparisons, paper.models)


def _against(condition: Report) -> Iterator[Report]:
    """All differences from the reference."""
    for by_question in condition["against"].values():
        for by_metric in by_question.values():
            yield from by_metric.values()


def _tests(kept: Report, new: Report, claim: Report) -> Report:
    """The tests of a claim in both reports; only those of the new one in its conditions."""
    same = (entry for entry in kept["claims"] if entry["claim"] == claim["claim"])
    tests: Report = next(same, {"tests": {}})["tests"]
    others = {name: test for name, test in tests.items() if name not in new["conditions"]}
    return others | claim["tests"]


def _correct(tests: Iterable[Report]) -> None:
    """Holm's correction over all these tests, from the p values that are not corrected."""
    tests = list(tests)
    for test, adjusted in zip(tests, holm([number(test["p"]) for test in tests]), strict=True):
        test["adjusted"] = plain(float(adjusted))


def origins(kept: Report, new: Report) -> list[str]:
    """Which conditions and measurements a merged report has from where, a line each."""
    lines = []
    for part, verb in (("conditions", "replaced"), ("measurements", "continued")):
        before, now = kept.get(part, {}), new.get(part, {})
        unchanged = [name for name in before if name not in now]
        lines.append(f"{part} of the kept report: {', '.join(unchanged) or 'none'}")
        for name, entry in now.items():
            if name in before:
                lines.append(f"{verb}: {name}, {_extent(before[name])} -> {_extent(entry)}")
            else:
                lines.append(f"new: {name}, {_extent(entry)}")
    return lines


def _extent(entry: Any) -> str:
    """How many models a condition has, and its seeds; the seeds of a measurement."""
    if isinstance(entry, list):
        return f"seeds {', '.join(str(of_seed['seed']) for of_seed in entry)}"
    return f"{len(entry['models'])} models, seeds {', '.join(map(str, entry['seeds']))}"
