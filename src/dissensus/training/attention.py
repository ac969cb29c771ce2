"""Attention of transformers' models with counted dropout, so that a step depends on its key."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from dissensus.networks.noise import dropped

NAME = "dissensus"


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


def mask_of(**given: Any) -> Tensor | None:
    """What is added to the scores: nothing, or very little where there is only padding.

    transformers' own looks into the mask to see whether it is needed, which a network among
    others side by side cannot.
    """
    from transformers.masking_utils import bidirectional_mask_function, eager_mask

    padding = given.get("attention_mask")
    plain = given.get("mask_function") is bidirectional_mask_function
    if not plain or padding is None or padding.dim() != 2:
        return eager_mask(**given | {"allow_is_bidirectional_skip": False})
    kind = given.get("dtype", torch.float32)
    there = padding.to(kind)[:, None, None, :]
    return (1 - there) * torch.finfo(kind).min


def key_attention(network: nn.Module) -> None:
    """Let every transformer inside draw its attention's dropout from the key of the step.

    A model whose heads share keys, or that cannot change how it attends, is left as it is; it
    draws from torch's own generator.
    """
    from transformers import AttentionInterface, PreTrainedModel
    from transformers.masking_utils import AttentionMaskInterface

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, mask_of)
    for model in network.modules():
        if not isinstance(model, PreTrainedModel) or any(
            getattr(part, "num_key_value_groups", 1) > 1 for part in model.modules()
        ):
            continue
        for part in model.modules():
            if "Attention" in type(part).__name__:
                part.number = 0  # type: ignore[assignment]  # see noise.keyed
        if getattr(model.config, "_attn_implementation", None) == "sdpa":
            model.set_attn_implementation(NAME)
