"""How far a predicted distribution is from a target, per row and in nats, as losses.

All take the target's masses `p` and the logarithms `log_q` of the predicted ones, (..., n), and
give (...); where p has no gradient they are smooth in log_q, also where masses are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

Divergence = Literal["ce", "kl", "inverse-kl", "jsd"]

FLOOR = 1e-6  # least mass of a target that a logarithm is taken of, as in Fornaciari et al.'s data


def cross_entropy(p: Tensor, log_q: Tensor) -> Tensor:
    """The nats it takes to say what people answered, coded for what was predicted."""
    return -(p * log_q).sum(dim=-1)


def kl(p: Tensor, log_q: Tensor) -> Tensor:
    """KL(p || q): the cross-entropy less the target's own entropy, which is a constant."""
    return (torch.xlogy(p, p) - p * log_q).sum(dim=-1)


def inverse_kl(p: Tensor, log_q: Tensor) -> Tensor:
    """KL(q || p): mass where nobody answered is dear; such p count as 1e-6."""
    return (log_q.exp() * (log_q - p.clamp(min=FLOOR).log())).sum(dim=-1)


def jsd(p: Tensor, log_q: Tensor) -> Tensor:
    """The mean of both divergences from the middle of p and q; at most ln 2."""
    q = log_q.exp()
    log_middle = ((p + q) / 2).clamp(min=torch.finfo(q.dtype).tiny).log()
    from_p = torch.xlogy(p, p) - p * log_middle
    return 0.5 * (from_p + q * (log_q - log_middle)).sum(dim=-1)


DIVERGENCES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "ce": cross_entropy,
    "kl": kl,
    "inverse-kl": inverse_kl,
    "jsd": jsd,
}
