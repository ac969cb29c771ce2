"""Attention against marked spans: brute force, sklearn, and what cannot be told."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import roc_auc_score

from dissensus.corpus import Rationales
from dissensus.metrics import (
    attention_auroc,
    chance_f1,
    heaviest,
    laid_out,
    marks,
    overlap_f1,
    overlap_iou,
    ranks,
)
from dissensus.prediction import MemberAttention


def spans(rows: list[tuple[int, int, int, int]], role: str = "text") -> Rationales:
    item, annotator, start, stop = (np.array(column) for column in zip(*rows, strict=True))
    same, roles = pa.array(["q"] * len(rows)), pa.array([role] * len(rows))
    return Rationales(item, annotator, same, roles, start.astype(float), stop.astype(float), same)


def words(*texts: str) -> MemberAttention:
    """Every text between two marks of the encoder, a word a position."""
    places, offsets = [], [0]
    for text in texts:
        places.append((0, 0))
        at = 0
        for word in text.split():
            places.append((at, at + len(word)))
            at += len(word) + 1
        places.append((0, 0))
        offsets.append(len(places))
    values = np.array(places, float)[:, None]
    return MemberAttention("text", np.arange(2.0 * len(values)).reshape(2, -1), values,
                           np.array(offsets))  # fmt: skip


def test_marks_of_the_encoder_are_no_positions() -> None:
    looked = words("so it is", "bad")
    table = laid_out(looked.weight, looked)
    np.testing.assert_array_equal(table[0], [[1, 2, 3], [6, np.nan, np.nan]])
    assert table.shape == (2, 2, 3)


def test_people_are_kept_apart_and_nobody_is_left_out() -> None:
    looked = words("so it is", "bad dog")
    rows = [(0, 4, 0, 2), (0, 4, 6, 8), (0, 2, 1, 4), (1, -1, 0, 7), (1, 2, 3, 4)]
    result = marks(spans(rows), looked)
    np.testing.assert_array_equal(result.annotator, [[2, 4], [-1, -1]])  # one met only a space
    np.testing.assert_array_equal(result.marked[0], [[True, True, False], [True, False, True]])
    assert not result.marked[1].any()
    np.testing.assert_array_equal(result.there, [[True, True], [False, False]])


def test_what_is_marked_in_another_role_is_left_out() -> None:
    looked = words("so it is")
    read_twice = dataclasses.replace(looked, role="text&spelling")
    for at, role, n_people in ((looked, "text", 1), (looked, "reply", 0), (read_twice, "text", 1)):
        result = marks(spans([(0, 4, 0, 2)], role), at)
        assert result.there.sum() == n_people and result.marked.any() == bool(n_people)


def test_a_box_is_met_on_both_axes() -> None:
    places = np.array([[[0, 2], [0, 2]], [[0, 2], [2, 4]], [[2, 4], [0, 2]]], float)
    looked = MemberAttention("image", np.ones((1, 3)), places, np.array([0, 3]))
    same, role = pa.array(["q"]), pa.array(["image"])
    box = Rationales(np.array([0]), np.array([0]), same, role, np.array([[0.0, 1.0]]),
                     np.array([[1.0, 3.0]]), same)  # fmt: skip
    np.testing.assert_array_equal(marks(box, looked).marked, [[[True, True, False]]])


def test_auroc_is_that_of_sklearn() -> None:
    generator = np.random.default_rng(0)
    weight = generator.integers(0, 6, (40, 12)).astype(float)  # with ties
    marked = generator.random((40, 12)) < 0.3
    weight[:, 10:][generator.random((40, 2)) < 0.5] = np.nan
    for row, mark, result in zip(weight, marked, attention_auroc(weight, marked), strict=True):
        there = ~np.isnan(row)
        if mark[there].all() or not mark[there].any():
            assert np.isnan(result)
        else:
            assert result == pytest.approx(roc_auc_score(mark[there], row[there]))


def test_chance_is_the_mean_over_all_turns_of_a_set() -> None:
    generator = np.random.default_rng(1)
    for _ in range(20):
        first, second = generator.random((2, 9)) < 0.4
        turned = np.stack([np.roll(second, shift) for shift in range(9)])
        expected = overlap_f1(np.broadcast_to(first, turned.shape), turned).mean()
        result = chance_f1(first.sum(), second.sum(), np.array(9))
        np.testing.assert_allclose(result, expected)


def test_overlap_of_sets() -> None:
    first, second = np.array([[1, 1, 0], [0, 0, 0]], bool), np.array([[0, 1, 1], [0, 0, 0]], bool)
    np.testing.assert_allclose(overlap_f1(first, second), [0.5, np.nan])
    np.testing.assert_allclose(overlap_iou(first, second), [1 / 3, np.nan])
    assert np.isnan(chance_f1(np.array(0), np.array(0), np.array(3)))


def test_heaviest_has_as_many_as_asked_and_there_are() -> None:
    weight = np.array([[0.1, 0.5, 0.5, np.nan], [-1.0, -3.0, -2.0, np.nan]])
    np.testing.assert_array_equal(
        heaviest(weight, np.array([1, 9])), [[False, True, False, False], [True, True, True, False]]
    )
    np.testing.assert_array_equal(ranks(weight)[0], [1, 2.5, 2.5, np.nan])
