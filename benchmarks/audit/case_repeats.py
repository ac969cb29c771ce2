"""Does an annotator who answers an item again change the agreement between annotators?"""

from __future__ import annotations

from functools import partial

import numpy as np
from cells import Cell

from dissensus import Annotations, Interval, Nominal
from dissensus.agreement import krippendorff_alpha

N_ITEMS = 100


def repeated(generator: np.random.Generator, kind: str) -> Annotations:
    """Three of ten annotators an item, who answer it once to three times, first answers first.

    Annotators have an opinion of each item, and now and then answer otherwise.
    """
    pair = np.arange(3 * N_ITEMS)
    chosen = np.argsort(generator.random((N_ITEMS, 10)))[:, :3].ravel()
    times = 1 + generator.binomial(2, 0.5, len(pair))
    nth = np.concatenate([np.arange(n) for n in times])
    pair = np.repeat(pair, times)[np.argsort(nth, kind="stable")]
    item, annotator = pair // 3, chosen[pair]
    scale: Interval | Nominal
    if kind == "ratings":
        truth = generator.normal(5, 1, N_ITEMS)
        opinion = truth[np.arange(3 * N_ITEMS) // 3] + generator.normal(size=3 * N_ITEMS)
        answer = opinion[pair] + generator.normal(scale=0.5, size=len(pair))
        scale = Interval(-20, 30)
    else:
        truth = np.repeat(generator.integers(0, 3, N_ITEMS), 3)
        right = generator.random(len(truth)) < 0.7
        opinion = np.where(right, truth, generator.integers(0, 3, len(truth)))
        slips = generator.random(len(pair)) < 0.1
        answer = np.where(slips, generator.integers(0, 3, len(pair)), opinion[pair])
        scale = Nominal(("a", "b", "c"))
    return Annotations.from_arrays(item, annotator, answer, scale, repeats="keep")


def first(annotations: Annotations) -> Annotations:
    columns = annotations.item, annotations.annotator, annotations.answer, annotations.scale
    return Annotations.from_arrays(*columns, repeats="first")


def bias(generator: np.random.Generator, kind: str) -> float:
    annotations = repeated(generator, kind)
    return krippendorff_alpha(annotations) - krippendorff_alpha(first(annotations))


def alone(generator: np.random.Generator) -> float:
    """Whether alpha has a value though no item has two annotators."""
    annotations = repeated(generator, "values")
    assert annotations.annotator is not None
    of_one = np.full(N_ITEMS, -1)
    of_one[annotations.item] = annotations.annotator
    own = annotations.take(of_one[annotations.item] == annotations.annotator)
    return float(not np.isnan(krippendorff_alpha(own)))


CELLS = (
    *(
        Cell(
            f"3 annotators an item, who answer it once to three times, {kind}",
            "alpha less alpha of first answers",
            "0 +- 0.01",
            partial(bias, kind=kind),
        )
        for kind in ("values", "ratings")
    ),
    Cell(
        "1 annotator an item, who answers it once to three times",
        "crowds with a value of alpha",
        "0",
        alone,
    ),
)
