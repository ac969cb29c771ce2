"""dissensus enrol: add annotators to a trained model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dissensus.cli import console
from dissensus.cli.console import check_folder, reserve, say_encoders
from dissensus.cli.options import Input, reads_corpus


@reads_corpus
def enrol(
    model: Path,
    source: Input,
    output: Path | None = None,
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
        same_annotators: Annotators of FILE whom the model knows are the same ones; they are left
            out, as they always are if it was trained on FILE.

    Examples:
        dissensus enrol model/ newcomer.csv
        dissensus enrol model/ newcomer.csv -o model-with-zoe/
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
    corpus, questions = source.read(unanswered=True), list(fitted.learned_.questions)
    others = not any(question in corpus.questions for question in questions)
    if others and source.answer is None and source.file.is_file():
        corpus = replace(source, answer=questions).read()  # one annotator: facts about the items?
    enrolled = fitted.enrol(corpus, same_annotators)
    for line in enrolled.notes_:
        console.show_line(line)
    save_again(enrolled.write_to, target, model)
    names = ", ".join(dict.fromkeys(one.name for one in enrolled.newcomers_))
    console.say(f"{target}: {enrolled.name} with {names}")
