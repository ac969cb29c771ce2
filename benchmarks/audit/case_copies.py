"""Are honest annotators accused of copying, and are copies found?"""

from __future__ import annotations

from functools import partial

import numpy as np
from cells import Cell

from dissensus import Annotations, Corpus, Nominal, describe
from dissensus.names import Names


def honest(
    generator: np.random.Generator, accuracies: tuple[float, ...], n_items: int, shares: list[float]
) -> np.ndarray:
    """Answers of annotators who err independently, (n_items, n_annotators)."""
    truth = generator.choice(len(shares), n_items, p=shares)
    errors = (truth[:, None] + generator.integers(1, len(shares), (n_items, 1))) % len(shares)
    right = generator.random((n_items, len(accuracies))) < accuracies
    return np.where(right, truth[:, None], errors)


def accused(answers: np.ndarray, n_values: int) -> float:
    """Whether anybody's answers are called duplicated."""
    n_items, n_annotators = answers.shape
    annotations = Annotations.from_arrays(
        np.repeat(np.arange(n_items), n_annotators),
        np.tile(np.arange(n_annotators), n_items),
        answers.ravel(),
        Nominal(tuple("abcdefghij"[:n_values])),
        items=Names.range(n_items),
        annotators=Names.range(n_annotators),
    )
    corpus = Corpus.build("crowd", annotations.items, {"q": annotations})
    return float(bool(describe(corpus).questions[0].duplicated))


def three_raters(generator: np.random.Generator, n_items: int) -> float:
    shares = [0.85, 0.15]
    return accused(honest(generator, (0.85, 0.9, 0.95), n_items, shares), len(shares))


CELLS = tuple(
    Cell(
        f"3 honest raters, accuracy .85-.95, classes .85/.15, {n_items} items",
        "crowds with someone accused",
        "at most 0.01",
        partial(three_raters, n_items=n_items),
    )
    for n_items in (50, 100, 500)
)
