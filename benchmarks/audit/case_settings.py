"""Does another seed change anything but the seed?"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from cells import Cell

from dissensus.methods import METHODS, method
from dissensus.training import Training


def n_changed(generator: np.random.Generator) -> float:
    """How many settings of training another seed changes, of a method drawn at random."""
    trained = [name for name in METHODS if hasattr(method(name)(), "training")]
    cls = method(str(generator.choice(trained)))
    seed = int(generator.integers(1, 1000))
    before = asdict(getattr(cls(), "training"))  # noqa: B009
    after = asdict(getattr(cls(training=Training(seed=seed)), "training"))  # type: ignore[call-arg]  # noqa: B009
    return float(sum(before[name] != after[name] for name in before))


CELLS = (
    Cell(
        "a method given training=Training(seed=...)",
        "settings of training that change",
        "1, the seed",
        n_changed,
    ),
)
