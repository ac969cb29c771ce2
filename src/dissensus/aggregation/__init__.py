"""What is the answer? `Annotations -> a distribution and a consensus per item`.

An aggregator is an entry of `AGGREGATORS`; `fit` returns self. `aggregate` fits one to the
questions of a corpus.
"""

from __future__ import annotations

from dissensus.aggregation.base import Aggregator
from dissensus.aggregation.dawid_skene import BayesianDawidSkene, DawidSkene
from dissensus.aggregation.gaussian import Gaussian
from dissensus.aggregation.ranking import (
    RANKERS,
    BradleyTerry,
    Comparisons,
    comparisons,
    rank,
    ranking_table,
)
from dissensus.aggregation.registry import (
    AGGREGATORS,
    aggregate,
    annotator_table,
    check_method,
    check_shares,
    gold_accuracy,
    usual_method,
)
from dissensus.aggregation.reliability import (
    Glad,
    Kos,
    Mace,
    MatrixMeanSubsequenceReduced,
    OneCoin,
    errs_by_value,
)
from dissensus.aggregation.texts import TEXT_METHODS, aggregate_texts, rover
from dissensus.aggregation.votes import (
    Majority,
    Mean,
    Median,
    SoftmaxVote,
    SoftVote,
    Wawa,
    WeightedVote,
    ZeroBasedSkill,
)

__all__ = [
    "AGGREGATORS",
    "Aggregator",
    "BayesianDawidSkene",
    "BradleyTerry",
    "Comparisons",
    "DawidSkene",
    "Gaussian",
    "Glad",
    "Kos",
    "Mace",
    "Majority",
    "MatrixMeanSubsequenceReduced",
    "Mean",
    "Median",
    "OneCoin",
    "RANKERS",
    "SoftVote",
    "TEXT_METHODS",
    "SoftmaxVote",
    "Wawa",
    "WeightedVote",
    "ZeroBasedSkill",
    "aggregate",
    "aggregate_texts",
    "annotator_table",
    "check_method",
    "check_shares",
    "usual_method",
    "comparisons",
    "errs_by_value",
    "gold_accuracy",
    "rank",
    "ranking_table",
    "rover",
]
