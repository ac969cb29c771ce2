"""Confusion matrices: how an annotator's answers depend on the truth, row by row."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def seen_through(log_truth: Tensor, log_confusion: Tensor) -> Tensor:
    """The logarithm of the distribution of an annotator's answer.

    It is the sum over all true values c of p(c) P(answer | c).

    Args:
        log_truth: of the true value, (n, n_values).
        log_confusion: of the answer (last axis) for each true value, (n, n_values, n_values).
    """
    return (log_truth.unsqueeze(-1) + log_confusion).logsumexp(dim=-2)


def diagonal_logits(n_values: int, share: float) -> Tensor:
    """Logits of a confusion matrix whose answers are right with this probability, and otherwise
    each wrong value with the same, (n_values, n_values)."""
    others = max(1, n_values - 1)
    return torch.eye(n_values) * math.log(share * others / (1 - share))
