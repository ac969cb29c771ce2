"""What is known of a metric besides its formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from dissensus.annotations import Annotations
from dissensus.prediction import Prediction


@dataclass(frozen=True)
class Metric:
    """A metric, the scales it is for, what it reads, and what it means in a line."""

    function: Callable[[Prediction, Annotations], float]
    scales: tuple[str, ...]  # kinds of scales; on any other the function raises DataError
    needs: Literal["items", "annotators"]  # answers per item, or of each annotator
    higher_is_better: bool
    description: str
    gold: bool = False  # whether it also compares with labels from elsewhere
