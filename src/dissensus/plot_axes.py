"""Figures drawn on the Axes of matplotlib, so that they can stand in a figure of a paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dissensus.errors import DataError
from dissensus.report.blocks import Figure

GREY: dict[Any, Any] = {  # `with plt.rc_context(GREY)`: a style that prints without colour
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "image.cmap": "Greys",
    "patch.facecolor": "0.6",
    "scatter.marker": "o",
    "lines.color": "0.15",
    "text.color": "0.1",
    "savefig.bbox": "tight",
}


def draw_on(axes: Any, figure: Figure, metric: str | None = None) -> Any:
    """Draw what a figure shows on matplotlib's Axes, with a title and names of both axes.

    Args:
        metric: of scores; the first if left out.
    """
    if not hasattr(axes, "get_xlim"):
        raise DataError(f"ax must be Axes of matplotlib, found {type(axes).__name__}")
    columns = tuple(map(str, figure.columns))
    kinds: dict[tuple[str, ...], Callable[[Any, Figure], None]] = {
        ("value", "share"): _shares,
        ("from", "to", "answers"): _histogram,
        ("predicted", "observed", "values"): _points,
        ("item", "predicted", "observed"): _points,
    }
    if columns[:2] == ("method", "metric"):
        _scores(axes, figure, metric)
    elif columns[-1] == "share" and columns[0].endswith(" from"):
        _density(axes, figure)
    else:
        kinds.get(columns, _matrix)(axes, figure)
    axes.set_title(figure.title)
    return axes


def _shares(axes: Any, figure: Figure) -> None:
    names, shares = zip(*figure.rows, strict=True)
    axes.barh(range(len(names)), shares, color="0.6", edgecolor="0.2")
    _named(axes, names)
    axes.set_xlabel("share of the answers")


def _histogram(axes: Any, figure: Figure) -> None:
    low, high, counts = np.array(figure.rows, dtype=float).T
    axes.bar(low, counts, high - low, align="edge", color="0.6", edgecolor="0.2")
    axes.set(xlabel="rating", ylabel="answers")


def _points(axes: Any, figure: Figure) -> None:
    """Predicted against observed; the size says how many values a point stands for."""
    at = list(figure.columns).index("predicted")
    x, y = np.array([row[at : at + 2] for row in figure.rows], dtype=float).T
    many = np.array([row[2] if at == 0 else 1 for row in figure.rows], dtype=float)
    ends = min(x.min(), y.min()), max(x.max(), y.max())
    axes.plot(ends, ends, color="0.7", linestyle="--", linewidth=1)
    axes.scatter(x, y, 12 + 60 * many / many.max(), facecolors="none", edgecolors="0.15")
    axes.set(xlabel="predicted", ylabel="observed")


def _density(axes: Any, figure: Figure) -> None:
    """The share in each cell of two questions, the darker the more."""
    rows = np.array(figure.rows, dtype=float)
    x, y = (np.unique(rows[:, at]) for at in (0, 1))
    share = rows[:, 2].reshape(len(x), len(y))
    axes.pcolormesh(x, y, share.T, cmap="Greys", shading="nearest")
    first, second = (str(name).removesuffix(" from") for name in figure.columns[:2])
    axes.set(xlabel=first, ylabel=second)


def _matrix(axes: Any, figure: Figure) -> None:
    """A matrix with a number in each cell."""
    names = [str(name) for name in figure.columns[1:]]
    cells = np.array([[np.nan if v is None else v for v in row[1:]] for row in figure.rows], float)
    axes.imshow(cells, cmap="Greys", vmin=min(0.0, np.nanmin(cells)), vmax=np.nanmax(cells))
    middle = (min(0.0, np.nanmin(cells)) + np.nanmax(cells)) / 2
    size = min(8.0, 45 / max(len(names), 1))
    for (row, column), value in np.ndenumerate(cells):
        if np.isfinite(value) and len(names) <= 20:
            colour = "white" if value > middle else "black"
            axes.text(
                column, row, f"{value:.2f}", ha="center", va="center", color=colour, size=size
            )
    axes.set_xticks(range(len(names)), names, rotation=90)
    axes.set_yticks(range(len(figure.rows)), [str(row[0]) for row in figure.rows])


def _scores(axes: Any, figure: Figure, metric: str | None) -> None:
    """The mean of each method with its interval."""
    metrics = list(dict.fromkeys(row[1] for row in figure.rows))
    chosen = metrics[0] if metric is None else metric
    rows = [row for row in figure.rows if row[1] == chosen]
    if not rows:
        raise DataError(f"no metric {chosen!r}; choose from {', '.join(map(str, metrics))}")
    mean, low, high = np.array([row[2:5] for row in rows], dtype=float).T
    places = range(len(rows))
    axes.errorbar(mean, places, xerr=[mean - low, high - mean], fmt="o", color="0.15", capsize=3)
    _named(axes, [row[0] for row in rows])
    axes.set_xlabel(str(chosen))


def _named(axes: Any, names: Any) -> None:
    """Names along the vertical axis, the first one on top."""
    axes.set_yticks(range(len(names)), [str(name) for name in names])
    axes.invert_yaxis()
