"""Does the density of ratings on one question keep two modes apart?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from cells import Cell

from dissensus.densities import Grid, diffusion_kde

GRID = Grid(64)
WIDE = 0.3  # a bandwidth at which modes at +-.5 are one


def normal(places: np.ndarray, centre: float, width: float) -> np.ndarray:
    return np.exp(-(((places - centre) / width) ** 2) / 2) / (width * np.sqrt(2 * np.pi))


def two_modes(generator: np.random.Generator, n: int) -> np.ndarray:
    return generator.choice([-0.5, 0.5], n) + generator.normal(scale=0.1, size=n)


def one_mode(generator: np.random.Generator, n: int) -> np.ndarray:
    return generator.normal(0.1, 0.2, n)


def skewed(generator: np.random.Generator, n: int) -> np.ndarray:
    return 2 * generator.beta(2, 6, n) - 1


DENSITIES: dict[Callable[..., np.ndarray], Callable[[np.ndarray], np.ndarray]] = {
    two_modes: lambda at: (normal(at, -0.5, 0.1) + normal(at, 0.5, 0.1)) / 2,
    one_mode: lambda at: normal(at, 0.1, 0.2),
    skewed: lambda at: 42 * ((1 + at) / 2) * ((1 - at) / 2) ** 5 / 2,  # beta(2, 6) on [-1, 1]
}
BARS = {(two_modes, n): f"at most {bar}, as scipy's" for n, bar in ((10, 0.75), (100, 0.43))}


def is_wide(generator: np.random.Generator, n: int) -> float:
    estimate = diffusion_kde(two_modes(generator, n)[:, None], GRID)
    return float(estimate.bandwidth[0] > WIDE)


def squared_error(
    generator: np.random.Generator, sample: Callable[..., np.ndarray], n: int
) -> float:
    """The integral of the squared difference to the true density."""
    mass = diffusion_kde(sample(generator, n)[:, None].clip(-1, 1), GRID).density
    difference = mass / GRID.cell_size - DENSITIES[sample](GRID.centres[0])
    return float((difference**2).sum() * GRID.cell_size)


CELLS = tuple(
    Cell(
        f"{n} opinions at +-.5",
        f"samples with a bandwidth above {WIDE}",
        "at most 0.05",
        partial(is_wide, n=n),
    )
    for n in (10, 30, 100)
) + tuple(
    Cell(
        f"{n} opinions, {sample.__name__.replace('_', ' ')}",
        "integrated squared error",
        BARS.get((sample, n), "as before"),
        partial(squared_error, sample=sample, n=n),
    )
    for sample in DENSITIES
    for n in (10, 100)
)
