"""Verdicts on claims: what was found, what was not, and what the data cannot decide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from dissensus.tables import Table
from dissensus_papers.framework.claims import Claim, Evidence, judged_claims

NAN = float("nan")


def evidence(effect: float, error: float, sign: int = 1, matters: float = 0.02) -> Evidence:
    """A test whose estimate has this standard error."""
    ends = {"low": effect - 1.96 * error, "high": effect + 1.96 * error}
    p = 2 * norm.sf(abs(effect) / error)
    return Evidence("corpus, 100 items", "score", {"effect": effect, **ends, "p": p}, matters, sign)


@pytest.mark.parametrize("n_tests", [1, 5])
def test_the_difference_that_would_be_found_is_found_in_four_of_five_tests(n_tests: int) -> None:
    generator, error = np.random.default_rng(0), 0.02
    effects = evidence(0.0, error).would_be_found(n_tests) + error * generator.normal(size=20_000)
    p = 2 * norm.sf(np.abs(effects) / error)
    assert (p <= 0.05 / n_tests).mean() == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(
    ("test", "verdict"),
    [
        (evidence(0.03, 0.005), "found"),
        (evidence(-0.03, 0.005, sign=-1), "found"),
        (evidence(-0.03, 0.005), "the opposite"),
        (evidence(-0.01, 0.001), "the opposite, but less than 0.02"),
        (evidence(0.01, 0.001), "found, but less than 0.02"),
        (evidence(0.0, 0.005), "no gain of 0.02"),
        (evidence(0.005, 0.02), "cannot decide: a gain of up to 0.044 is possible"),
        (evidence(0.005, 0.02, sign=-1), "cannot decide: a gain of up to 0.034 is possible"),
        (evidence(0.0, 0.005, sign=0), "found: less than 0.02 apart"),
        (evidence(-0.05, 0.005, sign=0), "the opposite: they differ"),
        (evidence(0.01, 0.02, sign=0), "cannot decide: a difference of up to 0.049 is possible"),
        (replace(evidence(-0.03, 0.005), perfect=0.01), "the opposite"),
        (
            replace(evidence(-0.03, 0.005), perfect=-0.004),
            "cannot decide: perfect predictions would be no better",
        ),
    ],
)
def test_verdicts(test: Evidence, verdict: str) -> None:
    assert test.verdict(test.p) == verdict


def test_holms_correction_is_over_the_tests_of_one_claim() -> None:
    weak = evidence(0.03, 0.013)  # p = 0.021
    untested = Evidence("few", "F1", {"effect": 0.1, "p": NAN, "reason": "one seed"}, 0.02)
    several = [weak, replace(evidence(0.0, 0.01), perfect=0.01), untested]
    judged = {"alone": [weak], "with another": several, "in words": "as printed", "unknown": []}
    claims = [
        Claim(text, lambda _, judged=judged: judged, ("one", "two"), ("model",))  # type: ignore[misc]
        for text, judged in judged.items()
    ]
    table, not_run = judged_claims(claims, {}, "dissensus papers tiny DATA -o OUT")
    assert isinstance(table, Table)
    assert [[str(cell) for cell in row] for row in table.rows] == [
        ["alone"],
        ["  corpus, 100 items", "score", "+0.030 [+0.005, +0.055]", "0.021", "0.036", "found"],
        ["with another: found in 1, no gain that matters in 1, not tested in 1 of 3; differences "
         "of 0.031 to 0.040 would have been found"],
        ["  corpus, 100 items", "score", "+0.030 [+0.005, +0.055]", "0.042", "0.040", "found"],
        ["  corpus, 100 items", "score", "+0.000 [-0.020, +0.020]", "1.000", "0.031",
         "no gain of 0.02 (perfect: +0.010)"],
        ["  few", "F1", "+0.100", "", "", "not tested: one seed"],
        ["in words: as printed"],
    ]  # fmt: skip
    assert str(not_run).splitlines() == [
        'Not run yet: dissensus papers tiny DATA -o OUT --conditions "one, two" --models model',
        "  unknown",
    ]
