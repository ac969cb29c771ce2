"""Compiled parts of a step of a stack; torch's compiler joins many operations into one kernel.

The blocks of an encoder differ only in their weights: one of them is traced under vmap and compiled
with its gradient, and all others use its code. To compile a whole step at once takes minutes.
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

from dissensus.networks.noise import drawing, present_key, step_table, stepping

TENSOR = "<tensor>"
CODE: dict[Any, tuple[Callable[..., Any], Any]] = {}  # of blocks, and the form of their outputs
InDims = tuple[int | None, ...]


class Compiled:
    """A function of tensors, compiled once for each combination of shapes.

    It must read no value of a tensor, returns nothing, and changes its arguments in place.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function
        self._known: dict[Any, Callable[..., Any]] = {}

    def __call__(self, *arguments: Tensor) -> None:
        which = tuple(
            (tensor.shape, tensor.stride(), tensor.dtype, tensor.device) for tensor in arguments
        )
        if which not in self._known:
            self._known[which] = self._compiled(arguments)
        self._known[which](*arguments)

    def _compiled(self, arguments: Sequence[Tensor]) -> Callable[..., Any]:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns about itself while it compiles
            from torch._inductor import compile as compiled

            def flat(*tensors: Tensor) -> list[Tensor]:
                self.function(*tensors)
                return []

            return compiled(_traced(flat, arguments), list[Any](arguments))


@dataclass(eq=False)
class Call:
    """How a block is called, without the values of tensors."""

    blocks: CompiledBlocks
    names: tuple[str, ...]  # of its weights
    leaves: list[Any]  # of its arguments; TENSOR in place of tensors
    form: _pytree.TreeSpec  # of its arguments
    outputs: _pytree.TreeSpec | None = None  # of its outputs

    def __str__(self) -> str:
        return f"{self.names} {self.leaves} {self.form}"


class CompiledBlocks:
    """The blocks of an encoder, which differ only in their weights, run by the code of the first.

    Args:
        half: whether arithmetic is in bf16.
    """

    def __init__(self, blocks: Sequence[nn.Module], half: bool) -> None:
        self.blocks = list(blocks)
        self.half = half
        self.first = copy.deepcopy(self.blocks[0]).train()  # with a forward of its own
        self.starts = [min(_numbers(block), default=0) for block in self.blocks]
        for part in _drawing(self.first):
            part.number -= self.starts[0]  # as if it were the first part of a network
        for kind, forward in SPREAD.items():
            for part in self.first.modules():
                if type(part) is kind:
                    part.forward = partial(forward, part)
        self.form = _form(self.blocks[0])

    @staticmethod
    def same_code(blocks: Sequence[nn.Module]) -> bool:
        """Whether all blocks can use the code of one."""
        return len({_form(block) for block in blocks}) == 1

    @contextmanager
    def running(self) -> Iterator[None]:
        """Within this context, the encoder's blocks run compiled, under vmap."""
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
            key = present_key("dropout") + self.starts[number]  # draws as the block of this number
            outputs = _Block.apply(call, key, *weights.values(), *tensors)  # type: ignore[no-untyped-call]
            assert call.outputs is not None
            return _pytree.tree_unflatten(list(outputs), call.outputs)

        return forward

    def run(self, call: Call, in_dims: InDims, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The outputs of a block for all members, (n_members, ...) each."""
        shapes = tuple((tensor.shape, tensor.dtype, tensor.requires_grad) for tensor in tensors)
        device = tensors[0].device
        which = (self.form, self.half, device, in_dims, shapes, str(call))
        arguments = [step_table(device), *tensors]
        with torch.autocast(device.type, enabled=False), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns about itself while it compiles
            if which not in CODE:
                CODE[which] = self._compiled(call, (None, *in_dims), arguments), call.outputs
            code, call.outputs = CODE[which]
            return tuple(code(*arguments))

    def _compiled(self, call: Call, in_dims: InDims, tensors: Sequence[Tensor]) -> Any:
        def alone(steps: Tensor, key: Tensor, *values: Tensor) -> list[Tensor]:
            weights = dict(zip(call.names, values, strict=False))
            rest = iter(values[len(call.names) :])
            leaves = [next(rest) if leaf is TENSOR else leaf for leaf in call.leaves]
            arguments, named = _pytree.tree_unflatten(leaves, call.form)
            half = torch.autocast(key.device.type, torch.bfloat16, self.half)
            with drawing(key), stepping(steps), half:
                outputs = functional_call(self.first, weights, arguments, named)
            flattened, call.outputs = _pytree.tree_flatten(outputs)
            return flattened

        of_all = vmap(alone, in_dims=in_dims, randomness="error")
        with torch.no_grad():
            traced = _traced(of_all, tensors)
        return torch.compile(traced, fullgraph=True, dynamic=False)


def _linear(part: nn.Linear, values: Tensor) -> Tensor:
    outputs = functional.linear(values, part.weight)
    bias: Tensor | None = part.bias
    return outputs if bias is None else outputs + _spread(bias, outputs).to(outputs.dtype)


def _normed(part: nn.LayerNorm, values: Tensor) -> Tensor:
    outputs = functional.layer_norm(values, part.normalized_shape, eps=part.eps)
    for name, weights in part.named_parameters():
        spread = _spread(weights, outputs)
        outputs = outputs * spread if name == "weight" else outputs + spread
    return outputs


def _spread(weights: Tensor, values: Tensor) -> Tensor:
    """Weights that are added to the vectors of all positions, or scale them, broadcast to contents
    first and then to the positions of each. Their gradient is then summed in two quick steps: the
    compiler sums thousands of positions at once in few threads."""
    if values.dim() != weights.dim() + 2:
        return weights
    return weights.expand(len(values), *weights.shape)[:, None]


SPREAD: dict[type[nn.Module], Callable[..., Tensor]] = {nn.Linear: _linear, nn.LayerNorm: _normed}


class _Block(torch.autograd.Function):
    """A block of one network, which under vmap is that block of all networks at once."""

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
            tensor if dim is None else tensor.movedim(dim, 0)
            for tensor, dim in zip(tensors, in_dims[1:], strict=True)
        ]
        dims = tuple(None if dim is None else 0 for dim in in_dims[1:])
        return call.blocks.run(call, dims, moved), 0


def _traced(function: Callable[..., Any], arguments: Sequence[Tensor]) -> Any:
    """The operations of a function as a graph, without vmap."""
    from torch.fx.experimental.proxy_tensor import make_fx  # takes a second

    return make_fx(function, tracing_mode="fake", _allow_non_fake_inputs=True)(*arguments)


def _form(block: nn.Module) -> str:
    """All that the code of a block depends on, apart from shapes of its arguments."""
    shapes = [(n, tuple(p.shape), p.requires_grad) for n, p in block.named_parameters()]
    numbers = _numbers(block)
    configs = {str(part.config) for part in block.modules() if hasattr(part, "config")}
    return f"{block} {shapes} {[n - min(numbers) for n in numbers]} {sorted(configs)}"


def _numbers(block: nn.Module) -> list[int]:
    return [part.number for part in _drawing(block)]


def _drawing(block: nn.Module) -> list[Any]:
    return [part for part in block.modules() if hasattr(part, "number")]
