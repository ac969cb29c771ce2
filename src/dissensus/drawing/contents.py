"""The contents of an item, with the rationales of its annotators."""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.corpus import Rationales
from dissensus.drawing.annotators import Annotator, stroke
from dissensus.drawing.png import data_address, picture_size, png
from dissensus.drawing.shapes import (
    ACROSS,
    PIXELATED,
    SIZE,
    Panel,
    columns_of,
    letters,
    plain_line,
    printable,
    rect,
    rounded,
    short,
)

LETTER = 0.6 * SIZE  # width of a letter in a monospaced font; the drawing enforces it
LANE = 5  # between underlines
PICTURE = 336  # the longest side of a drawn picture


def content_panel(
    kind: str,
    contents: Any,
    code: int,
    spans: Rationales,
    annotators: list[Annotator],
    focus: np.ndarray,
) -> Panel:
    """Draw a content of any kind; of audio and video, only the times of rationales."""
    if kind == "text":
        return _text_panel(contents[code], spans, annotators, focus)
    if kind == "image":
        return _picture_panel(contents.bytes_of(code), spans, annotators, focus)
    if kind == "features":
        return _features_panel(np.array(contents[code], dtype=float), spans, annotators)
    if not np.isfinite(spans.stop[:, :1].astype(float)).any():
        return Panel(24, (letters(0, 14, f"<{kind}>"),))  # its length is unknown
    length = float(np.nanmax(spans.stop[:, 0].astype(float)))
    return _timeline(f"<{kind}>", "seconds", length, spans, annotators)


# ---- texts ----


def _text_panel(
    text: str, spans: Rationales, annotators: list[Annotator], focus: np.ndarray
) -> Panel:
    """Lines of words, with an underline for each span that an annotator marked."""
    text = printable(text)
    n_across = int(ACROSS / LETTER)
    shapes: list[str] = []
    top = 0.0
    for begin, end in text_lines(text, n_across):
        line = text[begin:end]
        at = np.append(0.0, np.cumsum([columns_of(letter) for letter in line])) * LETTER
        end = begin + len(line.rstrip())
        if not np.isnan(focus[0, 0]):
            low, high = np.clip(focus[:, 0].astype(int), begin, end) - begin
            if low < high:
                shapes.append(rect(at[low], top, at[high] - at[low], 20, fill="#FFF3B0"))
        if line.strip():
            shapes.append(letters(0, top + 14, line.rstrip(), length=at[end - begin]))
        lanes: list[list[tuple[float, float]]] = []
        for annotator in annotators:
            for ends in _ends(spans, annotator.code):
                if ends[0] < end and ends[1] > begin and ends[0] < ends[1]:
                    left, right = at[np.clip(ends, begin, end) - begin]
                    y = top + 20 + LANE * _free_lane(lanes, left, right)
                    shapes.append(stroke(left, y, right, y, annotator, width=3))
        top += 24 + LANE * len(lanes)
    return Panel(top + 8, tuple(shapes))


def _free_lane(lanes: list[list[tuple[float, float]]], left: float, right: float) -> int:
    """The first lane that is free between these positions; it is then occupied there."""
    for number, lane in enumerate(lanes):
        if all(right <= begin or end <= left for begin, end in lane):
            lane.append((left, right))
            return number
    lanes.append([(left, right)])
    return len(lanes) - 1


def _ends(spans: Rationales, code: int) -> list[np.ndarray]:
    """Start and stop of an annotator's spans along the first axis, whole numbers."""
    rows = np.flatnonzero(spans.annotator == code)
    places = np.stack([spans.start[rows, 0], spans.stop[rows, 0]], axis=1)
    return list(places[np.isfinite(places).all(axis=1)].astype(int))


def text_lines(text: str, n_across: int) -> list[tuple[int, int]]:
    """Where lines begin and end so that all fit; only words that are too long are divided."""
    lines = []
    begin = 0
    for paragraph in text.split("\n"):
        last = begin + len(paragraph)
        while begin < last:
            end, across = begin, 0
            while end < last and across + columns_of(text[end]) <= n_across:
                across += columns_of(text[end])
                end += 1
            space = text.rfind(" ", begin, end)
            if end < last and space > begin:
                end = space + 1
            lines.append((begin, max(end, begin + 1)))
            begin = lines[-1][1]
        begin = last + 1
    return lines or [(0, 0)]


# ---- pictures ----


def _picture_panel(
    file: bytes, spans: Rationales, annotators: list[Annotator], focus: np.ndarray
) -> Panel:
    """The picture with a frame for each box; frames of equal boxes are nested."""
    kind, width, height = picture_size(file)
    if not kind:
        return Panel(24, (letters(0, 14, "<a picture in a format that cannot be drawn>"),))
    scale = PICTURE / max(width, height)
    margin = 4 + 4 * len(annotators) if len(annotators) < 8 else 36
    smooth = f" {PIXELATED}" if scale > 2 else ""
    shapes = [
        f'<image x="{margin}" y="{margin}" width="{rounded(width * scale)}" '
        f'height="{rounded(height * scale)}"{smooth} href="{data_address(kind, file)}"/>'
    ]
    n_frames: dict[tuple[float, ...], int] = {}
    unknown = Annotator("", "", "#000000", "4 4", -1)
    boxes = [(unknown, focus.ravel())] if focus.shape[1] == 2 else []
    if spans.start.shape[1] == 2:
        places = np.concatenate([spans.start, spans.stop], axis=1)  # (n_spans, 4)
        boxes += [
            (annotator, box)
            for annotator in annotators
            for box in places[spans.annotator == annotator.code]
        ]
    for annotator, box in boxes:
        if not np.isfinite(box).all():
            continue
        rank = n_frames.get(tuple(box), 0)
        n_frames[tuple(box)] = rank + 1
        top, left, bottom, right = box * scale + margin
        out = 2 + 4 * rank
        at = (left - out, top - out, right - left + 2 * out, bottom - top + 2 * out)
        shapes.append(rect(*at, stroke="#ffffff", width=4.5))
        shapes.append(rect(*at, stroke=annotator.colour, width=2.5, dash=annotator.dash))
    return Panel(height * scale + 2 * margin + 8, tuple(shapes))


# ---- sequences ----


def _features_panel(values: np.ndarray, spans: Rationales, annotators: list[Annotator]) -> Panel:
    """Numbers as a strip of greys, one column for each frame, and bars below it."""
    if values.ndim == 1:
        values = values[None, :]
    n_frames, n_features = values.shape
    if not values.size:
        return Panel(24, (letters(0, 14, "<no features>"),))
    low, high = np.nanmin(values), np.nanmax(values)
    dark = np.nan_to_num((values - low) / (high - low if high > low else 1.0))
    data = data_address("png", png(255 - np.rint(225 * dark).T.astype(np.uint8)))
    height = min(10 * n_features, 160)
    strip = (
        f'<image x="0" y="22" width="{ACROSS}" height="{height}" '
        f'preserveAspectRatio="none" {PIXELATED} '
        f'href="{data}"/>'
    )
    outline = rect(0, 22, ACROSS, height, stroke="#999999", width=1)
    title = f"{n_features} features, from {low:.3g} (white) to {high:.3g} (dark)"
    below = _timeline(title, "frames", float(n_frames), spans, annotators, gap=height + 6)
    return Panel(below.height, (strip, outline, *below.shapes))


def _timeline(
    title: str,
    unit: str,
    length: float,
    spans: Rationales,
    annotators: list[Annotator],
    gap: float = 0,
) -> Panel:
    """A bar in each annotator's own line, with the answer next to it, above an axis of time."""
    shapes = [letters(0, 14, title, size=12, fill="#444444")]
    y = 22 + gap
    for annotator in annotators:
        ends = _times(spans, annotator.code)
        for begin, end in ends:
            left, right = ACROSS * np.clip([begin, end], 0, length) / length
            shapes.append(stroke(left, y + 7, max(right, left + 2), y + 7, annotator, width=8))
            shown = short(annotator.answer, 30)
            fits = right + 6 + len(shown) * 7.2 < ACROSS
            x, anchor = (right + 6, "start") if fits else (left - 6, "end")
            shapes.append(letters(x, y + 11, shown, size=12, fill="#222222", anchor=anchor))
            y += 16
    shapes.append(plain_line(0, y + 3, ACROSS, y + 3))
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        x = ACROSS * share
        shapes.append(plain_line(x, y + 3, x, y + 8))
        label = f"{length * share:g}" + (f" {unit}" if share == 1 else "")
        shapes.append(letters(x, y + 21, label, size=12, fill="#444444", anchor=anchor))
    return Panel(y + 34, tuple(shapes))


def _times(spans: Rationales, code: int) -> np.ndarray:
    rows = spans.annotator == code
    places = np.stack([spans.start[rows, 0], spans.stop[rows, 0]], axis=1).astype(float)
    return places[np.isfinite(places).all(axis=1)]
