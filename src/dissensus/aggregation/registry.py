"""Every aggregator by name."""

from __future__ import annotations

from dissensus.aggregation.base import Aggregator
from dissensus.aggregation.dawid_skene import DawidSkene
from dissensus.aggregation.gaussian import Gaussian
from dissensus.aggregation.glad import Glad
from dissensus.aggregation.mace import Mace
from dissensus.aggregation.one_coin import OneCoin
from dissensus.aggregation.ratings import Mean, Median
from dissensus.aggregation.votes import Majority, SoftmaxVote, SoftVote
from dissensus.aggregation.wawa import Wawa
from dissensus.aggregation.zero_based_skill import ZeroBasedSkill

AGGREGATORS: dict[str, type[Aggregator]] = {
    aggregator.name: aggregator
    for aggregator in (
        Majority,
        SoftVote,
        SoftmaxVote,
        Wawa,
        ZeroBasedSkill,
        OneCoin,
        DawidSkene,
        Mace,
        Glad,
        Mean,
        Median,
        Gaussian,
    )
}
