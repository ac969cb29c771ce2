"""The contents of an item, with the rationales of its annotators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow.compute as pc

from dissensus.contents import Contents
from dissensus.corpus import Corpus, Rationales
from dissensus.drawing import svg
from dissensus.drawing.svg import ACROSS, GREY, Panel, letters, short
from dissensus.scales import Interval, answer_text

DASHES = ("", "7 3", "2 2")  # when all colours are used


@dataclass(frozen=True)
class Annotator:
    """An annotator in the legend."""

    name: str
    answer: str
    colour: str
    dash: str
    code: int  # of the annotator; negative: unknown
    points: tuple[tuple[float, ...], ...] = ()  # ratings, one number for each question


@dataclass(frozen=True)
class Marks:
    """What annotators marked in an item.

    Args:
        labelled: whether to write the label of each span next to it.
    """

    spans: Rationales
    annotators: list[Annotator]
    labelled: bool = False

    def in_role(self, role: str) -> Marks:
        here = np.array(pc.equal(self.spans.role, role).to_pylist(), dtype=bool)
        return replace(self, spans=self.spans.take(here))

    def ends(self, annotator: Annotator) -> list[tuple[np.ndarray, str]]:
        """Start and stop of each span along the first axis, in order, and its label."""
        spans = self.spans
        rows = np.flatnonzero(spans.annotator == annotator.code)
        places = np.stack([spans.start[rows, 0], spans.stop[rows, 0]], axis=1).astype(float)
        kinds = spans.kind.to_pylist()
        return [
            (ends, kinds[row] or "")
            for row, ends in zip(rows.tolist(), places, strict=True)
            if np.isfinite(ends).all()
        ]


def look(number: int) -> tuple[str, str]:
    """The colour and the dashes of the annotator with this number."""
    return svg.PALETTE[number % len(svg.PALETTE)], DASHES[number // len(svg.PALETTE) % len(DASHES)]


def spans_of(corpus: Corpus, item: int, questions: Sequence[str]) -> Rationales:
    """The rationales of an item for these questions, each span once."""
    spans = corpus.rationales
    if spans is None or not questions:
        none = np.zeros(0, dtype=np.int64)
        strings = pc.cast(np.zeros(0, dtype=object), "string")
        return Rationales(none, none, strings, strings, none, none, strings)
    spans = spans.take(spans.item == item)
    wanted = [question in questions for question in spans.question.to_pylist()]
    spans = spans.take(np.array(wanted, dtype=bool))
    places = (map(repr, ends.tolist()) for ends in (spans.start, spans.stop))
    named = (spans.role.to_pylist(), spans.kind.to_pylist())
    keys = list(zip(spans.annotator.tolist(), *named, *places, strict=True))
    return spans.take(np.array([keys.index(key) == at for at, key in enumerate(keys)], dtype=bool))


def annotators_of(
    corpus: Corpus, item: int, questions: Sequence[str], spans: Rationales
) -> list[Annotator]:
    """All annotators that answered or marked something, in the order of the corpus."""
    answers: dict[Any, list[str]] = {}
    points: dict[Any, list[tuple[float, ...]]] = {}
    for key, name, shown, point in _answers(corpus, item, questions):
        answers.setdefault((key, name), []).append(shown)
        if point:
            points.setdefault((key, name), []).append(point)
    known = {key for key, _ in answers}
    for code in sorted(set(spans.annotator.tolist()) - known):
        name = corpus.annotators[code] if code >= 0 else "unknown annotator"
        answers[(code, name)] = ["no answer" if code >= 0 else "marked"]
    annotators, n_named = [], 0
    for key, name in sorted(answers, key=lambda pair: (pair[0] < 0, pair[0] == -1, abs(pair[0]))):
        colour, dash = GREY, ""
        if key >= 0:
            colour, dash = look(n_named)
            n_named += 1
        answer = " / ".join(answers[(key, name)])
        annotators.append(
            Annotator(name, answer, colour, dash, key, tuple(points.get((key, name), ())))
        )
    return annotators


def _answers(
    corpus: Corpus, item: int, questions: Sequence[str]
) -> Iterable[tuple[int, str, str, tuple[float, ...]]]:
    """Code and name of an annotator, the answer as text and as a point; negative codes: unknown."""
    if len(questions) == 2:
        both = {q: corpus.questions[q].take(corpus.questions[q].item == item) for q in questions}
        joint = replace(corpus, questions=both).joint(*questions)
        for row in range(len(joint.item)):
            point = tuple(float(joint.answers[question][row]) for question in questions)
            shown = ", ".join(f"{q} {value:g}" for q, value in zip(questions, point, strict=True))
            code = -2 - row if joint.annotator is None else int(joint.annotator[row])
            yield code, _name(corpus, code), shown, point
        return
    for question in questions:
        here = corpus.questions[question]
        here = here.take(here.item == item)
        for row, answer in enumerate(here.answers()):
            code = -2 - row if here.annotator is None else int(here.annotator[row])
            count = 1 if here.count is None else int(here.count[row])
            rated = isinstance(here.scale, Interval)
            point = (float(answer),) if rated else ()
            name = f"{count} annotators" if count > 1 else _name(corpus, code)
            yield code, name, answer_text(answer), point


def _name(corpus: Corpus, code: int) -> str:
    return str(corpus.annotators[code]) if code >= 0 else "unknown annotator"


def stroke(x1: float, y1: float, x2: float, y2: float, annotator: Annotator, width: float) -> str:
    """A line in the annotator's colour and dashes."""
    return svg.plain_line(x1, y1, x2, y2, annotator.colour, width, annotator.dash)


LETTER = 0.6 * svg.SIZE  # width of a letter in a monospaced font; the drawing enforces it
LANE = 5  # between underlines
LABEL, LABEL_LANE = 10, 15  # size of the labels of spans, and between underlines that have them
LONGEST = 24  # letters of a label
PICTURE = 336  # the longest side of a drawn picture


def content_panel(contents: Contents, code: int, marks: Marks, focus: np.ndarray) -> Panel:
    """Draw a content of any kind; of a clip, only the times of rationales."""
    if contents.kind == "text":
        return _text_panel(contents[code], marks, focus)
    if contents.kind == "image":
        return _picture_panel(contents.bytes_of(code), marks, focus)
    if contents.kind == "features":
        return _features_panel(np.array(contents[code], dtype=float), marks)
    return time_panel(contents.kind, marks)


def time_panel(kind: str, marks: Marks) -> Panel:
    """The times of rationales in a clip, up to the last one, as its length is unknown."""
    stops = marks.spans.stop[:, :1].astype(float)
    if not np.isfinite(stops).any():
        return Panel(24, (letters(0, 14, f"<{kind}>"),))
    return _timeline(f"<{kind}>", "seconds", float(np.nanmax(stops)), marks)


# ---- texts ----


def _text_panel(text: str, marks: Marks, focus: np.ndarray) -> Panel:
    """Lines of words, with an underline for each span that an annotator marked."""
    text = svg.printable(text)
    lane_height = LABEL_LANE if marks.labelled else LANE
    shapes: list[str] = []
    top = 0.0
    for begin, end in text_lines(text, int(ACROSS / LETTER)):
        line = text[begin:end]
        at = np.append(0.0, np.cumsum([svg.columns_of(letter) for letter in line])) * LETTER
        end = begin + len(line.rstrip())
        if not np.isnan(focus[0, 0]):
            low, high = np.clip(focus[:, 0].astype(int), begin, end) - begin
            if low < high:
                shapes.append(svg.rect(at[low], top, at[high] - at[low], 20, fill="#FFF3B0"))
        if line.strip():
            shapes.append(letters(0, top + 14, line.rstrip(), length=at[end - begin]))
        lanes: list[list[tuple[float, float]]] = []
        for annotator in marks.annotators:
            for places, kind in marks.ends(annotator):
                ends = places.astype(int)
                if not (ends[0] < end and ends[1] > begin and ends[0] < ends[1]):
                    continue
                left, right = at[np.clip(ends, begin, end) - begin]
                label = kind if marks.labelled and ends[0] >= begin else ""
                edge = max(right, left + label_width(label))
                y = top + 20 + lane_height * _free_lane(lanes, left, edge)
                shapes.append(stroke(left, y, right, y, annotator, width=3))
                if label:  # below the line and inside the drawing
                    x, shown = max(min(left, ACROSS - label_width(label)), 0), short(label, LONGEST)
                    colour = annotator.colour
                    shapes.append(letters(x, y + 10, shown, size=LABEL, fill=colour))
        top += 24 + lane_height * len(lanes)
    return Panel(top + 8, tuple(shapes))


def label_width(label: str) -> float:
    """The width of a label, with a gap after it; 0 for none."""
    return (len(short(label, LONGEST)) + 1) * 0.6 * LABEL if label else 0.0


def _free_lane(lanes: list[list[tuple[float, float]]], left: float, right: float) -> int:
    """The first lane that is free between these positions; it is then occupied there."""
    for number, lane in enumerate(lanes):
        if all(right <= begin or end <= left for begin, end in lane):
            lane.append((left, right))
            return number
    lanes.append([(left, right)])
    return len(lanes) - 1


def text_lines(text: str, n_across: int) -> list[tuple[int, int]]:
    """Where lines begin and end so that all fit; only words that are too long are divided."""
    lines = []
    begin = 0
    for paragraph in text.split("\n"):
        last = begin + len(paragraph)
        while begin < last:
            end, across = begin, 0
            while end < last and across + svg.columns_of(text[end]) <= n_across:
                across += svg.columns_of(text[end])
                end += 1
            space = text.rfind(" ", begin, end)
            if end < last and space > begin:
                end = space + 1
            lines.append((begin, max(end, begin + 1)))
            begin = lines[-1][1]
        begin = last + 1
    return lines or [(0, 0)]


# ---- pictures ----


def _picture_panel(file: bytes, marks: Marks, focus: np.ndarray) -> Panel:
    """The picture with a frame for each box; frames of equal boxes are nested."""
    kind, width, height = svg.picture_size(file)
    if not kind:
        return Panel(24, (letters(0, 14, "<a picture in a format that cannot be drawn>"),))
    scale, spans, annotators = PICTURE / max(width, height), marks.spans, marks.annotators
    margin = 4 + 4 * len(annotators) if len(annotators) < 8 else 36
    size = width * scale, height * scale
    shapes = [svg.image(margin, margin, *size, svg.data_address(kind, file), pixelated=scale > 2)]
    n_frames: dict[tuple[float, ...], int] = {}
    unknown = Annotator("", "", "#000000", "4 4", -1)
    boxes = [(unknown, focus.ravel())] if focus.shape[1] == 2 else []
    if spans.start.shape[1] == 2:
        places = np.concatenate([spans.start, spans.stop], axis=1)  # (n_spans, 4)
        boxes += [(one, box) for one in annotators for box in places[spans.annotator == one.code]]
    for annotator, box in boxes:
        if not np.isfinite(box).all():
            continue
        rank = n_frames.get(tuple(box), 0)
        n_frames[tuple(box)] = rank + 1
        top, left, bottom, right = box * scale + margin
        out = 2 + 4 * rank
        at = (left - out, top - out, right - left + 2 * out, bottom - top + 2 * out)
        shapes.append(svg.rect(*at, stroke="#ffffff", width=4.5))
        shapes.append(svg.rect(*at, stroke=annotator.colour, width=2.5, dash=annotator.dash))
    return Panel(height * scale + 2 * margin + 8, tuple(shapes))


# ---- sequences ----


def _features_panel(values: np.ndarray, marks: Marks) -> Panel:
    """Numbers as a strip of greys, one column for each frame, and bars below it."""
    if values.ndim == 1:
        values = values[None, :]
    n_frames, n_features = values.shape
    if not values.size:
        return Panel(24, (letters(0, 14, "<no features>"),))
    low, high = np.nanmin(values), np.nanmax(values)
    dark = np.nan_to_num((values - low) / (high - low if high > low else 1.0))
    data = svg.data_address("png", svg.png(255 - np.rint(225 * dark).T.astype(np.uint8)))
    height = min(10 * n_features, 160)
    strip = svg.image(0, 22, ACROSS, height, data, stretched=True, pixelated=True)
    outline = svg.rect(0, 22, ACROSS, height, stroke="#999999", width=1)
    title = f"{n_features} features, from {low:.3g} (white) to {high:.3g} (dark)"
    with_answers = replace(marks, labelled=False)
    below = _timeline(title, "frames", float(n_frames), with_answers, gap=height + 6)
    return Panel(below.height, (strip, outline, *below.shapes))


def _timeline(title: str, unit: str, length: float, marks: Marks, gap: float = 0) -> Panel:
    """Bars of each annotator, with the label or the answer next to it, above an axis of time."""
    shapes = [letters(0, 14, title, size=12, fill="#444444")]
    y = 22 + gap
    for annotator in marks.annotators:
        lanes: list[list[tuple[float, float]]] = []
        for (begin, end), kind in marks.ends(annotator):
            left, right = ACROSS * np.clip([begin, end], 0, length) / length
            shown = short(kind if marks.labelled else annotator.answer, 30)
            width = 6 + len(shown) * 7.2
            fits = right + width < ACROSS
            x, anchor = (right + 6, "start") if fits else (left - 6, "end")
            ends = (left, right + width) if fits else (left - width, right)
            at = y + 16 * _free_lane(lanes, *ends)
            shapes.append(stroke(left, at + 7, max(right, left + 2), at + 7, annotator, width=8))
            shapes.append(letters(x, at + 11, shown, size=12, fill="#222222", anchor=anchor))
        y += 16 * len(lanes)
    return Panel(y + 34, (*shapes, *svg.time_axis(y + 3, length, unit)))
