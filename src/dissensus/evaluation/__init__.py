"""Which method is better, and how sure is that? `Corpus -> folds`, `scores -> Difference`.

Protocols say what is learned and what is tested, tests of significance whether a difference would
stay with other items and other seeds.
"""

from __future__ import annotations

from dissensus.evaluation import resampling
from dissensus.evaluation.difference import Difference, corrected, holm
from dissensus.evaluation.hierarchical import hierarchical
from dissensus.evaluation.of_statistics import statistic_over_both, statistic_over_items
from dissensus.evaluation.published import published
from dissensus.evaluation.significance import over_both, over_items, over_seeds

__all__ = [
    "Difference",
    "corrected",
    "hierarchical",
    "holm",
    "over_both",
    "over_items",
    "over_seeds",
    "published",
    "resampling",
    "statistic_over_both",
    "statistic_over_items",
]
