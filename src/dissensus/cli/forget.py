"""dissensus forget: remove annotators from a model, a corpus or predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus.cli import console
from dissensus.cli.options import Input, reads_corpus

Retrain = Annotated[
    Input | None,
    typer.Option("--retrain", help="Train the model again on this file without the annotators."),
]


@reads_corpus
def forget(folder: Path, name: str, source: Retrain = None) -> None:
    """Remove annotators from FOLDER: a model, a corpus, predictions, or a folder of them.

    Their answers, what a model has of them alone, and their names are gone. Weights that annotators
    share do not change, except with --retrain, which learns from the other annotators of the model
    alone. Files that have the names but cannot be changed,
    such as a report, are listed.

    Args:
        folder (FOLDER): Folder that dissensus wrote; it is replaced.
        name (NAME): Annotator to remove; several are separated by commas.

    Examples:
        dissensus forget model/ zoe
        dissensus forget model/ zoe --retrain labels.csv
    """
    from dissensus.names import split_names
    from dissensus.workflow.forgetting import forget_in

    console.reserve(folder)
    names = split_names(name)
    if source is None:
        lines = forget_in(folder, names)
    else:
        lines = [_trained_again(folder, names, source)]
    for line in lines:
        console.show_line(line)


def _trained_again(folder: Path, names: list[str], source: Input) -> str:
    """Train the model in a folder again without these annotators, and replace it."""
    from dissensus.cli.parts import training_part
    from dissensus.errors import DataError, listed
    from dissensus.files.folders import writing
    from dissensus.methods import load
    from dissensus.methods.framework.model_folder import save_trained_items
    from dissensus.methods.framework.settings import changed

    former = load(folder)
    note, questions = former.learned_.part, list(former.learned_.questions)
    whole = source.read()
    if not any(name in former.learned_.annotators or name in whole.annotators for name in names):
        raise DataError(f"{folder}: no annotator {listed(names, 5)}")
    split = note.get("split", None if "hold_out" in note else "all")
    part, note, line = training_part(whole, split, note.get("hold_out"), note.get("seed", 0))
    console.say(line)
    known = [name for name in part.annotators if name in former.learned_.annotators]
    part = part.select(annotators=[name for name in known if name not in names])
    fitted = changed(former, {}).fit(part, questions, part=note)
    for message in fitted.notes_:
        console.say(message)
    with writing(folder, "config", overwrite=True) as new:
        fitted.write_to(new)
        save_trained_items(new, part)
    lost = [one for one in former.learned_.enrolled if one not in (*names, *part.annotators)]
    again = f"; enrol again: {listed(lost, 5)}" if lost else ""
    return f"{folder}: {fitted.name} trained again without {listed(names, 5)}{again}"
