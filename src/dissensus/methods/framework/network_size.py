"""The size of a network, known before any memory is taken for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.overrides import TorchFunctionMode

from dissensus.errors import ModelError

MOST_TIMES = 4  # as many numbers as are saved: some are registered twice while a network is built
SMALL = 10**7  # numbers that a network may always have in one tensor


def check_network_size(build: Callable[[], nn.Module], n_weights: int) -> None:
    """Refuse to build a network that is many times larger than its saved weights.

    It is built on torch's meta device, where tensors have a shape but no content, until it is too
    large. A network that reads the content of its first weights cannot be built there, and is not
    checked.
    """
    size = _Size(n_weights)
    hook = register_module_parameter_registration_hook(size.add)
    try:
        with torch.device("meta"), size:
            build()
    except NotImplementedError:  # torch: no content to read
        return
    finally:
        hook.remove()


class _Size(TorchFunctionMode):
    """Counts the numbers in a network while it is built; too many end it."""

    def __init__(self, n_weights: int) -> None:
        super().__init__()
        self.most = MOST_TIMES * n_weights
        self.n_numbers = 0

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor) and result.numel() > max(self.most, SMALL):
            raise _too_large()
        return result

    def add(self, module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        """Count a parameter that a module gets."""
        self.n_numbers += 0 if parameter is None else parameter.numel()
        if self.n_numbers > self.most:
            raise _too_large()


def _too_large() -> ModelError:
    return ModelError("its network would be larger than its weights")
