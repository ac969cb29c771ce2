"""Pieces of a step of networks side by side as machine code, made by torch's compiler, which makes
one kernel of many operations.

The blocks of an encoder are alike: one of them is traced under vmap and compiled, with its
gradient, and its code serves all others. To compile a whole step at once takes minutes.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn import functional
from torch.utils import _pytree

from dissensus.networks.noise import Key, drawing, present_key, step_table, stepping

TENSOR = "<tensor>"
CODE: dict[Any, tuple[Callable[..., Any], Any]] = {}  # of blocks, and the form of what they give
InDims = tuple[int | None, ...]


class Compiled:
    """A function of tensors, compiled for arguments of the shapes it is called with, once for each.

    It must ask no tensor for its value, gives nothing, and changes arguments in place.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function
        self._known: dict[Any, Callable[..., Any]] = {}

    def __call__(self, *arguments: Tensor) -> None:
        which = tuple((held.shape, held.stride(), held.dtype, held.device) for held in arguments)
        if which not in self._known:
            self._known[which] = self._compiled(arguments)
        self._known[which](*arguments)

    def _compiled(self, arguments: Sequence[Tensor]) -> Callable[..., Any]:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's of itself, while it compiles
            from torch._inductor import compile as compiled

            traced = _traced(self._flat, arguments)
            return compiled(traced, list[Any](arguments))

    def _flat(self, *arguments: Tensor) -> list[Tensor]:
        self.function(*arguments)
        return []


@dataclass(eq=False)
class Call:
    """How a block is called, but for the values of tensors."""

    blocks: CompiledBlocks
    names: tuple[str, ...]  # of its weights
    leaves: list[Any]  # of its arguments; TENSOR in the place of tensors
    form: _pytree.TreeSpec  # of its arguments
    made: _pytree.TreeSpec | None = None  # of what it gives

    def __str__(self) -> str:
        return f"{self.names} {self.leaves} {self.form}"


class CompiledBlocks:
    """The blocks of an encoder, alike but for their weights, run by the code of the first.

    Args:
        half: whether arithmetic is in bf16.
    """

    def __init__(self, blocks: Sequence[nn.Module], half: bool) -> None:
        self.blocks = list(blocks)
        self.half = half
        self.first = copy.deepcopy(self.blocks[0]).train()  # with a forward of its own
        self.starts = [min(_numbers(block), default=0) for block in self.blocks]
        for part in _drawing(self.first):
            part.number -= self.starts[0]  # of a block that stands at 0, wherever this one does
        for kind, forward in SPREAD.items():
            for part in self.first.modules():
                if type(part) is kind:
                    part.forward = partial(forward, part)
        self.form = _form(self.blocks[0])

    @staticmethod
    def alike(blocks: Sequence[nn.Module]) -> bool:
        """Whether one block's code can serve all."""
        return len({_form(block) for block in blocks}) == 1

    @contextmanager
    def running(self) -> Iterator[None]:
        """Within the block of code, the encoder's blocks run compiled, under vmap."""
        for number, block in enumerate(self.blocks):
            block.forward = self._forward(number, block)
        try:
            yield
        finally:
            for block in self.blocks:
                del block.forward

    def _forward(self, number: int, block: nn.Module) -> Callable[..., Any]:
        def forward(*arguments: Any, **named: Any) -> Any:
            leaves, form = _pytree.tree_flatten((arguments, named))
            tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
            leaves = [TENSOR if isinstance(leaf, Tensor) else leaf for leaf in leaves]
            weights = dict(block.named_parameters()) | dict(block.named_buffers())
            call = Call(self, tuple(weights), leaves, form)
            found = _Block.apply(call, self._key(number), *weights.values(), *tensors)  # type: ignore[no-untyped-call]
            assert call.made is not None
            return _pytree.tree_unflatten(list(found), call.made)

        return forward

    def _key(self, number: int) -> Key:
        """What the first block draws from, to draw as the one of this number would."""
        return present_key("dropout") + self.starts[number]

    def run(self, call: Call, in_dims: InDims, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """What a block gives for all members, (n_members, ...) each."""
        shapes = tuple((held.shape, held.dtype, held.requires_grad) for held in tensors)
        device = tensors[0].device
        which = (self.form, self.half, device, in_dims, shapes, str(call))
        arguments = [step_table(device), *tensors]
        with torch.autocast(device.type, enabled=False), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's of itself, while it compiles
            if which not in CODE:
                CODE[which] = self._compiled(call, (None, *in_dims), arguments), call.made
            code, call.made = CODE[which]
            return tuple(code(*arguments))

    def _compiled(self, call: Call, in_dims: InDims, tensors: Sequence[Tensor]) -> Any:
        def alone(steps: Tensor, key: Tensor, *held: Tensor) -> list[Tensor]:
            weights = dict(zip(call.names, held, strict=False))
            rest = iter(held[len(call.names) :])
            leaves = [next(rest) if leaf is TENSOR else leaf for leaf in call.leaves]
            arguments, named = _pytree.tree_unflatten(leaves, call.form)
            half = torch.autocast(key.device.type, torch.bfloat16, self.half)
            with drawing(key), stepping(steps), half:
                found = functional_call(self.first, weights, arguments, named)
            flattened, call.made = _pytree.tree_flatten(found)
            return flattened

        together = vmap(alone, in_dims=in_dims, randomness="error")
        with torch.no_grad():
            traced = _traced(together, tensors)
        return torch.compile(traced, fullgraph=True, dynamic=False)


def _linear(part: nn.Linear, values: Tensor) -> Tensor:
    found = functional.linear(values, part.weight)
    return found if part.bias is None else found + _spread(part.bias, found).to(found.dtype)


def _normed(part: nn.LayerNorm, values: Tensor) -> Tensor:
    found = functional.layer_norm(values, part.normalized_shape, eps=part.eps)
    for name, weights in part.named_parameters():
        spread = _spread(weights, found)
        found = found * spread if name == "weight" else found + spread
    return found


def _spread(weights: Tensor, values: Tensor) -> Tensor:
    """Weights that are added to the vectors of all positions, or scale them: given out to contents
    first, and then to the positions of each. So is their gradient summed, in two steps of which
    each is quick: the compiler sums thousands of positions at once in few threads."""
    if values.dim() != weights.dim() + 2:
        return weights
    return weights.expand(len(values), *weights.shape)[:, None]


SPREAD: dict[type[nn.Module], Callable[..., Tensor]] = {
    nn.Linear: _linear,
    nn.LayerNorm: _normed,
}


class _Block(torch.autograd.Function):
    """A block of one network, which under vmap becomes that block of all networks at once."""

    generate_vmap_rule = False

    @staticmethod
    def forward(call: Call, key: Tensor, *tensors: Tensor) -> tuple[Tensor, ...]:
        raise RuntimeError("compiled blocks run under vmap only")

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None: ...

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], call: Call, *tensors: Tensor
    ) -> tuple[tuple[Tensor, ...], int]:
        moved = [
            held if dim is None else held.movedim(dim, 0)
            for held, dim in zip(tensors, in_dims[1:], strict=True)
        ]
        dims = tuple(None if dim is None else 0 for dim in in_dims[1:])
        return call.blocks.run(call, dims, moved), 0


def _traced(function: Callable[..., Any], arguments: Sequence[Tensor]) -> Any:
    """Its operations as a graph, with vmap resolved."""
    from torch.fx.experimental.proxy_tensor import make_fx  # takes a second

    return make_fx(function, tracing_mode="fake", _allow_non_fake_inputs=True)(*arguments)


def _form(block: nn.Module) -> str:
    """All that a block's code depends on, but for the shapes it meets."""
    shapes = [(n, tuple(p.shape), p.requires_grad) for n, p in block.named_parameters()]
    numbers = _numbers(block)
    configs = {str(part.config) for part in block.modules() if hasattr(part, "config")}
    return f"{block} {shapes} {[n - min(numbers) for n in numbers]} {sorted(configs)}"


def _numbers(block: nn.Module) -> list[int]:
    """Of its parts that draw; see `noise.keyed`."""
    return [part.number for part in _drawing(block)]


def _drawing(block: nn.Module) -> list[Any]:
    return [part for part in block.modules() if hasattr(part, "number")]
