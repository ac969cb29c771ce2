"""Figures of corpora, predictions and results: those of the report, for notebooks and files.

Each function returns a `Figure`: a notebook shows it, `save` writes it as .svg, .png or .csv,
`data` is what it shows as an Arrow table, and `to_pandas()` as a DataFrame. With `ax=`, Axes of
matplotlib, it is drawn on these instead, and they are returned; `GREY` is a style for print.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dissensus.annotations import Annotations
from dissensus.conversion import corpus_of
from dissensus.corpus import Corpus
from dissensus.drawing import draw
from dissensus.errors import DataError, counted, listed
from dissensus.evaluation import Results
from dissensus.evaluation.best_method import comparison_tables
from dissensus.plot_axes import GREY, draw_on
from dissensus.prediction import Predictions
from dissensus.report.blocks import Block, Figure, Text
from dissensus.report.figures import labelled
from dissensus.report.sections.agreement import confused, who_agrees
from dissensus.report.sections.overview import answers_given, scores_figure
from dissensus.report.sections.predictions import calibration as calibration_of
from dissensus.report.sections.predictions import (
    is_rating,
    mean_ratings,
    together,
)
from dissensus.scales import Interval

__all__ = [
    "GREY",
    "Figure",
    "agreement",
    "answers",
    "calibration",
    "confusion",
    "item",
    "ratings",
    "scores",
]


def answers(source: Any, question: str | None = None, ax: Any = None) -> Any:
    """How often each value was given, or a histogram of ratings.

    Args:
        source: a corpus, annotations, or a table that `dissensus.read` reads.
        question: can be left out if there is one.
        ax: Axes of matplotlib to draw on.

    Example:
        >>> from dissensus import plot, simulate
        >>> figure = plot.answers(simulate.text(n_items=20))
        >>> figure.title, figure.data.column_names
        ('Answers to emotion', ['value', 'share'])
    """
    corpus, question = _question(source, question)
    return _first(answers_given(corpus[question], question), "there are no answers", ax)


def agreement(source: Any, question: str | None = None, ax: Any = None) -> Any:
    """How much each two annotators agree: Cohen's kappa, or the correlation of ratings.

    For multi-label answers kappa has the MASI distances of two sets as weights. Annotators who
    answer alike stand next to each other; the 40 who share items with most others are shown.

    Args:
        source, question, ax: as of `answers`.
    """
    corpus, question = _question(source, question)
    return _first(
        who_agrees(corpus[question], question),
        "answers of two known annotators or more to the same items are needed",
        ax,
    )


def confusion(source: Any, question: str | None = None, ax: Any = None) -> Any:
    """If one annotator gives a value, how often does another give which value to the same item?

    Args:
        source, question, ax: as of `answers`.
    """
    corpus, question = _question(source, question)
    return _first(
        confused(corpus[question], question),
        "values are confused only where items have two answers on a nominal or ordinal scale",
        ax,
    )


def ratings(source: Any, questions: Sequence[str] | None = None, ax: Any = None) -> Any:
    """The density of the ratings on two questions, with contours.

    Args:
        source: a corpus, or a table that `dissensus.read` reads.
        questions: two with ratings; the first two if left out.
        ax: as of `answers`.
    """
    corpus = corpus_of(source)
    rated = [q for q, answers in corpus.questions.items() if is_rating(answers.scale)]
    chosen = tuple(rated[:2] if questions is None else questions)
    corpus.check_questions(chosen)
    if len(chosen) != 2 or any(question not in rated for question in chosen):
        raise DataError(
            f"{corpus.name}: a density needs two questions with ratings; there "
            f"{'is' if len(rated) == 1 else 'are'} {listed(rated) if rated else 'none'}"
        )
    return _first(together(corpus, chosen), "fewer than 30 answers to both questions", ax)


def item(
    source: Any,
    item: str | int,
    question: str | None = None,
    predictions: Predictions | None = None,
) -> Figure:
    """An item with its annotators' answers and rationales, and with predictions and attention.

    Args:
        source: a corpus, or a table that `dissensus.read` reads.
        item: its name, or its number.
        predictions: with `attention=True` also where annotators look.
    """
    corpus = corpus_of(source)
    svg = draw(corpus, item, question, predictions)
    name = item if isinstance(item, str) else corpus.items[item]
    code = int(corpus.items.codes([name])[0])
    rows = []
    for name_of_question, answers_of in corpus.questions.items():
        if question in (None, name_of_question):
            own = answers_of.take(answers_of.item == code).to_table().to_pylist()
            rows += [[name_of_question, row.get("annotator"), str(row["answer"])] for row in own]
    alt = f"Item {name} with its answers."
    columns = ("question", "annotator", "answer")
    return Figure(f"Item {name}", alt, labelled(svg, alt), columns, rows)


def scores(
    results: Results, question: str | None = None, ax: Any = None, metric: str | None = None
) -> Any:
    """The mean score of each method with its 95 % interval; floors are dashed lines.

    Args:
        results: of `dissensus.compare`.
        question: the first if left out.
        ax: as of `answers`; it shows one metric.
        metric: the one that is shown on Axes; the first if left out.
    """
    tables = {table.question: table for table in comparison_tables(results)}
    chosen = next(iter(tables), "") if question is None else question
    if chosen not in tables:
        raise DataError(f"no scores for {chosen!r}; choose from {listed(tables)}")
    figure = scores_figure(tables[chosen])
    return figure if ax is None else draw_on(ax, figure, metric)


def calibration(
    predictions: Predictions, source: Any, question: str | None = None, ax: Any = None
) -> Any:
    """Predicted against observed: shares of values in bins, or the mean rating of each item.

    Args:
        predictions: of items of the corpus that were not trained on.
        source, question, ax: as of `answers`.
    """
    if question is None and len(predictions) == 1:
        question = next(iter(predictions))
    corpus, question = _question(source, question)
    annotations, prediction = corpus[question], predictions[question]
    if isinstance(annotations.scale, Interval):
        blocks = mean_ratings(corpus, question, prediction, annotations.scale)
    else:
        blocks = calibration_of(question, prediction, annotations)
    return _first(blocks, "too few predicted items have answers", ax)


def _question(source: Any, question: str | None) -> tuple[Corpus, str]:
    """A corpus, and the question that is plotted."""
    if isinstance(source, Annotations):
        return Corpus.build("answers", source.items, {question or "answer": source}), (
            question or "answer"
        )
    corpus = corpus_of(source)
    if question is None and len(corpus.questions) != 1:
        raise DataError(
            f"{corpus.name} has {counted(len(corpus.questions), 'question')} "
            f"({listed(corpus.questions)}); name one, for example "
            f"question={next(iter(corpus.questions), 'question')!r}"
        )
    chosen = next(iter(corpus.questions)) if question is None else question
    corpus.check_questions([chosen])
    return corpus, chosen


def _first(blocks: Sequence[Block], why_not: str, ax: Any) -> Any:
    """The figure among the blocks, drawn on Axes if given; an error says why there is none."""
    figures = [block for block in blocks if isinstance(block, Figure)]
    if not figures:
        reasons = [block.text for block in blocks if isinstance(block, Text)]
        raise DataError(f"there is nothing to plot: {' '.join(reasons) or why_not}")
    return figures[0] if ax is None else draw_on(ax, figures[0])
