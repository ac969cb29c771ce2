"""Claims and what became of them: a table of estimates, of the smallest difference that each test
would have found, and of verdicts.

A claim is tested in one condition or several, each by one score that was declared beforehand.
Holm's correction is over the tests of one claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scipy.special import ndtri

from dissensus.agreement import holm
from dissensus.evaluation import number, p_text
from dissensus.tables import Table

LEVEL, POWER = 0.05, 0.8
COLUMNS = ("", "decided by", "estimate [95 % interval]", "p", "would be found", "verdict")
READ = (
    "An estimate is the score of the first model less that of the second, with an interval over "
    "items and seeds; p is corrected (Holm) over the tests of a claim. A difference as large as in "
    '"would be found" is found with a probability of 80 %. "holds": p is at most 0.05. "does not '
    'hold": the whole interval lies below the smallest difference that matters, which the verdict '
    'names. "cannot decide": neither; the interval ends at the difference that the verdict names.'
)


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
    """

    where: str
    score: str
    test: Mapping[str, Any]
    matters: float
    sign: int = 1

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
        """What the test says of the claim.

        Args:
            adjusted: p, corrected over the tests of the claim.
        """
        if math.isnan(self.p):
            return f"not tested: {self.test.get('reason') or 'no value for single items'}"
        small = self.largest < self.matters
        if self.sign == 0 and small:
            return f"holds: less than {self.matters:g}"
        if adjusted <= LEVEL and self.sign == 0:
            return "does not hold"
        if adjusted <= LEVEL:
            return "holds" if self.sign * self.effect > 0 else "the reverse holds"
        if small:
            return f"does not hold: less than {self.matters:g} better"
        return f"cannot decide: up to {self.largest:.3f}"


Judge = Callable[[dict[str, Any]], str | Sequence[Evidence]]  # from the report of a paper
Claim = tuple[str, Judge]  # as the paper states it; nothing is returned if it was not tested


def claims_table(
    claims: Iterable[tuple[str, str | Sequence[Evidence]]], digits: int = 3
) -> Table | str:
    """Each claim above a row for each of its tests; of a claim that is judged in words, the words.

    Claims without tests or words are left out.
    """
    rows: list[list[str]] = []
    for claim, judged in claims:
        if isinstance(judged, str):
            rows += [[f"{claim}: {judged}"]] if judged else []
            continue
        rows.append([claim])
        n_tests = sum(not math.isnan(test.p) for test in judged)
        adjusted = holm([test.p for test in judged])
        rows += [_row(test, n_tests, p, digits) for test, p in zip(judged, adjusted, strict=True)]
    return Table(COLUMNS, rows, "Claims", "llrrrl", [READ]) if rows else ""


def _row(test: Evidence, n_tests: int, adjusted: float, digits: int) -> list[str]:
    cells, p, least = [f"  {test.where}", test.score], "", ""
    estimate = f"{test.effect:+.{digits}f}"
    if not math.isnan(test.p):
        low, high = (f"{number(test.test[end]):+.{digits}f}" for end in ("low", "high"))
        estimate += f" [{low}, {high}]"
        p = p_text(adjusted).removeprefix("= ")
        least = f"{test.would_be_found(n_tests):.{digits}f}"
    return [*cells, estimate, p, least, test.verdict(adjusted)]
