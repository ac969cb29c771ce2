"""A network together with the encoders that are fine-tuned with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from dissensus.encoders import EncoderNetwork, Sequence
from dissensus.networks.low_rank import LowRank
from dissensus.networks.noise import dropped, positions_in_batch
from dissensus.training.batch import Batch, Network, Outputs

ATTENTION = "dissensus"  # the name of `attend` in transformers


class FineTunedNetwork(Network):
    """Encodes the distinct contents of a batch, each once, for a method's network.

    Args:
        encoders: the encoder of each role; roles may share one.
        pool: whether the method's network expects one vector per item.
    """

    def __init__(self, inner: Network, encoders: Mapping[str, EncoderNetwork], pool: bool) -> None:
        super().__init__()
        self.inner = inner
        shared = list(dict.fromkeys(encoders.values()))
        self.encoders = nn.ModuleList(shared)
        key_attention(self.encoders)
        self.which = {role: shared.index(of_role) for role, of_role in encoders.items()}
        self.pool = pool

    def forward(self, batch: Batch) -> Outputs:
        return self.inner(self.encoded(batch))

    def encoded(self, batch: Batch) -> Batch:
        """The batch with vectors in place of contents."""
        sequence, pooled = dict(batch.sequence), dict(batch.pooled)
        for role, inputs in batch.inputs.items():
            with positions_in_batch(batch.places.get(f"content.{role}")):
                vectors = self.encoders[self.which[role]](inputs.units, inputs.lengths)
            vectors = vectors[:, : inputs.places.shape[1]].float()
            at = torch.arange(vectors.shape[1], device=vectors.device)
            cut = Sequence(vectors, at < inputs.n_positions[:, None], inputs.places)
            if self.pool:
                pooled[role] = pooled_by_item(cut, batch.content[role], batch.focus.get(role))
            else:
                sequence[role] = cut
        return replace(batch, sequence=sequence, pooled=pooled)

    def prepare(self, pooled: dict[str, Tensor]) -> None:
        self.inner.prepare(pooled)

    def tables(self) -> list[nn.Parameter]:
        return self.inner.tables()

    def pretrained(self) -> dict[nn.Parameter, int]:
        depth: dict[nn.Parameter, int] = {}
        for encoder in self.networks:
            if not encoder.pretrained:
                continue
            blocks = encoder.blocks
            depth |= dict.fromkeys(encoder.parameters(), len(blocks))
            for behind, block in enumerate(reversed(blocks)):
                depth |= dict.fromkeys(block.parameters(), behind)
        for part in self.encoders.modules():  # what LoRA adds is not pretrained
            for added in part.parameters() if isinstance(part, LowRank) else ():
                depth.pop(added, None)
        return {parameter: behind for parameter, behind in depth.items() if parameter.requires_grad}

    @property
    def networks(self) -> list[EncoderNetwork]:
        """The encoders, each once."""
        return [part for part in self.encoders if isinstance(part, EncoderNetwork)]


def pooled_by_item(sequence: Sequence, content: Tensor, focus: Tensor | None) -> Tensor:
    """The mean over each item's focus, or its whole content; zeros without a content.

    Args:
        content: the position in the sequence of each item's content, -1 absent, (n_items,).
        focus: from-to on each axis, nan for the whole content, (n_items, n_axes, 2).
    """
    if focus is None:
        present = (content >= 0).unsqueeze(1)
        pooled = _means(sequence.vectors, sequence.mask.float())[content.clamp(min=0)]
        return torch.where(present, pooled, torch.zeros_like(pooled))
    positions = positions_of_items(sequence, content, focus)
    return _means(sequence.vectors[content.clamp(min=0)], positions.float())


def positions_of_items(sequence: Sequence, content: Tensor, focus: Tensor | None) -> Tensor:
    """The positions of each item's focus, or of its whole content, booleans (n_items, length); none
    without a content. The arguments are those of `pooled_by_item`."""
    present, at = (content >= 0).unsqueeze(1), content.clamp(min=0)
    mask = sequence.mask[at]  # (n_items, length)
    if focus is not None:
        places = sequence.places[at]
        inside = (places[..., 0] < focus[:, None, :, 1]) & (places[..., 1] > focus[:, None, :, 0])
        inside = inside.all(dim=-1) & mask
        mask = torch.where(inside.any(dim=1, keepdim=True), inside, mask)
    return mask & present


def _means(vectors: Tensor, weight: Tensor) -> Tensor:
    total = torch.einsum("nld,nl->nd", vectors, weight)
    return total / weight.sum(dim=1, keepdim=True).clamp(min=1)


# ---- attention of transformers whose dropout draws from the key of the step ----


def attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_: Any,
) -> tuple[Tensor, Tensor]:
    """Scaled dot products, softmax, dropout, mean: (n, heads, length, width) each.

    Args:
        attention_mask: added to the scores.
    """
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    weights = (query @ key.transpose(-1, -2)) * scaling
    if attention_mask is not None:
        weights = weights + attention_mask
    weights = weights.softmax(dim=-1)
    spread = dropped(weights, dropout, module.number) if dropout else weights
    return (spread @ value).transpose(1, 2).contiguous(), weights


def mask_of(**arguments: Any) -> Tensor | None:
    """The mask to add to the scores: 0, or the lowest number where there is padding.

    The function of transformers reads the values of the mask to see whether it is needed, which
    vmap does not allow.
    """
    from transformers.masking_utils import bidirectional_mask_function, eager_mask

    padding = arguments.get("attention_mask")
    plain = arguments.get("mask_function") is bidirectional_mask_function
    if not plain or padding is None or padding.dim() != 2:
        return eager_mask(**arguments | {"allow_is_bidirectional_skip": False})
    dtype = arguments.get("dtype", torch.float32)
    present = padding.to(dtype)[:, None, None, :]
    return (1 - present) * torch.finfo(dtype).min


def key_attention(network: nn.Module) -> None:
    """Let the attention of every transformers model inside draw its dropout from the key of the
    step.

    A model whose heads share keys, or whose attention cannot be replaced, stays as it is: it draws
    from torch's own generator.
    """
    from transformers import AttentionInterface, PreTrainedModel
    from transformers.masking_utils import AttentionMaskInterface

    AttentionInterface.register(ATTENTION, attend)
    AttentionMaskInterface.register(ATTENTION, mask_of)
    for model in network.modules():
        if not isinstance(model, PreTrainedModel) or any(
            getattr(part, "num_key_value_groups", 1) > 1 for part in model.modules()
        ):
            continue
        for part in model.modules():
            if "Attention" in type(part).__name__:
                part.number = 0  # type: ignore[assignment]  # see noise.draw_by_key
        if getattr(model.config, "_attn_implementation", None) == "sdpa":
            model.set_attn_implementation(ATTENTION)
