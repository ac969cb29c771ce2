"""The tables of a paper that compares methods: its figures next to ours, and its claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dissensus.errors import counted
from dissensus.evaluation.fit import number
from dissensus.evaluation.report.tables import higher_is_better
from dissensus.evaluation.significance.difference import p_text
from dissensus_papers.framework.conditions import ComparisonCondition
from dissensus_papers.framework.layout import Block, front_page, written
from dissensus_papers.framework.measurements import MeasuredCondition
from dissensus_papers.framework.models import Model
from dissensus_papers.framework.verdicts import (
    BEYOND,
    BetterThan,
    Claim,
    Report,
    claims_text,
    holds,
    interval,
)

Summary = Callable[[Report], Block | None]  # a table written from the whole report
READ = (
    'Scores are means +- standard deviations over fits. "less" is the difference from that model, '
    "with a 95 % interval over seeds and items. p is corrected (Holm) over all "
    'tables that count, in others over the table. "holds": p is at most 0.05, and the model is '
    'better. "not tested": the score is known for each seed, but not for single items, so that it '
    "is unknown what other items would show."
)


def shown(
    report: Report,
    title: str,
    notes: str,
    models: Mapping[str, Model],
    conditions: Mapping[str, ComparisonCondition],
    claims: Iterable[BetterThan | Claim],
    *,
    measurements: Mapping[str, MeasuredCondition],
    summaries: Iterable[Summary],
    digits: int,
    width: int | None,
) -> str:
    """All tables of a report, and the claims with their verdicts."""
    parts: list[str | Block] = [front_page(report, title, notes)]
    for name, reported in report["conditions"].items():
        parts += [
            _table(reported, conditions[name], question, models, digits)
            for question in reported["questions"]
        ]
        parts.append("\n".join(reported["notes"]))
    for name, condition in measurements.items():
        measured = report.get("measurements", {}).get(name)  # older reports have none
        parts += condition.tables(measured) if measured else []
    parts += [block for summary in summaries if (block := summary(report)) is not None]
    verdicts = [_verdict(claim, digits) for claim in claims]
    parts += [READ, claims_text(report, verdicts, "not tested yet"), _unfinished(report)]
    return written(parts, width)


def _table(
    reported: Report,
    condition: ComparisonCondition,
    question: str,
    models: Mapping[str, Model],
    digits: int,
) -> Block:
    """The models of a condition, and below them figures that no model has to be fitted for."""
    metrics = reported["metrics"][question]
    reference = models[reported["reference"]].title
    in_paper = {**condition.printed, **condition.printed_in.get(question, {})}
    printed = [m for m in metrics if any(m in figures for figures in in_paper.values())]
    names = [""]
    for metric in metrics:
        names += [f"{metric}: paper"] * (metric in printed) + [metric, f"less {reference}"]
    rows = [names]
    for model, of_model in reported["models"].items():
        cells = [models[model].title]
        for metric in metrics:
            paper = in_paper.get(model, {}).get(metric)
            cells += ["-" if paper is None else f"{paper:.{digits}f}"] * (metric in printed)
            cells.append(_figure(of_model.get(question, {}).get(metric), digits))
            test = reported["against"].get(model, {}).get(question, {}).get(metric)
            cells.append("" if test is None else _less(test, metric, digits))
        rows.append(cells)
    for floor, figures in reported["floors"].get(question, {}).items():
        cells = [floor]
        for metric in metrics:
            cells += [""] * (metric in printed) + [_figure(figures.get(metric), digits), ""]
        rows.append(cells)
    seeds = ", ".join(map(str, reported["seeds"]))
    apart = f"; not counted: {condition.not_counted}" if condition.not_counted else ""
    heading = (
        f"{condition.title} ({condition.name}): {question}, {reported['n_items']:,} items, "
        f"{counted(reported['n_folds'], 'fold')}, seeds {seeds}{apart}"
    )
    return Block(heading, rows)


def _figure(cell: Any, digits: int) -> str:
    if cell is None:
        return "-"
    spread = number(cell["spread"])
    more = "" if math.isnan(spread) else f" +- {spread:.{digits}f}"
    return f"{number(cell['mean']):.{digits}f}{more}"


def _less(test: Report, metric: str, digits: int) -> str:
    sign = 1 if higher_is_better(metric) else -1
    return f"{_tested(test, digits)}: {holds(test, sign)}"


def _tested(test: Report, digits: int) -> str:
    if math.isnan(number(test["p"])):
        return f"{number(test['effect']):+.{digits}f}"
    return f"{interval(test, digits=digits)}, p {p_text(number(test['adjusted']))}"


def _verdict(claim: BetterThan | Claim, digits: int) -> Claim:
    """A claim as a text and a function from the report to a verdict."""
    if not isinstance(claim, BetterThan):
        return claim

    def verdict(report: Report) -> str:
        where: dict[str, list[str]] = {}
        entries = (e for e in report["claims"] if renamed(e["claim"]) == claim.claim)
        entry: Report = next(entries, {"tests": {}})  # an older report may not have the claim
        for name, test in entry["tests"].items():
            words = f"{name} ({claim.metric} {_tested(test, digits)})"
            where.setdefault(holds(test, entry["sign"]), []).append(words)
        return "; ".join(f"{words}: {', '.join(names)}" for words, names in where.items())

    return claim.claim, verdict


def renamed(claim: str) -> str:
    """A claim as it reads now; reports saved before have "Ours: "."""
    return claim.replace("Ours: ", BEYOND)


def _unfinished(report: Report) -> str:
    lines = [f"- {name}: {n} fits done" for name, n in report["unfinished"].items()]
    return "\n".join(["Not finished, and not in the tables", *lines]) if lines else ""
