"""A function of tensors as machine code: traced once, with vmap and gradients resolved, and
compiled by torch's inductor, which makes one kernel of many operations."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree


class Compiled:
    """A function compiled for arguments of the shapes it is called with, once for each.

    It must ask no tensor for its value, and may change arguments in place. What it reads beside
    its arguments is taken as it is at the first call.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._known: dict[Any, tuple[Callable[..., Any], _pytree.TreeSpec]] = {}

    def __call__(self, *arguments: Any) -> Any:
        leaves, form = _pytree.tree_flatten(arguments)
        shapes = tuple((held.shape, held.dtype) for held in leaves)
        if shapes not in self._known:
            self._known[shapes] = self._compiled(leaves, form)
        run, made = self._known[shapes]
        return _pytree.tree_unflatten(list(run(*leaves)), made)

    def _compiled(
        self, leaves: list[Tensor], form: _pytree.TreeSpec
    ) -> tuple[Callable[..., Any], _pytree.TreeSpec]:
        from torch._inductor import compile as compiled
        from torch.fx.experimental.proxy_tensor import make_fx

        forms = []

        def flat(*leaves: Tensor) -> list[Tensor]:
            found = self.function(*_pytree.tree_unflatten(list(leaves), form))
            flattened, made = _pytree.tree_flatten(found)
            forms.append(made)
            return flattened

        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what torch deprecates in itself
            traced = make_fx(flat, tracing_mode="fake", _allow_non_fake_inputs=True)(*leaves)
            return compiled(traced, list[Any](leaves)), forms[0]
