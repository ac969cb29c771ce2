"""Functions for numpy arrays and torch tensors alike. torch is not loaded by them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.errors import DataError

if TYPE_CHECKING:
    from dissensus.densities.grid import Grid


def is_tensor(values: object) -> bool:
    """Whether this is a torch tensor."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def namespace(values: object) -> Any:
    """torch for a tensor, numpy for everything else: `where`, `log`, `sqrt`, ..."""
    return sys.modules["torch"] if is_tensor(values) else np


def floats(values: Any) -> Any:
    """A tensor or an array of floats as it is; other numbers as an array of float64."""
    if is_tensor(values):
        return values
    array = np.asarray(values)
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)


def table(values: Any, build: Callable[..., np.ndarray], *arguments: Any) -> Any:
    """The constants `build(*arguments)` as an array or a tensor of the kind of `values`.

    They are cached for each device: a CUDA graph that is captured cannot copy them there.
    """
    if is_tensor(values):
        return _tensor(values.dtype, values.device, build, *arguments)
    return _array(build, *arguments)


def numbers(values: Any, constants: Any) -> Any:
    """A few numbers as an array or a tensor of the kind of `values`."""
    return table(values, _numbers, *np.asarray(constants, dtype=float).tolist())


def check_observations(observations: Any, grid: Grid) -> None:
    """Refuse observations that do not have the dimensions of the grid."""
    shape = tuple(observations.shape)
    if len(shape) < 2 or shape[-1] != grid.n_dimensions:
        raise DataError(
            f"observations on a grid of {grid.n_dimensions} dimensions have the shape "
            f"(..., n_observations, {grid.n_dimensions}), not {shape}"
        )


def check_densities(grid: Grid, *densities: Any) -> None:
    """Refuse densities that do not have the shape of the grid."""
    for density in densities:
        shape = tuple(density.shape)
        if shape[-grid.n_dimensions :] != grid.shape:
            wanted = ", ".join(map(str, grid.shape))
            raise DataError(f"densities on this grid have the shape (..., {wanted}), not {shape}")


def _numbers(*constants: float) -> np.ndarray:
    return np.array(constants)


@lru_cache(maxsize=256)
def _array(build: Callable[..., np.ndarray], *arguments: Any) -> np.ndarray:
    constants = build(*arguments)
    constants.setflags(write=False)
    return constants


@lru_cache(maxsize=256)
def _tensor(dtype: Any, device: Any, build: Callable[..., np.ndarray], *arguments: Any) -> Any:
    torch = sys.modules["torch"]
    constants = build(*arguments)
    kind = dtype if np.issubdtype(constants.dtype, np.floating) else torch.int64
    with torch.inference_mode(False):  # a later call may need a gradient
        return torch.as_tensor(constants, dtype=kind, device=device)
