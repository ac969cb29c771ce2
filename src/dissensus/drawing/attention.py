"""The attention of several annotators to one item: words, heat maps, curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.drawing import svg
from dissensus.drawing.contents import LETTER, Annotator, look, text_lines
from dissensus.drawing.svg import ACROSS, GREY, Panel, letters, short
from dissensus.errors import DataError
from dissensus.prediction import Attention, Prediction
from dissensus.scales import Interval, MultiLabel, answer_text

MOST_MAPS = 12  # annotators that are drawn if none are named
GAP = 16  # between maps that stand side by side
DARKEST = 0.75  # the share of the annotator's colour behind the word with most attention
BLACK, DARKEST_BLACK = "#000000", 0.4  # on which letters can still be read
CURVE = 40  # the height of a curve
ANSWERED, PREDICTED, PREDICTED_EDGE = "#444444", "#9ecae1", "#3182bd"  # bars of shares


@dataclass(frozen=True, eq=False)
class Map:
    """The attention of an annotator to the positions that have a place."""

    name: str
    answer: str  # empty without one
    predicted: str
    colour: str
    dash: str
    weight: np.ndarray  # (n_positions,), sums to 1
    places: np.ndarray  # (n_positions, n_axes, 2)

    @property
    def heading(self) -> str:
        answer = f"{self.answer}, " if self.answer else ""
        return f"{self.name}: {answer}predicted {self.predicted}"


def maps_of(
    corpus: Corpus,
    item: int,
    question: str,
    prediction: Prediction,
    attention: Attention,
    legend: Sequence[Annotator],
    annotators: Sequence[str] | None = None,
) -> list[Map]:
    """The maps of an item that are drawn: of these annotators, or the first twelve.

    Args:
        item: the code in the corpus.
        prediction: its items and annotators are matched by name.
        legend: the annotators who answered; they come first and keep their colours.
    """
    pairs = prediction.by_annotator
    assert pairs is not None
    code = int(prediction.items.codes([corpus.items[item]], "item")[0])
    named = {str(pairs.annotators[int(pairs.annotator[row])]): int(row)
             for row in np.flatnonzero(pairs.item == code)}  # fmt: skip
    looks = {one.name: (one.colour, one.dash) for one in legend if one.code >= 0}
    for name in annotators or ():
        if name not in named:
            raise DataError(
                f"no attention of annotator {name!r} to item {corpus.items[item]!r} is predicted; "
                "predict it with --annotators"
            )
    own = [name for name in looks if name in named]
    first = [*own, *(name for name in named if name not in looks)][:MOST_MAPS]
    places = attention.places_of(code)
    seen = (places[..., 1] > places[..., 0]).all(axis=1)
    maps = []
    for name in first if annotators is None else annotators:
        looks.setdefault(name, look(len(looks)))
        weight = attention.of_pair(named[name])[seen].astype(float)
        if weight.sum() > 0:
            answers, who = corpus[question], int(corpus.annotators.find([name])[0])
            own_answer = ""
            if answers.annotator is not None and who >= 0:
                own = answers.take((answers.item == item) & (answers.annotator == who)).answers()
                own_answer = " / ".join(map(answer_text, own))
            predicted = _predicted(prediction, named[name])
            total = weight / weight.sum()
            maps.append(Map(name, own_answer, predicted, *looks[name], total, places[seen]))
    return maps


def _predicted(prediction: Prediction, row: int) -> str:
    pairs, scale = prediction.by_annotator, prediction.scale
    assert pairs is not None
    (answer,) = scale.decode(pairs.value[[row]])
    words = f"{answer:.2f}" if isinstance(scale, Interval) else answer_text(answer)
    if pairs.distribution is None or isinstance(scale, Interval | MultiLabel):
        return words
    return f"{words} ({pairs.distribution[row, int(pairs.value[row])]:.2f})"


# ---- panels ----


def attention_panels(contents: Contents, code: int, maps: Sequence[Map]) -> list[Panel]:
    """The maps of one content; those of several annotators stand side by side."""
    if not maps:
        return [Panel(24, (letters(0, 14, "no attention to show", fill=GREY),))]
    if contents.kind == "text":
        n_columns = 2 if len(maps) > 1 else 1
        return _rows(maps, n_columns, lambda one, width: _words(contents[code], one, width))
    if contents.kind == "image":
        file = contents.bytes_of(code)
        if not svg.picture_size(file)[0]:
            return [Panel(24, (letters(0, 14, "<a picture in a format that cannot be drawn>"),))]
        n_columns = min(4, max(2, len(maps)))
        return _rows(maps, n_columns, lambda one, width: _picture(file, one, width))
    return [_curves(contents, code, maps)]


def _rows(maps: Sequence[Map], n_columns: int, drawn: Any) -> list[Panel]:
    """Maps in rows of several columns."""
    width = (ACROSS - GAP * (n_columns - 1)) / n_columns
    panels = []
    for first in range(0, len(maps), n_columns):
        cells = [drawn(one, width) for one in maps[first : first + n_columns]]
        shapes = [svg.moved(at * (width + GAP), 0, cell.shapes) for at, cell in enumerate(cells)]
        panels.append(Panel(max(cell.height for cell in cells) + 10, tuple(shapes)))
    return panels


def _heading(one: Map, width: float, size: int = 12) -> Panel:
    """A line in the annotator's colour, and name and answers below it, in as many lines as fit."""
    n_across = max(8, int(width / (0.6 * size)))
    lines = [one.heading[begin:end].rstrip() for begin, end in text_lines(one.heading, n_across)]
    shapes = [svg.plain_line(0, 2, width, 2, one.colour, 4, one.dash)]
    for number, line in enumerate(lines[:3]):
        shapes.append(letters(0, 18 + 15 * number, line, size=size, length=0.6 * size * len(line)))
    return Panel(14 + 15.0 * min(3, len(lines)), tuple(shapes))


def _words(text: str, one: Map, width: float) -> Panel:
    """The text with words the darker the more attention they have."""
    text, heading = svg.printable(text), _heading(one, width)
    shapes, top = list(heading.shapes), heading.height
    darkest = DARKEST_BLACK if one.colour == BLACK else DARKEST
    darkness = darkest * one.weight / one.weight.max()
    ends = one.places[:, 0].astype(int)
    for begin, end in text_lines(text, int(width / LETTER)):
        line = text[begin:end].rstrip()
        at = np.append(0.0, np.cumsum([svg.columns_of(letter) for letter in line])) * LETTER
        for (first, last), share in zip(ends, darkness, strict=True):
            low, high = np.clip([first, last], begin, begin + len(line)) - begin
            if low < high and share >= 0.01:
                fill = blended(one.colour, float(share))
                shapes.append(svg.rect(at[low], top, at[high] - at[low], 20, fill=fill))
        if line.strip():
            shapes.append(letters(0, top + 14, line, length=at[-1]))
        top += 24
    return Panel(top, tuple(shapes))


def _picture(file: bytes, one: Map, width: float) -> Panel:
    kind, columns, rows = svg.picture_size(file)
    heading, high = _heading(one, width, 11), width * rows / columns
    place = 0, heading.height, width, high
    heat = heat_map(one.weight, one.places, rows, columns)
    colours = [np.clip(1.5 - np.abs(4 * heat - peak), 0, 1) for peak in (3, 2, 1)]  # "jet"
    pixels = np.rint(255 * np.stack([*colours, heat**POWER], axis=-1))  # (rows, columns, 4)
    over = svg.data_address("png", svg.png(pixels))
    pictures = (
        svg.image(*place, svg.data_address(kind, file), pixelated=width > 2 * columns),
        svg.image(*place, over, stretched=True),
    )
    return Panel(heading.height + high, (*heading.shapes, *pictures))


# ---- heat maps, as in Zhang et al. (2025) ----

SIDE = 112  # the longest side of a heat map, in pixels
BLUR = 0.02  # standard deviation of the Gaussian that smooths it, as a share of that side
POWER = 0.7  # opacity is the attention, from 0 (least) to 1 (most), to this power


def heat_map(weight: np.ndarray, places: np.ndarray, height: float, width: float) -> np.ndarray:
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
    cells, ends = _as_grid(weight, places)
    # coordinates of a pixel among the centres of the cells
    at = [
        np.interp(pixel, (of_cells[:, 0] + of_cells[:, 1]) / 2, np.arange(len(of_cells)))
        for pixel, of_cells in zip(grid, ends, strict=True)
    ]
    heat = map_coordinates(cells, np.meshgrid(*at, indexing="ij"), order=3, mode="nearest")
    heat = heat.clip(weight.min(), weight.max())  # interpolation overshoots at edges
    heat = gaussian_filter(heat, BLUR * SIDE, mode="nearest")
    low, high = heat.min(), heat.max()
    return np.zeros_like(heat) if high - low < 1e-12 else (heat - low) / (high - low)


def _as_grid(weight: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Weights as rows and columns, 0 where there is no cell, with the ends of both."""
    axes, codes = zip(
        *(np.unique(places[:, axis], axis=0, return_inverse=True) for axis in (0, 1)), strict=True
    )
    cells = np.zeros((len(axes[0]), len(axes[1])))
    np.add.at(cells, (codes[0].reshape(-1), codes[1].reshape(-1)), weight)
    return cells, list(axes)


# ---- curves over time ----


def _curves(contents: Contents, code: int, maps: Sequence[Map]) -> Panel:
    """A curve of attention over time for each annotator, all with the same height."""
    shapes: list[str] = []
    length = float(max(one.places[:, 0, 1].max() for one in maps))
    curves = [over_time(one.weight, one.places[:, 0]) for one in maps]
    highest = max(height.max() for _, height in curves)
    y = 0.0
    for one, (ends, height) in zip(maps, curves, strict=True):
        shapes.append(letters(0, y + 12, short(one.heading, 90), size=12))
        base = y + 20 + CURVE
        points = [f"0 {svg.rounded(base)}"]
        for (begin, end), value in zip(ends, height, strict=True):
            top = svg.rounded(base - CURVE * value / highest)
            points += [f"{svg.rounded(ACROSS * share / length)} {top}" for share in (begin, end)]
        points.append(f"{svg.rounded(ACROSS * ends[-1, 1] / length)} {svg.rounded(base)}")
        fill, line = blended(one.colour, 0.35), {"stroke": one.colour, "stroke_width": 1}
        shapes.append(svg.element("path", d=f"M {' L '.join(points)} Z", fill=fill, **line))
        y = base + 8
    unit = "frames" if contents.kind == "features" else "seconds"
    return Panel(y + 30, (*shapes, *svg.time_axis(y, length, unit)))


def over_time(weight: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Attention for each unit of time: stretches in order, (n, 2), and the height of each, (n,).

    Positions of the same stretch (the cells of a frame) are added.

    Example:
        >>> ends = np.array([[0, 1], [1, 3], [0, 1]])
        >>> over_time(np.array([0.2, 0.6, 0.2]), ends)[1].tolist()
        [0.4, 0.3]
    """
    stretches, code = np.unique(ends, axis=0, return_inverse=True)
    total = np.bincount(code.reshape(-1), weight, minlength=len(stretches))
    return stretches, total / (stretches[:, 1] - stretches[:, 0])


# ---- votes and prediction ----


def distribution_panel(
    votes: np.ndarray, predicted: np.ndarray, names: Iterable[str], wide: bool
) -> Panel:
    """Two bars for each value: the share of the annotators, and the predicted one.

    Args:
        votes: (n_columns,), nan without answers; predicted likewise.
        wide: whether values are the bins of a rating, drawn next to each other.
    """
    legend = [
        svg.rect(0, 3, 12, 10, fill=ANSWERED),
        letters(18, 12, "answers", size=12),
        svg.rect(90, 3, 12, 10, fill=PREDICTED, stroke=PREDICTED_EDGE),
        letters(108, 12, "predicted", size=12),
    ]
    votes, top = np.nan_to_num(votes), 24.0
    if wide:
        return _histograms(votes, predicted, list(names), legend)
    shapes = list(legend)
    for name, share, mass in zip(names, votes, predicted, strict=True):
        across = [max(0.0, float(value)) * (ACROSS - 240) for value in (share, mass)]
        shapes += [
            letters(0, top + 14, short(name, 22), size=12),
            svg.rect(170, top + 2, across[0], 8, fill=ANSWERED),
            letters(176 + across[0], top + 9, f"{share:.2f}", size=9, fill=GREY),
            svg.rect(170, top + 11, across[1], 8, fill=PREDICTED, stroke=PREDICTED_EDGE),
            letters(176 + across[1], top + 18, f"{mass:.2f}", size=9, fill=GREY),
        ]
        top += 24
    return Panel(top + 8, tuple(shapes))


def _histograms(
    votes: np.ndarray, predicted: np.ndarray, ends: list[str], legend: list[str]
) -> Panel:
    height, width = 60.0, ACROSS / len(votes)
    base = 24 + height
    highest = max(float(votes.max()), float(predicted.max()), 1e-9)
    shapes = list(legend)
    for place, shares in enumerate(zip(votes, predicted, strict=True)):
        gave, mass = (height * float(share) / highest for share in shares)
        left = place * width
        shapes.append(svg.rect(left, base - mass, width, mass, fill=PREDICTED))
        shapes.append(svg.rect(left + width / 4, base - gave, width / 2, gave, fill=ANSWERED))
    shapes.append(svg.plain_line(0, base, ACROSS, base))
    shapes.append(letters(0, base + 16, ends[0], size=12, fill=GREY))
    shapes.append(letters(ACROSS, base + 16, ends[-1], size=12, fill=GREY, anchor="end"))
    return Panel(base + 28, tuple(shapes))


def blended(colour: str, share: float) -> str:
    """A share of a colour on white.

    Example:
        >>> blended("#000000", 0.5)
        '#808080'
    """
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(255 - share * (255 - part)):02x}" for part in parts)
