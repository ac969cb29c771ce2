"""Draw an item with what its annotators looked at and answered, as SVG."""

from __future__ import annotations

import base64
import re
import struct
import unicodedata
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import numpy as np
import pyarrow.compute as pc

from dissensus.corpus import Corpus, Rationales
from dissensus.errors import DataError
from dissensus.scales import Interval

WIDTH = 760  # of a picture, in pixels, as all below
EDGE = 20
SIZE = 14  # of letters
LETTER = 0.6 * SIZE  # what a letter takes in a face of one width; the drawing enforces it
LANE = 5  # between underlines
SQUARE = 300  # a side of the square of two ratings
PICTURE = 336  # the longest side of a picture shown
PALETTE = (  # Okabe and Ito: told apart by nearly everybody
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"
)  # fmt: skip
DASHES = ("", "7 3", "2 2")  # once all colours are taken
NOBODY = "#777777"
PIXELATED = 'image-rendering="optimizeSpeed" style="image-rendering:pixelated"'
MOST_NAMED = 60  # people in a legend; the rest are counted
ANGLES = (0, 180, 30, 150, 330, 210, 60, 120, 300, 240, 90, 270)  # where a name is tried
MOST_LABELLED = 12  # points with a name beside them
_UNPRINTABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Box(NamedTuple):
    """Where something stands."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


@dataclass(frozen=True)
class Person:
    """Somebody in the legend."""

    name: str
    answer: str
    colour: str
    dash: str
    code: int  # of the annotator; -1: nobody in particular
    points: tuple[tuple[float, ...], ...] = ()  # ratings, one number for each question


@dataclass(frozen=True)
class Panel:
    """A piece of the drawing, and how high it is."""

    height: float
    shapes: tuple[str, ...]


def draw(corpus: Corpus, item: str | int, question: str | None = None) -> str:
    """An item with its annotators' focus and answers, as the text of an SVG file.

    Words are underlined and objects framed in one colour for each annotator, frames of a sequence
    have a bar each; ratings are points, of two questions that were answered together in a square.
    A legend names everybody with their answer; who shares a colour differs in the dashes. Marks
    assume that a text runs from left to right. Of more than sixty people the legend counts the
    rest, and ratings on one question become bars.

    Args:
        item: its name, or its code as a whole number.
        question: left out, the first, together with the second if both are ratings and were given
            in one response.

    Example:
        >>> from dissensus.simulate import text
        >>> drawing = draw(text(n_items=10), "3")
        >>> drawing[:4], "annotator-04" in drawing
        ('<svg', True)
    """
    return draw_items(corpus, [item], question)


def draw_items(corpus: Corpus, items: Iterable[str | int], question: str | None = None) -> str:
    """Several items in one SVG, one below the other; otherwise as `draw`."""
    panels: list[Panel] = []
    for item in items:
        panels += [_space(EDGE)] if panels else []
        panels += _panels(corpus, _code(corpus, item), question)
    height: float = EDGE
    shapes: list[str] = []
    for panel in panels:
        shapes.append(f'<g transform="translate({EDGE} {_number(height)})">')
        shapes += [*panel.shapes, "</g>"]
        height += panel.height
    size = f'width="{WIDTH}" height="{_number(height + EDGE)}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
            f'viewBox="0 0 {WIDTH} {_number(height + EDGE)}" '
            'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace">',
            f'<rect {size} fill="#ffffff"/>',
            *shapes,
            "</svg>\n",
        ]
    )


def write_svg(path: str | Path, drawing: str) -> None:
    """Write a drawing to a file."""
    try:
        Path(path).write_text(drawing, encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror})") from None


# ---- what is drawn ----


def _code(corpus: Corpus, item: str | int) -> int:
    if isinstance(item, str):
        return int(corpus.items.codes([item], "item")[0])
    if not 0 <= item < corpus.n_items:
        raise DataError(f"{corpus.name}: item codes run from 0 to {corpus.n_items - 1}, not {item}")
    return int(item)


def _panels(corpus: Corpus, item: int, question: str | None) -> list[Panel]:
    questions = _asked(corpus, question)
    spans = _spans(corpus, item, questions)
    people = _people(corpus, item, questions, spans)
    title = f"{corpus.name}, item {corpus.items[item]}: {' and '.join(questions) or 'no question'}"
    panels = [Panel(30, (_text(0, 14, _short(title, 80), weight="bold"),))]
    for role, held in corpus.contents.items():
        code = corpus.content[role][item]
        if code < 0:
            continue
        if len(corpus.contents) > 1:
            panels.append(Panel(20, (_text(0, 12, _short(role, 80), fill=NOBODY, size=12),)))
        here = spans.take(np.array(pc.equal(spans.role, role).to_pylist(), dtype=bool))
        if corpus.focus is not None and corpus.focus.role == role:
            focus = np.stack([corpus.focus.start[item], corpus.focus.stop[item]])
        else:
            focus = np.full((2, 1), np.nan)
        panels.append(_content_panel(held.kind, held, int(code), here, people, focus))
    if any(person.points for person in people):
        panels.append(_ratings_panel(corpus, questions, people))
    return [*panels, _legend(people)]


def _asked(corpus: Corpus, question: str | None) -> tuple[str, ...]:
    """The question that is drawn, or two that span a square."""
    if question is not None:
        corpus.check_questions([question])
        return (question,)
    first = tuple(corpus.questions)[:2]
    linked = [
        isinstance(asked.scale, Interval) and asked.response is not None
        for asked in (corpus.questions[name] for name in first)
    ]
    return first if len(first) == 2 and all(linked) else first[:1]


def _spans(corpus: Corpus, item: int, questions: Sequence[str]) -> Rationales:
    """What was marked in this item for these questions, each span once."""
    spans = corpus.rationales
    if spans is None or not questions:
        none = np.zeros(0, dtype=np.int64)
        strings = pc.cast(np.zeros(0, dtype=object), "string")
        return Rationales(none, none, strings, strings, none, none, strings)
    spans = spans.take(spans.item == item)
    asked = np.array([question in questions for question in spans.question.to_pylist()], dtype=bool)
    spans = spans.take(asked)
    keys = list(
        zip(
            spans.annotator.tolist(),
            spans.role.to_pylist(),
            map(repr, spans.start.tolist()),
            map(repr, spans.stop.tolist()),
            strict=True,
        )
    )
    return spans.take(np.array([keys.index(key) == at for at, key in enumerate(keys)], dtype=bool))


def _people(corpus: Corpus, item: int, questions: Sequence[str], spans: Rationales) -> list[Person]:
    """Everybody who answered or marked something, in the order of the annotators."""
    answers: dict[Any, list[str]] = {}
    points: dict[Any, list[tuple[float, ...]]] = {}
    for key, name, shown, point in _answers(corpus, item, questions):
        answers.setdefault((key, name), []).append(shown)
        if point:
            points.setdefault((key, name), []).append(point)
    known = {key for key, _ in answers}
    for code in sorted(set(spans.annotator.tolist()) - known):
        name = corpus.annotators[code] if code >= 0 else "nobody in particular"
        answers[(code, name)] = ["no answer" if code >= 0 else "marked"]
    people, n_named = [], 0
    for key, name in sorted(answers, key=lambda pair: (pair[0] < 0, pair[0] == -1, abs(pair[0]))):
        colour, dash = NOBODY, ""
        if key >= 0:
            colour = PALETTE[n_named % len(PALETTE)]
            dash = DASHES[n_named // len(PALETTE) % len(DASHES)]
            n_named += 1
        said = " / ".join(answers[(key, name)])
        people.append(Person(name, said, colour, dash, key, tuple(points.get((key, name), ()))))
    return people


def _answers(
    corpus: Corpus, item: int, questions: Sequence[str]
) -> Iterable[tuple[int, str, str, tuple[float, ...]]]:
    """Who, by code and name, said what, and as which point; anonymous people have codes below."""
    if len(questions) == 2:
        asked = {q: corpus.questions[q].take(corpus.questions[q].item == item) for q in questions}
        joint = replace(corpus, questions=asked).joint(*questions)
        for row in range(len(joint.item)):
            point = tuple(float(joint.answers[question][row]) for question in questions)
            shown = ", ".join(f"{q} {value:g}" for q, value in zip(questions, point, strict=True))
            who = -2 - row if joint.annotator is None else int(joint.annotator[row])
            yield who, _name(corpus, who), shown, point
        return
    for question in questions:
        here = corpus.questions[question]
        here = here.take(here.item == item)
        for row, answer in enumerate(here.answers()):
            who = -2 - row if here.annotator is None else int(here.annotator[row])
            count = 1 if here.count is None else int(here.count[row])
            rated = isinstance(here.scale, Interval)
            point = (float(answer),) if rated else ()
            name = f"{count} people" if count > 1 else _name(corpus, who)
            yield who, name, _said(answer), point


def _name(corpus: Corpus, who: int) -> str:
    return str(corpus.annotators[who]) if who >= 0 else "somebody"


def _said(answer: Any) -> str:
    if isinstance(answer, tuple):
        return ", ".join(answer) or "nothing"
    return f"{answer:g}" if isinstance(answer, float) else str(answer)


def _content_panel(
    kind: str, held: Any, code: int, spans: Rationales, people: list[Person], focus: np.ndarray
) -> Panel:
    if kind == "text":
        return _text_panel(held[code], spans, people, focus)
    if kind == "image":
        return _picture_panel(held.bytes_of(code), spans, people, focus)
    if kind == "features":
        return _features_panel(np.array(held[code], dtype=float), spans, people)
    if not np.isfinite(spans.stop[:, :1].astype(float)).any():
        return Panel(24, (_text(0, 14, f"<{kind}>"),))  # nobody knows how long it is
    length = float(np.nanmax(spans.stop[:, 0].astype(float)))
    return _timeline(f"<{kind}>", "seconds", length, spans, people)


# ---- texts ----


def _text_panel(text: str, spans: Rationales, people: list[Person], focus: np.ndarray) -> Panel:
    """Lines of words, each with the underlines of whoever marked something in it."""
    text = _UNPRINTABLE.sub("\ufffd", text)
    n_across = int((WIDTH - 2 * EDGE) / LETTER)
    shapes: list[str] = []
    top = 0.0
    for begin, end in _lines(text, n_across):
        line = text[begin:end]
        at = np.append(0.0, np.cumsum([_columns(letter) for letter in line])) * LETTER
        end = begin + len(line.rstrip())
        if not np.isnan(focus[0, 0]):
            low, high = np.clip(focus[:, 0].astype(int), begin, end) - begin
            if low < high:
                shapes.append(_rect(at[low], top, at[high] - at[low], 20, fill="#FFF3B0"))
        if line.strip():
            shapes.append(_text(0, top + 14, line.rstrip(), length=at[end - begin]))
        lanes: list[list[tuple[float, float]]] = []
        for person in people:
            for ends in _ends(spans, person.code):
                if ends[0] < end and ends[1] > begin and ends[0] < ends[1]:
                    left, right = at[np.clip(ends, begin, end) - begin]
                    y = top + 20 + LANE * _free_lane(lanes, left, right)
                    shapes.append(_line(left, y, right, y, person, width=3))
        top += 24 + LANE * len(lanes)
    return Panel(top + 8, tuple(shapes))


def _free_lane(lanes: list[list[tuple[float, float]]], left: float, right: float) -> int:
    """The first lane in which nothing lies between these, which are then taken."""
    for number, lane in enumerate(lanes):
        if all(right <= begin or end <= left for begin, end in lane):
            lane.append((left, right))
            return number
    lanes.append([(left, right)])
    return len(lanes) - 1


def _ends(spans: Rationales, code: int) -> list[np.ndarray]:
    """From where to where somebody marked, along the first axis, whole numbers."""
    rows = np.flatnonzero(spans.annotator == code)
    places = np.stack([spans.start[rows, 0], spans.stop[rows, 0]], axis=1)
    return list(places[np.isfinite(places).all(axis=1)].astype(int))


def _lines(text: str, n_across: int) -> list[tuple[int, int]]:
    """Where lines begin and end so that none is wider; words are cut only if they must be."""
    lines = []
    begin = 0
    for paragraph in text.split("\n"):
        last = begin + len(paragraph)
        while begin < last:
            end, across = begin, 0
            while end < last and across + _columns(text[end]) <= n_across:
                across += _columns(text[end])
                end += 1
            space = text.rfind(" ", begin, end)
            if end < last and space > begin:
                end = space + 1
            lines.append((begin, max(end, begin + 1)))
            begin = lines[-1][1]
        begin = last + 1
    return lines or [(0, 0)]


def _columns(letter: str) -> int:
    """How many columns a letter takes in a face of one width."""
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


# ---- pictures ----


def _picture_panel(
    file: bytes, spans: Rationales, people: list[Person], focus: np.ndarray
) -> Panel:
    """The picture itself, and a frame for each box; who shares a box stands outside of it."""
    kind, width, height = _picture_size(file)
    if not kind:
        return Panel(24, (_text(0, 14, "<a picture in a format that cannot be drawn>"),))
    scale = PICTURE / max(width, height)
    margin = 4 + 4 * len(people) if len(people) < 8 else 36
    data = base64.b64encode(file).decode("ascii")
    smooth = f" {PIXELATED}" if scale > 2 else ""
    shapes = [
        f'<image x="{margin}" y="{margin}" width="{_number(width * scale)}" '
        f'height="{_number(height * scale)}"{smooth} href="data:image/{kind};base64,{data}"/>'
    ]
    taken: dict[tuple[float, ...], int] = {}
    nobody = Person("", "", "#000000", "4 4", -1)
    boxes = [(nobody, focus.ravel())] if focus.shape[1] == 2 else []
    if spans.start.shape[1] == 2:
        places = np.concatenate([spans.start, spans.stop], axis=1)  # (n_spans, 4)
        boxes += [
            (person, box) for person in people for box in places[spans.annotator == person.code]
        ]
    for person, box in boxes:
        if not np.isfinite(box).all():
            continue
        rank = taken.get(tuple(box), 0)
        taken[tuple(box)] = rank + 1
        top, left, bottom, right = box * scale + margin
        out = 2 + 4 * rank
        at = (left - out, top - out, right - left + 2 * out, bottom - top + 2 * out)
        shapes.append(_rect(*at, stroke="#ffffff", width=4.5))
        shapes.append(_rect(*at, stroke=person.colour, width=2.5, dash=person.dash))
    return Panel(height * scale + 2 * margin + 8, tuple(shapes))


def _picture_size(file: bytes) -> tuple[str, int, int]:
    """What kind of picture this is, its width and height; no kind if it is none we can draw."""
    if file[:8] == b"\x89PNG\r\n\x1a\n" and len(file) >= 24:
        return ("png", *struct.unpack(">II", file[16:24]))
    if file[:4] == b"GIF8" and len(file) >= 10:
        return ("gif", *struct.unpack("<HH", file[6:10]))
    at = 2
    while file[:2] == b"\xff\xd8" and at + 9 < len(file):  # segments of a JPEG, up to its frame
        marker, length = file[at + 1], struct.unpack(">H", file[at + 2 : at + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", file[at + 5 : at + 9])
            return "jpeg", width, height
        at += 2 + length
    return "", 0, 0


# ---- sequences ----


def _features_panel(values: np.ndarray, spans: Rationales, people: list[Person]) -> Panel:
    """Numbers as a strip of greys, one column for each frame, and bars below it."""
    if values.ndim == 1:
        values = values[None, :]
    n_frames, n_features = values.shape
    if not values.size:
        return Panel(24, (_text(0, 14, "<no features>"),))
    low, high = np.nanmin(values), np.nanmax(values)
    dark = np.nan_to_num((values - low) / (high - low if high > low else 1.0))
    data = base64.b64encode(_grey_png(255 - np.rint(225 * dark).T.astype(np.uint8))).decode("ascii")
    height = min(10 * n_features, 160)
    strip = (
        f'<image x="0" y="22" width="{WIDTH - 2 * EDGE}" height="{height}" '
        f'preserveAspectRatio="none" {PIXELATED} '
        f'href="data:image/png;base64,{data}"/>'
    )
    outline = _rect(0, 22, WIDTH - 2 * EDGE, height, stroke="#999999", width=1)
    title = f"{n_features} features, from {low:.3g} (white) to {high:.3g} (dark)"
    below = _timeline(title, "frames", float(n_frames), spans, people, gap=height + 6)
    return Panel(below.height, (strip, outline, *below.shapes))


def _timeline(
    title: str,
    unit: str,
    length: float,
    spans: Rationales,
    people: list[Person],
    gap: float = 0,
) -> Panel:
    """A bar in each annotator's own line, with the answer beside it, above an axis of time."""
    across = WIDTH - 2 * EDGE
    shapes = [_text(0, 14, title, size=12, fill="#444444")]
    y = 22 + gap
    for person in people:
        ends = _times(spans, person.code)
        for begin, end in ends:
            left, right = across * np.clip([begin, end], 0, length) / length
            shapes.append(_line(left, y + 7, max(right, left + 2), y + 7, person, width=8))
            shown = _short(person.answer, 30)
            if right + 6 + len(shown) * 7.2 < across:
                shapes.append(_text(right + 6, y + 11, shown, size=12, fill="#222222"))
            else:
                shapes.append(_text(left - 6, y + 11, shown, size=12, fill="#222222", anchor="end"))
            y += 16
    shapes.append(_plain_line(0, y + 3, across, y + 3))
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        x = across * share
        shapes.append(_plain_line(x, y + 3, x, y + 8))
        label = f"{length * share:g}" + (f" {unit}" if share == 1 else "")
        shapes.append(_text(x, y + 21, label, size=12, fill="#444444", anchor=anchor))
    return Panel(y + 34, tuple(shapes))


def _times(spans: Rationales, code: int) -> np.ndarray:
    rows = spans.annotator == code
    places = np.stack([spans.start[rows, 0], spans.stop[rows, 0]], axis=1).astype(float)
    return places[np.isfinite(places).all(axis=1)]


def _grey_png(pixels: np.ndarray) -> bytes:
    """Whole numbers from 0 to 255, (rows, columns), as a PNG file."""
    rows, columns = pixels.shape
    lines = np.pad(pixels, ((0, 0), (1, 0))).tobytes()  # a filter byte before each line

    def chunk(kind: bytes, content: bytes) -> bytes:
        body = kind + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*parts) for parts in chunks)


# ---- ratings ----


def _ratings_panel(corpus: Corpus, questions: Sequence[str], people: list[Person]) -> Panel:
    """Points in a square, or on a line, with names beside them where there are not too many."""
    scales = [corpus.questions[question].scale for question in questions]
    left, top = (WIDTH - 2 * EDGE - SQUARE) / 2, 24.0
    frame = Box(left, top, left + SQUARE, top + SQUARE)
    if len(questions) == 1:
        left, right = 60.0, WIDTH - 2 * EDGE - 60.0
        frame = Box(left, 120.0, right, 120.0)
    shapes = _axes(frame, questions, scales)
    points = []
    for person in people:
        for point in person.points:
            share = [
                (value - scale.low) / (scale.high - scale.low)
                for value, scale in zip(point, scales, strict=True)
                if isinstance(scale, Interval)
            ]
            x = frame.left + share[0] * (frame.right - frame.left)
            y = frame.bottom - share[-1] * (frame.bottom - frame.top)
            points.append((x, y, person))
    if len(questions) == 1 and len(points) > MOST_NAMED:
        bars = _histogram(frame, np.array([x for x, _, _ in points]), scales[0].n_columns)
        return Panel(frame.bottom + 52, (*bars, *shapes))
    if len(questions) == 1:
        points = _stacked(points)
    if len(points) <= MOST_LABELLED:
        beside = Box(frame.left - 24, frame.top, frame.left, frame.bottom)  # the axis has a name
        shapes += _labels(points, Box(0, 0, WIDTH - 2 * EDGE, frame.bottom), beside)
    radius = 5 if len(points) <= MOST_NAMED else 2
    for x, y, person in points:
        dash = f' stroke-dasharray="{person.dash}"' if person.dash else ""
        fill = "#ffffff" if person.dash else person.colour
        shapes.append(
            f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{radius}" fill="{fill}" '
            f'stroke="{person.colour}" stroke-width="2"{dash}/>'
        )
    return Panel(frame.bottom + 52, tuple(shapes))


def _axes(frame: Box, questions: Sequence[str], scales: Sequence[Any]) -> list[str]:
    middle = ((frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2)
    grey: dict[str, Any] = {"size": 12, "fill": "#444444"}
    shapes = [
        _text(frame.left, frame.bottom + 20, f"{scales[0].low:g}", anchor="middle", **grey),
        _text(frame.right, frame.bottom + 20, f"{scales[0].high:g}", anchor="middle", **grey),
        _text(middle[0], frame.bottom + 36, _short(questions[0], 60), anchor="middle", **grey),
        _plain_line(frame.left, frame.bottom - 4, frame.left, frame.bottom + 4),
        _plain_line(frame.right, frame.bottom - 4, frame.right, frame.bottom + 4),
    ]
    if len(questions) == 1:
        return [_plain_line(frame.left, frame.bottom, frame.right, frame.bottom), *shapes]
    at = f'transform="rotate(-90 {_number(frame.left - 12)} {_number(middle[1])})"'
    return [
        _rect(frame.left, frame.top, SQUARE, SQUARE, stroke="#999999", width=1),
        _plain_line(middle[0], frame.top, middle[0], frame.bottom, "#dddddd"),
        _plain_line(frame.left, middle[1], frame.right, middle[1], "#dddddd"),
        *shapes,
        _text(frame.left - 8, frame.bottom, f"{scales[1].low:g}", anchor="end", **grey),
        _text(frame.left - 8, frame.top + 8, f"{scales[1].high:g}", anchor="end", **grey),
        f"<g {at}>",
        _text(frame.left - 12, middle[1], _short(questions[1], 30), anchor="middle", **grey),
        "</g>",
    ]


def _histogram(frame: Box, x: np.ndarray, n_bins: int) -> list[str]:
    """Bars that stand on the line, where there are too many points to tell apart."""
    counts, edges = np.histogram(x, n_bins, (frame.left, frame.right))
    heights = 100 * counts / counts.max()
    return [
        _rect(left, frame.bottom - height, right - left - 1, height, fill="#999999")
        for left, right, height in zip(edges, edges[1:], heights, strict=False)
    ]


def _stacked(points: list[tuple[float, float, Person]]) -> list[tuple[float, float, Person]]:
    """Points on a line, lifted where they would cover one another."""
    lifted: list[tuple[float, float, Person]] = []
    for x, line, person in points:
        y = line
        while any(abs(x - a) < 12 and abs(y - b) < 12 for a, b, _ in lifted) and y > 12:
            y -= 12
        lifted.append((x, y, person))
    return lifted


def _labels(points: list[tuple[float, float, Person]], within: Box, beside: Box) -> list[str]:
    """Names as near to their points as they fit, on nothing else, with a line if not beside it."""
    taken = [beside, *(Box(x - 7, y - 7, x + 7, y + 7) for x, y, _ in points)]
    shapes = []
    for x, y, person in points:
        if person.code < 0:  # somebody
            continue
        name = _short(person.name, 24)
        wide = 7.2 * len(name)
        for far, angle in ((far, angle) for far in range(10, 400, 8) for angle in ANGLES):
            turned = np.deg2rad(angle)
            dx, dy = far * np.cos(turned), far * np.sin(turned)
            left = x + dx if abs(angle - 180) >= 90 else x + dx - wide
            label = Box(left, y + dy - 7, left + wide, y + dy + 7)
            inside = within.left <= label.left and label.right <= within.right
            inside = inside and within.top <= label.top and label.bottom <= within.bottom
            if inside and not any(label.meets(other) for other in taken):
                taken.append(label)
                if far > 10:
                    shapes.append(_plain_line(x, y, x + dx, y + dy, "#bbbbbb"))
                shapes.append(_text(label.left, label.bottom - 3, name, size=12, length=wide))
                break
    return shapes


# ---- the legend ----


def _legend(people: list[Person]) -> Panel:
    """Everybody with colour, name and answer, in as many columns as fit."""
    if not people:
        return Panel(24, (_text(0, 14, "no answers", fill=NOBODY),))
    shown = people[:MOST_NAMED]
    lines = [f"{_short(person.name, 40)}: {_short(person.answer, 60)}" for person in shown]
    across = WIDTH - 2 * EDGE
    wide = 60 + max(sum(map(_columns, line)) for line in lines) * 7.2
    n_columns = max(1, min(3, int(across // wide)))
    n_rows = -(-len(lines) // n_columns)
    shapes = []
    for number, (person, line) in enumerate(zip(shown, lines, strict=True)):
        column, row = divmod(number, n_rows)
        x, y = column * across / n_columns, 20 * row
        shapes.append(_line(x, y + 10, x + 26, y + 10, person, width=5))
        length = sum(map(_columns, line)) * 7.2
        shapes.append(_text(x + 34, y + 14, line, size=12, length=min(length, across - 34)))
    height = 20.0 * n_rows + 8
    if len(people) > len(shown):
        rest = f"and {len(people) - len(shown)} more"
        shapes.append(_text(0, height + 6, rest, size=12, fill=NOBODY))
        height += 20
    return Panel(height, tuple(shapes))


# ---- shapes ----


def _space(height: float) -> Panel:
    line = _plain_line(0, height / 2, WIDTH - 2 * EDGE, height / 2, "#cccccc")
    return Panel(height + 10, (line,))


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _short(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "\u2026"


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int = SIZE,
    fill: str = "#111111",
    anchor: str = "start",
    weight: str = "normal",
    length: float | None = None,
) -> str:
    shown = escape(_UNPRINTABLE.sub("\ufffd", text))
    fixed = "" if length is None else f' textLength="{_number(length)}"'
    fixed += "" if length is None else ' lengthAdjust="spacingAndGlyphs"'
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    bold = "" if weight == "normal" else f' font-weight="{weight}"'
    return (
        f'<text x="{_number(x)}" y="{_number(y)}" font-size="{size}" fill="{fill}"{place}{bold}'
        f'{fixed} xml:space="preserve">{shown}</text>'
    )


def _rect(
    x: float,
    y: float,
    width_: float,
    height: float,
    *,
    fill: str = "none",
    stroke: str = "none",
    width: float = 1,
    dash: str = "",
) -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<rect x="{_number(x)}" y="{_number(y)}" width="{_number(width_)}" '
        f'height="{_number(height)}" fill="{fill}" stroke="{stroke}" '
        f'stroke-width="{_number(width)}"{dashed}/>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, person: Person, width: float) -> str:
    return _plain_line(x1, y1, x2, y2, person.colour, width, person.dash)


def _plain_line(
    x1: float,
    y1: float,
    x2: float,
    y2: float,
    colour: str = "#666666",
    width: float = 1,
    dash: str = "",
) -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{_number(x1)}" y1="{_number(y1)}" x2="{_number(x2)}" y2="{_number(y2)}" '
        f'stroke="{colour}" stroke-width="{_number(width)}"{dashed}/>'
    )
