"""Members that look and answer apart where annotators do are detected, and others are not."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "gpu"))
from attention_study import (  # noqa: E402
    AttentionFigures,
    ObservedAttention,
    looks,
    rank_correlation,
)

N_ITEMS, LONGEST, N_RUNS, N_MEMBERS, N_ANNOTATORS = 120, 12, 3, 4, 3


def drawn(follows: bool, seed: int = 0) -> ObservedAttention:
    """Annotators that look and answer apart in some items; members that do so in the same items,
    or in others."""
    generator = np.random.default_rng(seed)
    apart = generator.random(N_ITEMS)  # how far annotators are
    of_members = apart if follows else generator.random(N_ITEMS)
    place = generator.integers(0, LONGEST - 2, N_ITEMS)
    marked = np.zeros((N_ITEMS, N_ANNOTATORS, LONGEST), bool)
    for annotator in range(N_ANNOTATORS):
        moved = generator.random(N_ITEMS) < apart
        at = np.where(moved, generator.integers(0, LONGEST - 2, N_ITEMS), place)
        marked[np.arange(N_ITEMS)[:, None], annotator, at[:, None] + np.arange(2)] = True
    shape = N_RUNS, N_MEMBERS, N_ITEMS
    common = marked[:, 0] + 0.1 * generator.random((N_ITEMS, LONGEST))
    noise = generator.random((*shape, LONGEST))
    weight = (1 - of_members[:, None]) * common + of_members[:, None] * noise
    yes = 0.5 + of_members * (generator.random(shape) - 0.5)
    votes = generator.binomial(7, 0.5 * apart)
    return ObservedAttention(
        rank=(weight.argsort(axis=-1).argsort(axis=-1) + 1).astype(np.uint8),
        size=np.zeros((0, N_MEMBERS, N_ITEMS, LONGEST), np.uint8),
        probability=np.stack([1 - yes, yes], axis=-1),
        marked=marked,
        votes=np.stack([7 - votes, votes], axis=1),
        seconds=np.array(1.0),
    )


@pytest.mark.parametrize("follows", [True, False])
def test_members_that_follow_annotators_and_members_that_do_not(
    follows: bool, tmp_path: Path
) -> None:
    drawn(follows).save(tmp_path / "toxic_spans.seeds.npz")
    seeds = looks(tmp_path)["toxic_spans"]["conditions"]["seeds"]
    assert seeds["shuffled"]["low"] > 0  # they look where annotators do
    for name in ("look", "answer"):
        assert (seeds[name]["low"] > 0) == follows


def test_two_annotators_by_brute_force() -> None:
    attention = drawn(follows=True)
    f1, chance = AttentionFigures(attention).annotators()
    sets = [set(np.flatnonzero(row)) for row in attention.marked[7]]
    pairs = [(sets[0], sets[1]), (sets[0], sets[2]), (sets[1], sets[2])]
    assert f1[7] == pytest.approx(np.mean([len(a & b) / 2 for a, b in pairs]))
    assert chance[7] == pytest.approx(2 / LONGEST)


def test_ranks_correlate_as_spearman_and_are_corrected_for_length() -> None:
    from scipy.stats import spearmanr

    generator = np.random.default_rng(0)
    length = generator.integers(5, 50, 300)
    observed, other = (length + generator.normal(size=300) for _ in range(2))
    mine, theirs = rank_correlation(observed, other[None], None)
    assert np.corrcoef(mine, theirs[0])[0, 1] == pytest.approx(spearmanr(observed, other)[0])
    mine, theirs = rank_correlation(observed, other[None], length)
    assert abs(np.corrcoef(mine, theirs[0])[0, 1]) < 0.15
