"""dissensus plan: how many answers are needed, and which to ask for next."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dissensus.cli.console import (
    check_result,
    check_tables,
    columns,
    emit,
    emit_answers,
    number,
    say,
    say_wrapped,
    show,
)
from dissensus.cli.options import Input, reads_corpus
from dissensus.errors import DataError

if TYPE_CHECKING:
    from dissensus.planning import Plan
    from dissensus.planning.next_answers import About


@reads_corpus
def plan(
    source: Input,
    question: list[str] | None = None,
    target: list[str] | None = None,
    budget: int | None = None,
    about: str | None = None,
    most_per_annotator: int | None = None,
    group: str | None = None,
    seed: int = 0,
    json: bool = False,
    output: Path | None = None,
    overwrite: bool = False,
) -> None:
    """Plan how many answers are needed, or with --budget which to ask for next, and whom.

    Without --budget: how reliable consensus labels, means and alpha are with 1 to 50 answers per
    item, with intervals, and what each target needs. With it: a list to hand out, the most useful
    answers first. Annotators are never asked about an item again.

    Args:
        target: What is wanted; repeatable: alpha=0.05 (its 95 % interval is no wider than 0.05 to
            each side), stable=0.95 (share of consensus labels that more answers would not change)
            or reliability=0.9 (of means).
        budget (min=1): Number of answers to ask for.
        about: What is to be known better: distribution, of all annotators' views, or consensus
            (default: distribution).
        most_per_annotator (min=1): Most answers to ask one annotator for (default: twice an even
            share).
        group: Ask only annotators whose group has not answered the item, e.g. gender.
        seed (min=0): Seed of imagined answers, and of the order of annotators with equally much
            work.
        output (-o): Table to write: the answers to ask for (.csv, .tsv, .parquet, .json, .jsonl,
            .xlsx), one for each question if there are several; without --budget the plan.

    Examples:
        dissensus plan labels.csv --target alpha=0.05 --target stable=0.95
        dissensus plan labels.csv --budget 200 --most-per-annotator 40 -o next.xlsx
    """
    from dissensus import planning

    targets = dict(map(_target, target or ()))
    limits = {"about": about, "most-per-annotator": most_per_annotator, "group": group}
    if budget is None and (unused := [name for name, value in limits.items() if value is not None]):
        raise DataError(f"--{unused[0]} says what to ask for; say how many answers with --budget")
    (check_result if budget is None else check_tables)(output, overwrite)
    corpus = source.read()
    names = question or list(corpus.questions)
    corpus.check_questions(names)
    if budget is None or targets:
        plans = [planning.plan(corpus[name], targets, name, seed) for name in names]
    if budget is None:
        content, tables = [one.to_dict() for one in plans], [one.to_table() for one in plans]
        emit(lambda: content, lambda: tables, lambda: _show(corpus.name, plans), output, json)
        return
    for each in plans if targets else ():
        for sentence in each.sentences():
            say(f"{each.question}, {sentence}")
    chosen = cast("About", about or "distribution")
    more: dict[str, Any] = {"most_per_annotator": most_per_annotator, "group": group, "seed": seed}
    lists = {
        name: planning.next_answers(corpus, name, budget, about=chosen, **more) for name in names
    }
    for name, table in lists.items():
        if len(table) < budget:
            who = "nobody" if group is None else f"nobody of another {group}"
            say(f"{name}: {len(table):,} of {budget:,} answers; {who} is left to ask for more")
    emit_answers(lists, output, json, overwrite)


def _target(text: str) -> tuple[str, float]:
    """A target and its value."""
    name, _, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        raise DataError(
            f"--target must be alpha=, stable= or reliability= and a number, such as alpha=0.05; "
            f"found {text!r}"
        ) from None


def _show(corpus: str, plans: list[Plan]) -> None:
    for place, one in enumerate(plans):
        cells = {
            "answers": [number(row.answers) for row in one.rows],
            "stable labels": [_spelled(row.stable) for row in one.rows],
            "repeated": [_spelled(row.repeated) for row in one.rows],
            "as observed": [number(row.observed, 2) for row in one.rows],
            "reliability of means": [_spelled(row.reliability) for row in one.rows],
            "alpha within": [number(row.alpha_within) for row in one.rows],
        }
        known = {name: column for name, column in cells.items() if set(column) != {"-"}}
        table = columns(list(known), zip(*known.values(), strict=True), list(known))
        per_item = f"{one.items:,} items with {one.per_item:.3g} answers on average"
        show(*([""] if place else []), f"{corpus}, {one.question}: {per_item}", table)
        for sentence in one.sentences():
            say_wrapped(f"- {sentence}", indent="  ")


def _spelled(value: tuple[float, float, float]) -> str:
    if math.isnan(value[0]):
        return "-"
    return f"{value[0]:.2f} [{value[1]:.2f}, {value[2]:.2f}]"
