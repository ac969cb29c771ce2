"""dissensus simulate: make a corpus whose annotators are known through and through."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def simulate(
    out: Annotated[Path, typer.Argument(help="Folder to write the corpus to.")],
    preset: Annotated[str, typer.Option(help="What the crowd is shown: text.")] = "text",
    items: Annotated[int, typer.Option(help="How many items.")] = 1000,
    annotators: Annotated[int, typer.Option(help="How many annotators.")] = 10,
    labels: Annotated[int, typer.Option(help="How many annotators label each item.")] = 5,
    values: Annotated[int, typer.Option(help="How many answers there are to choose from.")] = 6,
    seed: Annotated[int, typer.Option(help="Same seed, same corpus.")] = 0,
) -> None:
    """Write a corpus with a simulated crowd to OUT, its true distributions included."""
    from dissensus.errors import DataError, listed
    from dissensus.simulate import PRESETS, truth

    if preset not in PRESETS:
        raise DataError(f"no preset {preset!r}; there are {listed(PRESETS)}")
    corpus = PRESETS[preset](items, annotators, labels, values, seed)
    corpus.save(out)
    (asked,) = corpus.questions.values()
    best, blind = truth(corpus).accuracies(asked.item, asked.who("simulating"))
    print(
        f"{out}: {items} items, {annotators} annotators, {asked.n_rows} answers; best possible "
        f"accuracy {best:.4f}, without knowing the annotator {blind:.4f}"
    )
