"""One density after another in float64 with scipy: the cosine transform as an FFT, the root by
Brent's method, formulas as Botev et al. print them. `diffusion.py` does it for many at once."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dissensus.densities.diffusion import CLIMB, FLATTEST, LARGEST, SMALLEST


def reference_times(shares: np.ndarray, n: float, limit: float) -> tuple[np.ndarray, bool]:
    """The diffusion times of a histogram, (n_dimensions,), and whether the equation has a root.

    Without a root, the times are nan.
    """
    from scipy.fft import dctn

    power = (dctn(shares) / 2**shares.ndim) ** 2
    for axis, length in enumerate(shares.shape):
        doubled = np.where(np.arange(length) > 0, 2.0, 1.0)
        power *= np.expand_dims(doubled, tuple(a for a in range(shares.ndim) if a != axis))
    phi = _phi_1d if shares.ndim == 1 else _phi_2d
    root = _smallest_root(lambda time: phi(time, power, n), limit)
    if root is None or shares.ndim == 1:
        return np.full(shares.ndim, np.nan if root is None else root), root is not None
    rough_02, rough_11, rough_20 = _roughness_2d(root, power, n)
    mixed = 4 * np.pi * n * (rough_11 + math.sqrt(rough_02 * rough_20))
    ratio = (rough_20 / rough_02) ** 0.75
    return np.minimum(np.cbrt([ratio / mixed, 1 / ratio / mixed]), LARGEST), True


def _smallest_root(phi: Callable[[float], float], limit: float) -> float | None:
    """The smallest root of t = phi(t) up to a limit, climbing to it as `diffusion.py` does."""
    from scipy.optimize import brentq

    time = low = phi(0.0)  # the root is not below
    previous = error_before = 0.0
    while low < limit:
        reached = phi(time)
        if reached <= time:
            return float(brentq(lambda t: phi(t) - t, low * (1 - 1e-9), time, xtol=1e-15))
        low = reached
        error = math.log(time / low)
        if error > -1e-9:
            return low
        slope = (error - error_before) / math.log(time / previous) if previous else 1.0
        previous, error_before = time, error
        step = min(-error / min(max(slope, FLATTEST), 1), CLIMB - error)
        time = min(time * math.exp(min(step, 99)), limit)
    return None


def _phi_1d(time: float, power: np.ndarray, n: float) -> float:
    squares = (np.pi * np.arange(len(power))) ** 2
    later = time
    for order in range(7, 1, -1):
        rough = max(float(squares**order * np.exp(-squares * later) @ power), SMALLEST)
        share = (1 + 0.5 ** (order - 0.5)) / 3
        odd = math.prod(range(1, 2 * order - 2, 2)) / math.sqrt(2 * np.pi)
        later = (2 * share * odd / n / rough) ** (2 / (1 + 2 * order))
    return float((2 * n * math.sqrt(np.pi) * rough) ** -0.4)


def _phi_2d(time: float, power: np.ndarray, n: float) -> float:
    rough_02, rough_11, rough_20 = _roughness_2d(time, power, n)
    gamma = (2 * np.pi * n * (rough_02 + rough_20 + 2 * rough_11)) ** (-1 / 3)
    return float(gamma / (1 - gamma)) if gamma < 1 else math.inf  # as published


def _roughness_2d(time: float, power: np.ndarray, n: float) -> tuple[float, float, float]:
    """Of derivatives (0, 2), (1, 1) and (2, 0), from those of fifth order at a time."""
    first, second = ((np.pi * np.arange(length)) ** 2 for length in power.shape)
    times = np.full(6, time)
    for order in range(5, 1, -1):
        rising = np.arange(order + 1)[:, None]
        left = first ** (order - rising) * np.exp(-first * times[:, None])
        right = second**rising * np.exp(-second * times[:, None])
        rough = np.maximum(((left @ power) * right).sum(axis=1), SMALLEST)  # (order + 1,)
        odds = np.array([math.prod(range(1, 2 * i, 2)) for i in range(order)])
        share = (1 + 0.5**order) / 3
        each = share * odds * odds[::-1] / (np.pi * n * (rough[1:] + rough[:-1]))
        times = each ** (1 / (1 + order))
    return float(rough[0]), float(rough[1]), float(rough[2])


def reference_smoothed(shares: np.ndarray, bandwidth: np.ndarray) -> np.ndarray:
    """A histogram after smoothing by a Gaussian kernel of a bandwidth relative to the range."""
    from scipy.fft import dctn, idctn

    kept = dctn(shares)
    for axis, (length, width) in enumerate(zip(shares.shape, bandwidth, strict=True)):
        decay = np.exp(-((np.pi * np.arange(length) * width) ** 2) / 2)
        kept *= np.expand_dims(decay, tuple(a for a in range(shares.ndim) if a != axis))
    return idctn(kept)
