"""RatingKde: how the ratings of an item become a density, from ratings to pooled mass."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from dissensus.densities.grid import Grid
from dissensus.densities.kde import diffusion_kde, fixed_kde
from dissensus.densities.observations import draw_observations, weighted_observations
from dissensus.densities.readouts import pool
from dissensus.errors import DataError, listed

KINDS = ("soft", "plain", "fixed")
SAMPLING = ("random", "even")
CELLS = {"soft": 64, "plain": 256, "fixed": 256}


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

    def __post_init__(self) -> None:
        for name, known in (("kind", KINDS), ("sampling", SAMPLING)):
            if getattr(self, name) not in known:
                raise DataError(
                    f"{name} of a density must be one of {', '.join(known)}, "
                    f"not {getattr(self, name)!r}"
                )
        positive = ("temperature", "bandwidth", "observations")
        wrong = [f"{n} = {getattr(self, n)}" for n in positive if not getattr(self, n) > 0]
        wrong += [f"bins = {self.bins}"] if self.bins < 2 else []
        wrong += [f"cells = {self.cells}"] if self.cells < 0 else []
        if wrong:
            raise DataError(f"settings of a density out of range: {', '.join(wrong)}")

    @classmethod
    def from_text(cls, text: str) -> RatingKde:
        """Settings as users type them: "soft", or "soft:bins=8,temperature=16"."""
        kind, _, rest = text.partition(":")
        kde = cls(kind.strip())  # type: ignore[arg-type]  # checked
        known = {field.name: getattr(kde, field.name) for field in fields(kde)}
        for part in filter(None, (part.strip() for part in rest.split(","))):
            name, _, value = (side.strip() for side in part.partition("="))
            if name not in known:
                raise DataError(f"a density has no setting {name!r}; it has {listed(known)}")
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

    def density(self, ratings: Any, present: Any = None, uniforms: Any = None) -> Any:
        """The density of each item, (..., bins) or (..., bins, bins).

        Args:
            ratings: (..., n_annotators, n_questions), numpy or torch; a soft density of tensors has
                a gradient.
            present: (..., n_annotators), False for padding.
            uniforms: random numbers of "random" sampling; see `draw_observations`.
        """
        grid = self.grid(ratings.shape[-1])
        settings: dict[str, Any] = {}
        if self.kind == "soft":
            settings["temperature"] = self.temperature
        if self.sampling == "even":
            observations, weights, spread = weighted_observations(ratings, grid, present)
            settings |= {"weights": weights, "spread": spread}
        else:
            observations = draw_observations(ratings, uniforms, grid, present)
        if self.kind == "fixed":
            mass = fixed_kde(observations, grid, self.bandwidth, **settings)
        else:
            n = self.observations
            mass = diffusion_kde(observations, grid, n_observations=n, **settings).density
        return pool(mass, grid, self.bins)
