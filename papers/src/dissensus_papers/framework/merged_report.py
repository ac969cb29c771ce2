"""Continue a kept report: conditions of a new run join those in it, or replace them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from copy import deepcopy
from typing import Any

from dissensus.evaluation import holm
from dissensus.evaluation.fit import number, plain
from dissensus_papers.framework.comparison_tables import renamed
from dissensus_papers.framework.paper import Report

NOT_KEPT = "scores of single items were not kept"


def merged(kept: Report, new: Report, counted: Collection[str]) -> Report:
    """The report on both runs, as `comparison_report.judged` would write it for all their fits.

    A condition is taken from one report as a whole, with its tests of claims: from the new one if
    it is there. Measurements are taken by seed. Claims are those of the new report.

    Args:
        counted: names of the conditions whose differences are corrected together.
    """
    kept, new = deepcopy(kept), deepcopy(new)
    conditions = kept["conditions"] | new["conditions"]
    _correct(test for name in conditions if name in counted for test in _against(conditions[name]))
    claims = [entry | {"tests": _tests(kept, new, entry)} for entry in new["claims"]]
    _correct(test for entry in claims for test in entry["tests"].values())
    unfinished = kept["unfinished"] | new["unfinished"]
    report = new | {
        "commits": list(dict.fromkeys([*kept["commits"], *new["commits"]])),
        "machines": sorted({*kept["machines"], *new["machines"]}),
        "unfinished": {name: n for name, n in unfinished.items() if name not in conditions},
        "conditions": conditions,
        "measurements": _measurements(kept, new),
        "claims": claims,
    }
    return dict(plain(report))


def without_tests_over_seeds(report: Report) -> Report:
    """A kept report without the p values and intervals that earlier versions computed from seeds
    alone, for scores that are not known for single items. Other p values stay: they were corrected
    over more tests than are left, so that they are too high rather than too low."""
    report = deepcopy(report)
    tests = [test for condition in report["conditions"].values() for test in _against(condition)]
    tests += [test for entry in report["claims"] for test in entry["tests"].values()]
    for test in tests:
        if test["test"] in ("seeds", "folds"):
            gone = dict.fromkeys(("low", "high", "p", "adjusted"))
            test |= gone | {"test": "none", "reason": NOT_KEPT}
    return report


def _against(condition: Report) -> Iterator[Report]:
    """All differences from the reference."""
    for by_question in condition["against"].values():
        for by_metric in by_question.values():
            yield from by_metric.values()


def _tests(kept: Report, new: Report, claim: Report) -> Report:
    """The tests of a claim in both reports; only those of the new one in its conditions."""
    same = (entry for entry in kept["claims"] if renamed(entry["claim"]) == claim["claim"])
    tests: Report = next(same, {"tests": {}})["tests"]
    others = {name: test for name, test in tests.items() if name not in new["conditions"]}
    return others | claim["tests"]


def _measurements(kept: Report, new: Report) -> Report:
    joined: dict[str, dict[int, Any]] = {}
    for report in (kept, new):
        for name, entries in report.get("measurements", {}).items():
            joined.setdefault(name, {}).update({entry["seed"]: entry for entry in entries})
    return {name: [by_seed[s] for s in sorted(by_seed)] for name, by_seed in joined.items()}


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
