"""What cannot be measured is refused, in these words."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from dissensus import agreement as a
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal

WORDS = Annotations.from_rows([("t1", "ann", "0"), ("t1", "bob", "1")], Nominal(("0", "1")))
LEVELS = Annotations.from_rows([("t1", "ann", "-1"), ("t1", "bob", "2")], Ordinal(("-1", "2")))
RATINGS = Annotations.from_rows([("t1", "ann", 1), ("t1", "bob", 2)], Interval(0, 3))
SETS = Annotations.from_rows([("t1", "ann", "joy,fear")], MultiLabel(("joy", "fear")))
VOTES = Annotations.from_arrays(np.zeros(2, int), None, np.array([0, 1]), WORDS.scale)
RATED = Annotations.from_arrays(np.zeros(2, int), None, np.array([0.0, 1.0]), RATINGS.scale)
ELSEWHERE = Annotations.from_rows([("t9", "gold", "0")], WORDS.scale)
TOO_PRECISE = Annotations.from_arrays(
    np.repeat(np.arange(10_001), 2),
    np.tile(np.arange(2), 10_001),
    np.linspace(1, 2, 20_002),
    Interval(0, 3),
)
TOO_LARGE = Annotations.from_arrays(
    np.zeros(1, int),
    np.zeros(1, int),
    np.zeros(1, int),
    Nominal(tuple(map(str, range(1000)))),
    annotators=Names.range(2000),
)
ANONYMOUS = "needs known annotators; these answers are anonymous"
alpha: Callable[..., float] = a.krippendorff_alpha
kappas: Callable[..., np.ndarray] = a.kappa_matrix
icc: Callable[..., float] = a.icc
REFUSED: list[tuple[Callable[..., Any], Annotations, str]] = [
    (kappas, RATINGS, "Cohen's kappa needs nominal or ordinal answers, not interval"),
    (kappas, VOTES, f"Cohen's kappa {ANONYMOUS}"),
    (a.fleiss_kappa, RATINGS, "Fleiss' kappa needs nominal or ordinal answers, not interval"),
    (a.randolph_kappa, RATINGS, "Randolph's kappa needs nominal or ordinal answers, not interval"),
    (a.gwet_ac, RATINGS, "Gwet's AC needs nominal or ordinal answers, not interval"),
    (a.mean_difference, WORDS, "a mean difference needs ratings, not nominal answers"),
    (a.correlation_matrix, WORDS, "a correlation needs ratings or levels, not nominal answers"),
    (a.mean_kappa_per_value, WORDS, "kappa per value needs multi-label answers, not nominal"),
    (a.kappa_per_value, WORDS, "kappa per value needs multi-label answers, not nominal"),
    (a.masi_kappa_matrix, WORDS, "kappa per value needs multi-label answers, not nominal"),
    (a.item_entropy, RATINGS, "an entropy is over values; ratings have a variance"),
    (a.majority_share, RATINGS, "a majority is among values; ratings have a variance"),
    (a.item_variance, WORDS, "a variance needs ratings or levels, not nominal answers"),
    (
        a.positive_agreement,
        RATINGS,
        "agreement by value needs nominal, ordinal or multi-label answers",
    ),
    (
        a.agreement_with_rest,
        RATINGS,
        "ratings are hardly ever equal; they correlate with the rest",
    ),
    (a.agreement_with_rest, VOTES, f"agreement with the rest {ANONYMOUS}"),
    (
        a.agreement_with_consensus,
        RATINGS,
        "ratings are hardly ever equal to their mean; they have a leniency",
    ),
    (a.leniency, WORDS, "leniency needs ratings or levels, not nominal answers"),
    (a.confusion, RATINGS, "a confusion needs nominal or ordinal answers, not interval"),
    (
        partial(a.confusion, consensus=ELSEWHERE),
        WORDS,
        "the consensus must be about the same items, on the same scale",
    ),
    (
        a.confusion,
        TOO_LARGE,
        "the confusion of 2,000 annotators over 1,000 values takes 15 GiB, more than 4; "
        "select fewer annotators",
    ),
    (
        partial(a.cohen_kappa, first="ann", second="zoe"),
        WORDS,
        "no annotator 'zoe'; there are 2: 'ann', 'bob'",
    ),
    (
        partial(kappas, weights="linear"),
        WORDS,
        "linear weights count steps between levels, and nominal values have no order; declare an "
        "ordinal scale, or give the distances as an array",
    ),
    (
        partial(kappas, weights=np.ones((3, 3))),
        WORDS,
        "the distance between 2 values is 2 x 2, never negative, and 0 from a value to itself; "
        "found (3, 3)",
    ),
    (
        partial(kappas, weights="cubic"),
        LEVELS,
        "no weights 'cubic'; there are 'identity', 'linear', 'quadratic', 'ordinal'",
    ),
    (
        partial(alpha, weights="linear"),
        RATINGS,
        "Krippendorff's alpha with weights needs nominal or ordinal answers, not interval",
    ),
    (
        partial(alpha, distance=np.eye(2)),
        SETS,
        "a matrix of distances is between values; sets need a function of two sets",
    ),
    (
        partial(alpha, distance=np.eye(2)),
        RATINGS,
        "a matrix of distances is between values; ratings have differences",
    ),
    (
        partial(alpha, distance=np.ones((2, 2))),
        WORDS,
        "the distance between 2 values is 2 x 2 and 0 from a value to itself; found (2, 2)",
    ),
    (
        partial(alpha, distance=np.eye(2), level="ratio"),
        RATINGS,
        "a distance, a level or weights: each takes the place of the others",
    ),
    (
        partial(alpha, level="interval"),
        SETS,
        "multi-label answers cannot be compared on interval level",
    ),
    (
        partial(alpha, level="cardinal"),
        RATINGS,
        "no level 'cardinal'; there are nominal, ordinal, interval, ratio, masi",
    ),
    (
        partial(alpha, level="ratio"),
        TOO_PRECISE,
        "20,002 different answers have too many distances to compare all with all "
        "(at most 20,000); round the ratings",
    ),
    (icc, WORDS, "ICC needs ratings or levels, not nominal answers"),
    (partial(icc, form="icc3"), RATED, f"ICC form icc3 {ANONYMOUS}"),
    (
        partial(icc, form="icc4"),
        RATINGS,
        "no form 'icc4' of ICC; there are icc1, icc2, icc3, icc1k, icc2k, icc3k",
    ),
    (
        partial(a.interval, "mean-difference"),
        WORDS,
        "mean-difference: it is for interval answers, not nominal",
    ),
    (
        lambda table: a.interval("percent", table, level=95),
        WORDS,
        "a level lies between 0 and 1, found 95",
    ),
]


@pytest.mark.parametrize(("function", "table", "message"), REFUSED)
def test_refused_in_these_words(
    function: Callable[..., Any], table: Annotations, message: str
) -> None:
    with pytest.raises(DataError) as error:
        function(table)
    assert str(error.value) == message
