"""Where a network looked: the weights it pools by, or how much each position speaks for its answer.

Gradient times input (Shrikumar et al. 2017, arXiv:1605.01713): the gradient of what is answered
(the logarithm of its probability, or the place of a rating) with respect to the vector of each
position, times that vector. The vectors are those that enter the encoder's first block where these
stand at the same positions as what the encoder gives, as tokens do; else those that it gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.encoders import Inputs
from dissensus.methods.framework.shared_net import PoolingNet
from dissensus.networks.likelihoods import likelihood
from dissensus.scales import Interval, Scale
from dissensus.training import Batch, Network
from dissensus.training.fine_tuning import FineTunedNetwork


@dataclass(frozen=True, eq=False)
class Looked:
    """Of the items of a batch, one after another, at each position of their contents."""

    weight: np.ndarray  # (n_positions,)
    places: np.ndarray  # (n_positions, n_axes, 2)
    lengths: np.ndarray  # (n_items,) how many positions each has


def looked_at(
    network: Network, batch: Batch, scales: Mapping[str, Scale]
) -> dict[str, dict[str, Looked]]:
    """By question and role; what a frozen encoder pooled beforehand cannot be told."""
    inner = network.inner if isinstance(network, FineTunedNetwork) else network
    if isinstance(inner, PoolingNet):
        with torch.no_grad():
            encoded = network.encoded(batch) if isinstance(network, FineTunedNetwork) else batch
            weights = {role: found for role, (_, found) in inner.attended(encoded).items()}
        by_role = {role: _of_sequence(encoded, role, held) for role, held in weights.items()}
        return dict.fromkeys(scales, by_role)
    assert isinstance(network, FineTunedNetwork)
    return _attributed(network, batch, scales)


def _of_sequence(batch: Batch, role: str, weight: Tensor) -> Looked:
    content, sequence = batch.content[role], batch.sequence[role]
    there = sequence.mask[content.clamp(min=0)] & (content >= 0)[:, None]
    return _ragged(weight, sequence.places[content.clamp(min=0)], there)


def _ragged(weight: Tensor, places: Tensor, there: Tensor) -> Looked:
    return Looked(
        weight[there].double().cpu().numpy(),
        places[there].cpu().numpy(),
        there.sum(dim=1).cpu().numpy(),
    )


# ---- gradient times input ----


def _attributed(
    network: FineTunedNetwork, batch: Batch, scales: Mapping[str, Scale]
) -> dict[str, dict[str, Looked]]:
    batch = _one_content_each(batch)
    with torch.enable_grad(), _passing(network) as seen:
        outputs = network(batch).items
        vectors = [call.vectors for call in seen]  # in the order of the roles
        found: dict[str, dict[str, Looked]] = {}
        for question, scale in scales.items():
            said = _said(scale, outputs[question]).sum()
            slopes = torch.autograd.grad(said, vectors, retain_graph=True)
            found[question] = {
                role: _of_inputs(batch, role, (slope * held).sum(dim=-1).detach())
                for role, slope, held in zip(batch.inputs, slopes, vectors, strict=True)
            }
    return found


def _said(scale: Scale, raw: Tensor) -> Tensor:
    """How likely the answer is that is given, as a logarithm; of a rating where it lies, (n,)."""
    reading = likelihood(scale)
    if isinstance(scale, Interval):
        return raw[:, 0]
    logs = reading.log_masses(raw)  # (n, n_values); sets: (n, n_values, 2)
    if logs.dim() == 3:
        return logs.max(dim=-1).values.sum(dim=-1)
    return logs.gather(1, reading.value(raw).unsqueeze(1)).squeeze(1)


def _of_inputs(batch: Batch, role: str, weight: Tensor) -> Looked:
    inputs = batch.inputs[role]
    width = inputs.places.shape[1]
    n = torch.where(batch.content[role] >= 0, inputs.n_positions, 0)
    there = torch.arange(width, device=n.device) < n[:, None]
    return _ragged(weight[:, :width], inputs.places, there)


def _one_content_each(batch: Batch) -> Batch:
    """The batch with a content of its own for every item, so that gradients are of one item."""
    inputs, content = {}, dict(batch.content)
    for role, held in batch.inputs.items():
        at = content[role].clamp(min=0)
        inputs[role] = Inputs(
            held.units[at], held.lengths[at], held.n_positions[at], held.places[at]
        )
        own = torch.arange(len(at), device=at.device)
        content[role] = torch.where(content[role] >= 0, own, -1)
    return replace(batch, inputs=inputs, content=content)


@dataclass(eq=False)
class _Call:
    """What enters the first block of an encoder, and what the encoder gives, in one call of it."""

    entering: Tensor | None = None
    given: Tensor | None = None

    @property
    def vectors(self) -> Tensor:
        assert self.given is not None
        held = self.entering
        if held is None or held.dim() != 3 or held.shape[:2] != self.given.shape[:2]:
            return self.given
        return held


@contextmanager
def _passing(network: FineTunedNetwork) -> Iterator[list[_Call]]:
    """Within the block, notes the vectors of every call of the encoders."""
    calls: list[_Call] = []
    hooks = []

    def begins(module: nn.Module, given: Any) -> None:
        calls.append(_Call())

    def enters(module: nn.Module, given: Any, named: Any) -> None:
        held = given[0] if given else named.get("hidden_states")
        if calls[-1].entering is None and isinstance(held, Tensor):
            calls[-1].entering = held if held.requires_grad else held.requires_grad_()

    def ends(module: nn.Module, given: Any, found: Tensor) -> None:
        calls[-1].given = found

    for encoder in network.networks:
        hooks.append(encoder.register_forward_pre_hook(begins))
        hooks.append(encoder.register_forward_hook(ends))
        if encoder.blocks:
            hooks.append(encoder.blocks[0].register_forward_pre_hook(enters, with_kwargs=True))
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()
