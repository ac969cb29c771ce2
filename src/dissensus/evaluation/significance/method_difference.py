"""Compare two methods of a Results, by the test that their fits allow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.evaluation.results import Results
from dissensus.evaluation.runs import RunKey, Runs, shared_runs
from dissensus.evaluation.significance.difference import Difference
from dissensus.evaluation.significance.means import over_both, over_items, over_seeds
from dissensus.evaluation.significance.paired_scores import left_out
from dissensus.evaluation.significance.resampling import Statistic, mean, nothing
from dissensus.evaluation.significance.statistics import statistic_over_both, statistic_over_items
from dissensus.metrics import GOLD, METRICS

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

    If the metric is computed from items, the test is over seeds and items with several runs (seeds
    or repetitions), and over items with one run. Otherwise it is over runs, or over the folds of a
    single run. Items of one group are resampled together.
    """
    sides = _Sides.of(results, question, metric, first, second)
    if sides is None:
        return _over_fits(results, question, metric, first, second, level)
    known: dict[str, Any] = {"groups": sides.groups(results), "level": level}
    drawing = known | {"resamples": resamples, "seed": seed}
    if parts_of(metric) != (metric,):
        test = statistic_over_both if sides.n_runs > 1 else statistic_over_items
        difference = test(*sides.statistics(metric), **drawing)
    elif sides.n_runs > 1:
        difference = over_both(sides.first[metric], sides.second[metric], **known)
    else:
        difference = over_items(sides.first[metric], sides.second[metric], **drawing)
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
        names = parts_of(metric)
        mine = {name: results.runs(question, name, first) for name in names}
        other = first if second is None else second
        theirs = {name: results.runs(question, name, other) for name in names}
        if not all(len(runs.items) for runs in (*mine.values(), *theirs.values())):
            return None
        if any(_lacks_item_scores(results, question, metric, name) for name in {first, other}):
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

    def statistics(self, metric: str) -> tuple[Statistic, Statistic]:
        """The statistics of both methods, as functions of the weights of items."""
        a, b = statistic(metric, self.first), statistic(metric, self.second)
        assert a is not None and b is not None, metric
        return a, nothing(a.n_items, self.n_runs) if self.alone else b


def parts_of(metric: str) -> tuple[str, ...]:
    """The names of the item scores that a metric is computed from."""
    known = METRICS.get(metric.removesuffix(GOLD))  # None for a metric of densities
    if known is None:
        return (metric,)
    return tuple(part + GOLD for part in known.parts) if metric.endswith(GOLD) else known.parts


def statistic(metric: str, scores: Parts) -> Statistic | None:
    """A metric as a function of the weights of items; None if it is not computed from items.

    Args:
        scores: from `item_scores`, (n_runs, n_items) each.
    """
    if metric in scores:
        return mean(scores[metric])
    known = METRICS.get(metric.removesuffix(GOLD))
    if known is None or known.statistic is None or not scores.keys() >= {*parts_of(metric)}:
        return None
    observed, predicted = (scores[part] for part in parts_of(metric))
    return known.statistic(observed[0], predicted)


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


def _lacks_item_scores(results: Results, question: str, metric: str, method: str) -> bool:
    """Whether a run has scores but none on items: an earlier version saved fewer of them."""
    of_items = [results.runs(question, name, method).scores for name in parts_of(metric)]
    lacking = np.logical_or.reduce([np.isnan(scores).all(axis=1) for scores in of_items])
    scored = ~np.isnan(_figures(results, question, metric, method).scores).all(axis=1)
    return bool((lacking & scored).any())


def _over_fits(
    results: Results, question: str, metric: str, first: str, second: str | None, level: float
) -> Difference:
    """Test over runs, each the mean of its folds; with a single run, over its folds."""
    mine = _figures(results, question, metric, first)
    theirs = mine if second is None else _figures(results, question, metric, second)
    keys, folds = shared_runs(mine, theirs)
    a = mine.on(keys, folds)
    b = np.zeros_like(a) if second is None else theirs.on(keys, folds)
    of_run = np.array([fold["run"] for fold in results.folds])
    each = [of_run == run for _, run in keys]
    inside = np.array(each).reshape(len(keys), len(of_run))  # (n_runs, n_folds)
    if len(keys) != 1:
        means = [np.where(inside, side, 0).sum(axis=1) / inside.sum(axis=1) for side in (a, b)]
        return over_seeds(means[0], means[1], level=level)
    sizes = [fold["test"] / fold["train"] for fold in results.folds if fold["run"] == keys[0][1]]
    if len(sizes) == 1:
        return over_seeds(a[:, inside[0]][0], b[:, inside[0]][0], level=level)
    overlap = float(np.mean(sizes))
    difference = over_seeds(a[0, inside[0]], b[0, inside[0]], test_to_train=overlap, level=level)
    return replace(difference, test="folds", notes=(*difference.notes, "over the folds of one run"))


def _figures(results: Results, question: str, metric: str, method: str) -> Runs:
    """The scores of a method's fits: a row for each run, a column for each fold."""
    names = [fold["name"] for fold in results.folds]
    keys = sorted({(fit.seed, fit.run) for fit in results.of(method)})
    scores = np.full((len(keys), len(names)), np.nan)
    for fit in results.of(method):
        at = keys.index((fit.seed, fit.run)), names.index(fit.fold)
        scores[at] = fit.score(question, metric)
    return Runs(keys, pa.array(names, pa.string()), scores)
