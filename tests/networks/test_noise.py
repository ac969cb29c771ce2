"""Dropout from a key: what it drops, and what its masks depend on."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor, nn

from dissensus.networks.noise import (
    Dropout,
    draw_by_key,
    drawing,
    dropped,
    noise_key,
    normals,
    positions_in_batch,
    uniforms,
)

ONES = torch.ones(200, 500)


def _mask(seed: int, step: int, number: int = 1, share: float = 0.5) -> Tensor:
    with drawing(noise_key(seed, step)):
        return dropped(ONES, share, number)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_share_is_dropped_and_the_rest_scaled_up(share: float) -> None:
    result = _mask(0, 0, share=share)
    spread = np.sqrt(share * (1 - share) / result.numel())
    assert (result == 0).double().mean().item() == pytest.approx(share, abs=4 * spread)
    torch.testing.assert_close(
        result[result > 0], torch.full_like(result[result > 0], 1 / (1 - share))
    )


def test_masks_of_seeds_steps_layers_and_places_have_nothing_in_common() -> None:
    """Agreement of two fair coins thrown 100,000 times is a half, within four spreads."""
    masks = [_mask(s, t, n) > 0 for s in (0, 1, 2**31) for t in (0, 1, 7) for n in (1, 2)]
    for first in range(len(masks)):
        for second in range(first):
            same = (masks[first] == masks[second]).double().mean().item()
            assert same == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(ONES.numel()))
    flat = masks[0].reshape(-1)
    for lag in (1, 2, 3, 8, 64, 500, 1000):
        same = (flat[lag:] == flat[:-lag]).double().mean().item()
        assert same == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(ONES.numel()))
    for way in (0, 1):  # rows and columns are dropped evenly
        shares = masks[0].double().mean(dim=way)
        expected = 0.25 / masks[0].shape[way]
        assert shares.var().item() == pytest.approx(expected, rel=0.35)


def test_members_side_by_side_draw_as_they_would_alone() -> None:
    seeds = torch.tensor([3, 4, 5])

    def draw(key: Tensor) -> Tensor:
        with drawing(key):
            return dropped(ONES, 0.3, 2)

    together = torch.vmap(draw)(torch.as_tensor(noise_key(seeds, 6)))
    for seed, result in zip(seeds.tolist(), together, strict=True):
        torch.testing.assert_close(result, _mask(seed, 6, 2, 0.3))


def test_without_training_or_share_nothing_is_dropped() -> None:
    assert Dropout(0.5).eval()(ONES) is ONES and Dropout(0.0)(ONES) is ONES
    with pytest.raises(RuntimeError, match="dropout needs a key"):
        Dropout(0.5)(ONES)


def test_torch_dropouts_are_replaced_and_numbered_once() -> None:
    inner = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.2))
    network = draw_by_key(nn.Sequential(inner, nn.Dropout(0.4)))
    parts = [part for part in network.modules() if isinstance(part, Dropout)]
    assert [(part.p, part.number) for part in parts] == [(0.2, 1), (0.4, 2)]
    again = [part for part in draw_by_key(network).modules() if isinstance(part, Dropout)]
    assert again == parts and [part.number for part in again] == [1, 2]


# ---- normal numbers ----


def _normals(seed: int, step: int, number: int = 1) -> Tensor:
    with drawing(noise_key(seed, step)):
        return normals((30, 50, 101), number, torch.zeros(1))


def test_normal_numbers_are_normal() -> None:
    result = _normals(0, 0).reshape(-1).double().numpy()
    assert result.shape == (151_500,) and np.isfinite(result).all()
    assert stats.kstest(result, "norm").pvalue > 0.001
    assert result.mean() == pytest.approx(0, abs=4 / np.sqrt(len(result)))
    assert stats.kurtosis(result) == pytest.approx(0, abs=4 * np.sqrt(24 / len(result)))


def test_normal_numbers_have_nothing_in_common() -> None:
    """Of seeds, steps, layers, passes, rows and columns; nor have their squares."""
    drawn = [_normals(s, t, n).reshape(-1) for s in (0, 1) for t in (0, 7) for n in (1, 2)]
    pairs = [(a, b) for first, a in enumerate(drawn) for b in drawn[:first]]
    flat = drawn[0]
    pairs += [(flat[lag:], flat[:-lag]) for lag in (1, 2, 50, 51, 101, 5050, 10100)]
    for first, second in pairs:
        limit = 4.5 / np.sqrt(len(first))
        assert float((first * second).mean()) == pytest.approx(0, abs=limit)
        squares = (first.square() - 1) * (second.square() - 1)  # of spread 2
        assert float(squares.mean()) == pytest.approx(0, abs=2 * limit)


def test_normal_numbers_of_members_and_of_parts_of_a_batch() -> None:
    def draw(key: Tensor) -> Tensor:
        with drawing(key), positions_in_batch(torch.tensor([7, 8, 9])):
            return normals((3, 4, 5), 2, torch.zeros(1, dtype=torch.float64))

    seeds = torch.tensor([3, 4])
    together = torch.vmap(draw)(torch.as_tensor(noise_key(seeds, 6)))
    for seed, result in zip(seeds.tolist(), together, strict=True):
        with drawing(noise_key(seed, 6)):
            alone = normals((3, 4, 5), 2, torch.zeros(1, dtype=torch.float64))
        torch.testing.assert_close(result, alone, rtol=0, atol=1e-14)
    with pytest.raises(RuntimeError, match="a draw needs a key"):
        normals((2,), 1, torch.zeros(1))


def test_uniform_numbers_are_uniform_and_independent() -> None:
    with drawing(noise_key(3, 5)):
        numbers = uniforms((40, 50, 20), 1, torch.zeros(1))
        others = uniforms((40, 50, 20), 2, torch.zeros(1))
    assert numbers.min() >= 0 and numbers.max() < 1
    counts = torch.histc(numbers, 10, 0, 1)
    assert ((counts - 4000) ** 2 / 4000).sum() < 27.9  # chi squared of 9 degrees, p = .001
    neighbours = [numbers.diff(dim=axis).square().mean() for axis in range(3)]
    assert torch.stack(neighbours).sub(1 / 6).abs().max() < 0.01  # independent: E (u - v)^2
    assert abs(torch.corrcoef(torch.stack([numbers.flatten(), others.flatten()]))[0, 1]) < 0.02


def test_uniform_numbers_do_not_depend_on_padding_or_on_other_members() -> None:
    keys = torch.tensor([noise_key(0, 1), noise_key(1, 1)])

    def draw(key: Tensor, shape: tuple[int, ...] = (3, 4, 5)) -> Tensor:
        with drawing(key):
            return uniforms(shape, 0, torch.zeros(1))

    alone = torch.stack([draw(key) for key in keys])
    assert torch.equal(torch.func.vmap(draw)(keys), alone)
    assert torch.equal(draw(keys[0], (6, 4, 9))[:3, :, :5], alone[0])
    with positions_in_batch(torch.tensor([2])):
        assert torch.equal(draw(keys[0], (1, 4, 5))[0], alone[0, 2])
