"""A use of predicted spread: which items to send to more annotators.

Every item has a few ratings; there is a budget for more ratings of some items. Items are chosen by
what models predict that were not trained on them. The error is that of the mean of the ratings an
item then has, from the mean of all its ratings; ratings are drawn from the real ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.densities.rating_densities import unit_positions
from dissensus.evaluation import over_items
from dissensus.scales import Nominal
from dissensus_papers.framework.layout import Block
from dissensus_papers.framework.measurements import Measured, MeasuredCondition
from dissensus_papers.framework.models import Model, Typed
from dissensus_papers.individual.folds import SEEDS, item_folds
from dissensus_papers.individual.newcomers import mean_and_spread

FIRST, MORE, SHARES = 3, 7, (0.1, 0.25, 0.5)
TESTED = 0.25  # the share for which the difference from random is tested
DRAWS = 200
CELLS = Nominal(("1", "2", "3", "4"))
SIGNALS = {
    "random": "random",
    "heads": "annotator heads: spread of the predicted annotators",
    "heads distribution": "annotator heads: spread of the predicted distribution",
    "grid": "distribution over cells: entropy",
    "classifier": "classifier of the most frequent cell: softmax entropy",
    "single": "consensus alone: predicted spread",
    "first": f"spread of the first {FIRST} ratings",
    "real": "spread of all ratings (the best ranking)",
}
MODELS_OF_SPREAD = {
    "heads": Model("Annotator heads", "annotator-heads"),
    "grid": Model("Distribution", "grid-density", {"base_rates": False}),
    "single": Model("Consensus alone", "single", {"hidden": (64,), "training.epochs": 20}),
}
CLASSIFIER = Model("Classifier", "single", {"hidden": (64,), "training.epochs": 20})


def measured(question: str, corpus: Corpus, seed: int, typed: Typed) -> Measured:
    """The squared error of the consensus by the share of items with more ratings and by ranking."""
    corpus = corpus.select(questions=(question,))
    signals = _signals(corpus, question, seed, typed)
    answers = corpus[question]
    positions = (unit_positions(question, answers.scale, answers.answer) + 1) / 2
    ratings = [positions[answers.item == item] for item in range(corpus.n_items)]
    real = np.array([each.std() for each in ratings])
    errors = simulated_errors(ratings, signals | {"real": real}, seed)
    random = errors[TESTED]["random"]
    return {
        "correlation": {name: _rank_correlation(each, real) for name, each in signals.items()},
        "errors": {
            f"{share:g}": {name: float(each.mean()) for name, each in by_signal.items()}
            for share, by_signal in errors.items()
        },
        "less random": {
            name: _difference(each, random)
            for name, each in errors[TESTED].items()
            if name != "random"
        },
    }


def _signals(corpus: Corpus, question: str, seed: int, typed: Typed) -> dict[str, np.ndarray]:
    """What each model predicts for every item, from the fold in which it was not trained on it."""
    from dissensus.methods.framework.settings import seeded
    from dissensus.methods.framework.stacked_fits import Job, fit_many

    folds = item_folds(question)(corpus)
    in_cells = replace(corpus, questions={question: _cells(corpus[question], question)})
    signals: dict[str, np.ndarray] = {}
    for name, model in (MODELS_OF_SPREAD | {"classifier": CLASSIFIER}).items():
        source = in_cells if name == "classifier" else corpus
        parts = [fold.parts(source) for fold in folds]
        jobs = [
            Job(seeded(model.built({}, typed), seed), train, (question,), validation)
            for train, _, validation in parts
        ]
        for fold, method, (_, test, _) in zip(folds, fit_many(jobs), parts, strict=True):
            for key, values in _spreads(name, method, test, question).items():
                signals.setdefault(key, np.zeros(corpus.n_items))[fold.test] = values
    return signals


def _spreads(name: str, method: Any, test: Corpus, question: str) -> dict[str, np.ndarray]:
    """The signals of one model for test items."""
    if name == "heads":
        prediction = method.predict(test, annotators="all", consensus="all")[question]
        pairs = prediction.by_annotator
        n = np.bincount(pairs.item, minlength=test.n_items)
        mean = np.bincount(pairs.item, pairs.value, minlength=test.n_items) / n
        squares = np.bincount(pairs.item, pairs.value**2, minlength=test.n_items) / n
        return {
            name: np.sqrt((squares - mean**2).clip(min=0)),
            "heads distribution": _spread(prediction.distribution),
        }
    if name == "grid":
        predictions = method.predict(test, density="soft")
        (density,) = predictions.densities.values()
        return {name: _entropy(density.mass)}
    distribution = method.predict(test)[question].distribution
    return {name: _spread(distribution) if name == "single" else _entropy(distribution)}


def _cells(answers: Annotations, question: str) -> Annotations:
    """Ratings as the cell that they are in."""
    n = len(CELLS.values)
    positions = unit_positions(question, answers.scale, answers.answer)
    return Annotations.from_arrays(
        answers.item,
        answers.annotator,
        ((positions + 1) / 2 * n).astype(np.int32).clip(0, n - 1),
        CELLS,
        items=answers.items,
        annotators=answers.annotators,
        repeats="keep",
    )


def _spread(distribution: np.ndarray) -> np.ndarray:
    """The standard deviation of a distribution over the bins of a scale, (n_items,)."""
    places = np.linspace(0, 1, distribution.shape[1])
    mean = distribution @ places
    return np.sqrt((distribution @ places**2 - mean**2).clip(min=0))


def _entropy(mass: np.ndarray) -> np.ndarray:
    return -(mass * np.log(mass.clip(min=1e-12))).sum(axis=1)


def simulated_errors(
    ratings: Sequence[np.ndarray], signals: dict[str, np.ndarray], seed: int
) -> dict[float, dict[str, np.ndarray]]:
    """The squared error of each item's consensus, a mean over draws, by share and ranking.

    All rankings see the same draws. Random takes every item with the probability of the share.

    Args:
        ratings: of each item, from 0 to 1.
        signals: items with the highest values get more ratings.
    """
    generator = np.random.default_rng(seed)
    few, many, spreads = (np.zeros((DRAWS, len(ratings))) for _ in range(3))
    for at, of_item in enumerate(ratings):
        drawn = of_item[np.argsort(generator.random((DRAWS, len(of_item))), axis=1)]
        few[:, at] = (drawn[:, :FIRST].mean(axis=1) - of_item.mean()) ** 2
        many[:, at] = (drawn[:, : FIRST + MORE].mean(axis=1) - of_item.mean()) ** 2
        spreads[:, at] = drawn[:, :FIRST].std(axis=1)
    ties = generator.random((DRAWS, len(ratings)))
    errors: dict[float, dict[str, np.ndarray]] = {}
    for share in SHARES:
        n = round(share * len(ratings))
        chosen_by = {name: _highest(values, n) for name, values in signals.items()}
        first = _highest(spreads, n, ties)
        by_signal = {name: np.where(some, many, few).mean(0) for name, some in chosen_by.items()}
        by_signal["first"] = np.where(first, many, few).mean(axis=0)
        by_signal["random"] = (share * many + (1 - share) * few).mean(axis=0)
        errors[share] = by_signal
    return errors


def _highest(values: np.ndarray, n: int, ties: np.ndarray | None = None) -> np.ndarray:
    """True for the n highest values of each row; of equal ones, those with the higher `ties`."""
    second = np.zeros_like(values) if ties is None else ties
    order = np.lexsort((second, values), axis=-1)
    highest = np.zeros(values.shape, dtype=bool)
    np.put_along_axis(highest, order[..., -n:], True, axis=-1)
    return highest


def _rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(first, second).statistic)


def _difference(first: np.ndarray, second: np.ndarray) -> dict[str, float]:
    """Relative to the mean of the second, with a 95 % interval over items."""
    test, whole = over_items(first, second, resamples=2000), float(second.mean())
    return {key: getattr(test, key) / whole for key in ("effect", "low", "high")}


def tables(title: str, name: str) -> Callable[[Sequence[Measured]], list[Block]]:
    """A row for each ranking."""

    def blocks(by_seed: Sequence[Measured]) -> list[Block]:
        percents = [f"{share:.0%}" for share in SHARES]
        tested = f"less random, {TESTED:.0%}"
        names = ["items ranked by", "rank correlation", *(f"error, {each}" for each in percents)]
        rows = [[*names, tested]]
        for key, words in SIGNALS.items():
            correlation = [entry["correlation"].get(key) for entry in by_seed]
            errors = [
                mean_and_spread(
                    [entry["errors"][f"{share:g}"][key] * 1000 for entry in by_seed], digits=2
                )
                for share in SHARES
            ]
            tests = [entry["less random"].get(key) for entry in by_seed]
            rows.append([words, mean_and_spread(correlation), *errors, _interval(tests)])
        heading = (
            f"{title} ({name}): {FIRST} ratings of each item, {MORE} more of some; {len(by_seed)} "
            "seeds"
        )
        notes = (
            "Squared error of the mean rating from the mean of all ratings, times 1000 on a scale "
            "from 0 to 1, by the share of items with more ratings. Rank correlation with the "
            "spread of all ratings. The last column is relative, with a 95 % interval over items "
            "(means over seeds). Every model ranks items that it was not trained on."
        )
        return [Block(heading, rows, notes)]

    return blocks


def _interval(tests: Sequence[Any]) -> str:
    defined = [test for test in tests if test is not None and test["low"] is not None]
    if not defined:
        return ""
    effect, low, high = (
        100 * np.mean([test[key] for test in defined]) for key in ("effect", "low", "high")
    )
    return f"{effect:+.1f} % [{low:+.1f}, {high:+.1f}]"


def _condition(name: str, title: str, corpus: str, question: str) -> MeasuredCondition:
    measure = partial(measured, question)
    return MeasuredCondition(name, title, corpus, SEEDS, measure, tables(title, name))


MORE_RATINGS: tuple[MeasuredCondition, ...] = (
    _condition("more-ratings", "More ratings of which hypotheses", "nli_variation", "rating"),
    _condition("more-ratings-jokes", "More ratings of which jokes", "jester5k", "rating"),
)
