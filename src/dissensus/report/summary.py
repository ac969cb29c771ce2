"""The summary of a report: at most five plain sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dissensus.corpus import Corpus
from dissensus.description import AnnotatorClusters, Description
from dissensus.errors import counted
from dissensus.evaluation import Results
from dissensus.evaluation.report.tables import higher_is_better
from dissensus.report.sections.agreement import alpha_of, named
from dissensus.report.sections.comparison import comparison_tables

MOST_NAMED = 4
MOST_LETTERS = 40  # of a question


def summary_of(
    corpus: Corpus | None,
    description: Description | None,
    results: Results | None,
    clusters: Mapping[str, AnnotatorClusters | None],
    note: str = "",
) -> list[str]:
    """What the report shows, the most important first.

    Args:
        note: why no method was compared, or what of the comparison is missing.
    """
    sentences: list[str] = []
    if corpus is not None and description is not None:
        sentences += [_size(corpus), _agreement(corpus), _dispute(corpus)]
        sentences.append(f"{_people(description)} {_alike(clusters)}".strip())
    sentences.append(_methods(results, note))
    return [sentence for sentence in sentences if sentence]


def _size(corpus: Corpus) -> str:
    n_answers = sum(answers.n_answers for answers in corpus.questions.values())
    known = any(answers.annotator is not None for answers in corpus.questions.values())
    by = f" by {counted(corpus.n_annotators, 'annotator')}" if known else " by unknown annotators"
    questions = [_short(question) for question in corpus.questions]
    about = f" to {counted(len(questions), 'question')} ({', '.join(questions[:5])}"
    about += ", ...)" if len(questions) > 5 else ")"
    items = "1 item" if corpus.n_items == 1 else f"{corpus.n_items:,} items"
    return f"{corpus.name} has {n_answers:,} answers{by}{about} on {items}."


def _short(question: str) -> str:
    """A question that is a whole sentence, shortened."""
    return question if len(question) <= MOST_LETTERS else f"{question[:MOST_LETTERS].rstrip()}..."


def _agreement(corpus: Corpus) -> str:
    parts = []
    for question, answers in list(corpus.questions.items())[:3]:
        value, low, high = alpha_of(answers)
        if math.isnan(value):
            continue
        ends = "" if math.isnan(low) else f" (95 % interval {low:.2f} to {high:.2f})"
        parts.append(f"{round(value, 2) + 0:.2f}{ends} for {_short(question)}")
    if not parts:
        several = any((answers.per_item() >= 2).any() for answers in corpus.questions.values())
        why = "all answers are the same" if several else "no item has two answers"
        return f"Agreement is undefined, because {why}."
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
    where = f" about {_short(question)}" if len(corpus.questions) > 1 else ""
    if not share:
        return f"All answers{where} to an item are the same, on all {n:,} with two answers or more."
    if n == 1:
        return f"Annotators do not all agree{where} on the only item with two answers or more."
    return (
        f"Annotators do not all agree{where} on {_percent(share)} of the {n:,} items with two "
        "answers or more."
    )


def _percent(share: float) -> str:
    """A share that is neither 0 nor 1 unless it is exactly."""
    if 0 < share < 0.01:
        return "less than 1 %"
    return "more than 99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"


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
            where = f" about {_short(question)}" if len(clusters) > 1 else ""
            return f"Some answer alike{where}, more than chance would give: {'; '.join(parts)}."
    return ""


def _methods(results: Results | None, note: str) -> str:
    why = f"{note[:1].upper()}{note[1:]}."
    if results is None:
        return why if note else "No method was compared on these answers."
    table = comparison_tables(results)[0]
    metric = table.metrics[0]
    rows = [row for row in table.rows if not row.floor and metric in row.cells]
    best = [row for row in rows if row.cells[metric].best] or rows[:1]
    if not best:
        return why if note else "No method could be fitted."
    row, cell = best[0], best[0].cells[metric]
    better = "higher" if higher_is_better(metric) else "lower"
    ends = "" if math.isnan(cell.low) else f" (95 % interval {cell.low:.3f} to {cell.high:.3f})"
    sentence = (
        f"Of {counted(len(rows), 'method')}, {row.name} predicts {_short(table.question)} best: "
        f"{metric} {cell.mean:.3f}{ends}, where {better} is better"
    )
    floors = [r for r in table.rows if r.floor and metric in r.cells and r.cells[metric].n_fits]
    if floors:
        floor = floors[0]
        sentence += f"; {floor.name}, which ignores the content, has {floor.cells[metric].mean:.3f}"
    return f"{sentence} ({note})." if note else f"{sentence}."
