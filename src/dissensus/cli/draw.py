"""dissensus draw: items with their answers, predictions and attention, as SVG."""

from __future__ import annotations

from pathlib import Path

from dissensus.cli import console
from dissensus.cli.options import Input, reads_corpus
from dissensus.errors import DataError, counted

MOST_DRAWN = 4  # items that are drawn if none are named


@reads_corpus
def draw(
    source: Input,
    output: Path,
    show: str | None = None,
    predictions: Path | None = None,
    question: str | None = None,
    annotators: str | None = None,
    overwrite: bool = False,
) -> None:
    """Draw items of FILE with their answers, to an SVG or PNG file.

    With --predictions, the predicted distribution is drawn next to the answers, and below it the
    attention of annotators: coloured words, heat maps of pictures, curves over time.

    Args:
        output (-o): File to write, .svg, .png or .pdf.
        show: Items to draw, separated by commas (default: the first four).
        predictions: Folder that `dissensus predict` wrote: also draw the predicted distribution,
            and the attention that --attention saved.
        question: Question to draw (default: the first).
        annotators: Annotators whose attention to draw, separated by commas (default: twelve, those
            who answered first).

    Examples:
        dissensus draw labels.csv -o items.svg
        dissensus draw labels.csv --predictions predictions/ -o items.svg
    """
    import numpy as np

    from dissensus.drawing import check_ending, draw, save_picture
    from dissensus.files.folders import check_free_file
    from dissensus.names import split_names
    from dissensus.prediction import Predictions

    check_ending(output)
    check_free_file(output, overwrite)
    chosen = None if annotators is None else split_names(annotators)
    predicted = None if predictions is None else Predictions.load(predictions)
    corpus = source.read(unanswered=True)
    items: list[str] | list[int] = list(range(min(MOST_DRAWN, corpus.n_items)))
    if show is not None:
        items = split_names(show)
    elif predicted is not None and len(predicted):
        first = next(iter(predicted.values()))
        items = np.flatnonzero(first.items.find(corpus.items) >= 0)[:MOST_DRAWN].tolist()
    if chosen and predicted is not None and not any(p.attention for p in predicted.values()):
        raise DataError(
            f"{predictions}: no attention of annotators is saved there; run `dissensus predict` "
            "with --attention, and a model of a method that has it, e.g. annotator-queries"
        )
    save_picture(output, draw(corpus, items, question, predicted, chosen))
    console.say(f"{output}: {counted(len(items), 'item')}")
