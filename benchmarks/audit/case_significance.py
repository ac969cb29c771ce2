"""Are two methods that are equally good called different, by each kind of metric?

Both methods come from one process: each has guesses of its own for every item, which its seeds
mostly share. On other items the two are equally good, on these items one is better by chance.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from cells import Cell

from dissensus import Annotations, Interval, Nominal
from dissensus.evaluation import Fit, Results, compared
from dissensus.evaluation.fit import item_table
from dissensus.evaluation.protocols import Fold
from dissensus.evaluation.results import About
from dissensus.metrics import item_scores, scores
from dissensus.names import Names
from dissensus.prediction import ByAnnotator, Prediction

SIZES = (100, 200, 1000)  # items
N_ANNOTATORS = 12
VALUES = Nominal(("a", "b", "c"))
RATINGS = Interval(0, 10)
REDRAWN = 0.1  # of a method's guesses, by each seed


def answers_of(values: np.ndarray, scale: Nominal | Interval) -> Annotations:
    item, annotator = np.indices(values.shape)
    return Annotations.from_arrays(
        item.ravel(),
        annotator.ravel(),
        values.ravel(),
        scale,
        items=Names.range(len(values)),
        annotators=Names.range(N_ANNOTATORS),
    )


class Choices:
    """Annotators who choose one of three values, and methods that guess what they choose."""

    scale = VALUES

    def __init__(self, generator: np.random.Generator, n_items: int) -> None:
        self.generator, self.shape = generator, (n_items, N_ANNOTATORS)
        self.truth = generator.integers(3, size=n_items)
        self.habits = generator.dirichlet(np.full(3, 0.8), N_ANNOTATORS).cumsum(axis=1)
        skill = generator.uniform(0.5, 0.9, N_ANNOTATORS)
        self.answers = self.mixed(self.truth, skill)

    def mixed(self, label: np.ndarray, skill: np.ndarray | float) -> np.ndarray:
        """The label, or what is habitual for an annotator."""
        habitual = (self.generator.random((*self.shape, 1)) > self.habits[:, :2]).sum(axis=2)
        return np.where(self.generator.random(self.shape) < skill, label[:, None], habitual)

    def fits(self, n_seeds: int, lead: float) -> list[Prediction]:
        """The predictions of a method with each seed."""
        n_items = len(self.truth)
        right = self.generator.random(n_items) < 0.6 + lead
        label = np.where(right, self.truth, self.generator.integers(3, size=n_items))
        own = self.mixed(label, 0.6 + lead)
        predictions = []
        for _ in range(n_seeds):
            again = self.generator.random(n_items) < REDRAWN
            of_seed = np.where(again, self.generator.integers(3, size=n_items), label)
            values = np.where(again[:, None], self.mixed(of_seed, 0.6 + lead), own)
            mass = 0.1 + 0.7 * np.eye(3)[of_seed]
            predictions.append(predicted(self.scale, mass, of_seed, values))
        return predictions


class Ratings:
    """Annotators who rate, and methods that predict their ratings."""

    scale = RATINGS

    def __init__(self, generator: np.random.Generator, n_items: int) -> None:
        self.generator = generator
        self.truth = generator.uniform(2, 8, n_items)
        self.bias = generator.normal(0, 0.7, N_ANNOTATORS)
        noise = generator.normal(0, 1, (n_items, N_ANNOTATORS))
        self.answers = (self.truth[:, None] + self.bias + noise).clip(0, 10)

    def fits(self, n_seeds: int, lead: float) -> list[Prediction]:
        n_items = len(self.truth)
        own = self.truth + self.generator.normal(0, 1.5 - lead, n_items)
        mass = np.full((n_items, RATINGS.n_columns), 1 / RATINGS.n_columns)
        predictions = []
        for _ in range(n_seeds):
            rating = (own + self.generator.normal(0, 0.3, n_items)).clip(0, 10)
            values = (rating[:, None] + self.bias).clip(0, 10)
            predictions.append(predicted(self.scale, mass, rating, values))
        return predictions


def predicted(
    scale: Nominal | Interval, mass: np.ndarray, consensus: np.ndarray, values: np.ndarray
) -> Prediction:
    item, annotator = np.indices(values.shape)
    pairs = ByAnnotator(item.ravel(), annotator.ravel(), Names.range(N_ANNOTATORS), values.ravel())
    return Prediction(scale, Names.range(len(mass)), mass, consensus, pairs)


def different(
    generator: np.random.Generator,
    crowd: type[Choices] | type[Ratings],
    metric: str,
    n_seeds: int,
    n_items: int,
    lead: float = 0.0,
) -> float:
    """Whether the difference of two methods has p of at most 0.05."""
    made = crowd(generator, n_items)
    answers = answers_of(made.answers, made.scale)
    fits = [
        Fit(
            method,
            seed,
            "test",
            scores={"q": scores(prediction, answers, metrics=[metric])},
            items=item_table({"q": item_scores(prediction, answers, [metric])}),
        )
        for method, more in (("first", lead), ("second", 0.0))
        for seed, prediction in enumerate(made.fits(n_seeds, more))
    ]
    about = About("made", ("q",), (metric,), ("first", "second"), tuple(range(n_seeds)), "", "")
    fold = Fold("test", np.arange(0), np.arange(n_items))
    results = Results.assemble(about, [fold], fits, when={"date": "", "machine": ""})
    return float(compared(results, "q", metric, "first", "second", resamples=500).p <= 0.05)


METRICS: tuple[tuple[type[Choices] | type[Ratings], str], ...] = (
    (Choices, "cross-entropy"),
    (Choices, "macro-F1"),
    (Choices, "annotator macro-F1"),
    (Choices, "DIC"),
    (Ratings, "CCC"),
    (Ratings, "annotator CCC"),
)
CELLS = (
    *(
        Cell(
            f"two equally good methods, {n_seeds} seeds, {n_items} items: {metric}",
            "p of at most 0.05",
            "at most 0.07",
            partial(different, crowd=crowd, metric=metric, n_seeds=n_seeds, n_items=n_items),
        )
        for crowd, metric in METRICS
        for n_items in SIZES
        for n_seeds in (2, 5)
    ),
    *(
        Cell(
            f"one method better, 5 seeds, 200 items: {metric}",
            "p of at most 0.05",
            "high",
            partial(different, crowd=crowd, metric=metric, n_seeds=5, n_items=200, lead=0.2),
        )
        for crowd, metric in METRICS
        if metric in ("macro-F1", "DIC")
    ),
)
