"""One density after another in float64 with scipy: the cosine transform as an FFT, the root by
Brent's method, formulas as Botev et al. print them. `diffusion.py` does it for many at once."""

from __future__ import annotations

import math

import numpy as np

from dissensus.densities.diffusion import LARGEST, SMALLEST


def reference_times(shares: np.ndarray, n: float, limit: float) -> tuple[np.ndarray, bool]:
    """The diffusion times of a histogram, (n_dimensions,), and whether the equation has a root."""
    from scipy.fft import dctn
    from scipy.optimize import brentq

    power = (dctn(shares) / 2**shares.ndim) ** 2
    for axis, length in enumerate(shares.shape):
        doubled = np.where(np.arange(length) > 0, 2.0, 1.0)
        power *= np.expand_dims(doubled, tuple(a for a in range(shares.ndim) if a != axis))
    error = _error_1d if shares.ndim == 1 else _error_2d
    has_root = error(limit, power, n) < 0
    root = brentq(error, 0, limit, (power, n), xtol=1e-15) if has_root else limit
    if shares.ndim == 1:
        return np.array([root]), has_root
    rough_02, rough_11, rough_20 = _roughness_2d(root, power, n)
    mixed = 4 * np.pi * n * (rough_11 + math.sqrt(rough_02 * rough_20))
    ratio = (rough_20 / rough_02) ** 0.75
    return np.minimum(np.cbrt([ratio / mixed, 1 / ratio / mixed]), LARGEST), has_root


def _error_1d(time: float, power: np.ndarray, n: float) -> float:
    squares = (np.pi * np.arange(len(power))) ** 2
    later = time
    for order in range(7, 1, -1):
        rough = max(float(squares**order * np.exp(-squares * later) @ power), SMALLEST)
        share = (1 + 0.5 ** (order - 0.5)) / 3
        odd = math.prod(range(1, 2 * order - 2, 2)) / math.sqrt(2 * np.pi)
        later = (2 * share * odd / n / rough) ** (2 / (1 + 2 * order))
    return float((2 * n * math.sqrt(np.pi) * rough) ** -0.4 - time)


def _error_2d(time: float, power: np.ndarray, n: float) -> float:
    rough_02, rough_11, rough_20 = _roughness_2d(time, power, n)
    gamma = (2 * np.pi * n * (rough_02 + rough_20 + 2 * rough_11)) ** (-1 / 3)
    return float(time - (time - gamma) / gamma)  # as published: the root of t = g / (1 - g)


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
