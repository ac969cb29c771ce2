"""Attention: how much each position of a content counts, for an annotator."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dissensus.errors import DataError

MOST_WEIGHTS = 1 << 29  # of one role, 2 GiB


@dataclass(frozen=True, eq=False)
class Attention:
    """The attention of a method for each predicted pair of item and annotator, in one role.

    The weights of a pair are not negative and sum to 1 over the positions of its item's content, in
    the order of the encoder. A method with several heads returns their mean. Positions with an
    empty place, such as BERT's [CLS], have a weight too; they show no part of the content. All
    weights of a pair are nan if the model has none for it, for example if its annotator is
    unknown to the model. An item without content in this role has no positions.

    Pairs are those of `Prediction.by_annotator`, in the same order. Places are stored once for each
    item, because its annotators see the same content.

    Example:
        >>> words = np.array([[[0, 3]], [[4, 9]], [[0, 5]]])  # two in one text, one in another
        >>> attention = Attention.empty("text", np.array([0, 0, 1]), words, np.array([0, 2, 3]))
        >>> attention.weight[:] = [0.75, 0.25, 0.5, 0.5, 1]  # two pairs of one text, one of another
        >>> attention.of_pair(0).tolist(), attention.places_of(0).tolist()
        ([0.75, 0.25], [[[0, 3]], [[4, 9]]])
    """

    role: str
    weight: np.ndarray  # (n_weights,) float32, of all pairs, one after another
    offsets: np.ndarray  # (n_pairs + 1,) where each pair's weights begin
    places: np.ndarray  # (n_positions, n_axes, 2) from-to of each position, one item after another
    place_offsets: np.ndarray  # (n_items + 1,) where each item's places begin

    @classmethod
    def empty(
        cls, role: str, item: np.ndarray, places: np.ndarray, place_offsets: np.ndarray
    ) -> Attention:
        """The attention of these pairs, with all weights nan, for a method to fill in.

        Args:
            item: the item of each pair, (n_pairs,).
            places: of the positions of all items, one after another, (n_positions, n_axes, 2).
            place_offsets: where each item's places begin, (n_items + 1,).
        """
        lengths = np.diff(place_offsets)[item]
        offsets = np.append(0, np.cumsum(lengths, dtype=np.int64))
        if offsets[-1] > MOST_WEIGHTS:
            raise DataError(
                f"the attention in {role!r} would have {offsets[-1]:,} weights, at most "
                f"{MOST_WEIGHTS:,} are possible; predict fewer items or fewer annotators"
            )
        weight = np.full(int(offsets[-1]), np.nan, dtype=np.float32)
        return cls(role, weight, offsets, places, np.asarray(place_offsets, dtype=np.int64))

    @property
    def n_pairs(self) -> int:
        return len(self.offsets) - 1

    def of_pair(self, pair: int) -> np.ndarray:
        """The weights of a pair, (n_positions of its item,)."""
        return self.weight[self.offsets[pair] : self.offsets[pair + 1]]

    def take(self, pairs: np.ndarray) -> Attention:
        """The attention of these pairs."""
        chosen = [self.weight[:0], *map(self.of_pair, pairs.tolist())]
        offsets = np.append(0, np.cumsum([len(weight) for weight in chosen[1:]], dtype=np.int64))
        return replace(self, weight=np.concatenate(chosen), offsets=offsets)

    def places_of(self, item: int) -> np.ndarray:
        """The places of an item's positions, (n_positions, n_axes, 2)."""
        return self.places[self.place_offsets[item] : self.place_offsets[item + 1]]

    def check(self, item: np.ndarray, n_items: int) -> None:
        """Refuse arrays that do not fit the pairs, given by their items, or one another."""
        if self.n_pairs != len(item) or len(self.place_offsets) != n_items + 1:
            raise DataError(
                f"the attention in {self.role!r} is of {self.n_pairs} pairs and "
                f"{len(self.place_offsets) - 1} items, the prediction of {len(item)} pairs and "
                f"{n_items} items"
            )
        both = (self.offsets, len(self.weight)), (self.place_offsets, len(self.places))
        fit = all(
            offsets.dtype.kind in "iu" and offsets[0] == 0 and offsets[-1] == n
            for offsets, n in both
        )
        lengths = np.diff(self.place_offsets) if fit else np.array([-1])
        if (lengths < 0).any() or (np.diff(self.offsets) != lengths[item]).any():
            raise DataError(
                f"the attention in {self.role!r} must have one weight for each pair and position "
                "of its item"
            )
