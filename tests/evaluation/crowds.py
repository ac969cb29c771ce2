"""Scores of two methods as they come: items of shared difficulty, seeds with an effect."""

from __future__ import annotations

import numpy as np


def scores(
    generator: np.random.Generator,
    n_runs: int,
    n_items: int,
    better: float = 0.0,
    seed_spread: float = 0.15,
    group_size: int = 1,
    group_spread: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Right or wrong, (n_runs, n_items), of two methods; `better` helps the first, in logits."""
    groups = np.arange(n_items) // group_size
    hard = generator.normal(1, 1.5, n_items)
    results = []
    for lead in (better, 0.0):
        of_method = generator.normal(0, 0.6, n_items)
        of_method += group_spread * generator.normal(size=groups.max() + 1)[groups]
        of_seed = generator.normal(0, seed_spread, (n_runs, 1))
        noise = generator.normal(0, 0.7, (n_runs, n_items))
        results.append((hard + of_method + of_seed + noise + lead > 0).astype(float))
    return results[0], results[1]
