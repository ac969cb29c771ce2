"""Steps of networks on a GPU, captured as CUDA graphs: the host says once what there is to do."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import torch


@contextmanager
def capturing(graph: torch.cuda.CUDAGraph, device: torch.device) -> Iterator[None]:
    """As torch.cuda.graph, which gives all memory that is free back to the device before; to get it
    anew takes long. Meanwhile no garbage is collected: it may hold older graphs."""
    pool = _keeper(device).pool()
    torch.cuda.synchronize(device)
    collects = gc.isenabled()
    gc.disable()
    try:
        with torch.cuda.stream(side_stream(device)):
            graph.capture_begin(pool=pool)
            try:
                yield
            finally:
                graph.capture_end()
    finally:
        if collects:
            gc.enable()


@lru_cache(maxsize=8)
def side_stream(device: torch.device) -> torch.cuda.Stream:
    """The default stream cannot be captured."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]


@lru_cache(maxsize=8)
def _keeper(device: torch.device) -> torch.cuda.CUDAGraph:
    """Keeps the memory that captured steps work in, for the next stack. Nothing stays in it between
    steps, so that several stacks may share it."""
    found = torch.cuda.CUDAGraph()
    with torch.cuda.graph(found):
        torch.zeros(1, device=device)
    return found


def give_back() -> None:
    """Give the memory that nothing needs any more back to the device: other processes may need it.
    Does nothing where there is no GPU."""
    _keeper.cache_clear()
    torch.cuda.empty_cache()
