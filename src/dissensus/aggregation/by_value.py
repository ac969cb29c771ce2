"""Sets of values, value by value: each is a question of its own, chosen or not."""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.scales import MultiLabel, Nominal, has_value

CHOSEN = Nominal(("not chosen", "chosen"))


def choices(annotations: Annotations, code: int) -> Annotations:
    """Whether each multi-label answer has the value of this code, as nominal answers.

    Example:
        >>> rows = [("t1", "ann", "joy, fear"), ("t1", "bob", "fear")]
        >>> choices(Annotations.from_rows(rows, MultiLabel(("joy", "fear"))), 0).answers()
        ['chosen', 'not chosen']
    """
    assert isinstance(annotations.scale, MultiLabel)
    chosen = has_value(annotations.answer, code).astype(CHOSEN.dtype)
    return Annotations(
        annotations.item,
        annotations.annotator,
        chosen,
        CHOSEN,
        annotations.items,
        annotations.annotators,
        count=annotations.count,
        repeats=annotations.repeats,
    )


def joined(annotations: Annotations, chosen: np.ndarray) -> np.ndarray:
    """The sets of the chosen values, (n_items, n_values) booleans, as stored answers."""
    assert isinstance(annotations.scale, MultiLabel)
    return annotations.scale.pack(chosen)
