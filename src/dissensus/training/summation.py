"""Sums of gradients in one order, so that the same seed gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.utils.deterministic


@contextmanager
def ordered_sums(device: torch.device) -> Iterator[None]:
    """Within the block, the threads of a CPU add the gradients of a row in the same order.

    Otherwise they add them in the order in which they happen to be computed. An item has several
    answers, so `features[item]` has the same row repeatedly. On a GPU nothing is changed; there,
    the order of sums may differ from run to run.
    """
    if device.type != "cpu":
        yield
        return
    enabled = torch.are_deterministic_algorithms_enabled()
    only_warned = torch.is_deterministic_algorithms_warn_only_enabled()
    memory: Any = torch.utils.deterministic
    filled = memory.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True, warn_only=True)
    memory.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(enabled, warn_only=only_warned)
        memory.fill_uninitialized_memory = filled
