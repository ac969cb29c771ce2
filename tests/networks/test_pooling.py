"""A mean weighted by attention."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.func import functional_call, grad_and_value, vmap

from dissensus.networks.pooling import AttentionPool


def test_each_position_weighs_as_it_fits_the_query() -> None:
    torch.manual_seed(0)
    pool, vectors = AttentionPool(6).double(), torch.randn(3, 4, 6, dtype=torch.float64)
    chosen = torch.tensor([[1, 1, 1, 1], [0, 1, 1, 0], [0, 0, 0, 0]]).bool()
    pooled, weight = pool(vectors, chosen)
    query = pool.query.detach().numpy()
    for item in range(2):
        at = np.flatnonzero(chosen[item])
        seen = vectors[item].numpy()[at]
        even = (seen - seen.mean(axis=1, keepdims=True)) / np.sqrt(
            seen.var(axis=1, keepdims=True) + 1e-5
        )
        score = np.exp(even @ query / np.sqrt(6))
        expected = score / score.sum()
        np.testing.assert_allclose(weight[item].detach().numpy()[at], expected)
        np.testing.assert_allclose(pooled[item].detach(), expected @ seen)
    assert not weight[~chosen].any() and not pooled[2].any()


def test_what_looks_at_nothing_has_a_gradient() -> None:
    pool, vectors = AttentionPool(4), torch.zeros(2, 3, 4)
    pooled, _ = pool(vectors, torch.zeros(2, 3, dtype=torch.bool))
    (pooled.sum() + pool.query.sum()).backward()
    assert pool.query.grad is not None and torch.isfinite(pool.query.grad).all()


def test_lengths_of_vectors_do_not_matter_to_the_weights() -> None:
    torch.manual_seed(0)
    pool, vectors = AttentionPool(8), torch.randn(2, 5, 8)
    chosen = torch.ones(2, 5, dtype=torch.bool)
    _, weight = pool(vectors, chosen)
    _, larger = pool(100 * vectors, chosen)
    torch.testing.assert_close(weight, larger, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("shared", [True, False])
def test_side_by_side_as_one_by_one(shared: bool) -> None:
    """Values and gradients, of networks that see the same vectors or each its own."""
    generator = torch.manual_seed(0)
    vectors = torch.randn(3, 4, 5, 6, dtype=torch.float64, generator=generator)
    queries = torch.randn(3, 6, dtype=torch.float64, generator=generator)
    chosen = torch.rand(4, 5, generator=generator) < 0.7
    pool = AttentionPool(6).double()

    def loss(query: Tensor, seen: Tensor) -> Tensor:
        pooled, weight = functional_call(pool, {"query": query}, (seen, chosen))
        total: Tensor = (pooled**2).sum() + (weight**3).sum()
        return total

    seen = vectors[0] if shared else vectors
    slopes, values = vmap(grad_and_value(loss, argnums=(0, 1)), in_dims=(0, None if shared else 0))(
        queries, seen
    )
    for k in range(3):
        query = queries[k].clone().requires_grad_()
        own = vectors[0 if shared else k].clone().requires_grad_()
        value = loss(query, own)
        value.backward()  # type: ignore[no-untyped-call]
        torch.testing.assert_close(values[k], value)
        torch.testing.assert_close(slopes[0][k], query.grad)
        torch.testing.assert_close(slopes[1][k], own.grad)


def test_slopes_are_those_of_differences() -> None:
    pool = AttentionPool(4).double()
    vectors = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    chosen = torch.tensor([[True, True, False], [True, True, True]])
    assert torch.autograd.gradcheck(lambda seen: pool(seen, chosen)[0], (vectors,))
    assert torch.autograd.gradgradcheck(lambda seen: pool(seen, chosen)[0], (vectors,))
