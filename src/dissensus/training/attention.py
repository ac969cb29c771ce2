"""Attention for models of transformers whose dropout draws from the key of the step."""

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

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, mask_of)
    for model in network.modules():
        if not isinstance(model, PreTrainedModel) or any(
            getattr(part, "num_key_value_groups", 1) > 1 for part in model.modules()
        ):
            continue
        for part in model.modules():
            if "Attention" in type(part).__name__:
                part.number = 0  # type: ignore[assignment]  # see noise.draw_by_key
        if getattr(model.config, "_attn_implementation", None) == "sdpa":
            model.set_attn_implementation(NAME)
