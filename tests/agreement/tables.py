"""Random tables of answers, as annotations and as the wide table that reference code reads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dissensus.annotations import Annotations
from dissensus.scales import Scale


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
