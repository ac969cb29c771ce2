"""Agreement: how much annotators agree, who agrees with whom, and about which values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dissensus import agreement as measures
from dissensus.agreement.per_part import answers_per_value
from dissensus.agreement.registry import compares_pairs, why_unfit
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.description import AnnotatorClusters
from dissensus.description.annotator_clusters import SIGNIFICANT
from dissensus.description.marks import without_marked
from dissensus.report.blocks import Bars, Block, Figure, Section, Table, Text
from dissensus.report.figures import matrix, rows_of
from dissensus.scales import Interval, MultiLabel

MOST_CELLS = 4800  # of the matrices of all questions together
MOST_ANNOTATORS = 40  # in a matrix
FEWEST_ANNOTATORS = 8  # likewise, however many questions there are
MOST_VALUES = 20
MOST_IN_BAR = 12
MOST_ROWS = 100  # values in a table
FEWEST = 5  # items that two annotators must share
FEWEST_PAIRS = 0.1  # share of the pairs in a matrix that can be compared
CANDIDATES = 1000  # annotators with most answers, of whom some are shown
MOST_IN_PAIRS = 200  # annotators, above which means over all pairs take too long
PAIR_MEASURES: dict[
    str, tuple[Callable[[Annotations], np.ndarray], str]
] = {  # kind of scale -> agreement of two annotators; else Cohen's kappa
    "interval": (measures.correlation_matrix, "Correlation"),
    "multi-label": (measures.masi_kappa_matrix, "Cohen's kappa, with MASI distances of sets,"),
}


def agreement(
    corpus: Corpus,
    clusters: Mapping[str, AnnotatorClusters | None],
    marked: Mapping[str, Sequence[str]],
) -> Section:
    """The section.

    Args:
        marked: annotators without whom the measures are shown, too, by question.
        clusters: of annotators who answer alike, by question; None where they cannot be compared.
    """
    blocks: list[Block] = []
    room = int((MOST_CELLS / max(len(corpus.questions), 1)) ** 0.5)
    most = min(MOST_ANNOTATORS, max(FEWEST_ANNOTATORS, room))
    for question, answers in corpus.questions.items():
        if answers.n_rows:
            blocks += _measures(answers, question, marked.get(question, ()))
            blocks += who_agrees(answers, question, most)
            blocks += _clusters(answers, question, clusters.get(question))
            marks = marked.get(question, ())
            rest = without_marked(answers, marks) if marks else answers
            without = f", without {named(tuple(marks))}" if marks else ""
            blocks += _by_value(answers, question, rest, without)
            blocks += confused(rest, question, without)
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


def _measures(annotations: Annotations, question: str, marked: Sequence[str]) -> list[Block]:
    fitting = {n: m for n, m in measures.MEASURES.items() if why_unfit(m, annotations) is None}
    many = annotations.annotator is not None and (
        np.count_nonzero(annotations.per_annotator()) > MOST_IN_PAIRS
    )
    shown = [name for name, m in fitting.items() if not (many and compares_pairs(m))]
    left_out = [name for name in fitting if name not in shown]
    (summary,) = measures.summarise(_one(annotations), measures=shown, intervals=True)
    without: dict[str, float] = {}
    if marked:
        (others,) = measures.summarise(_one(without_marked(annotations, marked)), measures=shown)
        without = {result.measure: result.value for result in others.measures}
    rows: list[list[Any]] = []
    reasons: dict[str, list[str]] = {}
    for result in summary.measures:
        name, ends = result.measure, result.interval or (None, None)
        if result.undefined:
            reasons.setdefault(result.undefined, []).append(name)
        else:
            about = measures.MEASURES[name].description
            rows.append([name, result.value, *ends, without.get(name), about])
    columns = ("measure", "value", "95 % from", "to", f"without {named(tuple(marked))}", "about")
    blocks: list[Block] = [Table(f"Measures of agreement, {question}", columns, rows)]
    blocks += [
        Text(f"Not defined for {question}: {', '.join(names)} ({why}).")
        for why, names in reasons.items()
    ]
    if left_out:
        why = (
            f"There are more than {MOST_IN_PAIRS} annotators, so that means over all pairs of them "
            f"are not computed here ({', '.join(left_out)}); `dissensus agreement FILE` has them."
        )
        blocks.append(Text(why))
    return blocks


# ---- who agrees with whom ----


def who_agrees(annotations: Annotations, question: str, most: int = MOST_ANNOTATORS) -> list[Block]:
    """The agreement of each two annotators as a matrix, of those who share items with most others.

    Nothing, if hardly any two of them share enough items.
    """
    if annotations.annotator is None:
        return []
    annotations = measures.first_answers(annotations)
    n_annotators = int((annotations.per_annotator() > 0).sum())
    if n_annotators < 2:
        return []
    few = _most_compared(annotations, most)
    usual = measures.kappa_matrix, "Cohen's kappa"
    matrix_of, what = PAIR_MEASURES.get(few.scale.kind, usual)
    values = np.where(measures.common_items(few) >= FEWEST, matrix_of(few), np.nan)
    np.fill_diagonal(values, np.nan)
    n_pairs, n_shown = few.n_annotators * (few.n_annotators - 1) // 2, few.n_annotators
    n_known = int(np.isfinite(values).sum()) // 2
    if n_known < FEWEST_PAIRS * n_pairs or not n_known:
        return []
    order = similar_order(values)
    names = [few.annotators[int(code)] for code in order]
    values = values[np.ix_(order, order)]
    alt = (
        f"{what} of each two annotators who share {FEWEST} items or more; annotators who answer "
        "alike stand next to each other."
    )
    if more := n_annotators - n_shown:
        alt += f" The {n_shown} who share items with most others; {more:,} more are not shown."
    svg = matrix(names, values, alt, annotators=True)
    rows = rows_of(names, values)
    return [Figure(f"Who agrees with whom, {question}", alt, svg, ("annotator", *names), rows)]


def _most_compared(annotations: Annotations, most: int) -> Annotations:
    """The answers of the annotators who share enough items with most others."""
    sizes = annotations.per_annotator()
    codes = np.argsort(-sizes, kind="stable")[: min(CANDIDATES, int((sizes > 0).sum()))]
    few = annotations.select_annotators(codes, annotations.annotators.take(codes))
    if len(codes) <= most:
        return few
    n_others = (measures.common_items(few) >= FEWEST).sum(axis=1)
    chosen = np.sort(np.argsort(-n_others, kind="stable")[:most])
    return few.select_annotators(chosen, few.annotators.take(chosen))


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


# ---- who answers alike ----


def _clusters(
    annotations: Annotations, question: str, clusters: AnnotatorClusters | None
) -> list[Block]:
    if clusters is None:
        return []
    text = f"{question}: {_evidence(clusters)}"
    n_compared = len(clusters.others) + sum(len(one.annotators) for one in clusters.clusters)
    n_answered = int((annotations.per_annotator() > 0).sum()) - len(clusters.left_out)
    if n_compared < n_answered:
        text += f" Compared are the {n_compared} of {n_answered:,} annotators with most answers."
    rows: list[list[Any]] = []
    for number, cluster in enumerate(clusters.clusters, start=1):
        who, share = ", ".join(cluster.annotators), _shares(annotations, cluster.annotators)
        compared = len(cluster.annotators), cluster.within, cluster.outside
        rows.append([f"cluster {number}", *compared, share, who])
    columns = ("cluster", "annotators", f"{clusters.measure} within", "with others",
               "answers given", "who")  # fmt: skip
    table = Table(f"Annotators who answer alike, {question}", columns, rows)
    return [Text(text), table] if rows else [Text(text)]


def _evidence(clusters: AnnotatorClusters) -> str:
    """Whether there are clusters, who is in none, and the evidence."""
    evidence = f"(p = {clusters.p:.2f}, {clusters.n_simulated} simulated crowds)"
    rest = ""
    if clusters.left_out:
        rest = " Left out as unreliable, or as one of two with the same answers: "
        rest += f"{named(clusters.left_out)}."
    if n := len(clusters.clusters):
        verb = "does" if len(clusters.others) == 1 else "do"
        others = f" {named(clusters.others)} {verb} not clearly belong to one."
        return (
            f"annotators form {n} cluster{'s' * (n > 1)} of those who answer alike."
            f"{others if clusters.others else ''} Items that are difficult or ambiguous, and "
            "annotators who differ in strictness, in reliability and in their use of values, do "
            f"not explain it {evidence}.{rest}"
        )
    why = "no two camps of three or more can be told apart" if clusters.p <= SIGNIFICANT else (
        "a common view of the items, strictness, reliability and use of values explain who agrees "
        "with whom"
    )  # fmt: skip
    return f"no clusters of annotators who answer alike: {why} {evidence}.{rest}"


def named(names: tuple[str, ...], most: int = 8) -> str:
    """Some names, and how many more there are."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _shares(annotations: Annotations, names: tuple[str, ...]) -> Bars | None:
    """The share of each value among the answers of some annotators; None for ratings."""
    values = tuple(getattr(annotations.scale, "values", ()))
    if isinstance(annotations.scale, Interval) or len(values) > MOST_IN_BAR:
        return None
    codes = annotations.annotators.find(list(names))
    chosen = np.isin(annotations.annotator_codes("clusters"), codes)
    one_hot = annotations.scale.one_hot(annotations.answer[chosen])  # (n_rows, n_values)
    counts = annotations.weight[chosen] @ one_hot
    share = counts / max(counts.sum(), 1)
    return Bars.of(annotations.scale, share, share[0])


# ---- which values are confused ----


def confused(annotations: Annotations, question: str, without: str = "") -> list[Block]:
    """Which values two annotators give to the same item, as a matrix."""
    if isinstance(annotations.scale, Interval | MultiLabel):
        return []
    names = list(getattr(annotations.scale, "values", ()))
    pairs = measures.value_pairs(annotations)
    used = np.flatnonzero(pairs.sum(axis=1) > 0)
    used = np.sort(used[np.argsort(-pairs.sum(axis=1)[used], kind="stable")][:MOST_VALUES])
    if len(used) < 2:
        return []
    share = pairs / np.maximum(pairs.sum(axis=1, keepdims=True), 1e-300)
    shown, chosen = [names[at] for at in used], share[np.ix_(used, used)]
    alt = (
        f"If one annotator gave the value of the row for {question}, how often did another one "
        "give that of the column to the same item?"
    )
    svg, rows = matrix(shown, chosen, alt, diverging=False), rows_of(shown, chosen)
    title = f"Values that are confused, {question}{without}"
    return [Figure(title, alt, svg, ("value", *shown), rows)]


def _by_value(
    annotations: Annotations, question: str, rest: Annotations, without: str
) -> list[Block]:
    names = list(getattr(annotations.scale, "values", ()))
    if isinstance(annotations.scale, Interval) or not (annotations.voters() > 1).any():
        return []
    n_answers = answers_per_value(annotations)
    positive, negative = measures.positive_agreement, measures.negative_agreement
    columns = [of(annotations) for of in (positive, negative, measures.alpha_of_values)]
    columns += [measures.alpha_of_values(rest)] if without else []
    order = [at for at in np.argsort(-n_answers, kind="stable") if n_answers[at] > 0]
    rows = [[names[at], int(n_answers[at]), *(float(c[at]) for c in columns)] for at in order]
    if len(rows) < 2:
        return []
    titles = ("value", "answers", "if one gives it, another does",
              "if one does not, nor does another", "alpha",
              *([f"alpha{without}"] if without else []))  # fmt: skip
    title = f"Agreement on each value, {question}"
    return [Table(title, titles, rows[:MOST_ROWS], total=len(rows))]
