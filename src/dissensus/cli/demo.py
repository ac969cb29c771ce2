"""dissensus demo: the whole way on simulated annotators, up to a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus.cli import console
from dissensus.cli.outputs import check_folder
from dissensus.cli.run import run_and_print
from dissensus.errors import DataError, listed

SIZES = {"text": 500, "image": 150, "sequence": 300, "ratings": 300}  # items


def demo(
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="Folder for the report and all results.")
    ] = Path("demo"),
    modality: Annotated[
        str, typer.Option(help="What the simulated annotators see: text, image, sequence, ratings.")
    ] = "text",
    items: Annotated[int | None, typer.Option(min=30, help="Number of items.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> None:
    """Simulate annotators, compare methods, predict, and write a report.

    It takes about two minutes on two cores. Run it again to resume.
    """
    from dissensus.simulate import PRESETS

    check_folder(out, "demo")
    if modality not in SIZES:
        raise DataError(f"no modality {modality!r}; there are {listed(SIZES)}")
    n_items = items or SIZES[modality]
    corpus = PRESETS[modality](n_items=n_items, seed=seed)
    command = f"dissensus demo {out} --modality {modality} --items {n_items} --seed {seed}"
    run_and_print(corpus, out, seeds=2, command=command)
    console.say(
        f"\nOpen {out / 'report.html'} in a browser. With a file of your own:\n"
        "  dissensus describe labels.csv               counts, agreement, annotators to look at\n"
        "  dissensus run labels.csv -o report/         all of this, with a report\n"
        "  dissensus predict report/model new.csv -o answers.csv"
    )
