"""An item, or several, as one drawing: a title, its contents, ratings and a legend."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from dissensus.corpus import Corpus
from dissensus.drawing.annotators import Annotator, annotators_of, spans_of, stroke
from dissensus.drawing.contents import content_panel
from dissensus.drawing.ratings import ratings_panel
from dissensus.drawing.shapes import (
    ACROSS,
    EDGE,
    GREY,
    MOST_NAMED,
    WIDTH,
    Panel,
    columns_of,
    letters,
    plain_line,
    rounded,
    short,
)
from dissensus.errors import DataError
from dissensus.scales import Interval


def draw(corpus: Corpus, item: str | int, question: str | None = None) -> str:
    """An item with its annotators' focus and answers, as the text of an SVG file.

    Words are underlined and objects framed in one colour for each annotator, frames of a sequence
    have a bar each. Ratings are points, those of two questions of one response in a square.
    A legend names all annotators with their answer; those of one colour have different dashes.
    Marks assume that a text runs from left to right. Of more than sixty annotators the legend
    counts the rest, and ratings on one question become bars.

    Args:
        item: its name, or its code as a whole number.
        question: if left out, the first, together with the second if both are ratings of one
            response.

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
        shapes.append(f'<g transform="translate({EDGE} {rounded(height)})">')
        shapes += [*panel.shapes, "</g>"]
        height += panel.height
    size = f'width="{WIDTH}" height="{rounded(height + EDGE)}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
            f'viewBox="0 0 {WIDTH} {rounded(height + EDGE)}" '
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


def _code(corpus: Corpus, item: str | int) -> int:
    if isinstance(item, str):
        return int(corpus.items.codes([item], "item")[0])
    if not 0 <= item < corpus.n_items:
        raise DataError(f"{corpus.name}: item codes run from 0 to {corpus.n_items - 1}, not {item}")
    return int(item)


def _panels(corpus: Corpus, item: int, question: str | None) -> list[Panel]:
    questions = _drawn_questions(corpus, question)
    spans = spans_of(corpus, item, questions)
    annotators = annotators_of(corpus, item, questions, spans)
    title = f"{corpus.name}, item {corpus.items[item]}: {' and '.join(questions) or 'no question'}"
    panels = [Panel(30, (letters(0, 14, short(title, 80), weight="bold"),))]
    for role, contents in corpus.contents.items():
        code = corpus.content[role][item]
        if code < 0:
            continue
        if len(corpus.contents) > 1:
            panels.append(Panel(20, (letters(0, 12, short(role, 80), fill=GREY, size=12),)))
        here = spans.take(np.array(pc.equal(spans.role, role).to_pylist(), dtype=bool))
        if corpus.focus is not None and corpus.focus.role == role:
            focus = np.stack([corpus.focus.start[item], corpus.focus.stop[item]])
        else:
            focus = np.full((2, 1), np.nan)
        panels.append(content_panel(contents.kind, contents, int(code), here, annotators, focus))
    if any(annotator.points for annotator in annotators):
        panels.append(ratings_panel(corpus, questions, annotators))
    return [*panels, _legend(annotators)]


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
    shown = annotators[:MOST_NAMED]
    lines = [f"{short(annotator.name, 40)}: {short(annotator.answer, 60)}" for annotator in shown]
    wide = 60 + max(sum(map(columns_of, line)) for line in lines) * 7.2
    n_columns = max(1, min(3, int(ACROSS // wide)))
    n_rows = -(-len(lines) // n_columns)
    shapes = []
    for number, (annotator, line) in enumerate(zip(shown, lines, strict=True)):
        column, row = divmod(number, n_rows)
        x, y = column * ACROSS / n_columns, 20 * row
        shapes.append(stroke(x, y + 10, x + 26, y + 10, annotator, width=5))
        length = sum(map(columns_of, line)) * 7.2
        shapes.append(letters(x + 34, y + 14, line, size=12, length=min(length, ACROSS - 34)))
    height = 20.0 * n_rows + 8
    if len(annotators) > len(shown):
        rest = f"and {len(annotators) - len(shown)} more"
        shapes.append(letters(0, height + 6, rest, size=12, fill=GREY))
        height += 20
    return Panel(height, tuple(shapes))


def _space(height: float) -> Panel:
    line = plain_line(0, height / 2, ACROSS, height / 2, "#cccccc")
    return Panel(height + 10, (line,))
