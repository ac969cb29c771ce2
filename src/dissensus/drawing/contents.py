"""The contents of an item, with the rationales of its annotators."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from dissensus.corpus import Rationales
from dissensus.drawing.annotators import Annotator, stroke
from dissensus.drawing.picture_files import data_address, picture_size, png
from dissensus.drawing.shapes import (
    ACROSS,
    SIZE,
    Panel,
    columns_of,
    element,
    image,
    letters,
    printable,
    rect,
    rounded,
    short,
    time_axis,
)
from dissensus.errors import DataError

LETTER = 0.6 * SIZE  # width of a letter in a monospaced font; the drawing enforces it
LANE = 5  # between underlines
LABEL, LABEL_LANE = 10, 15  # size of the labels of spans, and between underlines that have them
MOST_LETTERS = 24  # of a label
PICTURE = 336  # the longest side of a drawn picture
LOUDNESS, STEPS = 48, 360  # height of a recording, and how often its loudness is drawn


def content_panel(
    kind: str,
    contents: Any,
    code: int,
    spans: Rationales,
    annotators: list[Annotator],
    focus: np.ndarray,
    labelled: bool = False,
) -> Panel:
    """Draw a content of any kind; of a video, only the times of rationales.

    Args:
        labelled: whether to write the label of each span next to it.
    """
    if kind == "text":
        return _text_panel(contents[code], spans, annotators, focus, labelled)
    if kind == "image":
        return _picture_panel(contents.bytes_of(code), spans, annotators, focus)
    if kind == "features":
        return _features_panel(np.array(contents[code], dtype=float), spans, annotators)
    if kind == "audio" and (recording := _waveform(contents, code)) is not None:
        shape, length = recording
        gap = LOUDNESS + 6
        below = _timeline("loudness", "seconds", length, spans, annotators, gap, labelled)
        return Panel(below.height, (shape, *below.shapes))
    if not np.isfinite(spans.stop[:, :1].astype(float)).any():
        return Panel(24, (letters(0, 14, f"<{kind}>"),))  # its length is unknown
    return time_panel(kind, spans, annotators, labelled)


def time_panel(
    kind: str, spans: Rationales, annotators: list[Annotator], labelled: bool = False
) -> Panel:
    """The times of rationales in a clip, up to the last one."""
    length = float(np.nanmax(spans.stop[:, 0].astype(float)))
    return _timeline(f"<{kind}>", "seconds", length, spans, annotators, labelled=labelled)


# ---- texts ----


def _text_panel(
    text: str,
    spans: Rationales,
    annotators: list[Annotator],
    focus: np.ndarray,
    labelled: bool = False,
) -> Panel:
    """Lines of words, with an underline for each span that an annotator marked."""
    text = printable(text)
    n_across = int(ACROSS / LETTER)
    lane_height = LABEL_LANE if labelled else LANE
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
            for ends, kind in _ends(spans, annotator.code):
                if ends[0] < end and ends[1] > begin and ends[0] < ends[1]:
                    left, right = at[np.clip(ends, begin, end) - begin]
                    label = kind if labelled and ends[0] >= begin else ""
                    edge = max(right, left + label_width(label))
                    y = top + 20 + lane_height * _free_lane(lanes, left, edge)
                    shapes.append(stroke(left, y, right, y, annotator, width=3))
                    shapes += _span_label(left, y, label, annotator)
        top += 24 + lane_height * len(lanes)
    return Panel(top + 8, tuple(shapes))


def _span_label(left: float, y: float, label: str, annotator: Annotator) -> list[str]:
    """The label of a span, below its line and inside the drawing."""
    if not label:
        return []
    x = max(min(left, ACROSS - label_width(label)), 0)
    shown = short(label, MOST_LETTERS)
    return [letters(x, y + 10, shown, size=LABEL, fill=annotator.colour)]


def label_width(label: str) -> float:
    """The width of a label, with a gap after it; 0 for none."""
    return (len(short(label, MOST_LETTERS)) + 1) * 0.6 * LABEL if label else 0.0


def _free_lane(lanes: list[list[tuple[float, float]]], left: float, right: float) -> int:
    """The first lane that is free between these positions; it is then occupied there."""
    for number, lane in enumerate(lanes):
        if all(right <= begin or end <= left for begin, end in lane):
            lane.append((left, right))
            return number
    lanes.append([(left, right)])
    return len(lanes) - 1


def _ends(spans: Rationales, code: int) -> list[tuple[np.ndarray, str]]:
    """Start and stop of an annotator's spans along the first axis, whole numbers; their labels."""
    return [(ends.astype(int), kind) for ends, kind in _times(spans, code)]


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
    size = width * scale, height * scale
    shapes = [image(margin, margin, *size, data_address(kind, file), pixelated=scale > 2)]
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


def _waveform(contents: Any, code: int) -> tuple[str, float] | None:
    """The loudness of a recording over the whole width, and how many seconds it has.

    None if its file is missing or cannot be decoded, or soundfile is not installed.
    """
    try:
        import soundfile
    except (ImportError, OSError):  # OSError: the package without libsndfile
        return None
    try:
        file = io.BytesIO(contents.bytes_of(code))
        samples, rate = soundfile.read(file, dtype="float32", always_2d=True)
    except (DataError, soundfile.LibsndfileError):
        return None
    size = np.nan_to_num(np.abs(samples).max(axis=1, initial=0))
    if not len(size):
        return None
    starts = np.unique(np.linspace(0, len(size), STEPS, endpoint=False).astype(int))
    loudness = np.maximum.reduceat(size, starts)
    y = np.maximum(loudness / max(loudness.max(), 1e-4), 0.01) * LOUDNESS / 2
    x = np.linspace(0, ACROSS, len(y))
    above, below = ([f"{rounded(a)} {rounded(22 + LOUDNESS / 2 + s * b)}"
                     for a, b in zip(x, y, strict=True)] for s in (-1, 1))  # fmt: skip
    path = f"M {' L '.join(above + below[::-1])} Z"
    return element("path", d=path, fill="#999999"), len(size) / rate


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
    strip = image(0, 22, ACROSS, height, data, stretched=True, pixelated=True)
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
    labelled: bool = False,
) -> Panel:
    """Bars of each annotator, with the label or the answer next to it, above an axis of time."""
    shapes = [letters(0, 14, title, size=12, fill="#444444")]
    y = 22 + gap
    for annotator in annotators:
        lanes: list[list[tuple[float, float]]] = []
        for (begin, end), kind in _times(spans, annotator.code):
            left, right = ACROSS * np.clip([begin, end], 0, length) / length
            shown = short(kind if labelled else annotator.answer, 30)
            width = 6 + len(shown) * 7.2
            fits = right + width < ACROSS
            x, anchor = (right + 6, "start") if fits else (left - 6, "end")
            ends = (left, right + width) if fits else (left - width, right)
            lane = _free_lane(lanes, *ends)
            at = y + 16 * lane
            shapes.append(stroke(left, at + 7, max(right, left + 2), at + 7, annotator, width=8))
            shapes.append(letters(x, at + 11, shown, size=12, fill="#222222", anchor=anchor))
        y += 16 * len(lanes)
    return Panel(y + 34, (*shapes, *time_axis(y + 3, length, unit)))


def _times(spans: Rationales, code: int) -> list[tuple[np.ndarray, str]]:
    """Start and stop of an annotator's spans along the first axis, in order, and their labels."""
    rows = np.flatnonzero(spans.annotator == code)
    places = np.stack([spans.start[rows, 0], spans.stop[rows, 0]], axis=1).astype(float)
    kinds = spans.kind.to_pylist()
    return [
        (ends, kinds[row] or "")
        for row, ends in zip(rows.tolist(), places, strict=True)
        if np.isfinite(ends).all()
    ]
