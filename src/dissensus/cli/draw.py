"""dissensus draw: items with their answers, predictions and attention, as SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus.cli import console
from dissensus.cli.source import Source, reads_corpus
from dissensus.errors import DataError, counted

SHOWN = 4  # items that are drawn if none are named


@reads_corpus
def draw(
    source: Source,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write, .svg, .png or .pdf.")
    ],
    show: Annotated[
        str | None,
        typer.Option(help="Items to draw, separated by commas (default: the first four)."),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            help="Folder that `dissensus predict` wrote: also draw the predicted distribution, "
            "and the attention that --attention saved."
        ),
    ] = None,
    question: Annotated[
        str | None, typer.Option(help="Question to draw (default: the first).")
    ] = None,
    annotators: Annotated[
        str | None,
        typer.Option(
            help="Annotators whose attention to draw, separated by commas (default: twelve, "
            "those who answered first)."
        ),
    ] = None,
    blur: Annotated[
        float,
        typer.Option(
            help="Smoothing of heat maps: standard deviation as a share of the longest side."
        ),
    ] = 0.02,
    power: Annotated[
        float, typer.Option(help="Opacity of heat maps: the attention to this power.")
    ] = 0.7,
    cells: Annotated[
        bool, typer.Option("--cells", help="Draw heat maps cell by cell, not interpolated.")
    ] = False,
) -> None:
    """Draw items of FILE with their answers, to an SVG or PNG file.

    With --predictions, the predicted distribution is drawn next to the answers, and below it the
    attention of annotators: coloured words, heat maps of pictures, curves over time.
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
