"""Rationales: does a network attend to the positions that annotators marked?

Marked spans and the weights of an ensemble's members have the same layout: one row for each
annotator or member and one column for each position of an item, padded to the longest item.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.corpus import Rationales
from dissensus.prediction import MemberAttention


@dataclass(frozen=True, eq=False)
class Marks:
    """The positions that each annotator marked in each item; those without any are left out."""

    marked: np.ndarray  # (n_items, most_annotators, longest) of bool
    annotator: np.ndarray  # (n_items, most_annotators) codes; -1 is padding

    @property
    def there(self) -> np.ndarray:
        """Whether a row is an annotator's, not padding, (n_items, most_annotators)."""
        return self.annotator >= 0


def laid_out(values: np.ndarray, looked: MemberAttention, fill: float = np.nan) -> np.ndarray:
    """What is known of each position, (..., n_positions), as one row for each item,
    (..., n_items, longest).

    Positions that show nothing, such as the marks that a text encoder puts at both ends, have an
    empty place and are left out.
    """
    placed = has_place(looked.places)
    item = np.repeat(np.arange(len(looked.offsets) - 1), np.diff(looked.offsets))[placed]
    lengths = np.bincount(item, minlength=len(looked.offsets) - 1)
    place = np.arange(len(item)) - (lengths.cumsum() - lengths)[item]
    shape = (*values.shape[:-1], len(lengths), int(lengths.max(initial=0)))
    table = np.full(shape, fill, dtype=float)
    table[..., item, place] = values[..., placed]
    return table


def marks(spans: Rationales, looked: MemberAttention) -> Marks:
    """The positions that annotators marked: those that one of their spans overlaps, on every axis.

    Spans without an annotator are left out, and so are those in another role than the one attended
    to, and annotators whose spans overlap no position.

    Example:
        >>> import pyarrow as pa
        >>> words = np.array([[[0.0, 3.0]], [[4.0, 9.0]], [[10.0, 12.0]]])  # of one text
        >>> looked = MemberAttention("text", np.ones((1, 3)), words, np.array([0, 3]))
        >>> names = pa.array(["q"] * 2), pa.array(["text"] * 2)
        >>> spans = Rationales(np.array([0, 0]), np.array([0, 1]), *names, np.array([0.0, 5.0]),
        ...                    np.array([3.0, 11.0]), pa.array([""] * 2))
        >>> marks(spans, looked).marked.astype(int).tolist()
        [[[1, 0, 0], [0, 1, 1]]]
    """
    own = (spans.annotator >= 0) & in_role(spans, looked.role)
    item, annotator = spans.item[own].astype(np.int64), spans.annotator[own].astype(np.int64)
    ends = laid_out(np.moveaxis(looked.places, 0, -1), looked)  # (n_axes, 2, n_items, longest)
    met = np.ones((len(item), ends.shape[-1]), dtype=bool)
    for axis, (begin, end) in enumerate(ends):
        start, stop = spans.start[own, axis, None], spans.stop[own, axis, None]
        met &= (begin[item] < stop) & (start < end[item])
    item, annotator, met = (column[met.any(axis=1)] for column in (item, annotator, met))
    pair, row = np.unique(np.stack([item, annotator]), axis=1, return_inverse=True)
    n_annotators = np.bincount(pair[0], minlength=len(looked.offsets) - 1)
    place = np.arange(pair.shape[1]) - (n_annotators.cumsum() - n_annotators)[pair[0]]
    shape = len(n_annotators), int(n_annotators.max(initial=0))
    marked = np.zeros((*shape, ends.shape[-1]), dtype=bool)
    np.logical_or.at(marked, (item, place[row.ravel()]), met)
    annotators = np.full(shape, -1)
    annotators[pair[0], place] = pair[1]
    return Marks(marked, annotators)


def ranks(weight: np.ndarray) -> np.ndarray:
    """The rank of each position among those of its item, from 1, ties in the middle; nan stays.

    Example:
        >>> ranks(np.array([0.2, 0.7, 0.1, np.nan])).tolist()
        [2.0, 3.0, 1.0, nan]
    """
    from scipy.stats import rankdata

    missing = np.isnan(weight)
    ranked = rankdata(np.where(missing, np.inf, weight), axis=-1)
    return np.where(missing, np.nan, ranked)


def heaviest(weight: np.ndarray, n: np.ndarray) -> np.ndarray:
    """The n heaviest positions of each item, the first of equal ones, as bool.

    Args:
        weight: (..., longest), nan where there is no position.
        n: how many, (...).

    Example:
        >>> heaviest(np.array([0.2, 0.7, 0.1, np.nan]), np.array(2)).tolist()
        [True, True, False, False]
    """
    order = np.argsort(np.where(np.isnan(weight), np.inf, -weight), axis=-1, kind="stable")
    place = np.argsort(order, axis=-1)
    return (place < np.asarray(n)[..., None]) & ~np.isnan(weight)


def overlap_f1(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """F1 of two sets of positions, as in SemEval-2021 task 5; nan where both are empty.

    Example:
        >>> overlap_f1(np.array([True, True, False]), np.array([False, True, False])).round(3)
        np.float64(0.667)

    Reference: Pavlopoulos et al. (2021), doi:10.18653/v1/2021.semeval-1.6; Da San Martino et al.
    (2019), doi:10.18653/v1/D19-1565.
    """
    return _divided(2 * (first & second).sum(axis=-1), first.sum(axis=-1) + second.sum(axis=-1))


def overlap_iou(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """What two sets of positions share, of all that is in either; nan where both are empty."""
    return _divided((first & second).sum(axis=-1), (first | second).sum(axis=-1))


def chance_f1(n_first: np.ndarray, n_second: np.ndarray, n_positions: np.ndarray) -> np.ndarray:
    """The F1 to expect of a set whose spans keep their lengths but stand anywhere.

    One set is moved round the item by a random number of positions, so that each of its positions
    falls into the other as often as that is large; the same is true of positions drawn singly.
    nan where both sets are empty.

    Example:
        >>> chance_f1(np.array(2), np.array(1), np.array(4)).round(3)
        np.float64(0.333)
    """
    n_first, n_second, n_positions = (
        np.asarray(given, dtype=float) for given in (n_first, n_second, n_positions)
    )
    expected = _divided(n_first * n_second, n_positions)
    return _divided(2 * expected, n_first + n_second)


def attention_auroc(weight: np.ndarray, marked: np.ndarray) -> np.ndarray:
    """How often a marked position of an item is heavier than one that is not, ties as one half.

    0.5 is chance; nan where all or no positions are marked.

    Args:
        weight: (..., longest), nan where there is no position.
        marked: of bool, of a shape that goes with it.

    Example:
        >>> attention_auroc(np.array([0.2, 0.7, 0.1, np.nan]), np.array([True, True, False, False]))
        np.float64(1.0)

    Reference: DeYoung et al. (2020), ERASER, doi:10.18653/v1/2020.acl-main.408, on rationales.
    """
    return auroc_of_ranks(ranks(weight), marked)


def auroc_of_ranks(rank: np.ndarray, marked: np.ndarray) -> np.ndarray:
    """As `attention_auroc`, from `ranks`."""
    marked = marked & ~np.isnan(rank)
    n_marked = marked.sum(axis=-1).astype(float)
    n_other = (~np.isnan(rank)).sum(axis=-1) - n_marked
    above = np.where(marked, rank, 0).sum(axis=-1) - n_marked * (n_marked + 1) / 2
    return _divided(above, n_marked * n_other)


def in_role(spans: Rationales, role: str) -> np.ndarray:
    """Whether each span is in a role, which one encoder of several may read ("text&spelling")."""
    there = pc.is_in(spans.role, value_set=pa.array([role, role.split("&")[0]]))
    return np.asarray(there.to_numpy(zero_copy_only=False), dtype=bool)


def has_place(places: np.ndarray) -> np.ndarray:
    """Whether each position has a place, (n_positions,); marks such as [CLS] have none."""
    return np.asarray((places[..., 1] > places[..., 0]).all(axis=-1))


def _divided(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    above, below = np.broadcast_arrays(np.asarray(above, float), np.asarray(below, float))
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)[()]
