"""What people said and what was predicted, item by item: for references that loop."""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.prediction import Prediction
from dissensus.scales import MultiLabel


def item_by_item(
    prediction: Prediction, annotations: Annotations
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(stored answers, predicted distribution) of each common item."""
    results = []
    for name, mass in zip(prediction.items, prediction.distribution, strict=True):
        if name in annotations.items:
            code = annotations.items.codes([name])[0]
            answers = annotations.answer[annotations.item == code]
            if len(answers):
                results.append((answers, mass))
    return results


def share_by_share(
    prediction: Prediction, annotations: Annotations
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(people's, predicted distribution) of each common item; of sets one for each value."""
    results = []
    for answers, mass in item_by_item(prediction, annotations):
        if isinstance(prediction.scale, MultiLabel):
            for value, q in enumerate(mass):
                p = float(np.mean((answers >> value) & 1))
                results.append((np.array([1 - p, p]), np.array([1 - q, q])))
        else:
            results.append((np.bincount(answers, minlength=len(mass)) / len(answers), mass))
    return results
