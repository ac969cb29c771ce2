"""dissensus enrol: add annotators to a trained model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dissensus.cli import console
from dissensus.cli.console import check_folder, reserve, say_encoders
from dissensus.cli.options import Input, reads_corpus
from dissensus.errors import DataError, listed

if TYPE_CHECKING:
    from dissensus.corpus import Corpus


@reads_corpus
def enrol(
    model: Path,
    source: Input,
    output: Path | None = None,
    name: str | None = None,
    same_annotators: bool = False,
    overwrite: bool = False,
) -> None:
    """Add the annotators of FILE to a trained model, from a few answers of each.

    Only what the model has of each annotator alone is learned, such as a head; predictions for
    others stay as they are, and dissensus forget undoes it. It prints how each newcomer is
    predicted: the known annotator who is most alike, and how well newcomers' own answers are
    predicted from the others.

    Args:
        model (MODEL): Folder of a trained model.
        output (-o): Folder to write the model to (default: MODEL, which is replaced).
        name: Name of the newcomer, if all answers in FILE are theirs and no column says so.
        same_annotators: Annotators of FILE whom the model knows are the same ones; they are left
            out, as they always are if it was trained on FILE.

    Examples:
        dissensus enrol model/ newcomer.csv
        dissensus enrol model/ answers.csv --name zoe -o model-with-zoe/
    """
    from dissensus.files.folders import check_free
    from dissensus.methods import load
    from dissensus.methods.framework.model_folder import save_again

    target = output or model
    if output is not None:
        check_folder(output, "enrol")
        check_free(output, "config", overwrite)
    reserve(target)
    fitted = load(model)
    say_encoders(model, fitted)
    corpus = _read(source, list(fitted.learned_.questions))
    if name is not None:
        corpus = _of_annotator(corpus, name)
    elif not corpus.n_annotators:
        raise DataError(
            f"{source.file}: no column of annotators; name it with --annotator, or the newcomer "
            "with --name if all answers are theirs"
        )
    enrolled = fitted.enrol(corpus, same_annotators)
    for line in enrolled.notes_:
        console.show_line(line)
    save_again(enrolled.write_to, target, model)
    names = ", ".join(dict.fromkeys(one.name for one in enrolled.newcomers_))
    console.say(f"{target}: {enrolled.name} with {names}")


def _read(source: Input, questions: list[str]) -> Corpus:
    """FILE, whose columns that are named like the questions of the model are answers: of one
    annotator they could be facts about items."""
    if source.answer is None and source.file.is_file():
        try:
            return replace(source, answer=questions).read()
        except DataError:  # no such columns, or no table
            pass
    return source.read(unanswered=True)


def _of_annotator(corpus: Corpus, name: str) -> Corpus:
    """The corpus, all of whose answers are by one annotator."""
    import numpy as np

    from dissensus.names import Names

    if corpus.n_annotators:
        raise DataError(f"--name: FILE says who answered: {listed(corpus.annotators, 3)}")
    who = Names([name])
    questions = {
        question: replace(one, annotator=np.zeros(one.n_rows, np.int32), annotators=who, count=None)
        for question, one in corpus.questions.items()
    }
    return replace(corpus, annotators=who, questions=questions)
