"""Weights of the cells of a picture as a smooth heat map that covers it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.errors import DataError

SIDE = 112  # the longest side of a heat map, in pixels


@dataclass(frozen=True)
class HeatMap:
    """How attention over a picture is drawn. The defaults are those of Zhang et al. (2025).

    Args:
        blur: the standard deviation of the Gaussian that smooths the map, as a share of the
            longest side; 0 for none.
        power: opacity is the attention, from 0 (least) to 1 (most), to this power.
        smooth: whether cells are interpolated (bicubic) or drawn as they are.
    """

    blur: float = 0.02
    power: float = 0.7
    smooth: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.blur <= 1 or not self.power > 0:
            raise DataError(
                f"blur must be between 0 and 1 and power above 0, found {self.blur:g} and "
                f"{self.power:g}"
            )

    def values(
        self, weight: np.ndarray, places: np.ndarray, height: float, width: float
    ) -> np.ndarray:
        """The map from 0 (least attention) to 1 (most), (rows, columns); all 0 if it is even.

        Args:
            weight: of each cell, (n_positions,).
            places: of the cells, row and column from-to, (n_positions, 2, 2).
        """
        from scipy.ndimage import gaussian_filter, map_coordinates

        scale = SIDE / max(height, width)
        rows, columns = max(1, round(height * scale)), max(1, round(width * scale))
        centres = (np.arange(rows) + 0.5) / rows * height, (np.arange(columns) + 0.5) / columns
        grid = centres[0], centres[1] * width
        cells = _as_grid(weight, places)
        if cells is None:
            heat = _painted(weight, places, grid)
        else:
            # coordinates of a pixel among the centres of the cells
            at = [
                np.interp(pixel, (of_cells[:, 0] + of_cells[:, 1]) / 2, np.arange(len(of_cells)))
                for pixel, of_cells in zip(grid, cells[1], strict=True)
            ]
            where = np.meshgrid(*at, indexing="ij")
            heat = map_coordinates(cells[0], where, order=3 if self.smooth else 0, mode="nearest")
            heat = heat.clip(weight.min(), weight.max())  # interpolation overshoots at edges
        if self.blur:
            heat = gaussian_filter(heat, self.blur * SIDE, mode="nearest")
        low, high = heat.min(), heat.max()
        return np.zeros_like(heat) if high - low < 1e-12 else (heat - low) / (high - low)

    def pixels(
        self, weight: np.ndarray, places: np.ndarray, height: float, width: float
    ) -> np.ndarray:
        """The map in colours from blue to red, (rows, columns, 4), for `png`."""
        value = self.values(weight, places, height, width)
        colours = [np.clip(1.5 - np.abs(4 * value - peak), 0, 1) for peak in (3, 2, 1)]  # "jet"
        layers = np.stack([*colours, value**self.power], axis=-1)
        return np.asarray(np.rint(255 * layers), dtype=np.uint8)


def _as_grid(weight: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]] | None:
    """Weights as rows and columns with their ends, if cells form a full grid."""
    axes, codes = zip(
        *(np.unique(places[:, axis], axis=0, return_inverse=True) for axis in (0, 1)), strict=True
    )
    shape = len(axes[0]), len(axes[1])
    flat = codes[0].reshape(-1) * shape[1] + codes[1].reshape(-1)
    if len(weight) != shape[0] * shape[1] or len(np.unique(flat)) != len(flat):
        return None
    cells = np.zeros(len(flat))
    cells[flat] = weight
    return cells.reshape(shape), list(axes)


def _painted(
    weight: np.ndarray, places: np.ndarray, grid: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """The weight of the cells over each pixel, summed where cells overlap."""
    heat = np.zeros((len(grid[0]), len(grid[1])))
    for cell, ends in zip(weight, places, strict=True):
        inside = [
            (pixel >= begin) & (pixel < end) for pixel, (begin, end) in zip(grid, ends, strict=True)
        ]
        heat[np.ix_(*inside)] += cell
    return heat
