"""Every annotator in a row, those to look at first, with the evidence."""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.description import Description, QuestionDescription
from dissensus.report.blocks import Bars, Block, Section, Table, Text
from dissensus.scales import Interval

MOST_ROWS = 300
MOST_VALUES = 12  # in a bar


def annotators(corpus: Corpus, description: Description) -> Section | None:
    blocks: list[Block] = []
    for question in description.questions:
        if not question.by_annotator:
            continue
        blocks.append(_suspicious(question))
        blocks.append(_table(corpus[question.name], question))
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
        return Text(f"{question.name}: nobody gave enough answers to be checked (10).")
    return Text(
        f"{question.name}: none of the {question.checked:,} annotators with 10 answers or more is "
        "at chance, contrary, constant, fast, duplicated or different from the rest."
    )


def _table(annotations: Annotations, question: QuestionDescription) -> Table:
    shares = _shares(annotations)
    ratings = isinstance(annotations.scale, Interval)
    first = "correlation" if ratings else "agreement"
    columns = ["annotator", "answers", f"{first} with the rest", "95 % from", "to", "kappa"]
    columns += ["answers given"] if shares else ["most frequent"]
    columns += ["seconds", "why to look"]
    rows = []
    for row in question.by_annotator[:MOST_ROWS]:
        value, low, high = (getattr(row, f"{first}{end}") for end in ("", "_low", "_high"))
        given = shares.get(row.annotator) if shares else row.most_frequent
        why = ", ".join(row.suspicious)
        rows.append(
            [row.annotator, row.answers, value, low, high, row.kappa, given, row.seconds, why]
        )
    total = len(question.by_annotator)
    return Table(f"All annotators, {question.name}", columns, rows, annotators=0, total=total)


def _shares(annotations: Annotations) -> dict[str, Bars]:
    """The share of each value among an annotator's answers; empty for ratings and many values."""
    values = tuple(getattr(annotations.scale, "values", ()))
    if annotations.scale.kind not in ("nominal", "ordinal") or len(values) > MOST_VALUES:
        return {}
    annotator = annotations.annotator_codes("a report")
    counts = np.zeros((annotations.n_annotators, len(values)))
    np.add.at(counts, (annotator, annotations.answer.astype(np.int64)), annotations.weight)
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return {
        name: Bars(dict(zip(values, row, strict=True)), row[0])
        for name, row in zip(annotations.annotators, (counts / total).tolist(), strict=True)
    }
