"""How ratings on two questions spread: over all items, for disputed ones, and predicted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from dissensus.corpus import Corpus
from dissensus.densities import Grid, diffusion_kde, fixed_kde, pool, rating_densities
from dissensus.description import Description
from dissensus.drawing.densities import Density, contours
from dissensus.errors import DataError
from dissensus.prediction import JointDensity, Predictions
from dissensus.report.blocks import Block, Figure, Section
from dissensus.scales import Interval, Ordinal, Scale

MOST_QUESTIONS = 3  # of which each two have a density
MOST_ITEMS = 3
FEWEST = 30  # answers to both questions
FEWEST_PER_ITEM = 3
MOST_RATINGS = 5000  # drawn at random if there are more
FINE, ITEM_CELLS = 48, 32  # cells of a picture along a side
BANDWIDTH = 0.07  # of an item's density, as a share of the scale
COARSE = 8  # cells of a table along a side
FEW_RATINGS = 25  # distinct ones, up to which they are spread over the space between them


def densities(corpus: Corpus, description: Description) -> Section | None:
    """The section; None without two questions with ratings by the same annotators."""
    rated = [q for q, answers in corpus.questions.items() if is_rating(answers.scale)]
    blocks: list[Block] = []
    for pair in combinations(rated[:MOST_QUESTIONS], 2):
        blocks += together(corpus, pair)
        blocks += _disputed(corpus, pair, description)
    return Section("densities", "How ratings spread", blocks) if blocks else None


def is_rating(scale: Scale) -> bool:
    return isinstance(scale, Interval) or (isinstance(scale, Ordinal) and len(scale) > 2)


def together(corpus: Corpus, questions: Sequence[str]) -> list[Block]:
    """The density of all ratings on two questions."""
    ratings = _ratings(corpus, questions)
    if len(ratings) < FEWEST:
        return []
    if len(ratings) > MOST_RATINGS:
        ratings = np.random.default_rng(0).choice(ratings, MOST_RATINGS, replace=False)
    steps = [_step(column) for column in ratings.T]
    limits = [
        (low - step / 2, high + step / 2)
        for (low, high), step in zip(_limits(corpus, questions), steps, strict=True)
    ]
    grid = Grid((FINE, FINE), limits)
    spread = np.array(steps) / 2
    noise = np.random.default_rng(1).uniform(-1, 1, ratings.shape) * spread
    mass = diffusion_kde(np.clip(ratings + noise, grid.low, grid.high), grid).density
    first, second = questions
    alt = (
        f"The density of the ratings on {first} (across) and {second} (up), over all items and "
        "annotators: the more colour, the more ratings."
    )
    svg = contours([Density("all ratings", mass, grid)], questions, alt)
    coarse = pool(mass, grid, COARSE)
    edges = [np.linspace(low, high, COARSE + 1)[:-1] for low, high in limits]
    rows = [[edges[0][i], edges[1][j], coarse[i, j]] for i, j in np.ndindex(COARSE, COARSE)]
    names = (f"{first} from", f"{second} from", "share")
    return [Figure(f"Ratings on {first} and {second}", alt, svg, names, rows)]


def _disputed(corpus: Corpus, questions: Sequence[str], description: Description) -> list[Block]:
    """The densities of the items about which annotators disagree most."""
    named = [q.disputed for q in description.questions if q.name in questions]
    items = dict.fromkeys(entry.item for pair in zip(*named, strict=False) for entry in pair)
    shown: list[Density] = []
    rows = []
    for item in items:
        own = corpus.select(items=corpus.items.codes([item]))
        ratings = _ratings(own, questions)
        if len(ratings) >= FEWEST_PER_ITEM and len(shown) < MOST_ITEMS:
            grid = Grid((ITEM_CELLS, ITEM_CELLS), _limits(corpus, questions))
            mass = fixed_kde(ratings, grid, BANDWIDTH * grid.range)
            shown.append(Density(f"item {item}", mass, grid, ratings))
            rows += [[item, *pair] for pair in ratings.tolist()]
    if not shown:
        return []
    first, second = questions
    alt = (
        f"Where annotators see the most disputed items on {first} (across) and {second} (up): each "
        "dot is an annotator, the density is smoothed from the dots."
    )
    title = f"Disputed items on {first} and {second}"
    return [Figure(title, alt, contours(shown, questions, alt), ("item", first, second), rows)]


def predicted_densities(tested: Corpus, predictions: Predictions) -> list[Block]:
    """Predicted densities next to those of the annotators' ratings."""
    blocks: list[Block] = []
    for density in predictions.densities.values():
        if len(density.questions) == 2 and all(q in tested.questions for q in density.questions):
            blocks += _beside(tested, density)
    return blocks


def _beside(tested: Corpus, density: JointDensity) -> list[Block]:
    questions = density.questions
    codes = tested.items.find(list(density.items))
    own = tested.select(items=np.sort(codes[codes >= 0]))
    try:
        true = rating_densities(own, questions, density.shape[0], fewest=FEWEST_PER_ITEM)
    except DataError:
        return []
    places = density.items.find(list(true.items))
    shown, rows = [], []
    for at, place in list(enumerate(places))[:MOST_ITEMS]:
        item = true.items[at]
        grid = Grid(density.shape, _limits(tested, questions))
        ratings = _ratings(own.select(items=own.items.codes([item])), questions)
        shown += [
            Density(f"item {item}: annotators", true.mass[at], grid, ratings),
            Density(f"item {item}: predicted", density.mass[place], grid),
        ]
        masses = [pool(m, grid, COARSE // 2) for m in (true.mass[at], density.mass[place])]
        rows += [[item, *cell, *(m[cell] for m in masses)] for cell in np.ndindex(masses[0].shape)]
    if not shown:
        return []
    first, second = questions
    alt = (
        f"The density of the annotators' ratings on {first} (across) and {second} (up), and the "
        "predicted one next to it, for items that were not trained on. Both are densities of the "
        "mean rating of annotators drawn at random, so that mass is also between their ratings."
    )
    names = ("item", f"cell of {first}", f"cell of {second}", "annotators", "predicted")
    svg = contours(shown, questions, alt, across=2)
    return [Figure(f"Densities of {first} and {second}", alt, svg, names, rows)]


def _ratings(corpus: Corpus, questions: Sequence[str]) -> np.ndarray:
    """Ratings on two questions that were given together, (n, 2); none if they cannot be paired."""
    try:
        joint = corpus.joint(*questions)
    except DataError:
        return np.zeros((0, 2))
    return np.stack([joint.answers[question].astype(float) for question in questions], axis=1)


def _limits(corpus: Corpus, questions: Sequence[str]) -> list[tuple[float, float]]:
    scales = [corpus[question].scale for question in questions]
    return [
        (scale.low, scale.high) if isinstance(scale, Interval) else (0.0, len(scale) - 1.0)  # type: ignore[arg-type]
        for scale in scales
    ]


def _step(ratings: np.ndarray) -> float:
    """How far apart neighbouring ratings are, if there are few; else 0."""
    distinct = np.unique(ratings)
    few = 1 < len(distinct) <= FEW_RATINGS
    return float(np.diff(distinct).min()) if few else 0.0
