"""The summary of a report: at most five plain sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dissensus.corpus import Corpus
from dissensus.description import AnnotatorClusters, Description
from dissensus.errors import counted
from dissensus.evaluation import Results
from dissensus.report.sections.agreement import alpha_of, named
from dissensus.report.sections.comparison import comparison_tables

MOST_NAMED = 4


def summary_of(
    corpus: Corpus | None,
    description: Description | None,
    results: Results | None,
    clusters: Mapping[str, AnnotatorClusters | None],
) -> list[str]:
    """What the report shows, the most important first."""
    sentences: list[str] = []
    if corpus is not None and description is not None:
        sentences += [_size(corpus), _agreement(corpus), _dispute(corpus)]
        sentences.append(f"{_people(description)} {_alike(clusters)}".strip())
    sentences.append(_methods(results))
    return [sentence for sentence in sentences if sentence]


def _size(corpus: Corpus) -> str:
    n_answers = sum(answers.n_answers for answers in corpus.questions.values())
    known = any(answers.annotator is not None for answers in corpus.questions.values())
    by = f" by {counted(corpus.n_annotators, 'annotator')}" if known else " by unknown annotators"
    questions = list(corpus.questions)
    about = f" to {counted(len(questions), 'question')} ({', '.join(questions[:5])}"
    about += ", ...)" if len(questions) > 5 else ")"
    return f"{corpus.name} has {n_answers:,} answers{by}{about} on {corpus.n_items:,} items."


def _agreement(corpus: Corpus) -> str:
    parts = []
    for question, answers in list(corpus.questions.items())[:3]:
        value, low, high = alpha_of(answers)
        if math.isnan(value):
            continue
        ends = "" if math.isnan(low) else f" (95 % interval {low:.2f} to {high:.2f})"
        parts.append(f"{value:.2f}{ends} for {question}")
    if not parts:
        return "Agreement is undefined: no item has two answers, or all answers are equal."
    return (
        f"Agreement beyond chance (Krippendorff's alpha) is {'; '.join(parts)}; 1 would be full "
        "agreement, 0 what chance gives."
    )


def _dispute(corpus: Corpus) -> str:
    question, answers = next(iter(corpus.questions.items()), ("", None))
    if answers is None:
        return ""
    several = answers.per_item() >= 2
    n = int(several.sum())
    if not n:
        return ""
    order = np.lexsort((answers.answer, answers.item))
    item, answer = answers.item[order], answers.answer[order]
    differs = np.zeros(answers.n_items, dtype=bool)
    differs[item[1:][(item[1:] == item[:-1]) & (answer[1:] != answer[:-1])]] = True
    share = float(differs[several].mean())
    where = f" about {question}" if len(corpus.questions) > 1 else ""
    return (
        f"Annotators do not all agree{where} on {100 * share:.0f} % of the {n:,} items with two "
        "answers or more."
    )


def _people(description: Description) -> str:
    named: dict[str, list[str]] = {}
    for question in description.questions:
        for row in question.suspicious:
            kinds = named.setdefault(row.annotator, [])
            kinds += [kind for kind in row.suspicious if kind not in kinds]
    checked = max([question.checked for question in description.questions] + [0])
    if named:
        shown = [f"{name} ({', '.join(kinds)})" for name, kinds in list(named.items())[:MOST_NAMED]]
        more = len(named) - len(shown)
        rest = f" and {more} more" if more else ""
        verb = "annotator stands" if len(named) == 1 else "annotators stand"
        return f"{len(named)} {verb} out and should be looked at: {', '.join(shown)}{rest}."
    return (
        f"None of the {checked:,} annotators with 10 answers or more stands out." if checked else ""
    )


def _alike(clusters: Mapping[str, AnnotatorClusters | None]) -> str:
    """Annotators who answer alike, on the first question that has such clusters."""
    for question, some in clusters.items():
        if some is not None and some.significant:
            parts = [named(cluster.annotators, MOST_NAMED) for cluster in some.clusters]
            where = f" about {question}" if len(clusters) > 1 else ""
            return f"Some answer alike{where}, more than chance would give: {'; '.join(parts)}."
    return ""


def _methods(results: Results | None) -> str:
    if results is None:
        return "No method was compared on these answers."
    table = comparison_tables(results)[0]
    metric = table.metrics[0]
    rows = [row for row in table.rows if not row.floor and metric in row.cells]
    best = [row for row in rows if row.cells[metric].best] or rows[:1]
    if not best:
        return "No method could be fitted."
    row, cell = best[0], best[0].cells[metric]
    ends = "" if math.isnan(cell.low) else f" (95 % interval {cell.low:.3f} to {cell.high:.3f})"
    sentence = (
        f"Of {counted(len(rows), 'method')}, {row.name} predicts {table.question} best: {metric} "
        f"{cell.mean:.3f}{ends}"
    )
    floors = [r for r in table.rows if r.floor and metric in r.cells and r.cells[metric].n_fits]
    if floors:
        floor = floors[0]
        sentence += f"; {floor.name}, which ignores the content, has {floor.cells[metric].mean:.3f}"
    return sentence + "."
