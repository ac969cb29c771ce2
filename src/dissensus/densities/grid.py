"""The grid that a density is given on."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any

import numpy as np

from dissensus.errors import DataError


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


def in_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of tensors for arrays too: with arrays, it is computed in float64, and what it
    returns are arrays again."""

    @wraps(function)
    def of_either(observations: Any, *arguments: Any, **settings: Any) -> Any:
        if is_tensor(observations):
            return function(observations, *arguments, **settings)
        import torch

        def tensor(value: Any) -> Any:
            return torch.tensor(value) if isinstance(value, np.ndarray) else value

        values = torch.tensor(np.asarray(observations, dtype=np.float64))
        with torch.no_grad():
            result = function(
                values,
                *map(tensor, arguments),
                **{name: tensor(value) for name, value in settings.items()},
            )
        arrays = [each.numpy() for each in (result if isinstance(result, tuple) else [result])]
        return type(result)(*arrays) if isinstance(result, tuple) else arrays[0]

    return of_either


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


@dataclass(frozen=True, init=False)
class Grid:
    """Equal cells over one question's ratings, or over those of two.

    Args:
        shape: number of cells in each dimension: `(64,)` or 64, `(64, 64)`.
        limits: lowest and highest rating in each dimension; one pair stands for all of them.

    Example:
        >>> grid = Grid((4, 2), limits=[(-1, 1), (0, 10)])
        >>> [centres.tolist() for centres in grid.centres]
        [[-0.75, -0.25, 0.25, 0.75], [2.5, 7.5]]
        >>> grid.n_dimensions, grid.n_cells, grid.cell_size
        (2, 8, 2.5)
    """

    shape: tuple[int, ...]
    limits: tuple[tuple[float, float], ...]  # one pair for each dimension

    def __init__(
        self,
        shape: int | Sequence[int] = (64, 64),
        limits: tuple[float, float] | Sequence[tuple[float, float]] = (-1.0, 1.0),
    ) -> None:
        shape = (shape,) if isinstance(shape, int) else tuple(map(int, shape))
        pairs = np.array(limits, dtype=float).reshape(-1, 2)
        limits = tuple((float(low), float(high)) for low, high in pairs)
        limits = limits * len(shape) if len(limits) == 1 else limits
        if len(shape) not in (1, 2):
            raise DataError(f"a grid has 1 or 2 dimensions, not {len(shape)}")
        if min(shape) < 2:
            raise DataError(f"a grid has at least 2 cells in each dimension, not {min(shape)}")
        if len(limits) != len(shape):
            raise DataError(
                f"a grid of {len(shape)} dimensions needs one pair of limits, or one for each "
                f"dimension, not {len(limits)}"
            )
        for low, high in limits:
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise DataError(
                    f"the limits of a grid are a lower and a higher number, not {low:g} and "
                    f"{high:g}"
                )
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "limits", limits)

    @property
    def n_dimensions(self) -> int:
        return len(self.shape)

    @property
    def n_cells(self) -> int:
        return math.prod(self.shape)

    @property
    def low(self) -> np.ndarray:
        """The lowest rating of each dimension, (n_dimensions,)."""
        return np.array([low for low, _ in self.limits])

    @property
    def high(self) -> np.ndarray:
        """The highest rating of each dimension, (n_dimensions,)."""
        return np.array([high for _, high in self.limits])

    @property
    def range(self) -> np.ndarray:
        """How far apart the limits of each dimension are, (n_dimensions,)."""
        return self.high - self.low

    @property
    def edges(self) -> tuple[np.ndarray, ...]:
        """The edges of the cells of each dimension, (n + 1,) each."""
        return tuple(
            low + (high - low) * np.arange(n + 1) / n
            for n, (low, high) in zip(self.shape, self.limits, strict=True)
        )

    @property
    def centres(self) -> tuple[np.ndarray, ...]:
        """The centres of the cells of each dimension, (n,) each."""
        return tuple(
            low + (high - low) * (np.arange(n) + 0.5) / n
            for n, (low, high) in zip(self.shape, self.limits, strict=True)
        )

    @property
    def cell_size(self) -> float:
        """Length or area of a cell: mass divided by it is the value of the density function."""
        return float(np.prod(self.range / np.array(self.shape)))

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of the cells in an array of densities: the last ones."""
        return tuple(range(-self.n_dimensions, 0))

    def pooled(self, shape: int | Sequence[int]) -> Grid:
        """The coarser grid of this shape over the same limits."""
        return Grid(shape, self.limits)

    def marginal(self, dimension: int) -> Grid:
        """The grid of one of the dimensions."""
        return Grid((self.shape[dimension],), (self.limits[dimension],))
