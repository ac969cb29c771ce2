"""Words for values of kappa, as three textbooks have them: conventions, not tests."""

from __future__ import annotations

import math
from typing import NamedTuple

from dissensus.errors import DataError, did_you_mean, listed


class Benchmark(NamedTuple):
    """Words for ranges of kappa, and where they come from."""

    source: str
    words: tuple[tuple[float, str], ...]  # the largest value of a range and its word, rising


BENCHMARKS: dict[str, Benchmark] = {
    "landis-koch": Benchmark(
        "Landis and Koch (1977), doi:10.2307/2529310",
        (
            (math.nextafter(0.0, -1.0), "poor"),
            (0.2, "slight"),
            (0.4, "fair"),
            (0.6, "moderate"),
            (0.8, "substantial"),
            (1.0, "almost perfect"),
        ),
    ),
    "fleiss": Benchmark(
        "Fleiss (1981), Statistical Methods for Rates and Proportions, 2nd edition",
        (
            (math.nextafter(0.4, 0.0), "poor"),
            (0.75, "fair to good"),
            (1.0, "excellent"),
        ),
    ),
    "altman": Benchmark(
        "Altman (1991), Practical Statistics for Medical Research",
        ((0.2, "poor"), (0.4, "fair"), (0.6, "moderate"), (0.8, "good"), (1.0, "very good")),
    ),
}


def check_benchmark(benchmark: str) -> None:
    """Refuse a name that is no benchmark."""
    if benchmark not in BENCHMARKS:
        guess = did_you_mean(benchmark, BENCHMARKS)
        raise DataError(f"no benchmark {benchmark!r}{guess}; there are {listed(BENCHMARKS)}")


def benchmark_word(value: float, benchmark: str = "landis-koch") -> str | None:
    """The word for a value of kappa; None where the value is nan.

    Words ignore how uncertain a value is and how many values the scale has; report the value with
    its interval, and the source of the words.

    Example:
        >>> benchmark_word(0.72), benchmark_word(0.72, "fleiss"), benchmark_word(0.72, "altman")
        ('substantial', 'fair to good', 'good')
    """
    check_benchmark(benchmark)
    words = BENCHMARKS[benchmark].words
    return next((word for most, word in words if value <= most), None)
