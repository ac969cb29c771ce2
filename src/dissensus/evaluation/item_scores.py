"""How a metric is computed from what items contribute to it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dissensus.evaluation import resampling
from dissensus.metrics import METRICS
from dissensus.metrics.metric import OBSERVED, PREDICTED


def statistic(metric: str, scores: Mapping[str, np.ndarray]) -> resampling.Statistic | None:
    """How a metric is computed from weighted items; None where it is no function of them.

    Args:
        scores: what `item_scores` gave, (n_runs, n_items) each.
    """
    if metric in scores:
        return resampling.mean(scores[metric])
    known = METRICS.get(metric)  # "accuracy (gold)" is a mean over items, or none is there
    if known is None or known.statistic is None or not {OBSERVED, PREDICTED} <= scores.keys():
        return None
    return known.statistic(scores[OBSERVED][0], scores[PREDICTED])


def parts_of(metric: str) -> tuple[str, ...]:
    """The names under which `item_scores` keeps what a metric is made of."""
    return METRICS[metric].parts if metric in METRICS else (metric,)  # "accuracy (gold)"
