"""The crowd: its closed form against brute force, its answers against its closed form."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from dissensus.simulate.crowd import Crowd, Draws, Parts, Sizes, assign, circle


def small_crowd(n_annotators: int = 7, n_values: int = 5) -> Crowd:
    return Crowd.balanced(n_annotators, 6, circle(n_values), Draws(3))


def three_items() -> Parts:
    """One item with three parts, one with four, one that states the same value twice."""
    aspect = np.array([[0, 2, 5, -1], [1, 3, 4, 0], [4, 5, 1, -1]])
    value = np.array([[1, 4, 0, -1], [2, 0, 3, 1], [3, 3, 1, -1]])
    return Parts(aspect, value)


def every_pair(n_items: int, n_annotators: int) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.array(list(product(range(n_items), range(n_annotators))))
    return pairs[:, 0], pairs[:, 1]


def exact(crowd: Crowd, parts: Parts, item: int, annotator: int) -> list[Fraction]:
    """The docstring's formula in fractions, one sum after the other."""
    lean = [int(weight) for weight in crowd.lean[annotator]]
    there = [part for part in range(4) if parts.aspect[item, part] >= 0]
    pull = {p: 16 ** int(crowd.preference[annotator, parts.aspect[item, p]]) for p in there}
    noise = Fraction(int(crowd.noise[annotator]), 100)
    answers = [noise * weight / sum(lean) for weight in lean]
    for part in there:
        stated = parts.value[item, part]
        close = [{0: 24, 1: 1}.get(int(steps), 0) for steps in crowd.distance[stated]]
        total = sum(a * b for a, b in zip(lean, close, strict=True))
        for value, weight in enumerate(lean):
            focus = Fraction(pull[part], sum(pull.values()))
            answers[value] += (1 - noise) * focus * Fraction(weight * close[value], total)
    return answers


def test_the_distribution_is_the_documented_formula() -> None:
    crowd, parts = small_crowd(), three_items()
    item, annotator = every_pair(3, len(crowd))
    result = crowd.distribution(parts, item, annotator)
    for row, pair in enumerate(zip(item, annotator, strict=True)):
        wanted = exact(crowd, parts, *pair)
        assert sum(wanted) == 1
        np.testing.assert_allclose(result[row], [float(p) for p in wanted], rtol=1e-12)


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    crowd, parts = small_crowd(), three_items()
    pairs = every_pair(3, len(crowd))
    whole = crowd.distribution(parts, *pairs), crowd.answer(parts, *pairs, Draws(1))
    monkeypatch.setattr("dissensus.simulate.crowd.CELLS", 20)
    pieces = crowd.distribution(parts, *pairs), crowd.answer(parts, *pairs, Draws(1))
    assert np.array_equal(whole[0], pieces[0])
    assert np.array_equal(whole[1], pieces[1])


def test_means_over_the_crowd_are_means_over_all_pairs() -> None:
    crowd, parts = small_crowd(), three_items()
    pairs = every_pair(3, len(crowd))
    focus = crowd.focus(parts, *pairs).reshape(3, len(crowd), 4).mean(axis=1)
    answers = crowd.distribution(parts, *pairs).reshape(3, len(crowd), 5).mean(axis=1)
    np.testing.assert_allclose(crowd.mean_focus(parts), focus, atol=1e-12)
    np.testing.assert_allclose(crowd.mean_distribution(parts), answers, atol=1e-12)


def test_answers_and_looks_follow_the_closed_form() -> None:
    crowd, parts, times = small_crowd(), three_items(), 20_000
    item, annotator = every_pair(3, len(crowd))
    focus, answers = crowd.focus(parts, item, annotator), crowd.distribution(parts, item, annotator)
    looked, answer = crowd.answer(parts, item.repeat(times), annotator.repeat(times), Draws(5))
    for row in range(len(item)):
        rows = slice(row * times, (row + 1) * times)
        for drawn, wanted in ((looked[rows], focus[row]), (answer[rows], answers[row])):
            counts = np.bincount(drawn, minlength=len(wanted))
            assert counts[wanted == 0].sum() == 0
            likely = wanted * times >= 5  # where the chi-square approximation holds
            seen = np.append(counts[likely], counts[~likely].sum())
            expected = np.append(wanted[likely], wanted[~likely].sum()) * times
            some = expected > 0
            p = stats.chisquare(seen[some], expected[some], sum_check=False).pvalue
            assert p > 1e-5 or some.sum() == 1


def test_choosing_follows_the_weights_and_never_takes_a_zero() -> None:
    chosen = Draws(0).choose(np.tile([0, 3, 0, 1, 0], (100_000, 1)))
    counts = np.bincount(chosen, minlength=5)
    assert counts[[0, 2, 4]].tolist() == [0, 0, 0]
    assert counts[1] / 100_000 == pytest.approx(0.75, abs=0.006)


@pytest.mark.parametrize(("limit", "width"), [(2, 3), (3, 3), (9, 3), (1, 2)])
def test_distinct_numbers_differ_as_long_as_there_are_enough(limit: int, width: int) -> None:
    rows = Draws(0).distinct(limit, 5000, width)
    distinct = [len(set(row)) for row in rows.tolist()]
    assert set(distinct) == {min(limit, width)}
    counts = np.bincount(rows[:, -1], minlength=limit)
    assert len(counts) == limit
    assert np.abs(counts / 5000 - 1 / limit).max() < 0.03


def test_a_crowd_prefers_every_aspect_and_favours_every_answer_equally() -> None:
    crowd = small_crowd(n_annotators=60, n_values=5)
    assert crowd.preference.sum(axis=0).tolist() == [150] * 6
    assert np.sort(crowd.preference, axis=1).tolist() == [list(range(6))] * 60
    assert crowd.lean.sum(axis=0).tolist() == [168] * 5
    assert np.bincount(crowd.noise)[[2, 4, 6, 8, 10]].tolist() == [12] * 5


def test_even_sets_are_those_without_a_common_favourite() -> None:
    preference = np.array([[5, 4, 3, 2, 1, 0], [5, 4, 3, 2, 0, 1], [5, 4, 3, 0, 2, 1]])
    crowd = Crowd(preference, np.ones((3, 2), int), np.zeros(3, int), circle(2))
    sets = crowd.even_sets(3)
    assert len(sets) == 10  # of the 20 sets of three aspects
    assert [3, 4, 5] in sets.tolist()  # two look at 3, one at 4: only here do they differ


@pytest.mark.parametrize(
    ("n_items", "n_annotators", "labels"),
    [(1000, 10, 5), (37, 7, 5), (10, 12, 12), (50, 9, 1), (3, 100, 2), (1, 1, 1), (64, 48, 36)],
)
def test_loads_differ_by_one_and_nobody_meets_an_item_twice(
    n_items: int, n_annotators: int, labels: int
) -> None:
    item, annotator = assign(Sizes(n_items, n_annotators, labels, 2, 0), Draws(0))
    assert np.bincount(item).tolist() == [labels] * n_items
    loads = np.bincount(annotator, minlength=n_annotators)
    assert loads.max() - loads.min() <= 1
    assert len(set(zip(item.tolist(), annotator.tolist(), strict=True))) == n_items * labels


def test_all_annotators_meet() -> None:
    item, annotator = assign(Sizes(1000, 10, 5, 2, 0), Draws(0))
    labelled = np.zeros((1000, 10))
    labelled[item, annotator] = 1
    shared = labelled.T @ labelled
    assert 150 < shared.min()  # 222 are expected of every two
    assert shared[~np.eye(10, dtype=bool)].max() < 300
