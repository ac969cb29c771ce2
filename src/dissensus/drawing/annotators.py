"""The annotators of an item, each with a colour and an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow.compute as pc

from dissensus.corpus import Corpus, Rationales
from dissensus.drawing.shapes import GREY, PALETTE, plain_line
from dissensus.scales import Interval

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


def look(number: int) -> tuple[str, str]:
    """The colour and the dashes of the annotator with this number."""
    return PALETTE[number % len(PALETTE)], DASHES[number // len(PALETTE) % len(DASHES)]


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
    keys = list(
        zip(
            spans.annotator.tolist(),
            spans.role.to_pylist(),
            map(repr, spans.start.tolist()),
            map(repr, spans.stop.tolist()),
            spans.kind.to_pylist(),
            strict=True,
        )
    )
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


def answer_text(answer: Any) -> str:
    if isinstance(answer, tuple):
        return ", ".join(answer) or "nothing"
    return f"{answer:g}" if isinstance(answer, float) else str(answer)


def stroke(x1: float, y1: float, x2: float, y2: float, annotator: Annotator, width: float) -> str:
    """A line in the annotator's colour and dashes."""
    return plain_line(x1, y1, x2, y2, annotator.colour, width, annotator.dash)
