"""What is known of a metric besides its formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from dissensus.annotations import Annotations
from dissensus.prediction import Prediction

Function = Callable[[Prediction, Annotations], float]
Needs = Literal["items", "annotators", "annotator distributions", "members"]


@dataclass(frozen=True)
class Metric:
    """A metric, the scales it is for, what it reads, and what it means in a line."""

    function: Function
    scales: tuple[str, ...]  # kinds of scales; on any other the function raises DataError
    needs: Needs  # what must be predicted: items, each annotator, members of an ensemble
    higher_is_better: bool
    description: str
    gold: bool = False  # whether it also compares with labels from elsewhere
    short: bool = False  # whether tables show it unasked
    soft: bool = False  # whether it has `bounds`: of a perfect and of a constant prediction

    def applies(self, prediction: Prediction, annotations: Annotations) -> bool:
        """Whether it is for this scale, and what it needs was predicted and is known."""
        if prediction.scale.kind not in self.scales:
            return False
        if self.needs in ("items", "members"):
            return self.needs == "items" or prediction.members is not None
        asked = prediction.by_annotator
        if asked is None or annotations.annotator is None:
            return False
        return self.needs == "annotators" or asked.distribution is not None
