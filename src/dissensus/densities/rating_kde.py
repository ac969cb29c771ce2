"""RatingKde: how the ratings of an item become a density, from ratings to pooled mass."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import inf
from typing import Any, Literal

from dissensus.densities.grid import Grid
from dissensus.densities.kde import diffusion_kde, fixed_kde
from dissensus.densities.observations import draw_observations, weighted_observations
from dissensus.densities.rating_noise import noisy, stretched
from dissensus.densities.readouts import pool
from dissensus.errors import DataError, listed

KINDS = ("soft", "plain", "fixed")
SAMPLING = ("random", "even")
CELLS = {"soft": 64, "plain": 256, "fixed": 256}
POSITIVE = ("temperature", "bandwidth", "observations", "factor")
LIMITS = (
    ("bins", 2, inf),
    ("cells", 0, inf),
    ("stretch", 0, inf),
    ("noise", 0, inf),
    ("shared", 0, 1),
    ("correlation", -1, 1),
)


@dataclass(frozen=True)
class RatingKde:
    """How the ratings of an item become a density. Ratings are positions on [-1, 1].

    Args:
        kind: "soft", the differentiable estimate of Tavernor et al. (2024); "plain", Botev's
            diffusion estimate with a hard histogram; "fixed", a Gaussian kernel of a given
            `bandwidth`.
        bins: cells of the density, for each question.
        cells: cells of the histogram, for each question; 0: 64 of a soft, 256 of a hard one. The
            paper has 64 and 512.
        temperature: of the soft histogram. The higher, the closer to a hard one.
        bandwidth: of "fixed", on [-1, 1].
        observations: how many are drawn from the ratings of an item.
        sampling: "random", means of random subsets of annotators, with noise, as published; "even",
            all subsets, weighted by the probability of drawing each.
        factor: the bandwidth of "soft" and "plain" is multiplied by it.
        stretch: the distances of ratings from the mean of their item are multiplied by it.
        noise: how much of its predicted spread is added to each predicted rating: 0 nothing, 1 all
            of it. The density is the mean over ratings that are as different as ratings are.
        shared: the correlation of the noise of two annotators of an item.
        correlation: the correlation of the noise of two questions.

    Example:
        >>> import numpy as np
        >>> ratings = np.array([[0.2, 0.0], [0.4, -0.2], [0.9, -0.1]])  # of three annotators
        >>> RatingKde("plain", bins=2, sampling="even").density(ratings).round(2).tolist()
        [[0.0, 0.0], [0.92, 0.07]]
        >>> RatingKde.from_text("soft:bins=8,temperature=16").bins
        8
    """

    kind: Literal["soft", "plain", "fixed"] = "soft"
    bins: int = 4
    cells: int = 0
    temperature: float = 8.0
    bandwidth: float = 0.1
    observations: int = 200
    sampling: Literal["random", "even"] = "random"
    factor: float = 1.0
    stretch: float = 1.0
    noise: float = 0.0
    shared: float = 0.0
    correlation: float = 0.0

    def __post_init__(self) -> None:
        for name, known in (("kind", KINDS), ("sampling", SAMPLING)):
            if getattr(self, name) not in known:
                raise DataError(
                    f"{name} of a density must be one of {', '.join(known)}, "
                    f"not {getattr(self, name)!r}"
                )
        for name, low, high in LIMITS:
            value = getattr(self, name)
            if not low <= value <= high or value == inf:
                limits = f"at least {low:g}" if high == inf else f"from {low:g} to {high:g}"
                raise DataError(f"{name} of a density must be {limits}, found {value:g}")
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
        uniforms: Any = None,
        deviations: Any = None,
        temperature: Any = None,
        factor: Any = None,
    ) -> Any:
        """The density of each item, (..., bins) or (..., bins, bins).

        Args:
            ratings: (..., n_annotators, n_questions), numpy or torch; a soft density of tensors has
                a gradient.
            present: (..., n_annotators), False for padding.
            uniforms: random numbers of "random" sampling; see `draw_observations`.
            deviations: the spread of each predicted rating, (..., n_annotators, n_questions,
                n_knots); see `rating_noise.noisy`. Ratings that were given have none.
            temperature, factor: instead of those of the settings; a tensor has a gradient.
        """
        n_questions = ratings.shape[-1]
        grid = self.grid(n_questions)
        if self.stretch != 1:
            ratings = stretched(ratings, self.stretch, present)
        several = self.noise > 0 and deviations is not None
        if several:
            ratings = noisy(ratings, deviations, self.noise, self.shared, self.correlation)
            present = None if present is None else present[..., None, :]
            uniforms = None if uniforms is None else uniforms[..., None, :, :]
        smoothing = {
            "temperature": self.temperature if temperature is None else temperature,
            "factor": self.factor if factor is None else factor,
        }
        mass = pool(self._fine(ratings, present, uniforms, grid, smoothing), grid, self.bins)
        return mass.mean(-1 - n_questions) if several else mass

    def _fine(
        self, ratings: Any, present: Any, uniforms: Any, grid: Grid, smoothing: dict[str, Any]
    ) -> Any:
        """The density on the grid of the histogram."""
        settings: dict[str, Any] = {}
        if self.kind == "soft":
            settings["temperature"] = smoothing["temperature"]
        if self.sampling == "even":
            observations, weights, spread = weighted_observations(ratings, grid, present)
            settings |= {"weights": weights, "spread": spread}
        else:
            observations = draw_observations(ratings, uniforms, grid, present)
        if self.kind == "fixed":
            return fixed_kde(observations, grid, self.bandwidth, **settings)
        settings |= {"n_observations": self.observations, "factor": smoothing["factor"]}
        return diffusion_kde(observations, grid, **settings).density
