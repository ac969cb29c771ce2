"""The densities of the ratings that annotators gave to the items of a corpus."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from dissensus.corpus import Corpus
from dissensus.densities.grid import Grid
from dissensus.densities.kde import diffusion_kde
from dissensus.densities.observations import draw_observations, n_uniforms
from dissensus.densities.readouts import pool
from dissensus.errors import DataError
from dissensus.prediction import JointDensity
from dissensus.progress import progress
from dissensus.scales import Interval, Ordinal, Scale

FEWEST = 2  # ratings of an item with a density
AT_ONCE = 64  # densities, on a GPU
MOST_REMEMBERED = 1 << 16

Ratings = tuple[tuple[float, ...], ...]  # of one item, sorted
Key = tuple[Ratings, int, int, int]  # ratings, bins, cells, observations
_densities: dict[Key, np.ndarray] = {}  # so that folds and fits of a corpus share them


def rating_densities(
    corpus: Corpus,
    questions: Sequence[str],
    bins: int = 4,
    *,
    cells: int = 256,
    observations: int = 200,
    fewest: int = FEWEST,
) -> JointDensity:
    """The density of the ratings of each item, over one question or two.

    Observations are drawn from the ratings as in `draw_observations`, smoothed by `diffusion_kde`
    and pooled. The random numbers depend on the ratings of the item alone, not on their order:
    items with the same ratings have the same density, in any corpus.

    Args:
        bins: cells of the result, for each question.
        cells: cells of the histogram, for each question. The paper has 512; 256 changes the mass of
            a cell by .001 or less.
        fewest: ratings of an item; items with fewer are left out.

    Example:
        >>> from dissensus import simulate
        >>> corpus = simulate.ratings(n_items=20, seed=1)
        >>> rating_densities(corpus, ["valence", "activation"], bins=4)
        <JointDensity of valence x activation: 20 items, 4 x 4 cells>

    Reference: Tavernor, El-Tawil & Mower Provost (2024), arXiv:2408.11956.
    """
    scales = [corpus[question].scale for question in questions]
    joint = corpus.joint(*questions)
    positions = np.stack(
        [unit_positions(q, s, joint.answers[q]) for q, s in zip(questions, scales, strict=True)],
        axis=1,
    )
    order = np.argsort(joint.item, kind="stable")
    items, starts = np.unique(joint.item[order], return_index=True)
    ratings = np.split(positions[order], starts[1:])
    kept = [n for n, each in enumerate(ratings) if len(each) >= fewest]
    settings = bins, cells, observations
    keys = [(_sorted(ratings[n]), *settings) for n in kept]
    if len(_densities) + len(keys) > MOST_REMEMBERED:
        _densities.clear()
    _remember([key for key in dict.fromkeys(keys) if key not in _densities])
    mass = [_densities[key] for key in keys]
    shape = (bins,) * len(scales)
    return JointDensity(
        tuple(questions),
        tuple(scales),
        corpus.items.take(items[kept]),
        np.array(mass).reshape(len(kept), *shape),
    )


def unit_positions(question: str, scale: Scale, answers: np.ndarray) -> np.ndarray:
    """Ratings as positions on [-1, 1]; levels at equal distances."""
    if isinstance(scale, Interval):
        return scale.to_unit(answers)
    if isinstance(scale, Ordinal):
        return np.asarray(answers, dtype=float) * (2 / max(len(scale) - 1, 1)) - 1
    raise DataError(f"{question!r}: {scale.kind} answers have no density; ratings are needed")


def _sorted(ratings: np.ndarray) -> Ratings:
    return tuple(sorted(map(tuple, ratings.tolist())))


def _remember(keys: Sequence[Key]) -> None:
    """Estimate the densities of ratings; on a GPU many at the same time."""
    if not keys:
        return
    if _has_gpu():
        by_size: dict[int, list[Key]] = {}
        for key in keys:
            by_size.setdefault(len(key[0]), []).append(key)
        for same_size in by_size.values():
            for first in range(0, len(same_size), AT_ONCE):
                some = same_size[first : first + AT_ONCE]
                _densities.update(zip(some, _estimated(some), strict=True))
        return
    with progress("densities of ratings", len(keys)) as advance:
        for key in keys:
            (_densities[key],) = _estimated([key])
            advance(1)


def _estimated(keys: Sequence[Key]) -> np.ndarray:
    """The pooled densities of items with the same number of ratings."""
    _, bins, cells, observations = keys[0]
    ratings = np.array([key[0] for key in keys])  # (n_items, n_annotators, n_questions)
    n_annotators, n_questions = ratings.shape[1:]
    shape = observations, n_uniforms(n_annotators, n_questions)
    uniforms: Any = np.stack([np.random.default_rng(_seed(each)).random(shape) for each in ratings])
    grid = Grid((cells,) * n_questions)
    values: Any = ratings
    if _has_gpu():
        import torch

        values, uniforms = torch.from_numpy(ratings).cuda(), torch.from_numpy(uniforms).cuda()
    density = diffusion_kde(draw_observations(values, uniforms, grid), grid).density
    pooled = pool(density, grid, bins)
    return np.asarray(pooled.cpu() if _has_gpu() else pooled)


def _seed(ratings: np.ndarray) -> int:
    return int.from_bytes(hashlib.sha256(ratings.tobytes()).digest()[:8], "little")


def _has_gpu() -> bool:
    """Whether torch is loaded and has a GPU; it is not loaded for this."""
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.cuda.is_available())
