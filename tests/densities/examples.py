"""Observations that several tests share."""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.densities import Grid


def published() -> np.ndarray:
    """The observations whose densities are known to three digits: (200, 2)."""
    i = np.arange(200.0)
    return np.stack([0.25 + 0.5 * np.sin(i), -0.1 + 0.3 * np.cos(1.7 * i)], axis=1)


def crowds(n_items: int, n_annotators: int, n_dimensions: int, seed: int = 0) -> np.ndarray:
    """Ratings by annotators who agree more or less: (n_items, n_annotators, n_dimensions)."""
    generator = np.random.default_rng(seed)
    centre = generator.uniform(-0.8, 0.8, (n_items, 1, n_dimensions))
    width = generator.uniform(0.0, 0.5, (n_items, 1, n_dimensions))
    noise = generator.normal(size=(n_items, n_annotators, n_dimensions))
    return (centre + width * noise).clip(-1, 1)


def tvd(p: Any, q: Any, grid: Grid) -> Any:
    """Half of sum |p - q| over the cells."""
    return abs(p - q).sum(grid.axes) / 2


# Cases in which an estimator could divide by zero, (n_observations, 2)
DEGENERATE = {
    "one observation": np.array([[0.3, -0.2]]),
    "equal observations": np.full((200, 2), 0.3),
    "in a corner": np.ones((200, 2)),
    "in two corners": np.array([[1.0, 1.0], [-1.0, -1.0]] * 100),
    "on a line": np.stack([np.linspace(-1, 1, 200), np.zeros(200)], axis=1),
    "even": np.stack(np.meshgrid(*[np.linspace(-1, 1, 33)] * 2), axis=-1).reshape(-1, 2),
}
