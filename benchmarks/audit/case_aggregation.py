"""Are accuracies, confidences and scores of aggregators what they claim to be?"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from cells import Cell

from dissensus import Annotations, Nominal
from dissensus.aggregation import BayesianDawidSkene, BradleyTerry, Comparisons, DawidSkene
from dissensus.names import Names


def crowd(
    generator: np.random.Generator,
    n_values: int,
    n_items: int,
    n_annotators: int,
    per_item: int = 5,
    shares: tuple[float, ...] | None = None,
    guessing: float = 0.0,
) -> tuple[np.ndarray, np.ndarray, Annotations]:
    """True values, accuracies of 0.6 to 0.95, and answers.

    Args:
        guessing: how often annotators guess, on average over items, of which some are hard.
    """
    truth = generator.choice(n_values, n_items, p=shares)
    accuracy = generator.uniform(0.6, 0.95, n_annotators)
    annotator = np.argsort(generator.random((n_items, n_annotators)), axis=1)[:, :per_item].ravel()
    item = np.repeat(np.arange(n_items), len(annotator) // n_items)
    n = len(item)
    right = generator.random(n) < accuracy[annotator]
    wrong = (truth[item] + generator.integers(1, n_values, n)) % n_values
    answer = np.where(right, truth[item], wrong)
    if guessing:
        hard = generator.beta(0.5, 0.5 * (1 - guessing) / guessing, n_items)
        guess = generator.random(n) < hard[item]
        answer = np.where(guess, generator.integers(0, n_values, n), answer)
    annotations = Annotations.from_arrays(
        item,
        annotator,
        answer,
        Nominal(tuple(f"v{k}" for k in range(n_values))),
        items=Names.range(n_items),
        annotators=Names.range(n_annotators),
    )
    return truth, accuracy, annotations


def bayesian(generator: np.random.Generator, coverage: bool, **kind: Any) -> float:
    """The mean error of accuracies, or how many of their intervals contain the true ones."""
    _, accuracy, annotations = crowd(generator, **kind)
    fitted = BayesianDawidSkene(draws=200).fit(annotations)
    if not coverage:
        return float((fitted.accuracy_ - accuracy).mean())
    low, high = fitted.accuracy_low_, fitted.accuracy_high_
    return float(((low <= accuracy) & (accuracy <= high)).mean())


def dawid_skene(generator: np.random.Generator, quantity: str, **kind: Any) -> float:
    """About the answers and confidences that `dissensus aggregate` writes."""
    truth, _, annotations = crowd(generator, **kind)
    prediction = DawidSkene().fit_predict(annotations)
    right = prediction.consensus == truth
    confidence = prediction.distribution.max(axis=1)
    if quantity == "accuracy":
        return float(right.mean())
    if quantity == "overconfidence":
        return float((confidence - right).mean())
    certain = confidence >= 0.99
    return float((~right[certain]).mean()) if certain.sum() >= 20 else float("nan")


def bradley_terry(
    generator: np.random.Generator, n_things: int, per_thing: int, spread: float
) -> float:
    """How many intervals contain the true score."""
    scores = generator.normal(0, spread, n_things)
    scores -= scores.mean()
    n = n_things * per_thing // 2
    left = generator.integers(0, n_things, n)
    right = (left + generator.integers(1, n_things, n)) % n_things
    won = (generator.random(n) < 1 / (1 + np.exp(scores[right] - scores[left]))).astype(float)
    things = Names([f"t{k:02}" for k in range(n_things)])
    pairs = Comparisons(left, right, won, np.ones(n), None, things, Names.range(0))
    low, high = BradleyTerry().fit(pairs).intervals_.T
    return float(((low <= scores) & (scores <= high)).mean())


BAYESIAN: dict[str, dict[str, Any]] = {
    "2 values, 50 items, 10 annotators": {"n_values": 2, "n_items": 50, "n_annotators": 10},
    "12 values, 50 items, 10 annotators": {"n_values": 12, "n_items": 50, "n_annotators": 10},
    "5 values of .8 to .02, 200 items, 5 annotators": {
        "n_values": 5,
        "n_items": 200,
        "n_annotators": 5,
        "shares": (0.8, 0.1, 0.05, 0.03, 0.02),
    },
}
DAWID_SKENE: dict[str, dict[str, Any]] = {
    "2 values, 200 items, 20 annotators": {"n_values": 2, "n_items": 200, "n_annotators": 20},
    "5 values, 200 items, 50 annotators": {"n_values": 5, "n_items": 200, "n_annotators": 50},
    "3 values, 200 items of which some are hard, 20 annotators": {
        "n_values": 3,
        "n_items": 200,
        "n_annotators": 20,
        "guessing": 0.15,
    },
    "3 values of .9 to .03, 200 items, 20 annotators": {
        "n_values": 3,
        "n_items": 200,
        "n_annotators": 20,
        "shares": (0.9, 0.07, 0.03),
    },
}
QUANTITIES = {
    "wrong": ("wrong of those with confidence .99", "at most 0.02"),
    "overconfidence": ("mean confidence minus accuracy", "-0.03 to 0.03"),
    "accuracy": ("accuracy of answers", "not lower than before"),
}

CELLS = (
    *(
        Cell(
            f"bayesian-dawid-skene: {name}, 5 answers each, accuracy .6-.95",
            "coverage of accuracy" if coverage else "error of accuracy",
            "0.92 to 0.98" if coverage else "-0.03 to 0.03",
            partial(bayesian, coverage=coverage, **kind),
        )
        for name, kind in BAYESIAN.items()
        for coverage in (False, True)
        if coverage or "12 values" in name
    ),
    *(
        Cell(
            f"dawid-skene: {name}, 5 answers each, accuracy .6-.95",
            words,
            bar,
            partial(dawid_skene, quantity=quantity, **kind),
        )
        for name, kind in DAWID_SKENE.items()
        for quantity, (words, bar) in QUANTITIES.items()
    ),
    *(
        Cell(
            f"bradley-terry: 10 things, {per_thing} comparisons each, scores of spread {spread:g}",
            "coverage of scores",
            "0.92 to 0.98",
            partial(bradley_terry, n_things=10, per_thing=per_thing, spread=spread),
        )
        for per_thing, spread in ((20, 1.0), (50, 2.0))
    ),
)
