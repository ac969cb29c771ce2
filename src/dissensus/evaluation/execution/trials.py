"""The choice of settings: which are tried, how they are scored, and which is the best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dissensus.errors import ModelError
from dissensus.evaluation.fit import number
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.search_space import Choices
from dissensus.methods.framework.settings import changed, settings_of
from dissensus.metrics import METRICS
from dissensus.scales import Scale


def leading_metric(scale: Scale) -> str:
    """The metric that tables lead with, and by which settings are chosen.

    Example:
        >>> from dissensus.scales import Interval, Nominal
        >>> leading_metric(Nominal(("no", "yes"))), leading_metric(Interval(0, 1))
        ('cross-entropy', 'CCC')
    """
    return next(name for name, metric in METRICS.items() if scale.kind in metric.scales)


def drawn(method: Method, choices: Choices, n: int, seed: int) -> list[dict[str, Any]]:
    """n different settings: first those that the method has, then some drawn from the choices.

    Methods with the same choices try the same settings.

    Example:
        >>> from dissensus.methods.annotator_majority import AnnotatorMajority
        >>> drawn(AnnotatorMajority(), {"smoothing": (0.5, 1.0, 2.0)}, n=3, seed=0)
        [{'smoothing': 1.0}, {'smoothing': 2.0}, {'smoothing': 0.5}]
    """
    changed(method, {name: values[0] for name, values in choices.items()})  # do they exist?
    known = settings_of(method)
    first = {name: known[name] for name in choices}
    sizes = [len(values) for values in choices.values()]
    found = [first]
    for code in np.random.default_rng(seed).permutation(math.prod(sizes)):
        at = np.unravel_index(code, sizes) if sizes else ()
        one = {name: values[k] for (name, values), k in zip(choices.items(), at, strict=True)}
        if len(found) < n and one not in found:
            found.append(one)
    if len(found) < n:
        raise ModelError(
            f"{method.name} has {len(found)} settings to try, {n} were asked for; ask for fewer "
            "trials, or give it more choices"
        )
    return found


def best(tried: Sequence[Mapping[str, Any]], scales: Mapping[str, Scale]) -> int:
    """Which of the tried settings scored best; of several questions, by the mean rank.

    One without a score comes last; of equals the earlier one is taken, so the defaults first.

    Args:
        tried: with `scores`, by question and leading metric, of each.
    """
    ranks = np.zeros(len(tried))
    for question, scale in scales.items():
        metric = leading_metric(scale)
        scores = np.array([number(one["scores"].get(question, {}).get(metric)) for one in tried])
        lower = -scores if METRICS[metric].higher_is_better else scores
        lower = np.where(np.isnan(lower), np.inf, lower)
        ranks += (lower[:, None] > lower[None, :]).sum(axis=1)
    return int(ranks.argmin())
