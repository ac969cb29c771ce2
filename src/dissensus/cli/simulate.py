"""dissensus simulate: a corpus of simulated annotators whose tendencies are known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dissensus.cli.outputs import Overwrite, check_folder, check_not_replaced

if TYPE_CHECKING:
    from dissensus.corpus import Corpus

SHOWN = 4  # items in the drawing


def simulate(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write the corpus to.")],
    preset: Annotated[
        str, typer.Option(help="Kind of corpus: text, image, sequence or ratings.")
    ] = "text",
    items: Annotated[int, typer.Option(help="Number of items.")] = 1000,
    annotators: Annotated[int, typer.Option(help="Number of annotators.")] = 10,
    labels: Annotated[
        int, typer.Option(help="Number of answers per item, each by another annotator.")
    ] = 5,
    values: Annotated[
        int | None,
        typer.Option(help="Number of values to choose from (default: 6)."),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Random seed; the same seed gives the same corpus.")
    ] = 0,
    overwrite: Overwrite = False,
    show: Annotated[
        bool,
        typer.Option("--show", help="Also draw the first items with their answers, to OUT.svg."),
    ] = False,
) -> None:
    """Simulate annotators with known tendencies and write the corpus to OUT.

    The true distributions are saved with it.
    """
    from dissensus.drawing import draw_items, save_picture
    from dissensus.errors import DataError, listed
    from dissensus.simulate import PRESETS

    check_folder(out, "simulate")
    check_not_replaced(out, "corpus", overwrite)
    if preset not in PRESETS:
        raise DataError(f"no preset {preset!r}; there are {listed(PRESETS)}")
    sizes = {"n_items": items, "n_annotators": annotators, "labels_per_item": labels, "seed": seed}
    if values is not None and preset == "ratings":
        raise DataError("ratings are numbers, not one of several values; leave --values out")
    if values is not None:
        sizes["n_values"] = values
    corpus = PRESETS[preset](**sizes)
    corpus.save(out)
    print(f"{out}: {items} items, {annotators} annotators, {_counted(corpus)}")
    if show:
        picture = out.with_name(f"{out.name}.svg")
        shown = range(min(SHOWN, corpus.n_items))
        save_picture(picture, draw_items(corpus, shown))
        print(f"{picture}: the first {len(shown)} items with their annotators' focus and answers")


def _counted(corpus: Corpus) -> str:
    """The number of answers, and the best scores that are possible on them."""
    from dissensus.simulate import truth

    clauses = [f"{sum(answers.n_rows for answers in corpus.questions.values())} answers"]
    for question, answers in corpus.questions.items():
        known = truth(corpus, question)
        best, blind = known.best(answers.item, answers.annotator_codes("simulating"))
        about = f"{question}: " if len(corpus.questions) > 1 else ""
        clauses.append(
            f"{about}best possible {known.measure} {best:.4f}, without knowing the annotator "
            f"{blind:.4f}"
        )
    return "; ".join(clauses)
