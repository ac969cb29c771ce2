"""Drawings of densities."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from dissensus.densities import Grid, diffusion_kde
from dissensus.drawing import contour, draw_density


def test_contours_run_where_the_density_has_the_level() -> None:
    grid = Grid((40, 40))
    x, y = np.meshgrid(*grid.centres, indexing="ij")
    cone = 1 - np.hypot(x, y)
    ends = contour(cone, 0.5) / 20 - 1  # in units of the grid
    np.testing.assert_allclose(np.hypot(ends[..., 0], ends[..., 1]), 0.5, atol=2e-3)
    lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    np.testing.assert_allclose(lengths.sum(), np.pi, atol=0.01)


def test_contours_of_two_regions_that_touch_at_a_corner_are_closed() -> None:
    for density in (np.eye(2), np.eye(2)[::-1], np.eye(2) + 0.8):
        ends, counts = np.unique(
            contour(density, 0.5).reshape(-1, 2).round(6), axis=0, return_counts=True
        )
        assert set(counts.tolist()) == {2}, ends


def test_a_drawing_is_xml_and_has_everything() -> None:
    ratings = np.array([[1.0, 2.0], [4.0, 5.0]])
    grid = Grid((100, 20), limits=(1, 5))
    density = diffusion_kde(ratings, grid).density
    drawing = draw_density(
        density, grid, ratings=ratings, questions=["a < b", "valence"], title="item 7"
    )
    texts = ["".join(text.itertext()) for text in ElementTree.fromstring(drawing).iter()]
    for text in (
        "a < b",
        "valence",
        "item 7",
        "1",
        "5",
        "Lines surround 50 % and 90 % of the mass.",
    ):
        assert text in texts
    assert drawing.count("<circle") == 2
