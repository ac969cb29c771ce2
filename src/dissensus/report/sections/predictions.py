"""Predictions for items that were not trained on, next to what annotators said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.description import one_line
from dissensus.metrics.matching import distributions
from dissensus.prediction import Prediction, Predictions
from dissensus.report.blocks import Bars, Block, Figure, Section, Table, Text
from dissensus.report.figures import diagonal, matrix, rows_of
from dissensus.report.sections.agreement import FEWEST, similar_order
from dissensus.scales import Interval, MultiLabel

MOST_ITEMS = 15
MOST_VALUES = 12
MOST_ANNOTATORS = 25
BINS = 10


def predicted(tested: Corpus, predictions: Predictions, method: str) -> Section | None:
    """The section.

    Args:
        tested: items with answers that the method was not trained on.
        method: its name.
    """
    blocks: list[Block] = [
        Text(
            f"{method} was trained without these {tested.n_items:,} items and predicted the "
            "answers to them."
        )
    ]
    for question, prediction in predictions.items():
        answers = tested[question]
        if not answers.n_rows or isinstance(answers.scale, Interval | MultiLabel):
            continue
        blocks += [
            *_distributions(tested, question, prediction),
            *_calibration(question, prediction, answers),
            *_annotators(question, prediction, answers),
        ]
    return Section("predictions", "Predicted and true", blocks) if len(blocks) > 1 else None


def _distributions(tested: Corpus, question: str, prediction: Prediction) -> list[Block]:
    values = tuple(getattr(prediction.scale, "values", ()))
    if len(values) > MOST_VALUES:
        return []
    observed = tested[question].distribution()
    known = np.flatnonzero((tested[question].per_item() > 1) & np.isfinite(observed).all(axis=1))
    codes = known[:MOST_ITEMS]
    at = prediction.items.find([tested.items[int(code)] for code in codes])
    rows = [
        [
            tested.items[int(code)],
            one_line(tested.text_of(int(code)), 160),
            Bars(dict(zip(values, observed[code].tolist(), strict=True))),
            Bars(dict(zip(values, prediction.distribution[place].tolist(), strict=True))),
        ]
        for code, place in zip(codes, at, strict=True)
        if place >= 0
    ]
    if not rows:
        return []
    columns = ("item", "text", "annotators", "predicted")
    return [Table(f"Distributions, {question}", columns, rows, total=len(known))]


def _calibration(question: str, prediction: Prediction, answers: Annotations) -> list[Block]:
    """Predicted shares of values against observed ones, in bins."""
    observed, expected = distributions(prediction, answers)
    if not observed.size:
        return []
    bins = np.clip((expected * BINS).astype(int), 0, BINS - 1).reshape(-1)
    size = np.bincount(bins, minlength=BINS)
    used = np.flatnonzero(size)
    x = np.bincount(bins, expected.reshape(-1), minlength=BINS)[used] / size[used]
    y = np.bincount(bins, observed.reshape(-1), minlength=BINS)[used] / size[used]
    points = [
        (
            float(a),
            float(b),
            float(np.sqrt(n / size.max())),
            f"{a:.2f} predicted, {b:.2f} observed: {n:,}",
        )
        for a, b, n in zip(x, y, size[used], strict=True)
    ]
    alt = (
        f"Calibration, {question}: where a value is predicted with a share of annotators (across), "
        "which share gave it (up)? Good predictions lie on the diagonal; larger dots stand for "
        "more values of items."
    )
    svg = diagonal(points, alt, "predicted share", "observed share")
    rows = [[a, b, int(n)] for a, b, n in zip(x, y, size[used], strict=True)]
    return [Figure(f"Calibration, {question}", alt, svg, ("predicted", "observed", "values"), rows)]


def _annotators(question: str, prediction: Prediction, answers: Annotations) -> list[Block]:
    """Kappas of annotators, and those of their predicted answers, side by side."""
    from dissensus.agreement import common_items, kappa_matrix
    from dissensus.metrics.matching import common_pairs

    if prediction.by_annotator is None or answers.annotator is None:
        return []
    rows, pairs = common_pairs(prediction, answers)
    real = answers.to(prediction.scale).take(rows)
    guessed = replace(real, answer=prediction.by_annotator.value[pairs])
    sizes = real.per_annotator()
    codes = np.sort(
        np.argsort(-sizes, kind="stable")[: min(MOST_ANNOTATORS, int((sizes > 0).sum()))]
    )
    if len(codes) < 3:
        return []
    names = real.annotators.take(codes)
    real, guessed = (part.select_annotators(codes, names) for part in (real, guessed))
    shared = common_items(real) >= FEWEST
    np.fill_diagonal(shared, False)
    values = [np.where(shared, kappa_matrix(part), np.nan) for part in (real, guessed)]
    if not np.isfinite(values[0]).any():
        return []
    order = similar_order(values[0])
    shown = [names[int(code)] for code in order]
    blocks: list[Block] = []
    for value, whose in zip(values, ("annotators", "their predicted answers"), strict=True):
        ordered = value[np.ix_(order, order)]
        alt = (
            f"Cohen's kappa of each two {whose} on {question}, for items that were not trained on."
        )
        svg = matrix(shown, ordered, alt, annotators=True)
        title = f"Agreement of {whose}, {question}"
        blocks.append(Figure(title, alt, svg, ("annotator", *shown), rows_of(shown, ordered)))
    return blocks
