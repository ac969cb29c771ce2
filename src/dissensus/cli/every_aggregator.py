"""dissensus aggregate --method all: a table of all aggregators, against gold labels if known."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.cli import console
from dissensus.cli.console import columns, show_each
from dissensus.cli.outputs import write_answers
from dissensus.scales import Interval

if TYPE_CHECKING:
    from dissensus.corpus import Corpus
    from dissensus.evaluation.aggregator_scores import AggregatorScores


def show_every_aggregator(
    corpus: Corpus, questions: list[str] | None, output: Path | None, json: bool
) -> None:
    """Print the scores of all aggregators; write their answers to `output`, a column each."""
    from dissensus.evaluation import aggregator_scores

    rows = {q: aggregator_scores(corpus, q) for q in questions or corpus.questions}
    if json:
        console.print_json({q: [_record(row) for row in each] for q, each in rows.items()})
    else:
        show_each(_shown(corpus, question, each) for question, each in rows.items())
    if output is not None:
        for path in write_answers({q: _answers(each) for q, each in rows.items()}, output):
            console.say(f"{path}: written")


def _shown(corpus: Corpus, question: str, rows: list[AggregatorScores]) -> list[Any]:
    """A heading, the table and what to know about it."""
    from dissensus.aggregation import AGGREGATORS

    metrics = list(rows[0].scores)
    ratings = isinstance(corpus[question].scale, Interval)
    same = "mean distance" if ratings else "same answers"
    names = ["aggregator", *metrics, "minus the best" if metrics else same]
    counted = any(row.tied is not None for row in rows)
    names += ["tied items"] if counted else []
    cells = []
    for row in (row for row in rows if not row.reason):
        last = _difference(row) if metrics else f"{row.same:.3f}"
        tied = [] if not counted else ["-" if row.tied is None else f"{row.tied:,}"]
        cells.append([row.name, *_scores(row, metrics), last, *tied])
    notes = []
    if metrics:
        n = np.isin(corpus.gold[question].item, corpus[question].item).sum()
        notes.append(f"{n:,} items with answers and a gold label; 95 % intervals over items.")
        equal = [row.name for row in rows if row.as_good and not row.best]
        others = f"{', '.join(equal)} cannot be told from it" if equal else "all others differ"
        notes.append(f"Best: {rows[0].name}; {others} (p >= 0.05, Holm).")
    else:
        what = "mean distance from" if ratings else "same answers: share of items as by"
        notes.append(f"No gold labels; {what} {rows[0].name}.")
    kind = corpus[question].scale.kind
    other = [row.name for row in rows if row.reason and kind not in AGGREGATORS[row.name].scales]
    notes += [f"Not for {kind} answers: {', '.join(other)}."] if other else []
    notes += [f"left out: {row.reason}" for row in rows if row.reason and row.name not in other]
    return [f"{corpus.name}, {question}", columns(names, cells, names[1:], whole=names[:1]), *notes]


def _scores(row: AggregatorScores, metrics: list[str]) -> list[str]:
    """The scores; the first, which decides, with its interval."""
    cells = [f"{row.scores[metric]:.3f}" for metric in metrics]
    for low, high in [row.intervals[metric] for metric in metrics[:1] if metric in row.intervals]:
        cells[0] += f" [{low:.3f}, {high:.3f}]"
    return cells


def _difference(row: AggregatorScores) -> str:
    from dissensus.evaluation.significance.difference import p_text

    if row.against_best is None:
        return "best"
    p = row.against_best.adjusted
    return f"{row.against_best.effect:+.3f}" + ("" if math.isnan(p) else f", p {p_text(p)}")


def _record(row: AggregatorScores) -> dict[str, Any]:
    record: dict[str, Any] = {"aggregator": row.name}
    if row.reason:
        return record | {"left out": row.reason}
    record |= {"scores": row.scores, "intervals": row.intervals, "tied items": row.tied}
    if row.against_best is not None:
        record |= {"minus the best": row.against_best.effect, "p": row.against_best.adjusted}
    return record


def _answers(rows: list[AggregatorScores]) -> Any:
    """One row per item, with the answer of each aggregator."""
    import pyarrow as pa

    known = [(row.name, row.prediction) for row in rows if row.prediction is not None]
    table: dict[str, Any] = {"item": known[0][1].items.array}
    table |= {name: prediction.to_table()["answer"] for name, prediction in known}
    return pa.table(table)
