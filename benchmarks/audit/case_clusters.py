"""Are clusters of annotators found in crowds without camps, and camps where there are some?

In a crowd without camps, annotators answer independently given the item: they differ in skill,
strictness and use of values, and items in difficulty and ambiguity.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from cells import Cell

from dissensus import Annotations, Interval, Nominal, Ordinal
from dissensus.description import AnnotatorClusters, cluster_annotators
from dissensus.names import Names

Scale = Nominal | Ordinal | Interval
Crowd = Callable[[np.random.Generator], tuple[np.ndarray, Scale]]  # (n_items, n_annotators) answers
RATINGS = Interval(-50.0, 50.0)


def clusters_of(answers: np.ndarray, scale: Scale) -> AnnotatorClusters | None:
    item, annotator = np.nonzero(~np.isnan(answers))
    values = answers[item, annotator]
    items, annotators = map(Names.range, answers.shape)
    given = values if isinstance(scale, Interval) else values.astype(int)
    return cluster_annotators(
        Annotations.from_arrays(item, annotator, given, scale, items=items, annotators=annotators)
    )


def alarm(generator: np.random.Generator, crowd: Crowd) -> float:
    result = clusters_of(*crowd(generator))
    return float(result is not None and result.significant)


def nominal(n: int) -> Nominal:
    return Nominal(tuple("abcdefgh"[:n]))


def ordinal(n: int) -> Ordinal:
    return Ordinal(tuple(map(str, range(1, n + 1))))


# ---- crowds without camps ----


def skilled(
    generator: np.random.Generator, n_items: int, n_annotators: int, shares: list[float]
) -> tuple[np.ndarray, Scale]:
    """Dawid and Skene: skills .5-.95, errors at random."""
    n = len(shares)
    truth = generator.choice(n, n_items, p=shares)[:, None]
    wrong = (truth + generator.integers(1, n, (n_items, n_annotators))) % n
    skill = generator.uniform(0.5, 0.95, n_annotators)
    right = generator.random((n_items, n_annotators)) < skill
    return np.where(right, truth, wrong).astype(float), nominal(n)


def item_response(
    generator: np.random.Generator, n_items: int, n_annotators: int, slopes: float
) -> tuple[np.ndarray, Scale]:
    """Rasch's model (slopes 0) or two parameters: severity sd 1, difficulty sd 1.5."""
    slope = np.exp(generator.normal(0, slopes, n_annotators))
    severity = generator.normal(0, 1.0, n_annotators)
    logit = slope * generator.normal(0, 1.5, (n_items, 1)) - severity
    yes = generator.random((n_items, n_annotators)) < 1 / (1 + np.exp(-logit))
    return yes.astype(float), nominal(2)


def strict(
    generator: np.random.Generator, n_items: int, n_annotators: int, n_values: int, ends: float
) -> tuple[np.ndarray, Scale]:
    """Strict and lenient annotators (sd .8), who may stretch the scale."""
    shape = (n_items, n_annotators)
    seen = generator.normal(size=(n_items, 1)) + 0.6 * generator.normal(size=shape)
    seen = (seen + generator.normal(0, 0.8, n_annotators)) * np.exp(
        generator.normal(0, ends, n_annotators)
    )
    limits = np.linspace(-1.6, 1.6, n_values - 1)
    return (seen[..., None] > limits).sum(axis=2).astype(float), ordinal(n_values)


def ambiguous(
    generator: np.random.Generator, n_items: int, n_annotators: int, n_values: int
) -> tuple[np.ndarray, Scale]:
    """Everybody draws from the distribution of the item, which is uniform over all of them."""
    limits = np.cumsum(generator.dirichlet(np.ones(n_values), n_items), axis=1)[:, None, :-1]
    drawn = generator.random((n_items, n_annotators, 1))
    return (drawn > limits).sum(axis=2).astype(float), nominal(n_values)


def ratings(
    generator: np.random.Generator, n_items: int, n_annotators: int
) -> tuple[np.ndarray, Scale]:
    """Offsets, scales and errors of each annotator's own; the same ends for all."""
    error = generator.normal(size=(n_items, n_annotators)) * generator.uniform(
        0.3, 1.5, n_annotators
    )
    rated = generator.normal(size=(n_items, 1)) + error
    rated *= np.exp(generator.normal(0, 0.3, n_annotators))
    return np.clip(rated + generator.normal(0, 1.0, n_annotators), -2.0, 2.0), RATINGS


def sparse(generator: np.random.Generator, crowd: Crowd) -> tuple[np.ndarray, Scale]:
    """Five answers per item."""
    answers, scale = crowd(generator)
    place = np.argsort(generator.random(answers.shape), axis=1).argsort(axis=1)
    return np.where(place < 5, answers, np.nan), scale


def copied(generator: np.random.Generator, crowd: Crowd) -> tuple[np.ndarray, Scale]:
    """The second annotator copies .6 of the answers from the first one."""
    answers, scale = crowd(generator)
    same = generator.random(len(answers)) < 0.6
    answers[same, 1] = answers[same, 0]
    return answers, scale


# ---- camps ----


def camps(
    generator: np.random.Generator,
    n_items: int,
    sizes: tuple[int, ...],
    n_values: int,
    share: float,
) -> tuple[np.ndarray, Scale]:
    """Camps of skills .75-.95 that see a share of the items differently."""
    split = generator.random(n_items) < share
    truth = np.repeat(generator.integers(n_values, size=(n_items, 1)), len(sizes), axis=1)
    truth = (truth + split[:, None] * np.arange(len(sizes))) % n_values
    own = truth[:, np.repeat(np.arange(len(sizes)), sizes)]
    wrong = (own + generator.integers(1, n_values, own.shape)) % n_values
    right = generator.random(own.shape) < generator.uniform(0.75, 0.95, own.shape[1])
    return np.where(right, own, wrong).astype(float), nominal(n_values)


def named(generator: np.random.Generator, sizes: tuple[int, ...], crowd: Crowd) -> float:
    """The share of annotators named with theirs; 0 if a cluster has members of two camps, or none
    is found."""
    result = clusters_of(*crowd(generator))
    if result is None or not result.significant:
        return 0.0
    camp = np.repeat(np.arange(len(sizes)), sizes)
    members = [camp[list(map(int, cluster.annotators))] for cluster in result.clusters]
    if any(len(set(some.tolist())) > 1 for some in members):
        return 0.0
    return sum(map(len, members)) / len(camp)


WITHOUT: dict[str, Crowd] = {
    "skills .5-.95, rare values, 10 annotators, 300 items": partial(
        skilled, n_items=300, n_annotators=10, shares=[0.9, 0.06, 0.04]
    ),
    "skills .5-.95, 5 of 20 annotators per item, 400 items": partial(
        sparse, crowd=partial(skilled, n_items=400, n_annotators=20, shares=[0.4, 0.3, 0.3])
    ),
    "a pair with .6 of the answers copied, 9 annotators, 150 items": partial(
        copied, crowd=partial(skilled, n_items=150, n_annotators=9, shares=[0.4, 0.3, 0.3])
    ),
    "Rasch, 10 annotators, 300 items": partial(
        item_response, n_items=300, n_annotators=10, slopes=0.0
    ),
    "2 parameters, 10 annotators, 300 items": partial(
        item_response, n_items=300, n_annotators=10, slopes=0.5
    ),
    "strict and lenient, 5 levels, 8 annotators, 200 items": partial(
        strict, n_items=200, n_annotators=8, n_values=5, ends=0.0
    ),
    "strict and lenient, own use of ends, 7 levels, 8 annotators, 200 items": partial(
        strict, n_items=200, n_annotators=8, n_values=7, ends=0.4
    ),
    "ambiguous items, 3 values, 8 annotators, 200 items": partial(
        ambiguous, n_items=200, n_annotators=8, n_values=3
    ),
    "ratings, own offset and scale, 8 annotators, 200 items": partial(
        ratings, n_items=200, n_annotators=8
    ),
}
CAMPS = {
    "camps of 4 and 4, opposite on .2 of 100 items": ((4, 4), 100, 2, 0.2),
    "camps of 5 and 3, differ on .3 of 150 items": ((5, 3), 150, 3, 0.3),
    "3 camps of 4, differ on .4 of 150 items": ((4, 4, 4), 150, 3, 0.4),
}
CELLS = (
    *(
        Cell(name, "crowds with clusters", "at most 0.06", partial(alarm, crowd=crowd))
        for name, crowd in WITHOUT.items()
    ),
    *(
        Cell(
            name,
            "annotators named with their camp",
            "near 1",
            partial(
                named,
                sizes=sizes,
                crowd=partial(camps, n_items=n, sizes=sizes, n_values=n_values, share=share),
            ),
        )
        for name, (sizes, n, n_values, share) in CAMPS.items()
    ),
)
