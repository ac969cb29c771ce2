"""Divergences between a target distribution and a predicted one, in nats, as losses.

All take the masses `p` of the target and the logarithms `log_q` of the predicted ones, (..., n),
and return (...). Without a gradient of p they are smooth in log_q, also where masses are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

Divergence = Literal["ce", "kl", "inverse-kl", "jsd"]

FLOOR = 1e-6  # least mass of a target that a logarithm is taken of, as in Fornaciari et al.'s data


def cross_entropy(p: Tensor, log_q: Tensor) -> Tensor:
    """The negative log-likelihood of the target under the prediction."""
    return -(p * log_q).sum(dim=-1)


def kl(p: Tensor, log_q: Tensor) -> Tensor:
    """KL(p || q): the cross-entropy minus the entropy of the target, which is a constant."""
    return (torch.xlogy(p, p) - p * log_q).sum(dim=-1)


def inverse_kl(p: Tensor, log_q: Tensor) -> Tensor:
    """KL(q || p): high where q has mass and p has none; p is at least 1e-6."""
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
