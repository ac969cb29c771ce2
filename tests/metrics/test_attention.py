"""Attention of annotators: brute force, scipy, and what is undefined."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from scipy.spatial import procrustes
from scipy.stats import pearsonr

from dissensus.corpus import Rationales
from dissensus.metrics import (
    annotator_similarity,
    attention,
    attention_by_part,
    map_blocks,
    map_similarity,
    pair_marks,
    paired_similarity,
    part_hits,
    similarity_alignment,
)
from dissensus.names import Names
from dissensus.prediction import Attention, ByAnnotator, Prediction
from dissensus.scales import Nominal

LENGTHS = (4, 3, 6)  # positions of the items; the first of each has no place


def looked(seed: int = 0, lengths: tuple[int, ...] = LENGTHS) -> tuple[Attention, np.ndarray]:
    """Random maps of three annotators on every item, and the item of each pair."""
    random = np.random.default_rng(seed)
    item = np.repeat(np.arange(len(lengths)), 3)
    places = []
    for length in lengths:
        begin = np.append(0, 5 * np.arange(length - 1))
        places.append(np.stack([begin, begin + np.where(np.arange(length) > 0, 4, 0)], axis=1))
    offsets = np.append(0, np.cumsum(lengths))
    maps = Attention.empty("text", item, np.concatenate(places)[:, None], offsets)
    for pair in range(len(item)):
        maps.of_pair(pair)[:] = random.dirichlet(np.ones(lengths[item[pair]]))
    return maps, item


def prediction(maps: Attention, item: np.ndarray, annotators: list[str]) -> Prediction:
    n_items = int(item.max()) + 1
    n = len(item) // n_items
    pairs = ByAnnotator(item, np.tile(np.arange(n), n_items), Names(annotators), item * 0)
    mass = np.full((n_items, 2), 0.5)
    names = Names([f"t{number}" for number in range(n_items)])
    return Prediction(Nominal(("a", "b")), names, mass, np.zeros(n_items, int), pairs, (maps,))


def plain(maps: Attention, pair: int) -> np.ndarray:
    """The weights of the positions that have a place, which sum to 1."""
    shown = maps.of_pair(pair)[1:].astype(float)
    return shown / shown.sum()


@pytest.fixture(params=[1 << 22, 7])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "CELLS", request.param)


@pytest.mark.usefixtures("block")
def test_maps_leave_out_positions_without_a_place() -> None:
    maps, item = looked()
    maps.of_pair(4)[:] = np.nan
    for rows, weight in map_blocks(maps, item):
        for pair, row in zip(rows, weight, strict=True):
            if pair == 4:
                assert np.isnan(row).all()
            else:
                np.testing.assert_allclose(row[~np.isnan(row)], plain(maps, pair))
                assert np.isnan(row[0])


@pytest.mark.usefixtures("block")
def test_shares_of_parts_against_characters() -> None:
    maps, item = looked()
    maps.of_pair(4)[:] = np.nan
    start = np.array([[0, 7, -1], [0, 6, -1], [0, 9, 18]])
    stop = np.array([[7, 14, -1], [6, 9, -1], [8, 16, 30]])
    share = attention_by_part(maps, item, start, stop)
    for pair, of_pair in enumerate(share):
        begin = 5 * np.arange(LENGTHS[item[pair]] - 1)
        for part in range(3):
            if pair == 4 or start[item[pair], part] < 0:
                assert np.isnan(of_pair[part])
                continue
            inside = set(range(start[item[pair], part], stop[item[pair], part]))
            expected = sum(
                weight * len(inside & set(range(at, at + 4))) / 4
                for weight, at in zip(plain(maps, pair), begin, strict=True)
            )
            assert of_pair[part] == pytest.approx(expected)


def test_shares_of_boxes_count_cells_by_their_area() -> None:
    places = np.array([[[0, 2], [0, 2]], [[0, 2], [2, 4]], [[2, 4], [0, 2]], [[2, 4], [2, 4]]])
    maps = Attention.empty("image", np.array([0]), places, np.array([0, 4]))
    maps.weight[:] = [0.4, 0.3, 0.2, 0.1]
    start, stop = np.array([[[0, 0], [1, 1]]]), np.array([[[2, 2], [3, 4]]])
    share = attention_by_part(maps, np.array([0]), start, stop)
    np.testing.assert_allclose(share, [[0.4, 0.4 / 4 + 0.3 / 2 + 0.2 / 4 + 0.1 / 2]], rtol=1e-6)


def test_hits_ties_and_parts_that_do_not_exist() -> None:
    shares = np.array([[0.1, 0.6, 0.3], [0.5, 0.5, np.nan], [0, 0, 0.0], [np.nan] * 3])
    focus = np.array([[0.1, 0.2, 0.7], [0.9, 0.1, 0], [1, 0, 0], [1, 0, 0]])
    hits = part_hits(shares, focus)
    np.testing.assert_array_equal(hits.hit, [0, 0.5, np.nan, np.nan])
    np.testing.assert_array_equal(hits.chance, [1 / 3, 1 / 2, 1 / 3, np.nan])
    tied = part_hits(shares[:1], np.array([[0.0, 0.5, 0.5]]))
    assert (tied.hit[0], tied.chance[0]) == (1, pytest.approx(2 / 3))


def test_marks_of_a_pair_are_those_of_its_own_annotator() -> None:
    maps, item = looked()
    annotator = np.tile([2, 0, 1], 3)
    rows = [(0, 0, 5, 7), (0, 0, 10, 11), (2, 1, 0, 9), (1, 3, 0, 9), (1, -1, 0, 9), (0, 2, 4, 5)]
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    text = pa.array(["text"] * len(rows))
    start, stop = columns[2].astype(float), columns[3].astype(float)
    spans = Rationales(columns[0], columns[1], text, text, start, stop, text)
    marks = pair_marks(spans, maps, item, annotator)
    assert marks.pairs.tolist() == [1, 8]  # the span of annotator 2 meets no word
    by_pair = np.split(marks.marked, maps.offsets[1:-1])
    assert by_pair[1].tolist() == [False, False, True, True]
    assert by_pair[8].tolist() == [False, True, True, False, False, False]
    assert marks.marked.sum() == 4
    stranger = pair_marks(spans, maps, item, np.where(annotator == 1, -1, annotator))
    assert stranger.pairs.tolist() == [1]  # not the span of somebody else on another item
    elsewhere = dataclasses.replace(maps, role="title")
    assert not pair_marks(spans, elsewhere, item, annotator).marked.any()


@pytest.mark.usefixtures("block")
def test_similarity_of_maps_by_name_of_item_and_annotator() -> None:
    (one, item), (other, _) = looked(0), looked(1)
    other.of_pair(3)[:] = np.nan
    first = prediction(one, item, ["ann", "bob", "cyd"])
    second = prediction(other, item, ["cyd", "ann", "eve"])
    alike = map_similarity(first, second, "text")
    assert alike.pairs.tolist() == [0, 2, 3, 5, 6, 8]  # ann and cyd on each item
    for pair, twin, cosine, correlation in zip(
        alike.pairs, [1, 0, 4, 3, 7, 6], alike.cosine, alike.correlation, strict=True
    ):
        if twin == 3:
            assert np.isnan(cosine) and np.isnan(correlation)
            continue
        a, b = plain(one, pair), plain(other, twin)
        assert cosine == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
        assert correlation == pytest.approx(pearsonr(a, b)[0])
    same, _ = paired_similarity(one, item, alike.pairs, one, item, alike.pairs)
    np.testing.assert_allclose(same, 1)


def test_maps_with_other_numbers_of_positions_are_not_compared() -> None:
    (one, item), (other, _) = looked(0), looked(1, (4, 5, 6))
    names = ["ann", "bob", "cyd"]
    alike = map_similarity(prediction(one, item, names), prediction(other, item, names), "text")
    assert alike.pairs.tolist() == [0, 1, 2, 6, 7, 8]
    none = map_similarity(
        prediction(one, item, names), prediction(other, item, list("xyz")), "text"
    )
    assert len(none.pairs) == 0


def test_similarity_of_annotators_is_the_mean_over_common_items() -> None:
    maps, item = looked()
    maps.of_pair(4)[:] = np.nan  # annotator 1 on item 1
    result = annotator_similarity(maps, item, np.tile([0, 1, 2], 3), 4)
    for a in range(3):
        for b in range(3):
            common = [i for i in range(3) if 3 * i + a != 4 and 3 * i + b != 4]
            cosines = []
            for i in common:
                u, v = plain(maps, 3 * i + a), plain(maps, 3 * i + b)
                cosines.append(u @ v / np.linalg.norm(u) / np.linalg.norm(v))
            assert result.cosine[a, b] == pytest.approx(np.mean(cosines))
            assert result.n_items[a, b] == len(common)
    assert np.isnan(result.cosine[3]).all() and not result.n_items[3].any()


def similarities(n: int, seed: int, noise: float = 0.0) -> np.ndarray:
    """Similarities of annotators who are points in a plane."""
    points = np.random.default_rng(0).normal(size=(n, 2))
    points += noise * np.random.default_rng(seed).normal(size=(n, 2))
    return np.asarray(1 - np.linalg.norm(points[:, None] - points, axis=2) / 10)


def test_alignment_against_scipy() -> None:
    one, other = similarities(9, 1, 0.3), similarities(9, 2, 0.3)
    result = similarity_alignment(one, other, 199)
    upper = np.triu_indices(9, 1)
    assert result.correlation == pytest.approx(pearsonr(one[upper], other[upper])[0])
    points = [np.random.default_rng(0).normal(size=(9, 2)) for _ in range(2)]
    for seed, noisy in enumerate(points, 1):  # of points in a plane, scaling finds them again
        noisy += 0.3 * np.random.default_rng(seed).normal(size=(9, 2))
    assert result.disparity == pytest.approx(procrustes(*points)[2], abs=1e-9)
    assert result.correlation_p == result.disparity_p == 1 / 200
    assert (result.annotators, result.pairs) == (9, 36)


def test_alignment_of_unrelated_annotators_is_chance() -> None:
    one = similarities(8, 1, 0.1)
    p = []
    for seed in range(40):
        order = np.random.default_rng(seed).permutation(8)
        result = similarity_alignment(one, one[np.ix_(order, order)], 99, seed=1)
        p.append((result.correlation_p, result.disparity_p))
    assert (np.mean(p, axis=0) > 0.3).all() and (np.mean(p, axis=0) < 0.7).all()


def test_alignment_leaves_out_annotators_with_undefined_entries() -> None:
    one, other = similarities(7, 1, 0.2), similarities(7, 2, 0.2)
    holes = one.copy()
    holes[3, :] = holes[:, 3] = np.nan
    rest = np.delete(np.arange(7), 3)
    result = similarity_alignment(holes, other, 99)
    expected = similarity_alignment(one[np.ix_(rest, rest)], other[np.ix_(rest, rest)], 99)
    assert result == expected and result.annotators == 6
    few = similarity_alignment(one[:3, :3], other[:3, :3])
    assert np.isnan(few.correlation) and (few.annotators, few.pairs) == (3, 3)
    assert np.isnan(similarity_alignment(np.ones((5, 5)), other[:5, :5]).disparity)
