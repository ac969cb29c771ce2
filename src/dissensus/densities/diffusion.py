"""The bandwidth of the diffusion KDE for many densities at once, in torch, with its gradient.

Botev, Grotowski and Kroese (2010), doi:10.1214/10-AOS799: the best bandwidth is a root of
t = phi(t), where phi follows from the roughness of the density, which a chain of higher and higher
derivatives estimates. If there are several roots, it is the smallest: a larger one smooths modes
away. A *time* is the square of a bandwidth relative to the range of the grid. Times and roughness
are kept as logarithms, so that float32 suffices.

The root is found for all densities together in a fixed number of steps, and no value is read on the
host: the work can be vmapped, and captured in a CUDA graph. The gradient is that of the implicit
function theorem; it does not depend on how the root was found.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dissensus.densities.grid import numbers, table

if TYPE_CHECKING:
    from torch import Tensor

UNIT = 64 * math.pi**2  # squared frequencies are divided by it: float32 then holds their powers
SMALLEST = 1e-30  # of a roughness: below it, a density is flat
LARGEST = 1.0  # of a time that is returned: the bandwidth is the range of the grid
NEVER = -60.0  # the logarithm of a time at which nothing is smoothed
CLIMB = 0.5  # how far above a bound of the root its logarithm is looked for
FLATTEST = 0.02  # slope of t - phi(t), on logarithms, that a step relies on
REACHED = 0.01  # how far from the bound the search may be at its end
DEEPEST = {1: 7, 2: 5}  # order of the chain's first derivatives, by number of dimensions


class Times(NamedTuple):
    """The diffusion times of densities."""

    times: Tensor  # (..., n_dimensions); of no use without a root
    has_root: Tensor  # (...), bool


def diffusion_times(
    coefficients: Tensor, n_dimensions: int, n: float, limit: float, iterations: int
) -> Times:
    """How long to smooth each density along each dimension.

    Args:
        coefficients: cosine coefficients of histograms, (..., K) or (..., K, L).
        n: number of observations.
        limit: the root is looked for below this time.
        iterations: steps of the search.
    """
    import torch

    doubled = table(coefficients, _doubled, *coefficients.shape[-n_dimensions:])
    power = coefficients * coefficients * doubled
    log_n = math.log(n)

    def rough(log_time: Tensor) -> Tensor:
        return _roughness(power, log_time, n_dimensions, log_n)

    def phi(roughness: Tensor) -> Tensor:
        return _log_phi(roughness, n_dimensions, log_n)

    difference = 3 * math.sqrt(torch.finfo(power.dtype).eps)
    with torch.no_grad():
        start, has_root = _root(lambda t: phi(rough(t)), power, n_dimensions, limit, iterations)
        later = rough(start + difference)
    roughness = rough(start)
    with torch.no_grad():  # derivatives with respect to the logarithm of the time
        growth = (later - roughness) / difference  # (..., 1 or 3)
        slope = 1 - (phi(later) - phi(roughness)) / difference
        slope = torch.where(has_root, slope, 1).clamp(min=FLATTEST)
    step = torch.where(has_root, (phi(roughness) - start) / slope, 0)  # a Newton step: its gradient
    if n_dimensions == 1:  # is that of the root
        return Times((start + step).exp().unsqueeze(-1), has_root)
    log_02, log_11, log_20 = (roughness + growth * step.unsqueeze(-1)).unbind(-1)
    mixed = torch.logaddexp(log_11, (log_02 + log_20) / 2)
    common = -(math.log(4 * math.pi * UNIT**2) + log_n) - mixed
    ratio = 0.75 * (log_20 - log_02)
    log_times = torch.stack([common + ratio, common - ratio], dim=-1) / 3
    return Times(log_times.clamp(max=math.log(LARGEST)).exp(), has_root)


def _doubled(*n_frequencies: int) -> np.ndarray:
    """How often a squared coefficient counts: 2 for each dimension of which it is no constant."""
    factors = np.ones(())
    for n in n_frequencies:
        factors = factors[..., None] * np.where(np.arange(n) > 0, 2.0, 1.0)
    return factors


def _negative_squares(n_frequencies: int) -> np.ndarray:
    return -((math.pi * np.arange(n_frequencies)) ** 2)


def _powers(n_frequencies: int, *orders: int) -> np.ndarray:
    """Squared frequencies to the power of each order: (n_orders, n_frequencies)."""
    squares = (math.pi * np.arange(n_frequencies)) ** 2 / UNIT
    return squares ** np.array(orders)[:, None]


def _roughness(power: Tensor, log_time: Tensor, n_dimensions: int, log_n: Any) -> Tensor:
    """Logarithms of the roughness of second order, (..., 1); in two dimensions (..., 3), of
    derivatives (0, 2), (1, 1) and (2, 0). They are to be multiplied by UNIT**2."""
    order = DEEPEST[n_dimensions]
    times = log_time.exp()[..., None]  # the same for all derivatives of the first order
    while True:
        rough = _derivatives(power, times, order, n_dimensions)
        if order == 2:
            return rough.clamp(min=SMALLEST).log()
        order -= 1
        if n_dimensions == 2:
            rough = rough[..., 1:] + rough[..., :-1]  # (..., order + 1)
        times = _times(rough.clamp(min=SMALLEST), order, n_dimensions, log_n)


def _derivatives(power: Tensor, times: Tensor, order: int, n_dimensions: int) -> Tensor:
    """Squared norms of derivatives of one order, each at its own time: (..., n_derivatives)."""
    times = times[..., None]
    n_last = power.shape[-1]
    last = decay(times * table(power, _negative_squares, n_last))  # (..., n_derivatives, L)
    if n_dimensions == 1:
        return (last * table(power, _powers, n_last, order) * power[..., None, :]).sum(dim=-1)
    n_first = power.shape[-2]
    first = last
    if n_first != n_last:
        first = decay(times * table(power, _negative_squares, n_first))
    rising = tuple(range(order + 1))
    falling = table(power, _powers, n_first, *rising[::-1])
    along = (first * falling) @ power  # (..., n_derivatives, L)
    return (along * last * table(power, _powers, n_last, *rising)).sum(dim=-1)


def _times(rough: Tensor, order: int, n_dimensions: int, log_n: Any) -> Tensor:
    """The best times for derivatives of an order, given the roughness of the order above."""
    if isinstance(log_n, float):
        constants = table(rough, _constants, order, n_dimensions, log_n)
    else:
        constants = table(rough, _constants, order, n_dimensions, 0.0) - log_n[..., None]
    exponent = 2 / (3 + 2 * order) if n_dimensions == 1 else 1 / (2 + order)
    return ((constants - rough.log()) * exponent).exp()


def _constants(order: int, n_dimensions: int, log_n: float) -> np.ndarray:
    """Logarithms of what roughness is divided into to give a power of the best time."""
    if n_dimensions == 1:
        share = (1 + 0.5 ** (order + 0.5)) / 3
        factors = [2 * share * _odd(order) / math.sqrt(2 * math.pi)]
    else:
        share = (1 + 0.5 ** (order + 1)) / 3
        factors = [share * _odd(i) * _odd(order - i) / math.pi for i in range(order + 1)]
    return np.log(factors) - (order + 1) * math.log(UNIT) - log_n


def _odd(order: int) -> int:
    """The product of the odd numbers below 2 * order."""
    return math.prod(range(1, 2 * order, 2))


def _log_phi(log_rough: Tensor, n_dimensions: int, log_n: Any) -> Tensor:
    """The logarithm of phi(t); in two dimensions of gamma / (1 - gamma), as published."""
    import torch

    if n_dimensions == 1:
        log_rough = log_rough.squeeze(-1)
        return (math.log(2 * math.sqrt(math.pi) * UNIT**2) + log_n + log_rough) * -0.4
    log_sum = (log_rough + numbers(log_rough, [0.0, math.log(2), 0.0])).logsumexp(dim=-1)
    log_gamma = (math.log(2 * math.pi * UNIT**2) + log_n + log_sum) / -3
    log_gamma = log_gamma.clamp(max=-1e-3)  # at 0 there is no root anyway
    return log_gamma - torch.log(-torch.expm1(log_gamma))


def _root(
    log_phi: Callable[[Tensor], Tensor],
    power: Tensor,
    n_dimensions: int,
    limit: float,
    iterations: int,
) -> tuple[Tensor, Tensor]:
    """The logarithm of the smallest root of t = phi(t) below the limit, and whether there is one.

    phi grows with t, so that no root is below phi(0), nor between t and phi(t). The search climbs
    from phi(0) by secant steps on logarithms, which end at most `CLIMB` above phi(t). Above the
    root, phi(t) is between it and t: a bracket. A step out of it is replaced by half of it.
    """
    import torch

    highest = math.log(limit)
    previous = power.new_full(power.shape[: power.dim() - n_dimensions], NEVER)
    low = log_phi(previous).clamp(max=highest)  # the root is not below
    high = torch.full_like(low, highest)  # nor above, if there is one
    at, error_before = low, previous - low
    bracketed = torch.zeros_like(low, dtype=torch.bool)
    for _ in range(iterations):
        reached = log_phi(at)
        error = at - reached
        above = error > 0
        high = torch.where(above, torch.minimum(high, reached), high)
        low = torch.where(above, low, torch.maximum(low, reached))
        bracketed = bracketed | above
        distance = at - previous
        slope = (error - error_before) / torch.where(distance == 0, 1, distance)
        slope = torch.where(distance == 0, 1, slope).clamp(min=FLATTEST, max=1)
        following = at - error / slope
        inside = torch.where((following >= low) & (following <= high), following, (low + high) / 2)
        climbed = torch.minimum(following, low + CLIMB).clamp(max=highest)
        previous, error_before = at, error
        at = torch.where(bracketed, inside, climbed)
    return at, (low < highest) & (bracketed | (at < low + REACHED))


# ---- the cosine transform as a product with a matrix: for many small grids faster than an FFT ----


def cosines(n: int) -> np.ndarray:
    """Row k has the values of the k-th cosine in the n cells: (n, n)."""
    return np.cos(math.pi * np.arange(n)[:, None] * (np.arange(n) + 0.5) / n)


def inverse_cosines(n: int) -> np.ndarray:
    """The inverse of `cosines`: (n, n)."""
    return (cosines(n) * np.where(np.arange(n) > 0, 2 / n, 1 / n)[:, None]).T


def transformed(values: Tensor, n_dimensions: int, matrix: Callable[[int], np.ndarray]) -> Tensor:
    """Cosine coefficients of masses (`cosines`), or masses of coefficients (`inverse_cosines`), of
    the same shape, (..., n) or (..., n, m)."""
    along = values @ table(values, matrix, values.shape[-1]).T
    if n_dimensions == 1:
        return along
    return table(values, matrix, values.shape[-2]) @ along


def decay(exponents: Tensor) -> Tensor:
    """exp of numbers that are not positive; 0 below the square of the machine epsilon.

    Numbers near the smallest that a type has are ten times as slow to compute with.
    """
    import torch

    least = torch.finfo(exponents.dtype).eps ** 2
    return torch.threshold(exponents.clamp(min=math.log(least) - 1).exp(), least, 0)
