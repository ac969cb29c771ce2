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
