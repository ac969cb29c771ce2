"""Compare two methods of a Results, by the test that their fits allow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.evaluation.resampling import Sums, mean, nothing
from dissensus.evaluation.results import Results
from dissensus.evaluation.runs import RunKey, Runs, shared_runs
from dissensus.evaluation.significance.difference import NAN, Difference
from dissensus.evaluation.significance.paired_tests import (
    left_out,
    over_both,
    over_items,
    statistic_over_both,
    statistic_over_items,
)
from dissensus.metrics import GOLD, METRICS
from dissensus.metrics.metric import Metric

NOT_OF_ITEMS = (
    "not tested: it has no score for each item, and other seeds alone do not show what other items "
    "would"
)
RAISED = "no interval: noise of few items raises it"
NOT_SAVED = "not tested: no scores of single items are saved"
Parts = dict[str, np.ndarray]  # what each item contributes to a metric, (n_runs, n_items)


def compared(
    results: Results,
    question: str,
    metric: str,
    first: str,
    second: str | None = None,
    *,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> Difference:
    """How much better the first method scores than the second; without a second, its own score.

    The test is over seeds and items with several runs (seeds or repetitions), and over items with
    one run. Without scores of single items there is no test: one over seeds alone would call
    differences significant that other items do not have. Items of one group are resampled together.
    """
    sides = _Sides.of(results, question, metric, first, second)
    if sides is None:
        return _untested(results, question, metric, first, second, level)
    known: dict[str, Any] = {"groups": sides.groups(results), "level": level}
    drawing = known | {"resamples": resamples, "seed": seed}
    if metric not in sides.first:
        test = statistic_over_both if sides.n_runs > 1 else statistic_over_items
        difference = test(*sides.statistics(metric), **drawing)
    elif sides.n_runs > 1:
        difference = over_both(sides.first[metric], sides.second[metric], **known)
    else:
        difference = over_items(sides.first[metric], sides.second[metric], **drawing)
    if second is None and (metric_of := _known(metric)) and not metric_of.has_interval:
        difference = replace(difference, low=NAN, high=NAN, p=NAN, reason=RAISED)
    return replace(difference, notes=(*sides.notes, *difference.notes))


@dataclass(frozen=True, eq=False)
class _Sides:
    """What items contribute to a metric for both methods, where both are defined."""

    first: Parts
    second: Parts  # zeros if there is no second method
    items: Any  # (n_items,) Arrow strings
    alone: bool
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls, results: Results, question: str, metric: str, first: str, second: str | None
    ) -> _Sides | None:
        """None if the metric is not computed from items, or a method has no scores on items."""
        # the metric itself where its items have several values, as sets have
        own = results.runs(question, metric, first)
        names = (metric,) if len(own.items) else parts_of(metric)
        mine = {name: results.runs(question, name, first) for name in names}
        other = first if second is None else second
        theirs = {name: results.runs(question, name, other) for name in names}
        if not all(len(runs.items) for runs in (*mine.values(), *theirs.values())):
            return None
        keys, items = shared_runs(mine[names[0]], theirs[names[0]])
        whole = _whole(results, keys, [first] if second is None else [first, second])
        notes: tuple[str, ...] = ()
        if 0 < len(whole) < len(keys):
            gone = len(keys) - len(whole)
            notes = (f"{gone} of {len(keys)} runs left out: a fit failed or diverged",)
            keys = whole
        sides = [{name: side[name].on(keys, items) for name in names} for side in (mine, theirs)]
        undefined = np.logical_or.reduce([np.isnan(p) for side in sides for p in side.values()])
        ran = ~undefined.all(axis=1)
        kept = ~undefined[ran].any(axis=0)
        a, b = ({n: part[ran][:, kept] for n, part in side.items()} for side in sides)
        if second is None:
            b = {name: np.zeros_like(part) for name, part in a.items()}
        notes += (*left_out(~ran, "run"), *(left_out(~kept, "item") if ran.any() else ()))
        return cls(a, b, items.filter(kept), second is None, notes)

    @property
    def n_runs(self) -> int:
        return len(next(iter(self.first.values())))

    def groups(self, results: Results) -> np.ndarray | None:
        """The group of each item; an item without one is its own group."""
        if not results.groups:
            return None
        names = self.items.to_pylist()
        return np.array([results.groups.get(name, f"\0{name}") for name in names], dtype=str)

    def statistics(self, metric: str) -> tuple[Sums, Sums]:
        """The statistics of both methods, as functions of the weights of items."""
        a, b = statistic(metric, self.first), statistic(metric, self.second)
        assert a is not None and b is not None, metric
        return a, nothing(a.n_items, self.n_runs) if self.alone else b


def _known(metric: str) -> Metric | None:
    """The metric of a name; None for a metric of densities."""
    return METRICS.get(metric.removesuffix(GOLD))


def parts_of(metric: str) -> tuple[str, ...]:
    """The names of the item scores that a metric is computed from."""
    known = _known(metric)
    if known is None:
        return (metric,)
    return tuple(part + GOLD for part in known.parts) if metric.endswith(GOLD) else known.parts


def statistic(metric: str, scores: Parts) -> Sums | None:
    """A metric as a function of the weights of items; None if it is not computed from items.

    Args:
        scores: from `item_scores`, (n_runs, n_items) each.
    """
    if metric in scores:
        return mean(scores[metric])
    known = _known(metric)
    if known is None or known.statistic is None or not scores.keys() >= {*parts_of(metric)}:
        return None
    observed, predicted = (scores[part] for part in parts_of(metric))
    return known.statistic(observed[0], predicted)


def metric_over_items(
    metric: str, first: Parts, second: Parts | None = None, **drawing: Any
) -> Difference:
    """A metric of one run, tested over items; without a second side, its own score.

    Args:
        first: what each item contributes, as `item_scores` names it, (1, n_items) each.
        drawing: as in `over_items`.
    """
    if metric in first:
        other = np.zeros_like(first[metric]) if second is None else second[metric]
        return over_items(first[metric], other, **drawing)
    mine = statistic(metric, first)
    assert mine is not None, metric
    theirs = nothing(mine.n_items, 1) if second is None else statistic(metric, second)
    assert theirs is not None, metric
    return statistic_over_items(mine, theirs, **drawing)


def _whole(results: Results, keys: list[RunKey], methods: list[str]) -> list[RunKey]:
    """The runs without a failed fit; a method with one seed counts in every run."""
    bad: set[RunKey] = set()
    for method in methods:
        fits = results.of(method)
        broken = {(fit.seed, fit.run) for fit in fits if fit.status != "ok"}
        if len({fit.seed for fit in fits}) == 1:
            broken = {key for key in keys if key[1] in {run for _, run in broken}}
        bad |= broken
    return [key for key in keys if key not in bad]


def _untested(
    results: Results, question: str, metric: str, first: str, second: str | None, level: float
) -> Difference:
    """The mean difference over runs, each the mean of its folds; without a test."""
    mine = _figures(results, question, metric, first)
    theirs = mine if second is None else _figures(results, question, metric, second)
    keys, folds = shared_runs(mine, theirs)
    a = mine.on(keys, folds)
    b = np.zeros_like(a) if second is None else theirs.on(keys, folds)
    of_run = np.array([fold["run"] for fold in results.folds])
    inside = of_run == np.array([run for _, run in keys], int)[:, None]  # (n_runs, n_folds)
    runs = np.where(inside, a - b, 0).sum(axis=1) / inside.sum(axis=1)
    scored = ~np.isnan(runs)
    effect = float(runs[scored].mean()) if scored.any() else NAN
    begun = Difference("none", effect, level=level, n_runs=int(scored.sum()))
    if not scored.any():
        return begun.undefined("no run has scores of both methods")
    known = _known(metric)
    why = NOT_OF_ITEMS if known is not None and not known.tested else NOT_SAVED
    return replace(begun, notes=left_out(~scored, "run")).undefined(why)


def _figures(results: Results, question: str, metric: str, method: str) -> Runs:
    """The scores of a method's fits: a row for each run, a column for each fold."""
    names = [fold["name"] for fold in results.folds]
    keys = sorted({(fit.seed, fit.run) for fit in results.of(method)})
    scores = np.full((len(keys), len(names)), np.nan)
    for fit in results.of(method):
        at = keys.index((fit.seed, fit.run)), names.index(fit.fold)
        scores[at] = fit.score(question, metric)
    return Runs(keys, pa.array(names, pa.string()), scores)
