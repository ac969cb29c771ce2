"""dissensus draw: items with their answers, predictions and attention, as SVG."""

from __future__ import annotations

from pathlib import Path

from dissensus.cli import console
from dissensus.cli.source import Source, reads_corpus
from dissensus.errors import DataError, counted

SHOWN = 4  # items that are drawn if none are named


@reads_corpus
def draw(
    source: Source,
    output: Path,
    show: str | None = None,
    predictions: Path | None = None,
    question: str | None = None,
    annotators: str | None = None,
    blur: float = 0.02,
    power: float = 0.7,
    cells: bool = False,
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
        blur: Smoothing of heat maps: standard deviation as a share of the longest side.
        power: Opacity of heat maps: the attention to this power.
        cells: Draw heat maps cell by cell, not interpolated.

    Examples:
        dissensus draw labels.csv -o items.svg
        dissensus draw labels.csv --predictions predictions/ -o items.svg
    """
    from dissensus.drawing import HeatMap, Shown, check_ending, draw_items, save_picture
    from dissensus.names import split_names
    from dissensus.prediction import Predictions

    check_ending(output)
    source.check_outputs(output)
    heat = HeatMap(blur, power, not cells)
    chosen = None if annotators is None else split_names(annotators)
    shown = None if predictions is None else Shown(Predictions.load(predictions), chosen, heat)
    corpus = source.read(unanswered=True)
    items: list[str] | list[int] = list(range(min(SHOWN, corpus.n_items)))
    if show is not None:
        items = split_names(show)
    elif shown is not None and len(shown.predictions):
        first = next(iter(shown.predictions.values()))
        kept = first.items.find(corpus.items) >= 0
        items = [code for code in range(corpus.n_items) if kept[code]][:SHOWN]
    if chosen and shown is not None and not any(p.attention for p in shown.predictions.values()):
        raise DataError(
            f"{predictions}: no attention of annotators is saved there; run `dissensus predict` "
            "with --attention, and a model of a method that has it, e.g. annotator-queries"
        )
    save_picture(output, draw_items(corpus, items, question, shown))
    console.say(f"{output}: {counted(len(items), 'item')}")
