"""KOS: messages between items and annotators about who is reliable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dissensus.aggregation.base import Aggregator
from dissensus.annotations import Annotations


@dataclass(eq=False)
class Kos(Aggregator):
    """Items tell annotators what the others answered, annotators tell items how often they fit.

    The distribution has the share of each value among votes that count as much as the last
    messages say, and the other way round if these are negative. It is made for two values; of
    more, each is compared with all others, and the shares are divided by their sum. First messages
    are 1 (random in the paper), so that the result has no seed. If all messages to an item are 0,
    as with a single annotator, all votes count alike.

    Reference: Karger, Oh & Shah (2014), Budget-optimal task allocation, doi
    10.1287/opre.2013.1235.
    """

    iterations: int = 100
    name: ClassVar[str] = "kos"

    def _fit(self, annotations: Annotations) -> np.ndarray:
        item, n_items = annotations.item, annotations.n_items
        annotator = annotations.annotator_codes(self.name)
        plain = annotations.distribution()
        shares = np.empty_like(plain)
        for value in range(annotations.scale.n_columns):
            sign = np.where(annotations.answer == value, 1.0, -1.0)
            message = self._messages(sign, item, annotator, n_items, annotations.n_annotators)
            total = np.bincount(item, sign * message, n_items)
            weight = np.bincount(item, np.abs(message), n_items)
            heard = weight > 1e-12
            relative = np.divide(total, weight, out=np.zeros(n_items), where=heard)
            shares[:, value] = np.where(heard, (1 + relative) / 2, plain[:, value])
        mass = shares.sum(axis=1, keepdims=True)
        return np.where(mass > 0, shares / np.where(mass > 0, mass, 1.0), plain)

    def _messages(
        self,
        sign: np.ndarray,
        item: np.ndarray,
        annotator: np.ndarray,
        n_items: int,
        n_annotators: int,
    ) -> np.ndarray:
        """What each annotator tells each of their items at the end, (n_rows,)."""
        message = np.ones(len(sign))
        for _ in range(self.iterations):
            told = sign * message
            heard = np.bincount(item, told, n_items)[item] - told
            fits = sign * heard
            message = np.bincount(annotator, fits, n_annotators)[annotator] - fits
            size = np.sqrt(np.mean(message**2))
            if not size > 1e-12:
                return np.zeros(len(sign))
            message /= size
        return message
