"""Answers: predicted distributions and values, of items or of pairs of item and annotator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Answers:
    """Predicted answers: a distribution and one value for each item or pair."""

    distribution: np.ndarray  # (n, n_columns)
    value: np.ndarray  # (n,) as the scale stores answers

    @staticmethod
    def joined(parts: Sequence[Answers]) -> Answers:
        """The answers of all parts, concatenated."""
        return Answers(
            np.concatenate([part.distribution for part in parts]),
            np.concatenate([part.value for part in parts]),
        )

    def take(self, rows: np.ndarray) -> Answers:
        return Answers(self.distribution[rows], self.value[rows])

    def extra_fields(self) -> dict[str, Any]:
        """Additional fields of the `Prediction` of these items, by name."""
        return {}
