"""Are honest annotators named, careless ones found, and do their intervals hold the truth?"""

from __future__ import annotations

from functools import partial

import numpy as np
from cells import Cell

from dissensus import Annotations, Corpus, Interval, Nominal, Ordinal, describe
from dissensus.description import QuestionDescription
from dissensus.names import Names
from dissensus.scales import Scale

KINDS = {"at chance", "contrary", "different", "constant"}
LEVELS = Ordinal(("1", "2", "3", "4", "5"))
Generator = np.random.Generator


def described(answers: np.ndarray, scale: Scale) -> QuestionDescription:
    """The description of answers (n_items, n_annotators)."""
    n_items, n_annotators = answers.shape
    annotations = Annotations.from_arrays(
        np.repeat(np.arange(n_items), n_annotators),
        np.tile(np.arange(n_annotators), n_items),
        answers.ravel(),
        scale,
        items=Names.range(n_items),
        annotators=Names.range(n_annotators),
    )
    return describe(Corpus.build("crowd", annotations.items, {"q": annotations})).questions[0]


def named(question: QuestionDescription) -> set[int]:
    """Who is named by comparison with the rest, or constant."""
    return {int(row.annotator) for row in question.suspicious if KINDS & set(row.suspicious)}


def lenient(generator: Generator, levels: bool) -> float:
    """Ten honest annotators whose leniency has an sd of 0.6 (of the items' sd, or levels)."""
    own = generator.normal(0, 0.6, 10)
    rating = generator.normal(0, 1, (100, 1)) + own + generator.normal(0, 0.7, (100, 10))
    if levels:
        return float(bool(named(described(np.rint(rating + 2).clip(0, 4).astype(int), LEVELS))))
    return float(bool(named(described(rating, Interval(-20, 20)))))


def thresholds(generator: Generator) -> float:
    """Ten honest annotators who differ in how readily they say yes."""
    strict = generator.normal(0.7, 0.5, 10)
    seen = generator.normal(0, 1, (100, 1)) + generator.normal(0, 0.6, (100, 10))
    return float(bool(named(described((seen > strict).astype(int), Nominal(("no", "yes"))))))


def camps(generator: Generator) -> float:
    """Nine honest annotators with one view, and three with another."""
    view = generator.normal(0, 1, (150, 2))[:, np.repeat([0, 1], [9, 3])]
    noisy = view + generator.normal(0, 0.6, view.shape)
    return float(bool(named(described(noisy, Interval(-20, 20)))))


def values(generator: Generator, n_random: int, n: int = 12, n_items: int = 100) -> np.ndarray:
    """Of `n` annotators, the first are at random, the others right in 85 % of answers."""
    truth = generator.integers(0, 3, (n_items, 1))
    random = generator.integers(0, 3, (n_items, n))
    right = (generator.random((n_items, n)) < 0.775) & (np.arange(n) >= n_random)
    return np.where(right, truth, random)


def random_found(generator: Generator, n_random: int) -> float:
    """The share of the annotators at random who are named."""
    found = named(described(values(generator, n_random), Nominal(("a", "b", "c"))))
    return len(found & set(range(n_random))) / n_random


def careful_named(generator: Generator, n_random: int) -> float:
    found = named(described(values(generator, n_random), Nominal(("a", "b", "c"))))
    return float(bool(found - set(range(n_random))))


def chance_said(generator: Generator) -> float:
    """Whether it is said that all answer at random."""
    question = described(values(generator, 12), Nominal(("a", "b", "c")))
    return float(any("chance" in sentence for sentence in getattr(question, "crowd", ())))


def rare(generator: Generator, n_items: int, share: float) -> np.ndarray:
    """Binary answers of annotators with fixed errors, (n_items, 5)."""
    truth = generator.random((n_items, 1)) < share
    hit, false = np.array([0.8, 0.9, 0.7, 0.85, 0.95]), np.array([0.2, 0.1, 0.3, 0.1, 0.05]) * share
    return np.where(
        truth, generator.random((n_items, 5)) < hit, generator.random((n_items, 5)) < false
    ).astype(int)


def skewed(generator: Generator, n_items: int, sigma: float) -> np.ndarray:
    """Ratings (n_items, 5): exp of a normal item and normal errors; normal if sigma is 0."""
    error = generator.normal(0, 1, (n_items, 5)) * [0.6, 0.4, 0.8, 0.5, 0.7]
    rating = generator.normal(0, 1, (n_items, 1)) + error + [0.2, 0, -0.2, 0.1, 0]
    return np.asarray(np.exp(sigma * rating) if sigma else rating)


TRUTH = 100_000  # items
_truths: dict[tuple[str, float], dict[str, float]] = {}


def covered(
    generator: Generator, kind: str, parameter: float, n_items: int, statistic: str
) -> float:
    """Whether the first annotator's interval holds what very many items give; nan if undefined."""
    simulate, scale = {
        "rare": (rare, Nominal(("no", "yes"))),
        "ratings": (skewed, Interval(-1e6, 1e6)),
    }[kind]
    if (kind, parameter) not in _truths:
        answers = simulate(np.random.default_rng(7), TRUTH, parameter).astype(float)
        own, rest = answers[:, 0], answers[:, 1:]
        apart = (own[:, None] - rest) ** 2  # of 0 and 1: whether they differ
        chance = own.var() + rest.var() + (own.mean() - rest.mean()) ** 2
        _truths[kind, parameter] = {
            "agreement": float(1 - apart.mean()),
            "kappa": float(1 - apart.mean() / chance),
            "correlation": float(np.corrcoef(own, rest.mean(axis=1))[0, 1]),
        }
    question = described(simulate(generator, n_items, parameter), scale)
    row = next(row for row in question.by_annotator if row.annotator == "0")
    low, high = getattr(row, f"{statistic}_low"), getattr(row, f"{statistic}_high")
    if np.isnan(low) or np.isnan(high):
        return float("nan")
    return float(low - 1e-9 <= _truths[kind, parameter][statistic] <= high + 1e-9)


HONEST, BAR = "crowds with an honest annotator named", "at most 0.05"
CELLS = (
    Cell("10 raters, leniency sd .6", HONEST, BAR, partial(lenient, levels=False)),
    Cell("10 raters, 5 levels, leniency sd .6", HONEST, BAR, partial(lenient, levels=True)),
    Cell("10 raters, thresholds sd .5", HONEST, BAR, thresholds),
    Cell("camps of 9 and 3, views independent", HONEST, BAR, camps),
    Cell("12 raters, 1 at random", "found", "as before", partial(random_found, n_random=1)),
    Cell("12 raters, 8 at random", "found", "at least 0.8", partial(random_found, n_random=8)),
    Cell("12 raters, 8 at random", HONEST, BAR, partial(careful_named, n_random=8)),
    Cell("12 raters, all at random", "said", "at least 0.95", chance_said),
    *(
        Cell(
            f"5 raters, {n} items, {name}",
            f"coverage of the interval of {statistic}",
            "0.92 to 0.98",
            partial(covered, kind=kind, parameter=parameter, n_items=n, statistic=statistic),
        )
        for name, kind, parameter, statistic in (
            ("shares .9/.1", "rare", 0.1, "kappa"),
            ("shares .97/.03", "rare", 0.03, "kappa"),
            ("shares .97/.03", "rare", 0.03, "agreement"),
            ("lognormal", "ratings", 1.0, "correlation"),
            ("lognormal", "ratings", 1.0, "kappa"),
            ("normal", "ratings", 0.0, "correlation"),
        )
        for n in (20, 100)
    ),
)
