"""Are groups of annotators said to differ in what they answer where they differ in care or level?

Careful and careless annotators know the truth with some chance, and guess a value otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from cells import Cell

from dissensus import Annotations, Corpus, Nominal, Ordinal
from dissensus.agreement import compare_groups
from dissensus.names import Names

Crowd = Callable[[np.random.Generator], np.ndarray]  # (n_annotators, n_items)
Sizes = tuple[int, int]
Setting = tuple[Callable[..., np.ndarray], Sizes, Nominal | Ordinal, int | None]

YES_NO, THREE = Nominal(("no", "yes")), Nominal(("a", "b", "c"))
LEVELS = Ordinal(("1", "2", "3", "4", "5"))


def differ(
    generator: np.random.Generator,
    crowd: Crowd,
    sizes: Sizes,
    scale: Nominal | Ordinal,
    per_item: int | None = None,
) -> float:
    """Whether p of different answers is at most 0.05."""
    answers = crowd(generator)
    kept = np.ones(answers.shape, bool)
    if per_item is not None:
        order = generator.random(answers.shape).argsort(axis=0).argsort(axis=0)
        kept = order < per_item
    annotator, item = np.nonzero(kept)
    annotations = Annotations.from_arrays(
        item,
        annotator,
        answers[annotator, item].astype(int),
        scale,
        items=Names.range(answers.shape[1]),
        annotators=Names.range(answers.shape[0]),
    )
    facts = {"group": np.repeat(["x", "y"], sizes).tolist()}
    corpus = Corpus.build("c", annotations.items, {"q": annotations}, annotator_attributes=facts)
    return float(compare_groups(corpus, ["group"], most=0)[0].p_value <= 0.05)


def skilled(
    generator: np.random.Generator,
    sizes: Sizes,
    skills: tuple[float, float],
    n_items: int,
    shares: list[float],
) -> np.ndarray:
    truth = generator.choice(len(shares), n_items, p=shares)
    shape = (sum(sizes), n_items)
    known = generator.random(shape) < np.repeat(skills, sizes)[:, None]
    return np.where(known, truth, generator.integers(0, len(shares), shape))


def lenient(
    generator: np.random.Generator, sizes: Sizes, more: float, n_items: int, skew: float
) -> np.ndarray:
    """Five levels; the second group rates higher, up to the end of the scale."""
    ratings = generator.normal(skew, 1, n_items) + np.repeat([0, more], sizes)[:, None]
    ratings = ratings + generator.normal(0, 0.7, (sum(sizes), n_items))
    return np.clip(np.rint(ratings + 2), 0, 4)


def thresholds(generator: np.random.Generator, sizes: Sizes, n_items: int) -> np.ndarray:
    """Yes or no; the second group says yes to more of the items that are not clear."""
    clear = generator.normal(0, 1.5, n_items) + np.repeat([0, 1], sizes)[:, None]
    return (clear + generator.normal(size=(sum(sizes), n_items)) > 0).astype(float)


def views(
    generator: np.random.Generator, sizes: Sizes, n_items: int, one_way: bool = False
) -> np.ndarray:
    """91 % of a group say yes to a fifth of the items, 8 % of the other; others err by 10 %."""
    chance = np.tile(np.where(generator.random(n_items) < 0.5, 0.9, 0.1), (sum(sizes), 1))
    divided = np.flatnonzero(generator.random(n_items) < 0.2)
    first = one_way | (generator.random(len(divided)) < 0.5)
    for rows, group in ((slice(0, sizes[0]), first), (slice(sizes[0], None), ~first)):
        chance[rows, divided] = np.where(group, 0.91, 0.08)
    return (generator.random(chance.shape) < chance).astype(float)


EVEN, SKEWED = [1 / 3] * 3, [0.8, 0.1, 0.1]
NULL: dict[str, Setting] = {
    "skills .9 and .5, 10 and 10 annotators, 100 items": (
        partial(skilled, skills=(0.9, 0.5), n_items=100, shares=EVEN), (10, 10), THREE, None
    ),
    "skills .9 and .5, 4 and 3 annotators, 100 items": (
        partial(skilled, skills=(0.9, 0.5), n_items=100, shares=EVEN), (4, 3), THREE, None
    ),
    "skills .9 and .5, 16 and 4 annotators, 200 items, classes .8/.1/.1": (
        partial(skilled, skills=(0.9, 0.5), n_items=200, shares=SKEWED), (16, 4), THREE, None
    ),
    "skills .9 and .5, 15 and 15 annotators, 4 answers to each of 200 items": (
        partial(skilled, skills=(0.9, 0.5), n_items=200, shares=EVEN), (15, 15), THREE, 4
    ),
    "equal skills .7, 10 and 10 annotators, 100 items": (
        partial(skilled, skills=(0.7, 0.7), n_items=100, shares=EVEN), (10, 10), THREE, None
    ),
    "5 levels, one group rates higher by 1, 10 and 10 annotators, 100 items": (
        partial(lenient, more=1.0, n_items=100, skew=0.0), (10, 10), LEVELS, None
    ),
    "yes or no, one group says yes more readily, 10 and 10 annotators, 100 items": (
        partial(thresholds, n_items=100), (10, 10), YES_NO, None
    ),
}  # fmt: skip
PLANTED: dict[str, Setting] = {
    "views differ about a fifth of 100 items, 4 and 3 annotators": (
        partial(views, n_items=100), (4, 3), YES_NO, None
    ),
    "views differ about a fifth of 100 items, all one way, 4 and 3 annotators": (
        partial(views, n_items=100, one_way=True), (4, 3), YES_NO, None
    ),
    "views differ about a fifth of 60 items, 6 and 6 annotators": (
        partial(views, n_items=60), (6, 6), YES_NO, None
    ),
    "views differ about a fifth of 200 items, 15 and 15 annotators, 4 answers to each": (
        partial(views, n_items=200), (15, 15), YES_NO, 4
    ),
}  # fmt: skip

CELLS = tuple(
    Cell(
        setting,
        "crowds with p <= .05 of other answers",
        bar,
        partial(
            differ, crowd=partial(crowd, sizes=sizes), sizes=sizes, scale=scale, per_item=per_item
        ),
    )
    for settings, bar in ((NULL, "at most 0.07"), (PLANTED, "at least 0.9"))
    for setting, (crowd, sizes, scale, per_item) in settings.items()
)
