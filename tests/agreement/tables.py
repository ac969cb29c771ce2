"""Random tables of answers, as annotations and as the wide table that reference code reads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dissensus.annotations import Annotations
from dissensus.scales import Nominal, Scale


class Table(NamedTuple):
    wide: np.ndarray  # (n_annotators, n_items), nan where nobody answered
    annotations: Annotations


def random_table(generator: np.random.Generator, scale: Scale, answers: np.ndarray) -> Table:
    """A table over some of `answers` (stored as the scale stores them) with gaps."""
    n_annotators, n_items = generator.integers(2, 7), generator.integers(2, 15)
    wide = generator.choice(answers, size=(n_annotators, n_items)).astype(float)
    wide[generator.random(wide.shape) < generator.uniform(0, 0.6)] = np.nan
    annotator, item = np.nonzero(~np.isnan(wide))
    answer = wide[annotator, item].astype(scale.dtype)
    return Table(wide, Annotations.from_arrays(item, annotator, answer, scale))


def abstractors(scale: Scale | None = None) -> Annotations:
    """Gwet (2014): two abstractors who sorted 100 pregnancies into three kinds."""
    kinds = ("ectopic", "AIU", "NIU")
    counts = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
    pairs = [
        (one, two)
        for one, row in zip(kinds, counts, strict=True)
        for two, times in zip(kinds, row, strict=True)
        for _ in range(times)
    ]
    rows = [(f"p{i}", "one", one) for i, (one, _) in enumerate(pairs)]
    rows += [(f"p{i}", "two", two) for i, (_, two) in enumerate(pairs)]
    return Annotations.from_rows(rows, Nominal(kinds) if scale is None else scale)
