"""The densities of the ratings that annotators gave to the items of a corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dissensus.corpus import Corpus
from dissensus.densities.grid import Grid
from dissensus.densities.kde import diffusion_kde
from dissensus.densities.observations import draw_observations, n_uniforms
from dissensus.densities.readouts import pool
from dissensus.errors import DataError
from dissensus.prediction import JointDensity
from dissensus.scales import Interval, Ordinal, Scale

FEWEST = 2  # ratings of an item with a density


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
    mass = [_density(_sorted(ratings[n]), bins, cells, observations) for n in kept]
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


def _sorted(ratings: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(sorted(map(tuple, ratings.tolist())))


@lru_cache(maxsize=1 << 16)
def _density(
    ratings: tuple[tuple[float, ...], ...], bins: int, cells: int, observations: int
) -> np.ndarray:
    """The pooled density of one item's ratings, by value: folds of a corpus share them."""
    values = np.array(ratings)
    n_annotators, n_questions = values.shape
    seed = int.from_bytes(hashlib.sha256(values.tobytes()).digest()[:8], "little")
    uniforms = np.random.default_rng(seed).random(
        (observations, n_uniforms(n_annotators, n_questions))
    )
    grid = Grid((cells,) * n_questions)
    drawn = draw_observations(values, uniforms, grid)
    return np.asarray(pool(diffusion_kde(drawn, grid).density, grid, bins))
