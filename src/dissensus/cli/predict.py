"""dissensus predict: a model's predictions for every item."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from dissensus.cli import console
from dissensus.cli.model_options import say_encoders
from dissensus.cli.outputs import check_folder, check_table, reserve, write_answers
from dissensus.cli.parts import SkipBad, prediction_part, readable, with_trained_items
from dissensus.cli.source import Source, reads_corpus
from dissensus.errors import DataError, counted
from dissensus.files.folders import check_free
from dissensus.prediction.answer_files import ENDINGS, answers_table, is_table


@reads_corpus
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a trained model.")],
    source: Source,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help=f"Table to write ({ENDINGS}), one for each question if there are several; or a "
            "folder, which also holds what no table can (default: CSV on stdout).",
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="Part of the official split, or 'all' (default: what was not used for training)."
        ),
    ] = None,
    annotators: Annotated[
        str,
        typer.Option(
            help="Annotators to predict: own (those who answered the item), all, or names "
            "separated by commas."
        ),
    ] = "own",
    consensus: Annotated[
        str,
        typer.Option(
            help="Annotators whose predictions make up an item's distribution: own or all."
        ),
    ] = "own",
    unknown: Annotated[
        str,
        typer.Option(
            help="What to do with annotators that were not in training: error, drop, mean (of all "
            "annotators), nearest (as the annotator who agrees best with their answers to other "
            "items), aggregate (as one who learned the consensus; train with "
            "--set aggregate=true), or attributes (by their attributes in FILE; train "
            "annotator-embedding with --set attributes=all)."
        ),
    ] = "error",
    enrolment: Annotated[
        Path | None,
        typer.Option(
            help="Table or corpus folder with the contents and answers that --unknown nearest "
            "compares (default: FILE)."
        ),
    ] = None,
    same_annotators: Annotated[
        bool,
        typer.Option("--same-annotators", help="FILE is another corpus with the same annotators."),
    ] = False,
    density: Annotated[
        str | None,
        typer.Option(
            help="Also predict the joint density of the ratings on one or two questions: soft, "
            "plain or fixed, with settings such as soft:bins=8."
        ),
    ] = None,
    attention: Annotated[
        bool,
        typer.Option(
            "--attention",
            help="Also save the attention of each annotator or member, if the method has it.",
        ),
    ] = False,
    skip_bad: SkipBad = False,
    table: Annotated[
        Path | None,
        typer.Option(help="Also write the predictions to this table, if -o is a folder."),
    ] = None,
    by: Annotated[
        Literal["item", "annotator"], typer.Option(help="Rows of the table: item or annotator.")
    ] = "item",
) -> None:
    """Predict each annotator's answer, and their distribution, for the items of FILE.

    If the model was trained on FILE, only items that were not used for training are predicted:
    the official test part (or development part), or the share that was held out.

    A table has the columns of FILE that describe items, the answer, its confidence (of ratings the
    standard deviation sd), and the share of each value.
    """
    from dissensus.methods import load
    from dissensus.names import split_names
    from dissensus.readers import read

    folder, tables = _outputs(output, table)
    source.check_outputs(output, table)
    reserve(output)
    if folder is None and attention:
        raise DataError("--attention is saved in a folder; name one with -o")
    if folder is None and density is not None:
        raise DataError("--density is saved in a folder; name one with -o")
    fitted = load(model)
    say_encoders(model, fitted)
    whole = source.read(unanswered=True)
    part, line = prediction_part(whole, split, fitted.learned_.corpus, fitted.learned_.part, model)
    console.say(line)
    if skip_bad:
        part = readable(fitted, part)
    chosen = annotators if annotators in ("own", "all") else split_names(annotators)
    predictions = fitted.predict(
        part,
        annotators=chosen,
        consensus=consensus,  # type: ignore[arg-type]
        unknown=unknown,  # type: ignore[arg-type]
        enrolment=None if enrolment is None else read(enrolment),
        same_annotators=same_annotators,
        attention=attention,
        density=density,
    )
    for message in fitted.notes_:
        console.say(message)
    rows = {q: answers_table(part, prediction, by) for q, prediction in predictions.items()}
    every_question = ", ".join(predictions)
    written: list[tuple[str, str]] = []  # a path, and the questions that it has
    if folder is not None:
        with_trained_items(predictions, model, part).save(folder)
        written.append((f"{folder}: ", every_question))
    for path in tables:
        files = write_answers(rows, path)
        written += [
            (f"{file}: ", question) for question, file in zip(rows, files, strict=bool(path))
        ]
    for place, questions in written or [("", every_question)]:
        console.say(f"{place}{fitted.name} for {questions} on {counted(part.n_items, 'item')}")
    for predicted in predictions.densities.values():
        cells = " x ".join(map(str, predicted.shape))
        console.say(f"with the density of {predicted.name}, {cells} cells")


def _outputs(output: Path | None, table: Path | None) -> tuple[Path | None, list[Path | None]]:
    """The folder of predictions, and the tables to write; None among them is stdout."""
    check_table(table)
    tables: list[Path | None] = [] if table is None else [table]
    if output is None:
        return None, tables or [None]
    if is_table(output):
        return None, [output, *tables]
    check_folder(output, "predict")
    check_free(output, "predictions")
    return output, tables
