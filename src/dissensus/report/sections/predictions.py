"""Predictions for items that were not trained on, next to what annotators said."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from dissensus.annotations import Annotations
from dissensus.calibration import Conformal, coverage_notes
from dissensus.corpus import Corpus
from dissensus.densities import Grid, diffusion_kde, pool
from dissensus.description import one_line
from dissensus.drawing.densities import Density, contours
from dissensus.errors import DataError
from dissensus.metrics.metric import distributions
from dissensus.names import string_array
from dissensus.prediction import Prediction, Predictions
from dissensus.report.blocks import Bars, Block, Figure, Section, Table, Text
from dissensus.report.figures import diagonal, thumbnail
from dissensus.report.sections.agreement import FEWEST
from dissensus.scales import Interval, MultiLabel, Ordinal, Scale

COVERAGE = 0.9  # of the sets that are described
MOST_QUESTIONS = 3  # of which each two have a density
FEWEST_PAIRS = 30  # answers to both questions
MOST_RATINGS = 5000  # drawn at random if there are more
FEWEST_LEVELS = 5
FINE = 48  # cells of a picture along a side
COARSE = 8  # cells of a table along a side
FEW_RATINGS = 25  # distinct ones, up to which they are spread over the space between them


def densities(corpus: Corpus) -> Section | None:
    """The section; None without two questions with ratings by the same annotators."""
    rated = [q for q, answers in corpus.questions.items() if is_rating(answers.scale)]
    blocks: list[Block] = []
    for pair in combinations(rated[:MOST_QUESTIONS], 2):
        blocks += together(corpus, pair)
    return Section("densities", "How ratings spread", blocks) if blocks else None


def is_rating(scale: Scale) -> bool:
    """Whether a density says more than a table: a verdict in three words has none."""
    return isinstance(scale, Interval) or (
        isinstance(scale, Ordinal) and len(scale) >= FEWEST_LEVELS
    )


def together(corpus: Corpus, questions: Sequence[str]) -> list[Block]:
    """The density of all ratings on two questions."""
    try:
        joint = corpus.joint(*questions)
    except DataError:  # they were not given together
        return []
    ratings = np.stack([joint.answers[name].astype(float) for name in questions], axis=1)  # (n, 2)
    if len(ratings) < FEWEST_PAIRS:
        return []
    if len(ratings) > MOST_RATINGS:
        ratings = np.random.default_rng(0).choice(ratings, MOST_RATINGS, replace=False)
    steps, limits = [], []
    for name, column in zip(questions, ratings.T, strict=True):
        scale: Any = corpus[name].scale
        ends = (scale.low, scale.high) if isinstance(scale, Interval) else (0.0, len(scale) - 1.0)
        distinct = np.unique(column)
        few = 1 < len(distinct) <= FEW_RATINGS  # then neighbouring ratings are a step apart
        steps.append(float(np.diff(distinct).min()) if few else 0.0)
        limits.append((ends[0] - steps[-1] / 2, ends[1] + steps[-1] / 2))
    grid = Grid((FINE, FINE), limits)
    spread = np.array(steps) / 2
    noise = np.random.default_rng(1).uniform(-1, 1, ratings.shape) * spread
    mass = diffusion_kde(np.clip(ratings + noise, grid.low, grid.high), grid).density
    first, second = questions
    alt = (
        f"The density of the ratings on {first} (across) and {second} (up), over all items and "
        "annotators: the more colour, the more ratings."
    )
    svg = contours(Density("all ratings", mass, grid), questions, alt)
    coarse = pool(mass, grid, COARSE)
    edges = [np.linspace(low, high, COARSE + 1)[:-1] for low, high in limits]
    rows = [[edges[0][i], edges[1][j], coarse[i, j]] for i, j in np.ndindex(COARSE, COARSE)]
    names = (f"{first} from", f"{second} from", "share")
    return [Figure(f"Ratings on {first} and {second}", alt, svg, names, rows)]


MOST_ITEMS = 15
MOST_VALUES = 12
MOST_POINTS = 500  # of a figure
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
        if not answers.n_rows:
            continue
        if isinstance(answers.scale, Interval):
            blocks += mean_ratings(tested, question, prediction, answers.scale)
        else:
            blocks += _distributions(tested, question, prediction)
            blocks += calibration(question, prediction, answers)
        blocks += _sets_and_juries(tested, question, prediction)
    return Section("predictions", "Predicted and true", blocks) if len(blocks) > 1 else None


def _sets_and_juries(tested: Corpus, question: str, prediction: Prediction) -> list[Block]:
    """How large sets with a promised coverage are, and the commands that give sets and juries."""
    if isinstance(prediction.scale, MultiLabel):
        return []
    sets = Conformal(COVERAGE).fit(prediction, tested[question], tested.units())
    text = (
        f"{question}: {coverage_notes(sets, prediction, tested[question])[0]}. `dissensus predict "
        f"MODEL new.csv --coverage {COVERAGE} --calibrate other.csv` adds such sets to a table, "
        "where other.csv has answers to items that MODEL was not trained on."
    )
    for attribute, values in tested.annotator_attributes.items():
        counts = Counter(string_array(values).drop_null().to_pylist()).most_common(2)
        if len(counts) == 2 and counts[1][1] > 1 and prediction.by_annotator is not None:
            jury = ",".join(f"{attribute}={group}:2" for group, _ in counts)
            text += f" `--jury {jury}` says what panels with these members would answer."
            break
    return [Text(text)]


def _distributions(tested: Corpus, question: str, prediction: Prediction) -> list[Block]:
    if len(getattr(prediction.scale, "values", ())) > MOST_VALUES:
        return []
    observed = tested[question].distribution()
    known = np.flatnonzero((tested[question].voters() > 1) & np.isfinite(observed).all(axis=1))
    codes = known[:MOST_ITEMS]
    at = prediction.items.find([tested.items[int(code)] for code in codes])
    with_text = any(contents.kind == "text" for contents in tested.contents.values())
    rows = [
        [
            tested.items[int(code)],
            thumbnail(tested, int(code)),
            one_line(tested.text_of(int(code)), 160) if with_text else None,
            Bars.of(prediction.scale, observed[code]),
            Bars.of(prediction.scale, prediction.distribution[place]),
        ]
        for code, place in zip(codes, at, strict=True)
        if place >= 0
    ]
    if not rows:
        return []
    columns = ("item", "picture", "text", "annotators", "predicted")
    return [Table(f"Distributions, {question}", columns, rows, total=len(known))]


def mean_ratings(
    tested: Corpus, question: str, prediction: Prediction, scale: Interval
) -> list[Block]:
    """The predicted and the observed mean rating of each item."""
    consensus = tested[question].consensus()
    chosen = np.arange(consensus.n_rows)
    if len(chosen) > MOST_POINTS:
        chosen = np.sort(np.random.default_rng(0).choice(chosen, MOST_POINTS, replace=False))
    names = [tested.items[int(code)] for code in consensus.item[chosen]]
    at = prediction.items.find(names)
    rows = [
        [name, float(prediction.consensus[place]), float(mean)]
        for name, place, mean in zip(names, at, consensus.answer[chosen], strict=True)
        if place >= 0
    ]
    if len(rows) < FEWEST:
        return []
    points = [(x, y, 0.0, f"{name}: {x:.3g} predicted, {y:.3g} observed") for name, x, y in rows]
    alt = (
        f"The predicted mean rating of {question} (across) and that of the annotators (up), a dot "
        "for each item that was not trained on. Good predictions lie on the diagonal."
    )
    ends = (scale.low, scale.high)
    svg = diagonal(points, alt, "predicted mean", "mean of annotators", ends)
    columns = ("item", "predicted", "observed")
    return [Figure(f"Mean ratings, {question}", alt, svg, columns, rows)]


def calibration(question: str, prediction: Prediction, answers: Annotations) -> list[Block]:
    """Predicted shares of values against observed ones, in bins."""
    observed, expected = distributions(prediction, answers)
    if not observed.size:
        return []
    bins = np.clip((expected * BINS).astype(int), 0, BINS - 1).reshape(-1)
    size = np.bincount(bins, minlength=BINS)
    used = np.flatnonzero(size)
    x = np.bincount(bins, expected.reshape(-1), minlength=BINS)[used] / size[used]
    y = np.bincount(bins, observed.reshape(-1), minlength=BINS)[used] / size[used]
    points = []
    for a, b, n in zip(x.tolist(), y.tolist(), size[used].tolist(), strict=True):
        words = f"{a:.2f} predicted, {b:.2f} observed: {n:,}"
        points.append((a, b, math.sqrt(n / size.max()), words))
    alt = (
        f"Calibration, {question}: where a value is predicted with a share of annotators (across), "
        "which share gave it (up)? Good predictions lie on the diagonal; larger dots stand for "
        "more values of items."
    )
    svg = diagonal(points, alt, "predicted share", "observed share")
    rows = [[a, b, int(n)] for a, b, n in zip(x, y, size[used], strict=True)]
    return [Figure(f"Calibration, {question}", alt, svg, ("predicted", "observed", "values"), rows)]
