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
from dissensus.evaluation.results import Results
from dissensus.evaluation.significance.difference import NAN, Difference, corrected
from dissensus.evaluation.significance.method_difference import compared
from dissensus.evaluation.significance.paired_tests import least_p

DRAWS = 50  # resamples for each comparison: p as small as 2 of them is significant after Holm
MOST_SEEDS = 50
TOO_FEW_SEEDS = "too few seeds"
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
    _check("question", chosen, about.questions)
    _check("metric", metrics or [], about.metrics)
    _check("method", [] if reference is None else [reference], about.methods)
    shown = {q: tuple(metrics) if metrics else _scored(results, q) for q in chosen}
    if len({(fit.seed, fit.run) for fit in results.fits}) == 1:  # p is a share of resamples
        resamples = max(resamples, DRAWS * len(about.methods) * sum(map(len, shown.values())))
    drawing: dict[str, Any] = {"resamples": resamples, "seed": seed}
    with drawing_once():
        rows = [
            _row(results, q, shown[q], m, reference, drawing) for q in chosen for m in about.methods
        ]
    rows, hopeless = _without_hopeless(_holm(rows))
    n_comparisons = sum(not math.isnan(difference.p) for _, difference in _differences(rows))
    comparable, made = comparable_methods(results), []
    for at, question in enumerate(chosen):
        metrics, n = shown[question], len(about.methods)
        own = _best(rows[at * n : (at + 1) * n], metrics, comparable)
        ordered = sorted(own, key=lambda row: row.floor)  # floors last
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


def _differences(rows: Sequence[Row]) -> list[tuple[tuple[int, str], Difference]]:
    """The differences from the reference, with the number of the row and the metric."""
    return [
        ((at, metric), cell.against)
        for at, row in enumerate(rows)
        for metric, cell in row.cells.items()
        if cell.against
    ]


def _with_cells(rows: Sequence[Row], changed: Mapping[tuple[int, str], Cell]) -> list[Row]:
    """The rows with other cells, by number of the row and metric."""
    return [
        replace(row, cells={m: changed.get((at, m), cell) for m, cell in row.cells.items()})
        for at, row in enumerate(rows)
    ]


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


def _row(
    results: Results,
    question: str,
    metrics: Sequence[str],
    method: str,
    reference: str | None,
    drawing: dict[str, Any],
) -> Row:
    cells = {}
    for metric in metrics:
        scores = np.array([fit.score(question, metric) for fit in results.of(method)])
        scores = scores[~np.isnan(scores)]
        if not scores.size:
            continue
        alone = compared(results, question, metric, method, **drawing)
        ends = (NAN, NAN) if math.isnan(alone.low) else _possible(metric, alone.low, alone.high)
        mean = float(scores.mean()) if math.isnan(alone.effect) else alone.effect
        spread = float(scores.std(ddof=1)) if len(scores) > 1 else NAN
        against = None
        if reference is not None and method != reference:
            against = compared(results, question, metric, method, reference, **drawing)
        cells[metric] = Cell(mean, spread, *ends, len(scores), against=against)
    return Row(method, cells, method in FLOORS)


def _possible(metric: str, low: float, high: float) -> tuple[float, float]:
    """An interval without scores that the metric cannot have, such as an error below 0."""
    if not higher_is_better(metric):
        return max(low, 0.0), high
    lowest = -1.0 if any(word in metric for word in CORRELATIONS) else 0.0
    return max(low, lowest), min(high, 1.0)


def _holm(rows: list[Row]) -> list[Row]:
    """Apply Holm's correction over all comparisons of the table."""
    compared_cells = _differences(rows)
    adjusted = corrected([difference for _, difference in compared_cells])
    return _against(rows, dict(zip((at for at, _ in compared_cells), adjusted, strict=True)))


def _against(rows: list[Row], differences: Mapping[tuple[int, str], Difference]) -> list[Row]:
    """The rows with other differences from the reference."""
    return _with_cells(
        rows,
        {
            (at, metric): replace(rows[at].cells[metric], against=difference)
            for (at, metric), difference in differences.items()
        },
    )


def _without_hopeless(rows: list[Row]) -> tuple[list[Row], list[str]]:
    """The rows without p, and a note, if even the largest possible difference had a corrected p
    above 0.05: with two seeds, a difference must be 13 times its standard error over seeds, and
    many times more after Holm's correction."""
    tested = [(at, d) for at, d in _differences(rows) if not math.isnan(d.p)]
    means: dict[str, list[float]] = {}
    for row in rows:
        for metric, cell in row.cells.items():
            means.setdefault(metric, []).append(cell.mean)
    largest = {m: 1 - min(x) if higher_is_better(m) else max(x) for m, x in means.items()}

    def possible(more: int) -> bool:
        least = (least_p(d, largest[m], d.n_runs + more) for (_, m), d in tested)
        return min(least) * len(tested) < ALPHA

    if all(difference.p == 1 for _, difference in tested) or possible(0):
        return rows, []
    n_runs = max(d.n_runs for _, d in tested)
    enough = next((more for more in range(1, MOST_SEEDS) if possible(more)), None)
    seeds = "more" if enough is None else f"{n_runs + enough}"
    note = (
        f"No p: with {n_runs} seeds and {len(tested)} comparisons, not even the largest possible "
        f"difference would be significant; use {seeds} seeds, or fewer methods and metrics."
    )
    without = {at: replace(d, p=NAN, adjusted=NAN, reason=TOO_FEW_SEEDS) for at, d in tested}
    return _against(rows, without), [note]


def comparable_methods(results: Results) -> list[str]:
    """The methods that are no floors and have scores on the most folds.

    In an unfinished comparison, the mean of a method that was fitted on fewer folds is of other
    items, so that it cannot be the best.
    """
    n_folds = {name: results.n_folds(name) for name in results.about.methods if name not in FLOORS}
    most = max(n_folds.values(), default=0)
    return [name for name, n in n_folds.items() if n and n == most]


def _best(rows: list[Row], metrics: Sequence[str], comparable: Sequence[str]) -> list[Row]:
    """Mark the best mean of each metric among comparable methods; all if several tie."""
    marked: dict[tuple[int, str], Cell] = {}
    for metric in metrics:
        ranked = {
            (at, metric): row.cells[metric]
            for at, row in enumerate(rows)
            if metric in row.cells and row.name in comparable
        }
        if len(ranked) > 1:
            best = max if higher_is_better(metric) else min
            top = best(cell.mean for cell in ranked.values())
            marked |= {at: replace(c, best=True) for at, c in ranked.items() if c.mean == top}
    return _with_cells(rows, marked)


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
    """Notes on methods that were left out, and on fits that failed or diverged."""
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
    return notes


def _difference_notes(rows: Sequence[Row]) -> list[str]:
    """Notes of comparisons, such as what is left out, each once with its methods and metrics."""
    metrics_of: dict[tuple[str, str], list[str]] = {}
    for (at, metric), difference in _differences(rows):
        for note in (*difference.notes, difference.reason):
            if note and note != TOO_FEW_SEEDS:
                metrics_of.setdefault((rows[at].name, note), []).append(metric)
    methods_of: dict[tuple[str, str], list[str]] = {}
    for (method, note), metrics in metrics_of.items():
        methods_of.setdefault((", ".join(metrics), note), []).append(method)
    return [
        f"{', '.join(methods)} ({metrics}): {note}"
        for (metrics, note), methods in methods_of.items()
    ]
