"""Every annotator in a row, those to look at first, with the evidence."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.description import Description, QuestionDescription
from dissensus.description.advice import group_sentences
from dissensus.description.suspicious_annotators import FEW, LEVEL, some_names
from dissensus.report.blocks import Bars, Block, Section, Table, Text
from dissensus.scales import Interval, MultiLabel, has_value

MOST_ROWS = 300  # annotators in a table
ALL_ROWS = 900  # in the tables of all questions
FEWEST_ROWS = 20  # in a table, however many questions there are
MOST_VALUES = 12  # in a bar
RANGES = 5  # of ratings


def annotators(corpus: Corpus, description: Description) -> Section | None:
    blocks: list[Block] = []
    most = min(MOST_ROWS, max(FEWEST_ROWS, ALL_ROWS // max(len(description.questions), 1)))
    for question in description.questions:
        if not question.by_annotator:
            continue
        blocks += [Text(f"{question.name}: {sentence}") for sentence in question.crowd]
        blocks.append(_suspicious(question))
        blocks += _groups(question)
        if question.tendencies:
            rows = [[row.annotator, "; ".join(row.tendencies)] for row in question.tendencies]
            title = f"Tendencies, no reason for suspicion, {question.name}"
            columns, total = ("annotator", "tendency"), len(rows)
            blocks.append(Table(title, columns, rows[:most], annotators=0, total=total))
        blocks.append(_table(corpus[question.name], question, most))
    if not blocks:
        return None
    return Section("annotators", "Annotators", blocks)


def _suspicious(question: QuestionDescription) -> Table | Text:
    rows = [
        [row.annotator, ", ".join(row.suspicious), "; ".join(row.evidence)]
        for row in question.suspicious
    ]
    if rows:
        columns = ("annotator", "why", "evidence")
        return Table(f"To look at, {question.name}", columns, rows, annotators=0)
    if not question.checked:
        return Text(f"{question.name}: no annotator gave {FEW} answers or more, as a check needs.")
    checked = f"{question.checked:,} with {FEW} answers or more checked"
    return Text(f"{question.name}: {question.nobody_named} ({checked}).")


def _groups(question: QuestionDescription) -> list[Block]:
    """What each attribute of annotators says about their answers, and the items that divide."""
    without = f"; without {some_names(list(question.marked))}" if question.marked else ""
    blocks: list[Block] = [
        Text(f"{question.name} by {text}{without}.") for text in group_sentences(question.groups)
    ]
    for group in question.groups:
        if group.corrected <= LEVEL and group.dividing:
            names = [one.group for one in group.groups]
            rows = []
            for item in group.dividing:
                answers = [item.answers.get(name, {}) for name in names]
                counts = [", ".join(f"{v} {n:.3g}" for v, n in of.items()) for of in answers]
                rows.append([item.item, item.text, *counts])
            title = f"Items that divide annotators by {group.attribute}, {question.name}"
            blocks.append(Table(title, ("item", "text", *names), rows))
    return blocks


def _table(annotations: Annotations, question: QuestionDescription, most: int) -> Table:
    listed = question.by_annotator[:most]
    names = [row.annotator for row in listed]
    bars_of = _answers_given(annotations, names)
    first = "correlation" if isinstance(annotations.scale, Interval) else "agreement"
    columns = ("annotator", "answers", f"{first} with the rest", "95 % from", "to",
               "kappa", "answers given", "seconds", "why to look")  # fmt: skip
    rows = []
    for row in listed:
        value, low, high = (getattr(row, f"{first}{end}") for end in ("", "_low", "_high"))
        answers = bars_of.get(row.annotator, row.most_frequent)
        why = ", ".join(row.suspicious)
        rows.append(
            [row.annotator, row.answers, value, low, high, row.kappa, answers, row.seconds, why]
        )
    total = len(question.by_annotator)
    return Table(f"All annotators, {question.name}", columns, rows, annotators=0, total=total)


# ---- which answers they give ----


def _answers_given(annotations: Annotations, names: Sequence[str]) -> dict[str, Bars]:
    """The share of each value, or of ranges of ratings, among the answers of each annotator.

    Empty if there are too many values to draw.
    """
    scale = annotations.scale
    if isinstance(scale, Interval):
        edges = np.linspace(scale.low, scale.high, RANGES + 1)
        place = np.clip(np.searchsorted(edges, annotations.answer, "right") - 1, 0, RANGES - 1)
        shares = _shares(annotations, names, (place == number for number in range(RANGES)))
        labels = [f"{low:.3g} to {high:.3g}" for low, high in itertools.pairwise(edges)]
        return {
            name: Bars(dict(zip(labels, row.tolist(), strict=True)), float(row @ edges[1:]), True)
            for name, row in zip(names, shares, strict=True)
        }
    values = tuple(getattr(scale, "values", ()))
    if len(values) > MOST_VALUES:
        return {}
    several = isinstance(scale, MultiLabel)
    chosen = (
        has_value(annotations.answer, code) if several else annotations.answer == code
        for code in range(len(values))
    )
    shares = _shares(annotations, names, chosen)
    return {
        name: Bars.of(scale, row, float(row[0])) for name, row in zip(names, shares, strict=True)
    }


def _shares(
    annotations: Annotations, names: Sequence[str], chosen: Iterable[np.ndarray]
) -> np.ndarray:
    """The share of each annotator's answers, (n_names, n_columns), for which a column is true.

    Args:
        chosen: columns, (n_rows,) each.
    """
    codes = annotations.annotator_codes("a report")
    weight = annotations.weight
    total = np.stack(
        [np.bincount(codes, weight * column, annotations.n_annotators) for column in chosen]
    )
    size = np.bincount(codes, weight, annotations.n_annotators)
    at = annotations.annotators.codes(list(names))
    return np.asarray((total / np.maximum(size, 1)).T[at])
