"""dissensus aggregate: one answer, and a distribution, for each item."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.cli import console
from dissensus.cli.console import columns, show_each
from dissensus.cli.options import Input, reads_corpus
from dissensus.errors import DataError, listed

if TYPE_CHECKING:
    from dissensus.aggregation import Aggregator
    from dissensus.corpus import Corpus
    from dissensus.evaluation.aggregator_scores import AggregatorScores


def show_every_aggregator(
    corpus: Corpus, questions: list[str] | None, output: Path | None, json: bool, overwrite: bool
) -> None:
    """Print the scores of all aggregators; write their answers to `output`, a column each."""
    from dissensus.evaluation import aggregator_scores

    rows = {q: aggregator_scores(corpus, q) for q in questions or corpus.questions}
    if json:
        console.print_json({q: [_record(row) for row in each] for q, each in rows.items()})
    else:
        show_each(_shown(corpus, question, each) for question, each in rows.items())
    if output is not None:
        tables = {question: _answers(each) for question, each in rows.items()}
        for path in console.write_answers(tables, output, overwrite):
            console.say(f"{path}: written")


def _skills(path: Path) -> dict[str, float]:
    """The skill of each annotator, from a table."""
    from dissensus.evaluation.outside_predictions import read_columns
    from dissensus.scales import as_numbers

    columns = read_columns(path)
    if missing := [name for name in ("annotator", "skill") if name not in columns]:
        raise DataError(f"{path}: no column {listed(missing)}; it has {listed(columns)}")
    skills = {}
    for row, (name, skill) in enumerate(zip(columns["annotator"], columns["skill"], strict=True)):
        (number,) = as_numbers([str(skill)]) or [math.nan]
        if not math.isfinite(number):
            raise DataError(f"{path}, line {row + 2}: {str(skill)!r} is not a number")
        skills[str(name)] = float(number)
    return skills


def _shown(corpus: Corpus, question: str, rows: list[AggregatorScores]) -> list[Any]:
    """A heading, the table and what to know about it."""
    import numpy as np

    from dissensus.aggregation import AGGREGATORS
    from dissensus.evaluation.significance.difference import p_text
    from dissensus.scales import Interval

    metrics, kind = list(rows[0].scores), corpus[question].scale.kind
    ratings = isinstance(corpus[question].scale, Interval)
    same = "mean distance" if ratings else "same answers"
    names = ["aggregator", *metrics, "minus the best" if metrics else same]
    counted = any(row.tied is not None for row in rows)
    names += ["tied items"] if counted else []
    cells = []
    for row in (row for row in rows if not row.reason):
        scores = [f"{row.scores[metric]:.3f}" for metric in metrics]
        for low, high in [row.intervals[one] for one in metrics[:1] if one in row.intervals]:
            scores[0] += f" [{low:.3f}, {high:.3f}]"  # of the first, which decides
        last = "best" if metrics else f"{row.same:.3f}"
        if metrics and row.against_best is not None:
            p = row.against_best.adjusted
            last = f"{row.against_best.effect:+.3f}" + f", p {p_text(p)}" * (not math.isnan(p))
        tied = [] if not counted else ["-" if row.tied is None else f"{row.tied:,}"]
        cells.append([row.name, *scores, last, *tied])
    if metrics:
        n = np.isin(corpus.gold[question].item, corpus[question].item).sum()
        notes = [f"{n:,} items with answers and a gold label; 95 % intervals over items."]
        equal = [row.name for row in rows if row.as_good and not row.best]
        others = f"{', '.join(equal)} cannot be told from it" if equal else "all others differ"
        notes.append(f"Best: {rows[0].name}; {others} (p >= 0.05, Holm).")
    else:
        what = "mean distance from" if ratings else "same answers: share of items as by"
        notes = [f"No gold labels; {what} {rows[0].name}."]
    other = [row.name for row in rows if row.reason and kind not in AGGREGATORS[row.name].scales]
    notes += [f"Not for {kind} answers: {', '.join(other)}."] if other else []
    notes += [f"left out: {row.reason}" for row in rows if row.reason and row.name not in other]
    return [f"{corpus.name}, {question}", columns(names, cells, names[1:], whole=names[:1]), *notes]


def _record(row: AggregatorScores) -> dict[str, Any]:
    record: dict[str, Any] = {"aggregator": row.name}
    if row.reason:
        return record | {"left out": row.reason}
    record |= {"scores": row.scores, "intervals": row.intervals, "tied items": row.tied}
    if row.against_best is not None:
        record |= {"minus the best": row.against_best.effect, "p": row.against_best.adjusted}
    return record


def _answers(rows: list[AggregatorScores]) -> Any:
    import pyarrow as pa

    known = [(row.name, row.prediction) for row in rows if row.prediction is not None]
    table: dict[str, Any] = {"item": known[0][1].items.array}
    table |= {name: prediction.to_table()["answer"] for name, prediction in known}
    return pa.table(table)


@reads_corpus
def aggregate(
    source: Input,
    method: str | None = None,
    output: Path | None = None,
    question: list[str] | None = None,
    use_gold: bool = False,
    annotator_table: Path | None = None,
    skills: Path | None = None,
    json: bool = False,
    overwrite: bool = False,
) -> None:
    """Aggregate the answers in FILE to one answer and a distribution per item.

    The table has the columns of FILE that describe items, the answer, its confidence, the number
    of answers, whether values tie, and which. Columns share.VALUE hold the share of an item's
    answers that are VALUE; columns probability.VALUE the probability that VALUE is the true answer,
    under a model of the annotators such as dawid-skene, for which it is calibrated. Confidence is
    that of the answer; ratings have the standard deviation sd instead.

    Args:
        method: Aggregation method, e.g. majority, soft-vote, dawid-skene, mace, glad or mean
            (default: mean of ratings, median of levels, otherwise majority; if annotators are
            suspicious, gaussian or dawid-skene, which weigh them); all compares every one, against
            gold labels if there are some; bradley-terry ranks what annotators compared.
        output (-o): Table to write (.csv, .tsv, .parquet, .json, .jsonl, .xlsx), one for each
            question if there are several, or a folder for them (default: CSV on stdout).
        use_gold: Use gold labels to estimate each annotator's errors.
        annotator_table: Also write the estimates for each annotator to this table.
        skills: Table with the columns annotator and skill, for weighted-vote.

    Examples:
        dissensus aggregate labels.csv -o consensus.csv
        dissensus aggregate labels.csv --method dawid-skene -o consensus.csv
    """
    from dissensus import aggregation
    from dissensus.description import marks_text, usual_aggregators
    from dissensus.metrics import score
    from dissensus.prediction.answer_files import consensus_table, median_note

    whole = method == "all" or method in aggregation.RANKERS
    if whole and (use_gold or annotator_table is not None):
        named = "--method all" if method == "all" else method
        raise DataError(f"{named} has neither --use-gold nor --annotator-table; leave it out")
    if whole and skills is not None:
        raise DataError(f"--method {method} has no --skills; leave it out")
    if method is not None and method != "all":
        aggregation.check_aggregator(method)
    console.check_tables(output, overwrite)
    console.check_table(annotator_table, overwrite)
    console.reserve(output)
    corpus = source.read()
    names = question or list(corpus.questions)
    corpus.check_questions(names)
    if method in aggregation.RANKERS:  # a score and a rank for each thing that was compared
        pairs = {name: aggregation.comparisons(corpus, name) for name in names}
        rankers = {name: aggregation.RANKERS[method]().fit(each) for name, each in pairs.items()}
        ranked = {name: aggregation.ranking_table(pairs[name], rankers[name]) for name in names}
        console.emit_answers(ranked, output, json, overwrite)
        for name, each in pairs.items():
            n, things = int(each.weight.sum()), each.n_things
            console.say(f"{name}: {method} of {things} things from {n:,} comparisons")
        return
    for name in names:
        aggregation.check_shares(corpus[name].n_items, corpus[name].scale, name)
    if method == "all":
        show_every_aggregator(corpus, question, output, json, overwrite)
        return
    methods: dict[str, tuple[str, dict[str, str]]] = {name: (method or "", {}) for name in names}
    if method is None:
        methods = usual_aggregators(corpus, names)
    fitted: dict[str, Aggregator] = {}
    weights = None if skills is None else _skills(skills)
    for name, (of, marks) in methods.items():
        fitted |= aggregation.aggregate(corpus, of, [name], use_gold, weights)
        if marks:
            console.say(f"{name}: {of}, because of {marks_text(marks)}")
    tables = {q: consensus_table(corpus, q, one.prediction_) for q, one in fitted.items()}
    console.emit_answers(tables, output, json, overwrite)
    if annotator_table is not None:
        try:
            estimates = [aggregation.annotator_table(corpus[q], f, q) for q, f in fitted.items()]
        except DataError as error:
            raise DataError(f"{error}; leave --annotator-table out") from None
        console.write_tables(estimates, annotator_table)
    for name, aggregator in fitted.items():
        gold = aggregation.gold_accuracy(corpus, name, aggregator)
        accuracy = "" if gold is None else f"; accuracy {gold[0]:.4f} on {gold[2]} gold labels"
        if gold is not None and corpus[name].scale.kind == "ordinal":
            distance = score(aggregator.prediction_, corpus.gold[name], "MAE")
            accuracy += f" (mean distance {distance:.2f} levels)"
        if gold is not None and use_gold:
            accuracy += " that it was given"
        elif gold is not None and aggregator.gives == "probability":
            accuracy += f", mean confidence {gold[1]:.4f}"
        console.say(f"{name}: {methods[name][0]} of {aggregator.consensus_.n_rows} items{accuracy}")
        if aggregator.doubt_:
            console.say(f"{name}: {aggregator.doubt_}")
        for note in median_note(name, aggregator.prediction_):
            console.say(note)
