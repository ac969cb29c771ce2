"""How much each position of a content contributes to what each member of an ensemble predicts.

A network that pools by attention has such weights itself. For other networks it is gradient times
input (Shrikumar et al. 2017, arXiv:1605.01713): the gradient of the predicted answer (its
log-probability, or the position of a rating) with respect to the vector of each position, times
that vector. The vectors are the inputs of the encoder's first block if these have the same
positions as the encoder's outputs, as tokens do; otherwise they are the outputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from dissensus import Corpus
from dissensus.encoders import Inputs
from dissensus.methods.framework.shared_net import PoolingNet
from dissensus.networks.likelihoods import NormalLikelihood, likelihood
from dissensus.scales import Scale
from dissensus.training import Batch, Network
from dissensus.training.examples import Table, batches
from dissensus.training.fine_tuning import FineTunedNetwork

if TYPE_CHECKING:
    from dissensus.methods import SeedEnsemble


@dataclass(frozen=True, eq=False)
class MemberAttention:
    """The attention of each member of an ensemble for each item.

    Members that pool by attention have weights that are not negative and sum to 1. For others, a
    positive weight says how much the position supports the member's answer, a negative one how
    much it opposes it.
    """

    role: str
    weight: np.ndarray  # (n_members, n_positions) of all items, one after another
    places: np.ndarray  # (n_positions, n_axes, 2) from-to of each position in its content
    offsets: np.ndarray  # (n_items + 1,) where each item's positions begin


def member_attention(ensemble: SeedEnsemble, corpus: Corpus) -> dict[str, list[MemberAttention]]:
    """Where the members of a fitted ensemble look: by question, one for each role."""
    scales = ensemble.learned_.questions
    by_member = []  # the weights of each batch, by question and role
    for member in ensemble.members_:
        examples = member._prediction_examples(corpus, Table.of_nothing())
        every = batches(examples, np.arange(corpus.n_items), ensemble._at_once())
        member.network_.to(ensemble.training.where()).eval()
        by_member.append([position_weights(member.network_, batch, scales) for batch, _ in every])
    looked: dict[str, list[MemberAttention]] = {}
    for question in scales:
        looked[question] = []
        for role in by_member[0][0][question]:
            of_role = [[of[question][role] for of in of_member] for of_member in by_member]
            weight = [np.concatenate([part.weight for part in parts]) for parts in of_role]
            places = np.concatenate([part.places for part in of_role[0]])  # the same for all
            ends = np.cumsum(np.concatenate([part.lengths for part in of_role[0]]))
            of_members = MemberAttention(role, np.stack(weight), places, np.r_[0, ends])
            looked[question].append(of_members)
    return looked


@dataclass(frozen=True, eq=False)
class PositionWeights:
    """The weight of each position of the contents of a batch, item after item."""

    weight: np.ndarray  # (n_positions,)
    places: np.ndarray  # (n_positions, n_axes, 2)
    lengths: np.ndarray  # (n_items,) the number of positions of each


def position_weights(
    network: Network, batch: Batch, scales: Mapping[str, Scale]
) -> dict[str, dict[str, PositionWeights]]:
    """The weights of positions, by question and role.

    The network must pool by attention, or its encoder must be fine-tuned: vectors that a frozen
    encoder pooled beforehand have no positions.
    """
    inner = network.inner if isinstance(network, FineTunedNetwork) else network
    if isinstance(inner, PoolingNet):
        with torch.no_grad():
            encoded = network.encoded(batch) if isinstance(network, FineTunedNetwork) else batch
            attended = inner.attended(encoded)
        by_role = {}
        for role, (_, weight) in attended.items():
            content, sequence = encoded.content[role], encoded.sequence[role]
            at = content.clamp(min=0)
            mask = sequence.mask[at] & (content >= 0)[:, None]
            by_role[role] = _without_padding(weight, sequence.places[at], mask)
        return dict.fromkeys(scales, by_role)
    assert isinstance(network, FineTunedNetwork)
    return _gradient_times_input(network, batch, scales)


def _without_padding(weight: Tensor, places: Tensor, mask: Tensor) -> PositionWeights:
    return PositionWeights(
        weight[mask].double().cpu().numpy(),
        places[mask].cpu().numpy(),
        mask.sum(dim=1).cpu().numpy(),
    )


# ---- gradient times input ----


def _gradient_times_input(
    network: FineTunedNetwork, batch: Batch, scales: Mapping[str, Scale]
) -> dict[str, dict[str, PositionWeights]]:
    batch = _one_content_each(batch)
    with torch.enable_grad(), _recording(network) as calls:
        outputs = network(batch).items
        vectors = [_vectors(call) for call in calls]  # in the order of the roles
        weights: dict[str, dict[str, PositionWeights]] = {}
        for question, scale in scales.items():
            predicted = _predicted(scale, outputs[question]).sum()
            gradients = torch.autograd.grad(predicted, vectors, retain_graph=True)
            weights[question] = {}
            every = zip(batch.inputs.items(), gradients, vectors, strict=True)
            for (role, inputs), gradient, of_role in every:
                weight = (gradient * of_role).sum(dim=-1).detach()
                n = torch.where(batch.content[role] >= 0, inputs.n_positions, 0)
                mask = torch.arange(inputs.places.shape[1], device=n.device) < n[:, None]
                cut = weight[:, : mask.shape[1]]
                weights[question][role] = _without_padding(cut, inputs.places, mask)
    return weights


def _predicted(scale: Scale, raw: Tensor) -> Tensor:
    """The log-probability of the predicted answer, (n,); on an interval scale, its position."""
    family = likelihood(scale)
    if isinstance(family, NormalLikelihood):
        return raw[:, 0]
    logs = family.log_masses(raw)  # (n, n_values); multi-label: (n, n_values, 2)
    if logs.dim() == 3:
        return logs.max(dim=-1).values.sum(dim=-1)
    return logs.gather(1, family.value(raw).unsqueeze(1)).squeeze(1)


def _one_content_each(batch: Batch) -> Batch:
    """The batch with a copy of its content for every item, so that items share no gradient."""
    inputs, content = {}, dict(batch.content)
    for role, shared in batch.inputs.items():
        at = content[role].clamp(min=0)
        inputs[role] = Inputs(
            shared.units[at], shared.lengths[at], shared.n_positions[at], shared.places[at]
        )
        own = torch.arange(len(at), device=at.device)
        content[role] = torch.where(content[role] >= 0, own, -1)
    return replace(batch, inputs=inputs, content=content)


def _vectors(call: dict[str, Tensor]) -> Tensor:
    """The inputs of an encoder's first block if they have the outputs' positions, or the latter."""
    inputs, outputs = call.get("inputs"), call["outputs"]
    same = inputs is not None and inputs.dim() == 3 and inputs.shape[:2] == outputs.shape[:2]
    return inputs if inputs is not None and same else outputs


@contextmanager
def _recording(network: FineTunedNetwork) -> Iterator[list[dict[str, Tensor]]]:
    """Within the block, record the outputs of encoders and the inputs of their first blocks."""
    calls: list[dict[str, Tensor]] = []
    hooks = []

    def before_encoder(module: nn.Module, arguments: Any) -> None:
        calls.append({})

    def before_block(module: nn.Module, arguments: Any, named: Any) -> None:
        vectors = arguments[0] if arguments else named.get("hidden_states")
        if "inputs" not in calls[-1] and isinstance(vectors, Tensor):
            calls[-1]["inputs"] = vectors if vectors.requires_grad else vectors.requires_grad_()

    def after_encoder(module: nn.Module, arguments: Any, outputs: Tensor) -> None:
        calls[-1]["outputs"] = outputs

    for encoder in network.networks:
        hooks.append(encoder.register_forward_pre_hook(before_encoder))
        hooks.append(encoder.register_forward_hook(after_encoder))
        if encoder.blocks:
            first = encoder.blocks[0]
            hooks.append(first.register_forward_pre_hook(before_block, with_kwargs=True))
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()
