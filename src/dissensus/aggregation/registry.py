"""Every aggregator by name."""

from __future__ import annotations

from dissensus.aggregation.base import Aggregator
from dissensus.aggregation.bayesian_dawid_skene import BayesianDawidSkene
from dissensus.aggregation.dawid_skene import DawidSkene
from dissensus.aggregation.gaussian import Gaussian
from dissensus.aggregation.glad import Glad
from dissensus.aggregation.kos import Kos
from dissensus.aggregation.m_msr import MatrixMeanSubsequenceReduced
from dissensus.aggregation.mace import Mace
from dissensus.aggregation.one_coin import OneCoin
from dissensus.aggregation.ratings import Mean, Median
from dissensus.aggregation.votes import Majority, SoftmaxVote, SoftVote
from dissensus.aggregation.wawa import Wawa
from dissensus.aggregation.weighted_vote import WeightedVote
from dissensus.aggregation.zero_based_skill import ZeroBasedSkill

AGGREGATORS: dict[str, type[Aggregator]] = {
    aggregator.name: aggregator
    for aggregator in (
        Majority,
        SoftVote,
        SoftmaxVote,
        WeightedVote,
        Wawa,
        ZeroBasedSkill,
        OneCoin,
        DawidSkene,
        BayesianDawidSkene,
        Mace,
        Glad,
        Kos,
        MatrixMeanSubsequenceReduced,
        Mean,
        Median,
        Gaussian,
    )
}
