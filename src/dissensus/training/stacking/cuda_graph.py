"""Steps captured as CUDA graphs: the host describes a step once, and the GPU repeats it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import torch
from torch import Tensor

from dissensus.training.stacking.stacked_examples import StackedIndices

Plan = dict[str, Tensor]
Step = Callable[[StackedIndices, Plan, Tensor], Tensor]


class CapturedSteps:
    """The steps of an epoch, replayed from one that was captured."""

    def __init__(self, n_members: int, device: torch.device) -> None:
        self.device = device
        self.at = torch.zeros((), dtype=torch.int64, device=device)  # the next step
        self.sums = torch.zeros(n_members, device=device, dtype=torch.float64)  # of losses
        self.shapes: list[tuple[int, ...]] = []

    def run(self, step: Step, indices: StackedIndices, plan: Plan) -> Tensor:
        """Run all steps of an epoch; returns the sum of each member's losses.

        Args:
            step: one step of every member, returns their losses; must change no weights where the
                plan has no member alive.
        """
        shapes = [tuple(tensor.shape) for tensor in (*indices.tensors(), *plan.values())]
        if shapes != self.shapes:  # captured again where shapes have changed
            self.indices, self.plan, self.shapes = indices, plan, shapes
            self.at.zero_()  # an earlier epoch may have had more steps
            self._warm_up(step)
            self.at.zero_()
            self.graph = capture(lambda: self._next_step(step), self.device)
        else:
            for captured, new in zip(self.indices.tensors(), indices.tensors(), strict=True):
                captured.copy_(new)
            for name, captured in self.plan.items():
                captured.copy_(plan[name])
        self.at.zero_()
        self.sums.zero_()
        for _ in range(len(indices.items)):
            self.graph.replay()
        return self.sums.clone()

    def _warm_up(self, step: Step) -> None:
        """Run a step that changes no weights, so that memory is allocated before the capture."""
        own = {name: self.plan[name].clone() for name in ("alive", "means")}
        for name in own:
            self.plan[name].zero_()
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self._next_step(step)
        torch.cuda.current_stream().wait_stream(side)
        for name, values in own.items():
            self.plan[name].copy_(values)

    def _next_step(self, step: Step) -> None:
        self.sums += step(self.indices, self.plan, self.at)
        self.at += 1


def capture(step: Callable[[], None], device: torch.device) -> torch.cuda.CUDAGraph:
    """A step as a graph that can be replayed; nothing is computed yet.

    All graphs use the same memory pool, which is kept for the next one, since to allocate it takes
    long. Nothing stays in it between steps, so that several stacks may share it.
    """
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=_pool_owner(device).pool()):
        step()
    return graph


@lru_cache(maxsize=8)
def _pool_owner(device: torch.device) -> torch.cuda.CUDAGraph:
    """Keeps the memory pool alive while there is no other graph."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.zeros(1, device=device)
    return graph


def release_memory() -> None:
    """Return unused memory to the GPU, where other processes may need it; nothing without a GPU."""
    _pool_owner.cache_clear()
    torch.cuda.empty_cache()
