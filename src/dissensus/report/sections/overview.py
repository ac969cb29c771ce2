"""The corpus at a glance: how much there is, and which answers were given."""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.description import Description, QuestionDescription, one_line
from dissensus.description.texts import shares_of
from dissensus.report.blocks import Block, Figure, Section, Table, Text
from dissensus.report.figures import bars, columns
from dissensus.scales import Interval, MultiLabel

MOST_VALUES = 30  # bars of values
MOST_COLUMNS = 20  # of a histogram


def overview(corpus: Corpus, description: Description) -> Section:
    rows = [
        [
            question.name,
            one_line(question.scale),
            question.loaded,
            question.items,
            question.annotators,
            _whole(question.per_item.get("mean")),
            sum(question.left_out.values()),
        ]
        for question in description.questions
    ]
    names = ("question", "scale", "answers", "items", "annotators", "answers per item", "left out")
    blocks: list[Block] = [Table("Questions", names, rows)]
    for question in description.questions:
        blocks += _question(corpus[question.name], question)
    if corpus.notes:
        blocks.append(Text("About the corpus: " + "; ".join(corpus.notes[:8]) + "."))
    return Section("overview", "The corpus at a glance", blocks)


def _whole(number: float | None) -> float | None:
    """A whole number without decimals."""
    return int(number) if number is not None and number == round(number) else number


def _question(annotations: Annotations, question: QuestionDescription) -> list[Block]:
    if not annotations.n_rows:
        return [Text(f"{question.name}: nobody answered it.")]
    blocks: list[Block] = []
    if question.left_out:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in question.left_out.items())
        blocks.append(Text(f"{question.name}: answers left out: {reasons}."))
    blocks += answers_given(annotations, question.name)
    per_item = annotations.per_item()
    sizes, items = np.unique(per_item[per_item > 0], return_counts=True)
    if 1 < len(sizes) <= MOST_COLUMNS:
        alt = f"How many items have how many answers to {question.name}."
        edges = [str(size) for size in sizes]
        svg = columns(edges, items.tolist(), alt, "answers of an item")
        rows = list(zip(sizes.tolist(), items.tolist(), strict=True))
        title = f"Answers per item, {question.name}"
        blocks.append(Figure(title, alt, svg, ("answers", "items"), rows))
    return blocks


def answers_given(annotations: Annotations, question: str) -> list[Figure]:
    """The share of each value, or a histogram of ratings."""
    if isinstance(annotations.scale, Interval):
        return [_ratings(annotations, question, annotations.scale)]
    shares = shares_of(annotations) or {}
    if not shares:
        return []
    alt = f"Share of each value among the answers to {question}."
    if isinstance(annotations.scale, MultiLabel):
        alt = f"Share of the answers to {question} that contain each value."
    if len(shares) > MOST_VALUES:
        alt += f" The {MOST_VALUES} most frequent of {len(shares):,} values."
        shares = dict(sorted(shares.items(), key=lambda entry: -entry[1])[:MOST_VALUES])
    svg = bars(list(shares), list(shares.values()), alt)
    columns = ("value", "share")
    return [Figure(f"Answers to {question}", alt, svg, columns, list(shares.items()))]


def _ratings(annotations: Annotations, name: str, scale: Interval) -> Figure:
    edges = np.linspace(scale.low, scale.high, 13)
    counts, _ = np.histogram(annotations.answer, edges, weights=annotations.weight)
    names = [f"{low:.3g}" for low in edges[:-1]]
    alt = f"How often ratings of {name} fall between {scale.low:g} and {scale.high:g}."
    svg = columns(names, counts.tolist(), alt, "rating (from)")
    rows = list(zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True))
    return Figure(f"Ratings of {name}", alt, svg, ("from", "to", "answers"), rows)
