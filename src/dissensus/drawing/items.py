"""An item, or several, as one drawing: a title, its contents, ratings and a legend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dissensus.corpus import Corpus
from dissensus.drawing import svg
from dissensus.drawing.attention import attention_panels, distribution_panel, maps_of
from dissensus.drawing.contents import (
    Annotator,
    Marks,
    annotators_of,
    content_panel,
    spans_of,
    stroke,
    time_panel,
)
from dissensus.drawing.svg import ACROSS, GREY, Panel, letters, short
from dissensus.errors import DataError
from dissensus.prediction import Predictions
from dissensus.scales import Interval

SQUARE = 300  # a side of the square of two ratings


def ratings_panel(corpus: Corpus, questions: Sequence[str], annotators: list[Annotator]) -> Panel:
    """Points in a square or on a line."""
    scales = [corpus.questions[question].scale for question in questions]
    left, top = (ACROSS - SQUARE) / 2, 24.0
    frame = svg.Box(left, top, left + SQUARE, top + SQUARE)
    if len(questions) == 1:
        left, right = 60.0, ACROSS - 60.0
        frame = svg.Box(left, 120.0, right, 120.0)
    shapes = _axes(frame, questions, scales)
    points = []
    for annotator in annotators:
        for point in annotator.points:
            share = [
                (value - scale.low) / (scale.high - scale.low)
                for value, scale in zip(point, scales, strict=True)
                if isinstance(scale, Interval)
            ]
            x = frame.left + share[0] * (frame.right - frame.left)
            y = frame.bottom - share[-1] * (frame.bottom - frame.top)
            points.append((x, y, annotator))
    if len(questions) == 1 and len(points) > svg.MOST_NAMED:
        ends = frame.left, frame.right
        counts, edges = np.histogram([x for x, _, _ in points], scales[0].n_columns, ends)
        bars = [
            svg.rect(left, frame.bottom - high, right - left - 1, high, fill="#999999")
            for left, right, high in zip(
                edges, edges[1:], 100 * counts / counts.max(), strict=False
            )
        ]
        return Panel(frame.bottom + 52, (*bars, *shapes))
    if len(questions) == 1:
        points = _stacked(points)
    radius = 5 if len(points) <= svg.MOST_NAMED else 2
    for x, y, annotator in points:
        fill = "#ffffff" if annotator.dash else annotator.colour
        line = {"stroke": annotator.colour, "stroke_width": 2, "stroke_dasharray": annotator.dash}
        shapes.append(svg.circle(x, y, radius, fill, **line))
    return Panel(frame.bottom + 52, tuple(shapes))


def _axes(frame: svg.Box, questions: Sequence[str], scales: Sequence[Any]) -> list[str]:
    middle = ((frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2)
    grey: dict[str, Any] = {"size": 12, "fill": "#444444"}
    shapes = [
        letters(frame.left, frame.bottom + 20, f"{scales[0].low:g}", anchor="middle", **grey),
        letters(frame.right, frame.bottom + 20, f"{scales[0].high:g}", anchor="middle", **grey),
        letters(middle[0], frame.bottom + 36, short(questions[0], 60), anchor="middle", **grey),
        svg.plain_line(frame.left, frame.bottom - 4, frame.left, frame.bottom + 4),
        svg.plain_line(frame.right, frame.bottom - 4, frame.right, frame.bottom + 4),
    ]
    if len(questions) == 1:
        return [svg.plain_line(frame.left, frame.bottom, frame.right, frame.bottom), *shapes]
    name = letters(0, 0, short(questions[1], 30), anchor="middle", **grey)
    return [
        svg.rect(frame.left, frame.top, SQUARE, SQUARE, stroke="#999999", width=1),
        svg.plain_line(middle[0], frame.top, middle[0], frame.bottom, "#dddddd"),
        svg.plain_line(frame.left, middle[1], frame.right, middle[1], "#dddddd"),
        *shapes,
        letters(frame.left - 8, frame.bottom, f"{scales[1].low:g}", anchor="end", **grey),
        letters(frame.left - 8, frame.top + 8, f"{scales[1].high:g}", anchor="end", **grey),
        svg.moved(frame.left - 12, middle[1], [name], turned=-90),
    ]


def _stacked(points: list[tuple[float, float, Annotator]]) -> list[tuple[float, float, Annotator]]:
    """Points on a line, moved up if they would overlap."""
    lifted: list[tuple[float, float, Annotator]] = []
    for x, line, annotator in points:
        y = line
        while any(abs(x - a) < 12 and abs(y - b) < 12 for a, b, _ in lifted) and y > 12:
            y -= 12
        lifted.append((x, y, annotator))
    return lifted


def draw(
    corpus: Corpus,
    item: str | int | Iterable[str | int],
    question: str | None = None,
    predictions: Predictions | None = None,
    annotators: Sequence[str] | None = None,
) -> str:
    """An item with its annotators' focus and answers, as the text of an SVG file.

    Words are underlined and objects framed in one colour for each annotator, frames of a sequence
    have a bar each. Ratings are points, those of two questions of one response in a square.
    A legend names all annotators with their answer; those of one colour have different dashes.
    Marks assume that a text runs from left to right. Of more than sixty annotators the legend
    counts the rest, and ratings on one question become bars.

    Args:
        item: its name, or its code as a whole number; several are drawn one below the other.
        question: if left out, the first, together with the second if both are ratings of one
            response.
        predictions: drawn below the answers, with the attention of annotators: words with the more
            colour, the more attention they have; heat maps of pictures; curves over time.
        annotators: names of those whose attention is drawn; the first twelve if left out.

    Example:
        >>> from dissensus.simulate import text
        >>> drawing = draw(text(n_items=10), "3")
        >>> drawing[:4], "annotator-04" in drawing
        ('<svg', True)
    """
    panels: list[Panel] = []
    for one in [item] if isinstance(item, str | int | np.integer) else item:
        panels += [_space(svg.EDGE)] if panels else []
        code = int(corpus.items.codes([one], "item")[0]) if isinstance(one, str) else int(one)
        if not 0 <= code < corpus.n_items:
            most = corpus.n_items - 1
            raise DataError(f"{corpus.name}: item codes run from 0 to {most}, not {one}")
        panels += _panels(corpus, code, question)
        if predictions is not None:
            panels += _predicted_panels(corpus, code, question, predictions, annotators)
    height: float = svg.EDGE
    shapes = []
    for panel in panels:
        shapes.append(svg.moved(svg.EDGE, height, panel.shapes))
        height += panel.height
    return svg.document(svg.WIDTH, height + svg.EDGE, shapes)


def _panels(corpus: Corpus, item: int, question: str | None) -> list[Panel]:
    questions = _drawn_questions(corpus, question)
    spans = spans_of(corpus, item, questions)
    annotators = annotators_of(corpus, item, questions, spans)
    marks = Marks(spans, annotators, _has_labels(corpus, questions))
    title = f"{corpus.name}, item {corpus.items[item]}: {' and '.join(questions) or 'no question'}"
    panels = [Panel(30, (letters(0, 14, short(title, 80), weight="bold"),))]
    for role, contents in corpus.contents.items():
        code = corpus.content[role][item]
        if code < 0:
            continue
        if len(corpus.contents) > 1:
            panels.append(Panel(20, (letters(0, 12, short(role, 80), fill=GREY, size=12),)))
        focus = np.full((2, 1), np.nan)
        if corpus.focus is not None and corpus.focus.role == role:
            focus = np.stack([corpus.focus.start[item], corpus.focus.stop[item]])
        panels.append(content_panel(contents, int(code), marks.in_role(role), focus))
    for role in dict.fromkeys(spans.role.to_pylist()):
        if role in ("audio", "video") and role not in corpus.contents:  # a file that is not there
            panels.append(time_panel(role, marks.in_role(role)))
    if any(annotator.points for annotator in annotators):
        panels.append(ratings_panel(corpus, questions, annotators))
    return [*panels, _legend(annotators)]


def _has_labels(corpus: Corpus, questions: Sequence[str]) -> bool:
    if (spans := corpus.rationales) is None:
        return False
    rows = zip(spans.question.to_pylist(), spans.kind.to_pylist(), strict=True)
    return len({kind for question, kind in rows if question in questions}) > 1


def _predicted_panels(
    corpus: Corpus,
    item: int,
    question: str | None,
    predictions: Predictions,
    annotators: Sequence[str] | None,
) -> list[Panel]:
    """The predicted distribution next to the answers, and the attention in each role."""
    known = [name for name in predictions if name in corpus.questions]
    if question is None and not known:
        raise DataError(f"{corpus.name}: has none of the predicted questions")
    question = known[0] if question is None else question
    prediction = predictions[question]
    at = int(prediction.items.find([corpus.items[item]])[0])
    if at < 0:
        raise DataError(f"item {corpus.items[item]!r} is not predicted; draw another one")
    scale = prediction.scale
    votes = corpus.select(items=np.array([item]))[question].to(scale).distribution()[0]
    rated = isinstance(scale, Interval)
    names = (f"{scale.low:g}", f"{scale.high:g}") if rated else scale.values  # type: ignore[attr-defined]
    panels = [_space(10), distribution_panel(votes, prediction.distribution[at], names, rated)]
    legend = annotators_of(corpus, item, [question], spans_of(corpus, item, [question]))
    for attention in prediction.attention:
        role = attention.role.split("&")[0]  # which one encoder of several reads
        if role not in corpus.contents or corpus.content[role][item] < 0:
            continue
        maps = maps_of(corpus, item, question, prediction, attention, legend, annotators)
        title = f"attention to {role}, {predictions.method}"
        panels.append(Panel(22, (letters(0, 14, short(title, 80), weight="bold", size=12),)))
        code = int(corpus.content[role][item])
        panels += attention_panels(corpus.contents[role], code, maps)
    return panels


def _drawn_questions(corpus: Corpus, question: str | None) -> tuple[str, ...]:
    """The question that is drawn, or two that span a square."""
    if question is not None:
        corpus.check_questions([question])
        return (question,)
    first = tuple(corpus.questions)[:2]
    linked = [
        isinstance(answers.scale, Interval) and answers.response is not None
        for answers in (corpus.questions[name] for name in first)
    ]
    return first if len(first) == 2 and all(linked) else first[:1]


def _legend(annotators: list[Annotator]) -> Panel:
    """All annotators with colour, name and answer, in as many columns as fit."""
    if not annotators:
        return Panel(24, (letters(0, 14, "no answers", fill=GREY),))
    named = annotators[: svg.MOST_NAMED]
    lines = [f"{short(annotator.name, 40)}: {short(annotator.answer, 60)}" for annotator in named]
    wide = 60 + max(sum(map(svg.columns_of, line)) for line in lines) * 7.2
    n_columns = max(1, min(3, int(ACROSS // wide)))
    n_rows = -(-len(lines) // n_columns)
    shapes = []
    for number, (annotator, line) in enumerate(zip(named, lines, strict=True)):
        column, row = divmod(number, n_rows)
        x, y = column * ACROSS / n_columns, 20 * row
        shapes.append(stroke(x, y + 10, x + 26, y + 10, annotator, width=5))
        length = sum(map(svg.columns_of, line)) * 7.2
        shapes.append(letters(x + 34, y + 14, line, size=12, length=min(length, ACROSS - 34)))
    height = 20.0 * n_rows + 8
    if len(annotators) > len(named):
        rest = f"and {len(annotators) - len(named)} more"
        shapes.append(letters(0, height + 6, rest, size=12, fill=GREY))
        height += 20
    return Panel(height, tuple(shapes))


def _space(height: float) -> Panel:
    line = svg.plain_line(0, height / 2, ACROSS, height / 2, "#cccccc")
    return Panel(height + 10, (line,))
