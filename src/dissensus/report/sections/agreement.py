"""Agreement: how much annotators agree, who agrees with whom, and about which values."""

from __future__ import annotations

import math

import numpy as np

from dissensus import agreement as measures
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.report.blocks import Block, Figure, Section, Table, Text
from dissensus.report.figures import matrix, rows_of
from dissensus.scales import Interval, MultiLabel

MOST_ANNOTATORS = 40  # in a matrix
MOST_VALUES = 20
FEWEST = 5  # items that two annotators must share
MOST_PAIRS = 2000  # annotators for whom a matrix of all pairs is computed


def agreement(corpus: Corpus) -> Section:
    blocks: list[Block] = []
    for question, answers in corpus.questions.items():
        if answers.n_rows:
            blocks.append(_measures(answers, question))
            blocks += _annotators(answers, question)
            blocks += _values(answers, question)
    return Section("agreement", "Agreement", blocks)


def alpha_of(annotations: Annotations) -> tuple[float, float, float]:
    """Krippendorff's alpha and its interval; nan where undefined."""
    (question,) = measures.summarise(
        _one(annotations), measures=["krippendorff-alpha"], intervals=True
    )
    result = question.measures[0]
    ends = result.interval
    return (result.value, math.nan, math.nan) if ends is None else (result.value, *ends)


def _one(annotations: Annotations) -> Corpus:
    return Corpus.build("", annotations.items, {"answer": annotations})


def _measures(annotations: Annotations, question: str) -> Table:
    (summary,) = measures.summarise(_one(annotations), intervals=True)
    rows = [
        [
            result.measure,
            result.value,
            None if result.interval is None else result.interval.low,
            None if result.interval is None else result.interval.high,
            result.undefined or measures.MEASURES[result.measure].description,
        ]
        for result in summary.measures
    ]
    columns = ("measure", "value", "95 % from", "to", "about")
    return Table(f"Measures of agreement, {question}", columns, rows)


# ---- who agrees with whom ----


def _annotators(annotations: Annotations, question: str) -> list[Block]:
    if annotations.annotator is None or isinstance(annotations.scale, MultiLabel):
        return []
    annotations = measures.first_answers(annotations)
    sizes = annotations.per_annotator()
    codes = np.argsort(-sizes, kind="stable")[: min(MOST_ANNOTATORS, int((sizes > 0).sum()))]
    if len(codes) < 2:
        return []
    few = annotations.select_annotators(np.sort(codes), annotations.annotators.take(np.sort(codes)))
    ratings = isinstance(few.scale, Interval)
    values = (measures.correlation_matrix if ratings else measures.kappa_matrix)(few)
    values = np.where(measures.common_items(few) >= FEWEST, values, np.nan)
    np.fill_diagonal(values, np.nan)
    if not np.isfinite(values).any():
        return [
            Text(
                f"{question}: no two annotators share {FEWEST} items or more, so that nothing can "
                "be said about pairs."
            )
        ]
    order = similar_order(values)
    names = [few.annotators[int(code)] for code in order]
    values = values[np.ix_(order, order)]
    what = "Correlation" if ratings else "Cohen's kappa"
    more = int((sizes > 0).sum()) - len(codes)
    rest = f" The {len(codes)} with most answers; {more:,} more are not shown." if more else ""
    alt = (
        f"{what} of each two annotators who share {FEWEST} items or more; annotators who answer "
        f"alike stand next to each other.{rest}"
    )
    svg = matrix(names, values, alt, annotators=True)
    rows = rows_of(names, values)
    return [Figure(f"Who agrees with whom, {question}", alt, svg, ("annotator", *names), rows)]


def similar_order(values: np.ndarray) -> np.ndarray:
    """Rows in an order in which similar ones are neighbours, by hierarchical clustering."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    if len(values) < 3:
        return np.arange(len(values))
    known = values[np.isfinite(values)]
    filled = np.where(np.isfinite(values), values, known.mean())
    distance = np.round(1.0 - (filled + filled.T) / 2, 9)
    np.fill_diagonal(distance, 0.0)
    condensed = np.maximum(squareform(distance, checks=False), 0.0)
    tree = linkage(condensed, "average")
    return np.asarray(leaves_list(optimal_leaf_ordering(tree, condensed)))


# ---- which values are confused ----


def _values(annotations: Annotations, question: str) -> list[Block]:
    if isinstance(annotations.scale, Interval | MultiLabel):
        return []
    counts = annotations.counts()
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return []
    names = list(getattr(annotations.scale, "values", ()))
    pairs = counts.T @ (counts / (counts.sum(axis=1, keepdims=True) - 1))
    own = (counts / (counts.sum(axis=1, keepdims=True) - 1)).sum(axis=0)
    pairs[np.diag_indices(len(pairs))] -= own
    used = np.flatnonzero(pairs.sum(axis=1) > 0)
    used = np.sort(used[np.argsort(-pairs.sum(axis=1)[used], kind="stable")][:MOST_VALUES])
    if len(used) < 2:
        return []
    share = pairs / np.maximum(pairs.sum(axis=1, keepdims=True), 1e-300)
    shown, chosen = [names[at] for at in used], share[np.ix_(used, used)]
    alt = (
        f"If one annotator gave the value of the row, how often did another one give that of the "
        f"column to the same item? {question}."
    )
    svg = matrix(shown, chosen, alt, diverging=False)
    rows = rows_of(shown, chosen)
    return [Figure(f"Values that are confused, {question}", alt, svg, ("value", *shown), rows)]
