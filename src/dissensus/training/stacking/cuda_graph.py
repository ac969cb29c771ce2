"""Steps of networks on a GPU, captured as CUDA graphs: the host says once what there is to do."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import torch


def captured(step: Callable[[], None], device: torch.device) -> torch.cuda.CUDAGraph:
    """A step as a graph, to be replayed; nothing is done yet.

    All graphs work in the same memory, which is kept for the next one: to get it anew takes long.
    Nothing stays in it between steps, so that several stacks may share it.
    """
    found = torch.cuda.CUDAGraph()
    with torch.cuda.graph(found, pool=_keeper(device).pool()):
        step()
    return found


@lru_cache(maxsize=8)
def _keeper(device: torch.device) -> torch.cuda.CUDAGraph:
    """Keeps the memory of graphs while there is none."""
    found = torch.cuda.CUDAGraph()
    with torch.cuda.graph(found):
        torch.zeros(1, device=device)
    return found


def give_back() -> None:
    """Give the memory that nothing needs any more back to the device: other processes may need it.
    Does nothing where there is no GPU."""
    _keeper.cache_clear()
    torch.cuda.empty_cache()
