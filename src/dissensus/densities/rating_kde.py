"""RatingKde: how the ratings of an item become a density, from ratings to pooled mass."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import inf
from typing import Any, Literal

import numpy as np

from dissensus.corpus import Corpus
from dissensus.densities.grid import Grid
from dissensus.densities.kde import diffusion_kde
from dissensus.densities.observations import draw_observations, n_uniforms
from dissensus.densities.readouts import pool
from dissensus.errors import DataError, listed
from dissensus.prediction import JointDensity
from dissensus.progress import progress
from dissensus.scales import Interval, Ordinal, Scale

KINDS = ("soft", "plain")
CELLS = {"soft": 64, "plain": 256}
POSITIVE = ("temperature", "observations", "factor")
LEAST = {"bins": 2, "cells": 0}


@dataclass(frozen=True)
class RatingKde:
    """How the ratings of an item become a density. Ratings are positions on [-1, 1].

    Args:
        kind: "soft", the differentiable estimate of Tavernor et al. (2024), or "plain", Botev's
            diffusion estimate with a hard histogram.
        bins: cells of the density, for each question.
        cells: cells of the histogram, for each question; 0: 64 of a soft, 256 of a hard one. The
            paper has 64 and 512.
        temperature: of the soft histogram. The higher, the closer to a hard one.
        observations: how many are drawn from the ratings of an item.
        factor: the bandwidth is multiplied by it.

    Example:
        >>> import numpy as np
        >>> ratings = np.array([[0.2, 0.0], [0.4, -0.2], [0.9, -0.1]])  # of three annotators
        >>> uniforms = np.random.default_rng(0).random((200, n_uniforms(3, 2)))
        >>> RatingKde("plain", bins=2).density(ratings, uniforms=uniforms).round(1).tolist()
        [[0.0, 0.0], [0.9, 0.1]]
        >>> RatingKde.from_text("soft:bins=8,temperature=16").bins
        8
    """

    kind: Literal["soft", "plain"] = "soft"
    bins: int = 4
    cells: int = 0
    temperature: float = 8.0
    observations: int = 200
    factor: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise DataError(
                f"kind of a density must be one of {', '.join(KINDS)}, not {self.kind!r}"
            )
        for name, least in LEAST.items():
            if not least <= getattr(self, name) < inf:
                value = getattr(self, name)
                raise DataError(f"{name} of a density must be at least {least}, found {value:g}")
        for name in POSITIVE:
            if not getattr(self, name) > 0:
                raise DataError(
                    f"{name} of a density must be above 0, found {getattr(self, name):g}"
                )

    @classmethod
    def from_text(cls, text: str, default: RatingKde | None = None) -> RatingKde:
        """Settings as users type them: "soft", or "soft:bins=8,temperature=16".

        Args:
            default: has the settings that are not in the text.
        """
        kind, _, rest = text.partition(":")
        if "@" in text:
            raise DataError(
                f"{text!r}: @all is for comparisons; predict the density of all annotators with "
                "consensus='all' (--consensus all)"
            )
        kde = replace(default or cls(), kind=kind.strip())  # type: ignore[arg-type]  # checked
        known = {field.name: getattr(kde, field.name) for field in fields(kde)}
        for part in filter(None, (part.strip() for part in rest.split(","))):
            name, _, value = (side.strip() for side in part.partition("="))
            if name not in known:
                raise DataError(f"a density has no setting {name!r}; it has {listed(known, 20)}")
            try:
                kde = replace(kde, **{name: type(known[name])(value)})
            except ValueError as error:
                if isinstance(error, DataError):
                    raise
                raise DataError(f"{name} of a density must be a number, found {value!r}") from None
        return kde

    def grid(self, n_questions: int) -> Grid:
        """The grid of the histogram."""
        return Grid((self.cells or CELLS[self.kind],) * n_questions)

    def density(
        self,
        ratings: Any,
        present: Any = None,
        *,
        uniforms: Any,
        temperature: Any = None,
        factor: Any = None,
    ) -> Any:
        """The density of each item, (..., bins) or (..., bins, bins).

        Args:
            ratings: (..., n_annotators, n_questions), numpy or torch; a soft density of tensors has
                a gradient.
            present: (..., n_annotators), False for padding.
            uniforms: random numbers; see `draw_observations`.
            temperature, factor: instead of those of the settings; a tensor has a gradient.
        """
        grid = self.grid(ratings.shape[-1])
        settings: dict[str, Any] = {}
        if self.kind == "soft":
            settings["temperature"] = self.temperature if temperature is None else temperature
        settings["factor"] = self.factor if factor is None else factor
        observations = draw_observations(ratings, uniforms, grid, present)
        fine = diffusion_kde(observations, grid, **settings).density
        return pool(fine, grid, self.bins)


FEWEST = 2  # ratings of an item with a density
N_DRAWN = 200  # observations of an item
FINE = 256  # cells of the histogram, for each question; with 512 (the paper) masses are the same

AT_ONCE = 16  # densities: on a CPU, these stay in its cache
MOST_REMEMBERED = 1 << 16

Ratings = tuple[tuple[float, ...], ...]  # of one item, sorted
Key = tuple[Ratings, int]  # ratings and bins
_densities: dict[Key, np.ndarray] = {}  # so that folds and fits of a corpus share them


def rating_densities(
    corpus: Corpus, questions: Sequence[str], bins: int = 4, *, fewest: int = FEWEST
) -> JointDensity:
    """The density of the ratings of each item, over one question or two.

    Observations are drawn from the ratings as in `draw_observations`, smoothed by `diffusion_kde`
    and pooled. The random numbers depend on the ratings of the item alone, not on their order:
    items with the same ratings have the same density, in any corpus.

    Args:
        bins: cells of the result, for each question.
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
    keys = [(tuple(sorted(map(tuple, ratings[n].tolist()))), bins) for n in kept]
    if len(_densities) + len(keys) > MOST_REMEMBERED:
        _densities.clear()
    if new := [key for key in dict.fromkeys(keys) if key not in _densities]:
        _remember(new)
    mass = np.array([_densities[key] for key in keys]).reshape(len(kept), *(bins,) * len(scales))
    return JointDensity(tuple(questions), tuple(scales), corpus.items.take(items[kept]), mass)


def unit_positions(question: str, scale: Scale, answers: np.ndarray) -> np.ndarray:
    """Ratings as positions on [-1, 1]; levels at equal distances."""
    if isinstance(scale, Interval):
        return scale.to_unit(answers)
    if isinstance(scale, Ordinal):
        return np.asarray(answers, dtype=float) * (2 / max(len(scale) - 1, 1)) - 1
    raise DataError(f"{question!r}: {scale.kind} answers have no density; ratings are needed")


def _remember(keys: Sequence[Key]) -> None:
    """Estimate the densities of ratings, some at the same time."""
    by_size: dict[int, list[Key]] = {}
    for key in keys:
        by_size.setdefault(len(key[0]), []).append(key)
    with progress("densities of ratings", len(keys)) as advance:
        for same_size in by_size.values():
            for first in range(0, len(same_size), AT_ONCE):
                some = same_size[first : first + AT_ONCE]
                _densities.update(zip(some, _estimated(some), strict=True))
                advance(len(some))


def _estimated(keys: Sequence[Key]) -> np.ndarray:
    """The pooled densities of items with the same number of ratings."""
    import torch

    bins = keys[0][1]
    ratings = np.array([key[0] for key in keys])  # (n_items, n_annotators, n_questions)
    n_annotators, n_questions = ratings.shape[1:]
    shape = N_DRAWN, n_uniforms(n_annotators, n_questions)
    digests = (hashlib.sha256(each.tobytes()).digest()[:8] for each in ratings)
    seeds = (int.from_bytes(digest, "little") for digest in digests)
    uniforms = np.stack([np.random.default_rng(seed).random(shape) for seed in seeds])
    grid, device = Grid((FINE,) * n_questions), "cuda" if torch.cuda.is_available() else "cpu"
    values, draws = (torch.from_numpy(each).to(device) for each in (ratings, uniforms))
    density = diffusion_kde(draw_observations(values, draws, grid), grid).density
    return np.asarray(pool(density, grid, bins).cpu())
