"""Attention of annotators: does it find their part, and is it the same every time?

All scores are of the maps in `Prediction.attention`: a weight for each pair of item and annotator
and each position. Positions with an empty place, such as [CLS], are left out, and the weights of
the others are divided by their sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.corpus import Rationales
from dissensus.metrics.metric import predicted_annotators, rows_with_keys
from dissensus.metrics.statistics import divided
from dissensus.prediction import Attention, Prediction


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
    return divided(2 * (first & second).sum(axis=-1), first.sum(axis=-1) + second.sum(axis=-1))


def chance_f1(n_first: np.ndarray, n_second: np.ndarray, n_positions: np.ndarray) -> np.ndarray:
    """The F1 to expect of a set whose spans keep their lengths but stand anywhere.

    One set is moved round the item by a random number of positions, so that each of its positions
    falls into the other as often as that is large; the same is true of positions drawn singly.
    nan where both sets are empty.

    Example:
        >>> chance_f1(np.array(2), np.array(1), np.array(4)).round(3)
        np.float64(0.333)
    """
    return divided(2 * divided(n_first * n_second, n_positions), n_first + n_second)


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
    from scipy.stats import rankdata

    missing = np.isnan(weight)
    rank = rankdata(np.where(missing, np.inf, weight), axis=-1)  # ties in the middle
    marked = marked & ~missing
    n_marked = marked.sum(axis=-1).astype(float)
    n_other = (~missing).sum(axis=-1) - n_marked
    above = np.where(marked, rank, 0).sum(axis=-1) - n_marked * (n_marked + 1) / 2
    return divided(above, n_marked * n_other)


def in_role(spans: Rationales, role: str) -> np.ndarray:
    """Whether each span is in a role, which one encoder of several may read ("text&spelling")."""
    there = pc.is_in(spans.role, value_set=pa.array([role, role.split("&")[0]]))
    return np.asarray(there.to_numpy(zero_copy_only=False), dtype=bool)


def has_place(places: np.ndarray) -> np.ndarray:
    """Whether each position has a place, (n_positions,); marks such as [CLS] have none."""
    return np.asarray((places[..., 1] > places[..., 0]).all(axis=-1))


CELLS = 1 << 22  # of the largest intermediate array


def map_blocks(
    attention: Attention, item: np.ndarray, pairs: np.ndarray | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The maps of some pairs at a time: the pairs, (n,), and their weights, (n, longest).

    Weights of a pair sum to 1; nan where there is no position, one with an empty place, or no map.

    Args:
        item: the item of each pair of the attention, (n_pairs,).
        pairs: which of them; all if left out.
    """
    pairs = np.arange(attention.n_pairs) if pairs is None else np.asarray(pairs)
    placed = has_place(attention.places)
    longest = int(np.diff(attention.offsets)[pairs].max(initial=1))
    size = max(1, CELLS // max(longest, 1))
    for first in range(0, len(pairs), size):
        rows = pairs[first : first + size]
        yield rows, _maps(attention, item, rows, placed, longest)


def _maps(
    attention: Attention, item: np.ndarray, pairs: np.ndarray, placed: np.ndarray, longest: int
) -> np.ndarray:
    at = np.arange(longest)
    there = at < np.diff(attention.offsets)[pairs][:, None]
    begin = attention.place_offsets[item[pairs]]
    there[there] = placed[(begin[:, None] + at)[there]]
    weight = np.full(there.shape, np.nan)
    weight[there] = attention.weight[(attention.offsets[pairs][:, None] + at)[there]]
    total = np.where(there, weight, 0).sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, weight / total, np.nan)


# ---- parts ----


def attention_by_part(
    attention: Attention, item: np.ndarray, start: np.ndarray, stop: np.ndarray
) -> np.ndarray:
    """The share of each pair's attention on each part of its item, (n_pairs, most parts).

    A position that overlaps a part only partly (a cell of a picture at the edge of an object)
    counts by the share of it that does. nan for parts that do not exist and pairs without a map.

    Args:
        item: the item of each pair, (n_pairs,).
        start, stop: where each part is, (n_items, most parts), of boxes (n_items, most parts, 2);
            -1 where an item has fewer parts.

    Example:
        >>> words = np.array([[[0, 3]], [[4, 9]], [[10, 12]]])
        >>> one = Attention.empty("text", np.array([0]), words, np.array([0, 3]))
        >>> one.weight[:] = [0.5, 0.25, 0.25]
        >>> attention_by_part(one, np.array([0]), np.array([[0, 10]]), np.array([[9, 12]])).tolist()
        [[0.75, 0.25]]
    """
    start, stop = (ends if ends.ndim == 3 else ends[..., None] for ends in (start, stop))
    share = np.full((attention.n_pairs, start.shape[1]), np.nan)
    overlap = _overlaps(attention, start, stop)  # (n_positions, most parts)
    for rows, weight in map_blocks(attention, item):
        known = ~np.isnan(weight).all(axis=1)
        at = attention.place_offsets[item[rows]][:, None] + np.arange(weight.shape[1])
        for part in range(start.shape[1]):
            inside = overlap[:, part].take(at, mode="clip") if len(overlap) else np.zeros(at.shape)
            on_part = np.where(np.isnan(weight), 0, weight * inside).sum(axis=1)
            there = known & (start[item[rows], part, 0] >= 0)
            share[rows, part] = np.where(there, on_part, np.nan)
    return share


def _overlaps(attention: Attention, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """The share of each position that overlaps each part of its item, (n_positions, most parts)."""
    item = np.repeat(np.arange(len(start)), np.diff(attention.place_offsets))
    overlap = np.ones((len(attention.places), start.shape[1]))
    for axis in range(start.shape[2]):
        begin, end = attention.places[:, None, axis, 0], attention.places[:, None, axis, 1]
        both = np.minimum(end, stop[item, :, axis]) - np.maximum(begin, start[item, :, axis])
        with np.errstate(invalid="ignore", divide="ignore"):
            overlap *= np.where(end > begin, both.clip(min=0) / (end - begin), 0)
    return overlap


class PartHits(NamedTuple):
    """Whether each pair's attention is on the right part, 0 to 1, and what chance gives."""

    hit: np.ndarray  # (n_pairs,) nan without a map
    chance: np.ndarray  # (n_pairs,) of a part chosen at random


def part_hits(by_part: np.ndarray, focus: np.ndarray) -> PartHits:
    """Whether the part with most attention is the one that the annotator most probably looks at.

    Of tied parts each counts by its share; a pair with attention on none of the parts is undefined.

    Args:
        by_part: from `attention_by_part`, (n_pairs, most parts); nan for parts that do not exist.
        focus: the known probability of each part, (n_pairs, most parts).

    Example:
        >>> part_hits(np.array([[0.2, 0.5, np.nan]]), np.array([[0.1, 0.9, 0.0]]))
        PartHits(hit=array([1.]), chance=array([0.5]))
    """
    there = ~np.isnan(by_part)
    best = there & (focus >= np.where(there, focus, -1).max(axis=1, keepdims=True) - 1e-9)
    top = np.where(there, by_part, -1).max(axis=1, keepdims=True)
    tied = there & (by_part >= top) & (top > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        hit = (tied & best).sum(axis=1) / tied.sum(axis=1)
        return PartHits(hit, best.sum(axis=1) / there.sum(axis=1))


# ---- rationales ----


class PairMarks(NamedTuple):
    """The positions that the annotators of some pairs marked."""

    pairs: np.ndarray  # (n_marked,) pairs with a marked position, in ascending order
    marked: np.ndarray  # (n_weights,) of bool, for each weight of the attention


def pair_marks(
    spans: Rationales, attention: Attention, item: np.ndarray, annotator: np.ndarray
) -> PairMarks:
    """The positions that a span of the pair's own annotator overlaps, on every axis.

    Args:
        item: the item of each pair, a code as in the spans; likewise the annotator, -1 if unknown.
    """
    own = (spans.annotator >= 0) & in_role(spans, attention.role)
    width = max(int(annotator.max(initial=0)), int(spans.annotator.max(initial=0))) + 1
    keys = np.where(annotator >= 0, item.astype(np.int64) * width + annotator, -1)
    key = spans.item[own].astype(np.int64) * width + spans.annotator[own]
    matches, pair = rows_with_keys(keys, key)
    n = np.diff(attention.offsets)[pair]
    span = np.repeat(np.arange(len(pair)), n)
    within = np.arange(n.sum()) - np.repeat(n.cumsum() - n, n)
    places = attention.places[attention.place_offsets[item[pair]][span] + within]
    ends = (places[..., 0], places[..., 1])
    n_axes = places.shape[1]
    starts, stops = spans.start[own][matches, :n_axes], spans.stop[own][matches, :n_axes]
    met = ((ends[0] < stops[span]) & (starts[span] < ends[1]) & (ends[0] < ends[1])).all(axis=1)
    marked = np.zeros(len(attention.weight), dtype=bool)
    marked[(attention.offsets[pair][span] + within)[met]] = True
    return PairMarks(np.unique(pair[span[met]]), marked)


# ---- stability ----


class MapSimilarity(NamedTuple):
    """How alike the maps of the same pairs are in two predictions."""

    cosine: np.ndarray  # (n_common,) of the weights, nan without a map
    correlation: np.ndarray  # (n_common,) over positions, nan where all weights are equal
    pairs: np.ndarray  # (n_common,) rows of the first prediction's pairs


def map_similarity(one: Prediction, other: Prediction, role: str) -> MapSimilarity:
    """The similarity of the maps of each pair that is in both predictions, by name.

    Of fits with other seeds it is the stability of attention. Pairs whose content has another
    number of positions (another encoder) are left out.
    """
    (first,) = (attention for attention in one.attention if attention.role == role)
    (second,) = (attention for attention in other.attention if attention.role == role)
    pairs, of_other = common_map_pairs(one, other)
    alike = np.diff(first.offsets)[pairs] == np.diff(second.offsets)[of_other]
    pairs, of_other = pairs[alike], of_other[alike]
    items = predicted_annotators(one).item, predicted_annotators(other).item
    similar = paired_similarity(first, items[0], pairs, second, items[1], of_other)
    return MapSimilarity(*similar, pairs)


def paired_similarity(
    one: Attention,
    one_item: np.ndarray,
    one_pairs: np.ndarray,
    other: Attention,
    other_item: np.ndarray,
    other_pairs: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Cosine and Pearson's correlation of maps, pair by pair, (n,) each.

    Both pairs must have the same number of positions.
    """
    cosine, correlation = np.full((2, len(one_pairs)), np.nan)
    done = 0
    blocks = zip(
        map_blocks(one, one_item, one_pairs),
        map_blocks(other, other_item, other_pairs),
        strict=True,
    )
    for (rows, first), (_, second) in blocks:
        here = slice(done, done + len(rows))
        cosine[here] = _cosines(first, second)
        correlation[here] = _cosines(_centred(first), _centred(second))
        done += len(rows)
    return cosine, correlation


def _centred(weight: np.ndarray) -> np.ndarray:
    n = (~np.isnan(weight)).sum(axis=1, keepdims=True)
    return weight - np.nansum(weight, axis=1, keepdims=True) / np.maximum(n, 1)


def _cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    product = np.nansum(first * second, axis=1)
    norms = np.sqrt(np.nansum(first**2, axis=1) * np.nansum(second**2, axis=1))
    return divided(product, np.where(norms > 1e-12, norms, 0))


def common_map_pairs(one: Prediction, other: Prediction) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of item and annotator, by name, that both predictions have: rows of each."""
    first, second = predicted_annotators(one), predicted_annotators(other)
    item = other.items.find(one.items)[first.item]
    annotator = second.annotators.find(first.annotators)[first.annotator]
    width = len(second.annotators)
    keys = second.item.astype(np.int64) * width + second.annotator
    wanted = np.where((item >= 0) & (annotator >= 0), item * width + annotator, -1)
    return rows_with_keys(keys, wanted)


# ---- annotators ----


class AnnotatorSimilarity(NamedTuple):
    """How alike the attention of every two annotators is."""

    cosine: np.ndarray  # (n_annotators, n_annotators) mean over common items, nan without one
    n_items: np.ndarray  # (n_annotators, n_annotators) common items


def annotator_similarity(
    attention: Attention, item: np.ndarray, annotator: np.ndarray, n_annotators: int
) -> AnnotatorSimilarity:
    """The mean cosine of the maps of every two annotators, over the items that both have.

    Args:
        item, annotator: codes of each pair, (n_pairs,).
    """
    total, count = np.zeros((2, n_annotators, n_annotators))
    order = np.argsort(item, kind="stable")
    placed = has_place(attention.places)
    edges = np.flatnonzero(np.diff(item[order], prepend=-1, append=-2))
    for first, last in zip(edges[:-1], edges[1:], strict=True):
        rows = order[first:last]  # the pairs of an item
        length = int(np.diff(attention.offsets)[rows[0]])
        weight = np.nan_to_num(_maps(attention, item, rows, placed, length))
        norm = np.linalg.norm(weight, axis=1)
        unit, codes = weight[norm > 0] / norm[norm > 0, None], annotator[rows[norm > 0]]
        total[np.ix_(codes, codes)] += unit @ unit.T
        count[np.ix_(codes, codes)] += 1
    return AnnotatorSimilarity(divided(total, count), count.astype(np.int64))


class Alignment(NamedTuple):
    """How far two matrices of similarities agree, with tests by permutation of the annotators."""

    correlation: float  # Pearson's, over pairs of annotators
    correlation_p: float  # the share of permutations with a correlation as high, one-sided
    disparity: float  # after Procrustes, of two maps of the annotators in a plane: 0 same, 1 none
    disparity_p: float  # the share of permutations with a disparity as low
    annotators: int  # compared
    pairs: int  # of annotators compared


def similarity_alignment(
    one: np.ndarray, other: np.ndarray, n_permutations: int = 9999, seed: int = 0
) -> Alignment:
    """Are annotators who are alike in one matrix (attention) alike in another one (labels)?

    Annotators are left out, those with most undefined entries first, until all entries are defined
    in both matrices. The correlation is tested as by Mantel. The disparity compares two maps
    in which annotators who are alike are close (classical multidimensional scaling in two
    dimensions). nan with fewer than four annotators, or where all entries of a matrix are equal.

    Args:
        one, other: similarities, (n_annotators, n_annotators), symmetric.

    Reference: BAE of arXiv:2508.10393 compares attention and labels by multidimensional scaling;
    Mantel (1967); Gower (1975), doi:10.1007/BF02291478.
    """
    kept = _complete(one, other)
    one, other = one[np.ix_(kept, kept)], other[np.ix_(kept, kept)]
    n = len(kept)
    n_pairs = n * (n - 1) // 2
    upper = np.triu_indices(n, 1)
    constant = n < 4 or np.ptp(one[upper]) < 1e-12 or np.ptp(other[upper]) < 1e-12
    if constant:
        return Alignment(*(float("nan"),) * 4, n, n_pairs)
    first, second = _plane(one), _plane(other)
    generator = np.random.default_rng(seed)
    observed = _correlation(one[upper], other[upper]), _disparity(first, second)
    as_high = as_low = 1
    for _ in range(n_permutations):
        order = generator.permutation(n)
        moved = other[np.ix_(order, order)]
        as_high += _correlation(one[upper], moved[upper]) >= observed[0] - 1e-12
        as_low += _disparity(first, second[order]) <= observed[1] + 1e-12
    p = as_high / (n_permutations + 1), as_low / (n_permutations + 1)
    return Alignment(observed[0], p[0], observed[1], p[1], n, n_pairs)


def _complete(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The annotators with all entries defined, off the diagonal, after leaving out the others."""
    missing = np.isnan(one) | np.isnan(other)
    np.fill_diagonal(missing, False)
    kept = np.arange(len(one))
    while len(kept) and missing[np.ix_(kept, kept)].any():
        undefined = missing[np.ix_(kept, kept)].sum(axis=1)
        kept = np.delete(kept, undefined.argmax())
    return kept


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    one, other = one - one.mean(), other - other.mean()
    return float(one @ other / np.sqrt((one @ one) * (other @ other)))


def _plane(similarity: np.ndarray) -> np.ndarray:
    """Annotators as points, (n, 2), by classical multidimensional scaling of 1 - similarity."""
    distance = 1 - similarity
    np.fill_diagonal(distance, 0)
    n = len(distance)
    centre = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ distance**2 @ centre)
    return vectors[:, -2:] * np.sqrt(values[-2:].clip(min=0))


def _disparity(one: np.ndarray, other: np.ndarray) -> float:
    """What is left of two sets of points after the best shift, scale and rotation, 0 to 1."""
    one, other = (points / np.linalg.norm(points) for points in (one, other))  # centred already
    return float(1 - np.linalg.svd(one.T @ other, compute_uv=False).sum() ** 2)
