"""Claims and what became of them: a table of estimates, of the smallest difference that each test
would have found, and of verdicts; then claims that nothing was run for, with the command.

A claim is tested in one condition or several, each by one score that was declared beforehand.
Holm's correction is over the tests of one claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from scipy.special import ndtri

from dissensus.agreement import holm
from dissensus.evaluation import number, p_text
from dissensus.tables import Table
from dissensus_papers.framework.text import option

LEVEL, POWER = 0.05, 0.8
COLUMNS = ("", "decided by", "estimate [95 % interval]", "p", "would be found", "verdict")
READ = (
    "An estimate is the score of the first model less that of the second, on the data and with the "
    "encoder named here, with an interval over items and seeds; losses and distances are better "
    'below 0. p is corrected (Holm) over the tests of a claim. A difference as large as in "would '
    'be found" is found with a probability of 80 %. "found": p is at most 0.05; "the opposite": '
    'the same in the other direction; "no gain of": the whole interval lies below the smallest '
    'gain that matters; "cannot decide": none of these, and the interval ends there. "perfect": '
    "what perfect predictions would come to."
)
SUMMARY = {  # how a verdict begins, and what is said of several
    "found": "found in", "the opposite": "the opposite in", "no gain": "no gain that matters in",
    "cannot": "cannot decide in", "not": "not tested in",
}  # fmt: skip


@dataclass(frozen=True)
class Evidence:
    """A claim about a difference, tested in one condition.

    Args:
        where: the condition, and how many items it has.
        score: what decides.
        test: the difference with `effect`, `low`, `high`, `p` and, where these are not known, the
            `reason`.
        matters: the smallest difference that would matter, above 0.
        sign: -1 if the claim is that the difference is below 0, 0 if it is that there is none that
            matters.
        perfect: the difference that perfect predictions would have, where it is known.
    """

    where: str
    score: str
    test: Mapping[str, Any]
    matters: float
    sign: int = 1
    perfect: float | None = None

    @cached_property
    def effect(self) -> float:
        return number(self.test["effect"])

    @cached_property
    def p(self) -> float:
        return number(self.test["p"])

    @cached_property
    def largest(self) -> float:
        """The largest difference in the interval that is in favour of the claim; of either
        direction, if the claim is that there is none."""
        low, high = number(self.test["low"]), number(self.test["high"])
        return max(-low, high) if self.sign == 0 else self.sign * (high if self.sign > 0 else low)

    def would_be_found(self, n_tests: int = 1) -> float:
        """The smallest difference that is found with a probability of 80 % where the claim has so
        many tests, from the standard error that the interval has.

        Example:
            >>> test = Evidence("", "", {"low": -0.01, "high": 0.03}, 0.02)
            >>> round(test.would_be_found(), 3), round(test.would_be_found(5), 3)
            (0.029, 0.035)
        """
        error = (number(self.test["high"]) - number(self.test["low"])) / (2 * ndtri(0.975))
        return float((ndtri(1 - LEVEL / (2 * n_tests)) + ndtri(POWER)) * error)

    def verdict(self, adjusted: float) -> str:
        """What the test says of the claim, for these models on these data.

        Args:
            adjusted: p, corrected over the tests of the claim.
        """
        if math.isnan(self.p):
            return f"not tested: {self.test.get('reason') or 'no value for single items'}"
        if self.perfect is not None and self.sign * self.perfect <= 0:
            return "cannot decide: perfect predictions would be no better"
        small = self.largest < self.matters
        if self.sign == 0 and small:
            return f"found: less than {self.matters:g} apart"
        if adjusted <= LEVEL and self.sign == 0:
            return "the opposite: they differ"
        if adjusted <= LEVEL:
            farthest = max(abs(number(self.test[end])) for end in ("low", "high"))
            words = "found" if self.sign * self.effect > 0 else "the opposite"
            return f"{words}, but less than {self.matters:g}" * (farthest < self.matters) or words
        if small:
            return f"no gain of {self.matters:g}"
        largest = "a difference" if self.sign == 0 else "a gain"
        return f"cannot decide: {largest} of up to {self.largest:.3f} is possible"


class Claim(NamedTuple):
    """A claim as the paper states it, and from the report to what became of it.

    Args:
        judge: returns its tests or, of a claim that is judged in words, the words; nothing if it
            was not tested.
        conditions: names of those that it is tested in.
        models: names of those that it is about.
        difference: what is less what, if the claim does not say it.
    """

    text: str
    judge: Callable[[dict[str, Any]], str | Sequence[Evidence]]
    conditions: Collection[str] = ()
    models: Collection[str] = ()
    difference: str = ""


def judged_claims(
    claims: Iterable[Claim], report: dict[str, Any], command: str, digits: int = 3
) -> list[Table | str]:
    """Each claim above a row for each of its tests, or with the words that judge it; then those
    that nothing was run for, below the command that runs it.

    Args:
        command: of this paper, without conditions.
    """
    rows: list[list[str]] = []
    missing: dict[tuple[str, ...], list[Claim]] = {}
    for claim in claims:
        judged = claim.judge(report)
        if not judged:
            missing.setdefault(tuple(claim.conditions), []).append(claim)
        elif isinstance(judged, str):
            rows.append([f"{claim.text}: {judged}"])
        else:
            rows += _tested(claim, judged, digits)
    parts: list[Table | str] = [Table(COLUMNS, rows, "Claims", "llrrrl", [READ])] if rows else []
    for names, some in missing.items():
        models = dict.fromkeys(model for claim in some for model in claim.models)
        words = option(option(command, "conditions", names), "models", models)
        parts.append("\n".join([f"Not run yet: {words}", *(f"  {claim.text}" for claim in some)]))
    return parts


def _tested(claim: Claim, tests: Sequence[Evidence], digits: int) -> list[list[str]]:
    """The claim with a summary of its verdicts, and a row for each test."""
    n_tests = sum(not math.isnan(test.p) for test in tests)
    adjusted = holm([test.p for test in tests])
    rows = [_row(test, n_tests, p, digits) for test, p in zip(tests, adjusted, strict=True)]
    begun = [next(begin for begin in SUMMARY if row[-1].startswith(begin)) for row in rows]
    counts = [f"{SUMMARY[kind]} {begun.count(kind)}" for kind in SUMMARY if kind in begun]
    summary = f"{', '.join(counts)} of {len(rows)}" if len(rows) > 1 else ""
    least = [test.would_be_found(n_tests) for test in tests if not math.isnan(test.p)]
    if summary and least:
        ends = " to ".join(dict.fromkeys(f"{end(least):.{digits}f}" for end in (min, max)))
        summary += f"; differences of {ends} would have been found"
    return [[": ".join(filter(None, (claim.text, claim.difference, summary)))], *rows]


def _row(test: Evidence, n_tests: int, adjusted: float, digits: int) -> list[str]:
    cells, p, least = [f"  {test.where}", test.score], "", ""
    estimate = "" if math.isnan(test.effect) else f"{test.effect:+.{digits}f}"
    if not math.isnan(test.p):
        low, high = (f"{number(test.test[end]):+.{digits}f}" for end in ("low", "high"))
        estimate += f" [{low}, {high}]"
        p = p_text(adjusted).removeprefix("= ")
        least = f"{test.would_be_found(n_tests):.{digits}f}"
    verdict = test.verdict(adjusted)
    if test.perfect is not None:
        verdict += f" (perfect: {test.perfect:+.{digits}f})"
    return [*cells, estimate, p, least, verdict]
