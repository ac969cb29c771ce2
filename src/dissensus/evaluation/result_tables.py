"""Results -> ComparisonTable: means with intervals, floors, and a corrected comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dissensus.errors import DataError, did_you_mean, listed
from dissensus.evaluation.comparison_table import (
    ALPHA,
    BASELINES,
    FLOORS,
    Cell,
    ComparisonTable,
    Row,
    higher_is_better,
)
from dissensus.evaluation.resampling import drawing_once
from dissensus.evaluation.results import WITHOUT, Results
from dissensus.evaluation.significance.difference import NAN, Difference, corrected
from dissensus.evaluation.significance.method_difference import compared
from dissensus.evaluation.significance.paired_tests import least_p

DRAWS = 50  # resamples for each comparison: p as small as 2 of them is significant after Holm
MOST_SEEDS = 50
TOO_FEW_SEEDS = "too few seeds"
Place = tuple[int, str, str]  # number of the question, method and metric of a cell
Cells = dict[Place, Cell]
CORRELATIONS = ("CCC", "correlation")  # in names of metrics that may be negative


def default_reference(methods: Sequence[str]) -> str | None:
    """The default reference: `single`, else the first method that is not a floor."""
    if len(methods) < 2:
        return None
    return next((m for m in ("single", *methods) if m in methods and m not in FLOORS), methods[0])


def table(
    results: Results,
    question: str | None = None,
    metrics: Sequence[str] | None = None,
    reference: str | None = None,
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> ComparisonTable:
    """A table of one question's results.

    Args:
        question: the first if left out.
        metrics: some of those that were computed; all if left out.
        reference: the method that all others are compared with, by `compared`; p is corrected over
            all methods and metrics of the table, floors included.
        resamples: number of bootstrap samples of items, where needed; drawn with `seed`.
    """
    chosen = results.about.questions[:1] if question is None else [question]
    drawing: dict[str, Any] = {"resamples": resamples, "seed": seed}
    return tables(results, chosen, metrics, reference, **drawing)[0]


def tables(
    results: Results,
    questions: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    reference: str | None = None,
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> list[ComparisonTable]:
    """A table for each question, as from `table`; p is corrected over all of them together.

    Metrics without any score are not shown, unless they are named.
    """
    about = results.about
    chosen = list(about.questions if questions is None else questions)
    _check("question", chosen, [*about.questions, *about.protocol.get(WITHOUT, ())])
    _check("metric", metrics or [], about.metrics)
    _check("method", [] if reference is None else [reference], about.methods)
    shown = {q: tuple(metrics) if metrics else _scored(results, q) for q in chosen}
    if len({(fit.seed, fit.run) for fit in results.fits}) == 1:  # p is a share of resamples
        resamples = max(resamples, DRAWS * len(about.methods) * sum(map(len, shown.values())))
    drawing: dict[str, Any] = {"resamples": resamples, "seed": seed}
    with drawing_once():
        cells = {
            (number, method, metric): cell
            for number, q in enumerate(chosen)
            for method in about.methods
            for metric in shown[q]
            if (cell := _cell(results, q, metric, method, reference, drawing)) is not None
        }
    differences = _differences(cells)
    adjusted = dict(zip(differences, corrected(list(differences.values())), strict=True))  # Holm
    cells, hopeless = _without_hopeless(_against(cells, adjusted))
    n_comparisons = sum(not math.isnan(difference.p) for difference in _differences(cells).values())
    comparable, made = comparable_methods(results), []
    for number, question in enumerate(chosen):
        by_method: dict[str, dict[str, Cell]] = {method: {} for method in about.methods}
        for (at, method, metric), cell in cells.items():
            by_method[method] |= {metric: cell} if at == number else {}
        own = [Row(method, of, method in FLOORS) for method, of in by_method.items()]
        ordered = sorted(_best(own, comparable), key=lambda row: row.floor)  # floors last
        metrics = shown[question]
        beaten = (*floor_notes(own, metrics), *baseline_notes(own, metrics))
        notes = (*about.notes, *beaten, *_fit_notes(results), *hopeless)
        made.append(
            ComparisonTable(
                about.corpus,
                question,
                metrics,
                (*ordered, *_figures(results, question, metrics)),
                reference,
                n_comparisons,
                (*notes, *_difference_notes(own)),
                about.command,
            )
        )
    return made


def _differences(cells: Cells) -> dict[Place, Difference]:
    """The differences from the reference."""
    return {place: cell.against for place, cell in cells.items() if cell.against}


def _scored(results: Results, question: str) -> tuple[str, ...]:
    """The metrics that some fit has a score of; all if there are none."""
    every = results.about.metrics
    scored = {m for fit in results.fits for m, score in fit.scores.get(question, {}).items()
             if not math.isnan(score)}  # fmt: skip
    return tuple(metric for metric in every if metric in scored) or every


def _check(what: str, names: Sequence[str], known: Sequence[str]) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        guess = did_you_mean(unknown[0], known)
        raise DataError(
            f"no {what} {listed(unknown)} in the results{guess}; choose from {listed(known)}"
        )


def _cell(
    results: Results,
    question: str,
    metric: str,
    method: str,
    reference: str | None,
    drawing: dict[str, Any],
) -> Cell | None:
    """The score of a method, and its difference from the reference; None without a score."""
    scores = np.array([fit.score(question, metric) for fit in results.of(method)])
    scores = scores[~np.isnan(scores)]
    if not scores.size:
        return None
    alone = compared(results, question, metric, method, **drawing)
    ends = (NAN, NAN) if math.isnan(alone.low) else _possible(metric, alone.low, alone.high)
    mean = float(scores.mean()) if math.isnan(alone.effect) else alone.effect
    several = len(scores) > 1 and np.isfinite(scores).all()
    spread = float(scores.std(ddof=1)) if several else NAN
    against = None
    if reference is not None and method != reference:
        against = compared(results, question, metric, method, reference, **drawing)
    return Cell(mean, spread, *ends, len(scores), against=against)


def _possible(metric: str, low: float, high: float) -> tuple[float, float]:
    """An interval without scores that the metric cannot have, such as an error below 0."""
    if not higher_is_better(metric):
        return max(low, 0.0), high
    lowest = -1.0 if any(word in metric for word in CORRELATIONS) else 0.0
    return max(low, lowest), min(high, 1.0)


def _against(cells: Cells, differences: Mapping[Place, Difference]) -> Cells:
    """The cells with other differences from the reference."""
    return cells | {at: replace(cells[at], against=other) for at, other in differences.items()}


def _without_hopeless(cells: Cells) -> tuple[Cells, list[str]]:
    """The cells without p, and a note, if even the largest possible difference had a corrected p
    above 0.05: with two seeds, a difference must be 13 times its standard error over seeds, and
    many times more after Holm's correction."""
    tested = {at: d for at, d in _differences(cells).items() if not math.isnan(d.p)}
    means: dict[str, list[float]] = {}
    for (_, _, metric), cell in cells.items():
        means.setdefault(metric, []).append(cell.mean)
    largest = {m: 1 - min(x) if higher_is_better(m) else max(x) for m, x in means.items()}

    def possible(more: int) -> bool:
        least = (least_p(d, largest[m], d.n_runs + more) for (_, _, m), d in tested.items())
        return min(least) * len(tested) < ALPHA

    if all(difference.p == 1 for difference in tested.values()) or possible(0):
        return cells, []
    n_runs = max(d.n_runs for d in tested.values())
    enough = next((more for more in range(1, MOST_SEEDS) if possible(more)), None)
    seeds = "more" if enough is None else f"{n_runs + enough}"
    note = (
        f"No p: with {n_runs} seeds and {len(tested)} comparisons, not even the largest possible "
        f"difference would be significant; use {seeds} seeds, or fewer methods and metrics."
    )
    gone: dict[str, Any] = {"p": NAN, "adjusted": NAN, "reason": TOO_FEW_SEEDS}
    return _against(cells, {at: replace(d, **gone) for at, d in tested.items()}), [note]


def comparable_methods(results: Results) -> list[str]:
    """The methods that are no floors and have scores on the most folds.

    In an unfinished comparison, the mean of a method that was fitted on fewer folds is of other
    items, so that it cannot be the best.
    """
    n_folds = {name: results.n_folds(name) for name in results.about.methods if name not in FLOORS}
    most = max(n_folds.values(), default=0)
    return [name for name, n in n_folds.items() if n and n == most]


def _best(rows: Sequence[Row], comparable: Sequence[str]) -> list[Row]:
    """Mark the best mean of each metric among comparable methods; all if several tie."""
    means: dict[str, list[float]] = {}
    for row in rows:
        for metric, cell in row.cells.items() if row.name in comparable else ():
            means.setdefault(metric, []).append(cell.mean)
    top = {m: max(x) if higher_is_better(m) else min(x) for m, x in means.items() if len(x) > 1}

    def marked(row: Row) -> Row:
        best = {m for m, cell in row.cells.items() if m in top and cell.mean == top[m]}
        cells = {m: replace(cell, best=m in best) for m, cell in row.cells.items()}
        return replace(row, cells=cells) if row.name in comparable else row

    return [marked(row) for row in rows]


def _figures(results: Results, question: str, metrics: Sequence[str]) -> list[Row]:
    """Floors that are scores only, such as that of a perfect prediction."""
    floors: dict[str, dict[str, Cell]] = {}
    for metric in metrics:
        for name, score in results.about.floors.get(question, {}).get(metric, {}).items():
            floors.setdefault(name, {})[metric] = Cell(score)
    return [Row(name, cells, floor=True) for name, cells in floors.items()]


def strongest(rows: Sequence[Row], metrics: Sequence[str]) -> dict[str, Row]:
    """The row with the best mean for each metric; the first of equal ones."""
    best = {}
    for metric in metrics:
        sign = 1 if higher_is_better(metric) else -1
        scored = [row for row in rows if metric in row.cells]
        if scored:
            best[metric] = max(scored, key=lambda row: sign * row.cells[metric].mean)
    return best


def floor_notes(rows: Sequence[Row], metrics: Sequence[str]) -> list[str]:
    """Notes on the strongest floor for each metric, and on methods that do not beat it."""
    floors = [row for row in rows if row.floor]
    if len(floors) < 2:
        return []
    methods = [row for row in rows if not row.floor]
    return _beaten_notes("strongest floor", floors, methods, metrics)


def baseline_notes(rows: Sequence[Row], metrics: Sequence[str]) -> list[str]:
    """The same for the best logistic regression."""
    baselines = [row for row in rows if row.name in BASELINES]
    others = [row for row in rows if not row.floor and row not in baselines]
    return _beaten_notes("best logistic regression", baselines, others, metrics) if others else []


def _beaten_notes(
    what: str, bars: Sequence[Row], methods: Sequence[Row], metrics: Sequence[str]
) -> list[str]:
    by_bar: dict[str, list[str]] = {}
    not_better: dict[str, list[str]] = {}
    for metric, bar in strongest(bars, metrics).items():
        by_bar.setdefault(bar.name, []).append(metric)
        sign = 1 if higher_is_better(metric) else -1
        for row in methods:
            if metric in row.cells:
                if sign * (row.cells[metric].mean - bar.cells[metric].mean) <= 0:
                    not_better.setdefault(row.name, []).append(metric)
    notes = [f"{what[0].upper()}{what[1:]}: {_grouped(by_bar)}."] if by_bar else []
    return [*notes, *([f"Not better than the {what}: {_grouped(not_better)}."] * bool(not_better))]


def _grouped(names: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{name} ({', '.join(metrics)})" for name, metrics in names.items())


def _fit_notes(results: Results) -> list[str]:
    """Notes on methods that were left out, and on fits and trials that failed or diverged."""
    methods_of: dict[str, list[str]] = {}
    for method, why in results.about.left_out.items():
        methods_of.setdefault(why, []).append(method)
    notes = [f"{', '.join(methods)} left out: {why}" for why, methods in methods_of.items()]
    for method in results.about.methods:
        counts = results.counts(method)
        bad = [fit for fit in results.of(method) if fit.status != "ok"]
        for status in ("failed", "diverged"):
            if counts[status]:
                why = listed(sorted({fit.reason for fit in bad if fit.status == status}), 3)
                notes.append(
                    f"{method}: {counts[status]} of {sum(counts.values())} fits {status} ({why})"
                )
        tried = [trial.get("reason", "") for fit in results.of(method) for trial in fit.tried]
        if reasons := sorted({reason for reason in tried if reason}):
            n_bad = sum(map(bool, tried))
            notes.append(f"{method}: {n_bad} of {len(tried)} trials of settings {reasons[0]}")
    return notes


def _difference_notes(rows: Sequence[Row]) -> list[str]:
    """Notes of comparisons, such as what is left out, each once with its methods and metrics."""
    metrics_of: dict[tuple[str, str], list[str]] = {}
    for name, metric, cell in ((row.name, *of) for row in rows for of in row.cells.items()):
        for note in (*cell.against.notes, cell.against.reason) if cell.against else ():
            if note and note != TOO_FEW_SEEDS:
                metrics_of.setdefault((name, note), []).append(metric)
    methods_of: dict[tuple[str, str], list[str]] = {}
    for (method, note), metrics in metrics_of.items():
        methods_of.setdefault((", ".join(metrics), note), []).append(method)
    return [
        f"{', '.join(methods)} ({metrics}): {note}"
        for (metrics, note), methods in methods_of.items()
    ]
