"""A mean weighted by attention; the attention block against torch's own over one position."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap

from dissensus.networks.attention import AttentionBlock, AttentionPool, Norm
from dissensus.networks.noise import draw_by_key, drawing, noise_key

WIDTH, HEADS = 8, 2


def _norm(vectors: Tensor, norm: Norm) -> Tensor:
    mean, spread = vectors.mean(-1, keepdim=True), vectors.std(-1, correction=1, keepdim=True)
    return norm.scale * (vectors - mean) / (spread + 1e-6) + norm.shift


def _attention(value: nn.Linear, joined: nn.Linear) -> nn.MultiheadAttention:
    """torch's, with these weights, and any for queries and keys."""
    built = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True, dtype=torch.float64).eval()
    with torch.no_grad():
        built.in_proj_weight[2 * WIDTH :] = value.weight
        built.in_proj_bias[2 * WIDTH :] = value.bias
        built.out_proj.load_state_dict(joined.state_dict())
    return built


def _plain(block: AttentionBlock, vectors: Tensor) -> Tensor:
    """A pre-norm transformer encoder over sequences of one position, layer by layer."""
    position = torch.tensor([0.0, 1.0] * (WIDTH // 2), dtype=torch.float64)
    sequence = (vectors * math.sqrt(WIDTH) + position).unsqueeze(1)  # (n, 1, width)
    *layers, last = cast(Any, block.layers)
    for layer in layers:
        attention = _attention(layer.value, layer.joined)
        seen = _norm(sequence, layer.before_attention)
        sequence = sequence + attention(seen, seen, seen)[0]
        inner = layer.inner(_norm(sequence, layer.before_inner)).clamp(min=0)
        sequence = sequence + layer.outer(inner)
    assert isinstance(last, Norm)
    return _norm(sequence, last)[:, 0]


def _block(**settings: Any) -> AttentionBlock:
    torch.manual_seed(0)
    block = AttentionBlock(WIDTH, layers=3, heads=HEADS, inner=20, **settings).double()
    for parameter in block.parameters():
        nn.init.normal_(parameter, std=0.5)
    return draw_by_key(block)


def test_it_is_a_transformer_encoder_over_one_position() -> None:
    block = _block().eval()
    vectors = torch.randn(5, WIDTH, dtype=torch.float64)
    torch.testing.assert_close(block(vectors), _plain(block, vectors))


def test_dropout_leaves_out_whole_heads_of_the_attention() -> None:
    """With weights that pass values on as they are, a head of an item is there or is not."""
    block = _block(dropout=0.5)
    layer: Any = block.layers[0]
    layer.after_attention.p = 0.0
    with torch.no_grad():
        for linear in (layer.value, layer.joined):
            nn.init.eye_(linear.weight)
            nn.init.zeros_(linear.bias)
    vectors = torch.randn(400, WIDTH, dtype=torch.float64)
    with drawing(noise_key(0, 0)):
        result = layer.attended(vectors)
    times = (result / vectors).view(400, HEADS, -1)
    assert (times.amax(2) - times.amin(2)).abs().max() < 1e-12
    assert set(np.unique(times.detach().numpy().round(6))) == {0.0, 2.0}
    assert float((times == 0).double().mean()) == pytest.approx(0.5, abs=0.08)


def test_the_norm_of_a_vector() -> None:
    result = Norm(4)(torch.tensor([[1.0, 2.0, 3.0, 4.0]]))
    expected = (np.arange(4) - 1.5) / np.std([1, 2, 3, 4], ddof=1)
    np.testing.assert_allclose(result[0].detach(), expected, rtol=1e-5)


# ---- a mean weighted by attention ----


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


@pytest.mark.parametrize("stacked", [False, True])
def test_in_bf16_it_computes_as_in_fp32(stacked: bool) -> None:
    torch.manual_seed(0)
    pool, vectors, chosen = AttentionPool(6), torch.randn(4, 5, 6), torch.ones(4, 5).bool()
    layer = torch.randn(6, 2)

    def loss(query: Tensor, half: bool = True) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, half):
            pooled, _ = functional_call(pool, {"query": query}, (vectors, chosen))
            total: Tensor = (pooled @ layer).float().square().sum()
        return total

    slopes = grad_and_value(loss)
    query = torch.randn(3, 6)
    half = vmap(slopes)(query)[0] if stacked else torch.stack([slopes(q)[0] for q in query])
    full = torch.stack([grad_and_value(loss)(q, False)[0] for q in query])
    torch.testing.assert_close(half, full, rtol=0.05, atol=0.05)


def test_slopes_are_those_of_differences() -> None:
    pool = AttentionPool(4).double()
    vectors = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    chosen = torch.tensor([[True, True, False], [True, True, True]])
    assert torch.autograd.gradcheck(lambda seen: pool(seen, chosen)[0], (vectors,))
    assert torch.autograd.gradgradcheck(lambda seen: pool(seen, chosen)[0], (vectors,))
