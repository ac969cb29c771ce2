"""dissensus predict: a model's predictions for every item."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dissensus.cli import console
from dissensus.cli.calibrated import set_columns
from dissensus.cli.console import check_folder, check_table, reserve, say_encoders, write_answers
from dissensus.cli.options import Input, reads_corpus
from dissensus.cli.panels import of_jury, of_population
from dissensus.cli.parts import prediction_part, readable, with_trained_items
from dissensus.errors import DataError, counted

if TYPE_CHECKING:
    from dissensus.corpus import Corpus
    from dissensus.prediction import Predictions


@reads_corpus
def predict(
    model: Path,
    source: Input,
    output: Path | None = None,
    split: str | None = None,
    annotators: str = "own",
    consensus: str = "own",
    unknown: str = "error",
    enrolment: Path | None = None,
    same_annotators: bool = False,
    density: str | None = None,
    attention: bool = False,
    coverage: float | None = None,
    calibrate: Path | None = None,
    jury: str | None = None,
    population: Path | None = None,
    jurors: Path | None = None,
    skip_bad: bool = False,
    table: Path | None = None,
    by: Literal["item", "annotator"] = "item",
    overwrite: bool = False,
) -> None:
    """Predict each annotator's answer, and their distribution, for the items of FILE.

    If the model was trained on FILE, only items that were not used for training are predicted:
    the official test part (or development part), or the share that was held out.

    A table has the columns of FILE that describe items, the answer, its confidence (of ratings the
    standard deviation sd), and the share of each value.

    Args:
        model (MODEL): Folder of a trained model.
        output (-o): Table to write (.csv, .tsv, .parquet, .json, .jsonl, .xlsx), one for each
            question if there are several; or a folder, which also holds what no table can (default:
            CSV on stdout).
        split: Part of the official split, or 'all' (default: what was not used for training).
        annotators: Annotators to predict: own (those who answered the item), all, or names
            separated by commas.
        consensus: Annotators whose predictions make up an item's distribution: own or all.
        unknown: What to do with annotators that were not in training: error, drop, mean (of all
            annotators), nearest (as the annotator who agrees best with their answers to other
            items), aggregate (as one who learned the consensus; train with --set aggregate=true),
            or attributes (by their attributes in FILE; train annotator-embedding with --set
            attributes=all).
        enrolment: Table or corpus folder with the contents and answers that --unknown nearest
            compares (default: FILE).
        same_annotators: FILE is another corpus with the same annotators.
        density: Also predict the joint density of the ratings on one or two questions: soft or
            plain, with settings such as soft:bins=8.
        attention: Also save the attention of each annotator or member, if the method has it.
        coverage: Add columns with sets of values, or intervals of ratings, that contain this share
            of other annotators' answers, of consensuses and of shares, e.g. 0.9. Shares are those
            of all annotators then.
        calibrate: File with answers to items that were not used for training, read like FILE, for
            --coverage (default: FILE).
        jury: Add columns with the verdicts of panels of annotators with these seats, e.g.
            gender=f:6,gender=m:6: the mode (nominal) or median of their answers.
        population: Table of the share of each group, with columns such as gender and share: shares
            of items are then those of this population.
        jurors: File with the attributes of the model's annotators, read like FILE, for --jury and
            --population (default: FILE).
        table: Also write the predictions to this table, if -o is a folder.
        by: Rows of the table: item or annotator.

    Examples:
        dissensus predict model/ new.csv -o predictions.csv
        dissensus predict model/ labels.csv -o predictions/
    """
    from dissensus.methods import load
    from dissensus.names import split_names
    from dissensus.prediction.answer_files import answers_table, median_note
    from dissensus.readers import read

    folder, tables = _outputs(output, table, overwrite)
    if calibrate is not None and coverage is None:
        raise DataError("--calibrate is for --coverage; give it, e.g. --coverage 0.9")
    if coverage is not None and not tables:
        raise DataError("--coverage is written to a table; name one with --table")
    reserve(output)
    for option, value in (("--attention", attention or None), ("--density", density)):
        if folder is None and value is not None:
            raise DataError(f"{option} is saved in a folder; name one with -o")
    fitted = load(model)
    say_encoders(model, fitted)
    whole = (source if jurors is None else replace(source, annotator_attributes=None)).read(True)
    part, line = prediction_part(whole, split, fitted.learned_.corpus, fitted.learned_.part, model)
    console.say(line)
    if skip_bad:
        part = readable(fitted, part)
    if coverage is not None:
        consensus = "all"
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
    sets: dict[str, dict[str, Any]] = {}
    if coverage is not None:

        def predict_own(corpus: Corpus) -> Predictions:
            rule: Any = "drop" if unknown == "error" else unknown
            return fitted.predict(
                corpus, consensus="all", unknown=rule, same_annotators=same_annotators
            )

        file = None if calibrate is None else replace(source, file=calibrate).read()
        sets = set_columns(predictions, part, predict_own, model, file, coverage, by)
    if jury is not None or population is not None:
        if by != "item" or (coverage is not None and population is not None):
            option = "--by annotator" if by != "item" else "--coverage"
            raise DataError(f"{option} is not for panels and populations; leave it out")
        people = whole if jurors is None else replace(source, file=jurors).read()
        if population is not None:
            predictions = of_population(fitted, part, people, population, predictions)
        for q, columns in of_jury(fitted, part, people, jury).items() if jury else ():
            sets[q] = sets.get(q, {}) | columns
    rows = {q: answers_table(part, one, by, **sets.get(q, {})) for q, one in predictions.items()}
    every_question = ", ".join(predictions)
    written: list[tuple[str, str]] = []  # a path, and the questions that it has
    if folder is not None:
        with_trained_items(predictions, model, part).save(folder, overwrite)
        written.append((f"{folder}: ", every_question))
    for path in tables:
        files = zip(rows, write_answers(rows, path, overwrite), strict=bool(path))
        written += [(f"{file}: ", question) for question, file in files]
    for place, questions in written or [("", every_question)]:
        console.say(f"{place}{fitted.name} for {questions} on {counted(part.n_items, 'item')}")
    for note in [note for each in predictions.items() for note in median_note(*each)]:
        console.say(note)
    for predicted in predictions.densities.values():
        cells = " x ".join(map(str, predicted.shape))
        console.say(f"with the density of {predicted.name}, {cells} cells")


def _outputs(
    output: Path | None, table: Path | None, overwrite: bool
) -> tuple[Path | None, list[Path | None]]:
    """The folder of predictions, and the tables to write; None among them is stdout."""
    from dissensus.files.folders import check_free
    from dissensus.files.tabular import is_table

    check_table(table, overwrite)
    tables: list[Path | None] = [] if table is None else [table]
    if output is None:
        return None, tables or [None]
    if is_table(output):
        check_table(output, overwrite)
        return None, [output, *tables]
    check_folder(output, "predict")
    check_free(output, "predictions", overwrite)
    return output, tables
