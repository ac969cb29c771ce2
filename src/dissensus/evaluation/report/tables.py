"""Results as a table: methods by metrics, with intervals, floors and a corrected comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dissensus.errors import DataError, listed
from dissensus.evaluation.results import Results
from dissensus.evaluation.significance.difference import NAN, Difference, corrected
from dissensus.evaluation.significance.method_difference import compared
from dissensus.evaluation.significance.resampling import drawing_once
from dissensus.metrics import METRICS

FLOORS = ("prior", "annotator-majority", "annotator-median")  # methods that ignore the content
ALPHA = 0.05


@dataclass(frozen=True)
class Cell:
    """How a method does on a metric, and how much better or worse than the reference."""

    mean: float  # over runs, of all items together where a metric is made of items
    spread: float = NAN  # standard deviation over fits
    low: float = NAN  # the interval of the mean
    high: float = NAN
    n_fits: int = 0  # that have a score
    best: bool = False
    against: Difference | None = None  # this method minus the reference

    @property
    def told_apart(self) -> bool:
        """Whether the difference from the reference stays after Holm's correction."""
        return self.against is not None and self.against.adjusted < ALPHA


@dataclass(frozen=True)
class Row:
    """A method, or a figure that no method has to be fitted for."""

    name: str
    cells: dict[str, Cell]  # by metric; those without a figure are not there
    floor: bool = False


@dataclass(frozen=True)
class ComparisonTable:
    """Methods by metrics for one question."""

    corpus: str
    question: str
    metrics: tuple[str, ...]
    rows: tuple[Row, ...]  # floors last
    reference: str | None
    n_comparisons: int  # over which p was corrected
    notes: tuple[str, ...]
    command: str

    def __getitem__(self, name: str) -> Row:
        found = [row for row in self.rows if row.name == name]
        if not found:
            raise KeyError(name)
        return found[0]


def default_reference(methods: Sequence[str]) -> str | None:
    """The method that others are compared with by default: `single`, else the first that is no
    floor."""
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
        reference: a method that every other one is compared with, as `compared` does; p is
            corrected over all methods and metrics of the table.
        resamples: draws of items, where an interval or p needs them; `seed` decides which.
    """
    asked = results.about.questions[:1] if question is None else [question]
    drawing: dict[str, Any] = {"resamples": resamples, "seed": seed}
    return tables(results, asked, metrics, reference, **drawing)[0]


def tables(
    results: Results,
    questions: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    reference: str | None = None,
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> list[ComparisonTable]:
    """A table for each question, as `table` makes one; p is corrected over all of them together.

    Metrics that no fit has a figure of are not shown, unless they are asked for.
    """
    about = results.about
    asked = list(about.questions if questions is None else questions)
    _check("question", asked, about.questions)
    _check("metric", metrics or [], about.metrics)
    _check("method", [] if reference is None else [reference], about.methods)
    drawing: dict[str, Any] = {"resamples": resamples, "seed": seed}
    shown = {q: tuple(metrics) if metrics else _scored(results, q) for q in asked}
    with drawing_once():
        made = [(q, m) for q in asked for m in about.methods]
        rows = [_row(results, q, shown[q], m, reference, drawing) for q, m in made]
    rows = _holm(rows)
    against = [c.against for row in rows for c in row.cells.values() if c.against]
    n_comparisons = sum(not math.isnan(found.p) for found in against)
    n = len(about.methods)
    return [
        _table(results, q, shown[q], rows[at * n : (at + 1) * n], reference, n_comparisons)
        for at, q in enumerate(asked)
    ]


def _table(
    results: Results,
    question: str,
    shown: tuple[str, ...],
    rows: list[Row],
    reference: str | None,
    n_comparisons: int,
) -> ComparisonTable:
    rows = _best(rows, shown)
    made = [(row.name, m, c.against) for row in rows for m, c in row.cells.items() if c.against]
    return ComparisonTable(
        results.about.corpus,
        question,
        shown,
        (
            *(row for row in rows if not row.floor),
            *(row for row in rows if row.floor),
            *_figures(results, question, shown),
        ),
        reference,
        n_comparisons,
        (*results.about.notes, *floor_notes(rows, shown), *_said(results), *_doubts(made)),
        results.about.command,
    )


def _scored(results: Results, question: str) -> tuple[str, ...]:
    """The metrics that some fit has a figure of; all if there is none at all."""
    every = results.about.metrics
    found = {m for fit in results.fits for m, score in fit.scores.get(question, {}).items()
             if not math.isnan(score)}  # fmt: skip
    return tuple(metric for metric in every if metric in found) or every


def higher_is_better(metric: str) -> bool:
    """Whether more of a metric is better; "accuracy (gold)" is as accuracy."""
    return METRICS[metric.removesuffix(" (gold)")].higher_is_better


def _check(what: str, asked: Sequence[str], there: Sequence[str]) -> None:
    strange = [name for name in asked if name not in there]
    if strange:
        raise DataError(f"no {what} {listed(strange)} in the results; there is {listed(there)}")


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
        ends = (NAN, NAN) if math.isnan(alone.low) else (alone.low, alone.high)
        mean = float(scores.mean()) if math.isnan(alone.effect) else alone.effect
        spread = float(scores.std(ddof=1)) if len(scores) > 1 else NAN
        against = None
        if reference is not None and method != reference:
            against = compared(results, question, metric, method, reference, **drawing)
        cells[metric] = Cell(mean, spread, *ends, len(scores), against=against)
    return Row(method, cells, method in FLOORS)


def _holm(rows: list[Row]) -> list[Row]:
    """Correct over every comparison of the table."""
    places = [(at, metric) for at, row in enumerate(rows) for metric in row.cells]
    made = [(place, rows[place[0]].cells[place[1]].against) for place in places]
    there = [(place, found) for place, found in made if found is not None]
    better = corrected([found for _, found in there])
    for ((at, metric), _), found in zip(there, better, strict=True):
        cells = rows[at].cells
        rows[at] = replace(rows[at], cells=cells | {metric: replace(cells[metric], against=found)})
    return rows


def _best(rows: list[Row], metrics: Sequence[str]) -> list[Row]:
    """Mark the best mean of each metric among the methods that are no floors; ties all."""
    for metric in metrics:
        ranked = [row.cells[metric].mean for row in rows if metric in row.cells and not row.floor]
        if len(ranked) < 2:
            continue
        top = max(ranked) if higher_is_better(metric) else min(ranked)
        for at, row in enumerate(rows):
            if metric in row.cells and not row.floor and row.cells[metric].mean == top:
                marked = replace(row.cells[metric], best=True)
                rows[at] = replace(row, cells=row.cells | {metric: marked})
    return rows


def _figures(results: Results, question: str, metrics: Sequence[str]) -> list[Row]:
    """Floors that are figures only, such as what a perfect prediction scores."""
    found: dict[str, dict[str, Cell]] = {}
    for metric in metrics:
        for name, score in results.about.floors.get(question, {}).get(metric, {}).items():
            found.setdefault(name, {})[metric] = Cell(score)
    return [Row(name, cells, floor=True) for name, cells in found.items()]


def strongest_floors(rows: Sequence[Row], metrics: Sequence[str]) -> dict[str, Row]:
    """The floor with the best mean of each metric; of equals the first."""
    strongest = {}
    for metric in metrics:
        floors = [row for row in rows if row.floor and metric in row.cells]
        if floors:
            sign = 1 if higher_is_better(metric) else -1
            strongest[metric] = max(floors, key=lambda row: sign * row.cells[metric].mean)
    return strongest


def floor_notes(rows: Sequence[Row], metrics: Sequence[str]) -> list[str]:
    """Which floor is the strongest for which metric, and which methods do not beat it."""
    strongest = strongest_floors(rows, metrics)
    if len({row.name for row in rows if row.floor}) < 2:
        return []
    by_floor: dict[str, list[str]] = {}
    not_beaten: dict[str, list[str]] = {}
    for metric, floor in strongest.items():
        by_floor.setdefault(floor.name, []).append(metric)
        sign = 1 if higher_is_better(metric) else -1
        for row in rows:
            if not row.floor and metric in row.cells:
                if sign * (row.cells[metric].mean - floor.cells[metric].mean) <= 0:
                    not_beaten.setdefault(row.name, []).append(metric)
    notes = [f"Strongest floor: {_grouped(by_floor)}."]
    if not_beaten:
        notes.append(f"Not better than the strongest floor: {_grouped(not_beaten)}.")
    return notes


def _grouped(names: dict[str, list[str]]) -> str:
    return "; ".join(f"{name} ({', '.join(metrics)})" for name, metrics in names.items())


def _said(results: Results) -> list[str]:
    """Which methods were left out, and which fits did not end well."""
    notes = [f"{method} left out: {why}" for method, why in results.about.left_out.items()]
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


def _doubts(made: list[tuple[str, str, Difference]]) -> list[str]:
    """What comparisons could not answer or had to leave out, each once with its metrics."""
    found: dict[tuple[str, str], list[str]] = {}
    for method, metric, difference in made:
        for note in (*difference.notes, difference.reason):
            if note:
                found.setdefault((method, note), []).append(metric)
    return [f"{method} ({', '.join(metrics)}): {note}" for (method, note), metrics in found.items()]
