"""dissensus train: fit a method and save it to a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from dissensus.cli import console
from dissensus.cli.console import check_folder, quiet, reserve
from dissensus.cli.method_options import typed_settings
from dissensus.cli.options import Input, reads_corpus
from dissensus.cli.parts import readable, training_part
from dissensus.errors import DataError

if TYPE_CHECKING:
    from dissensus.methods.framework.base import Method

FEW = 10  # answers of an annotator, at most, from which little is learned about them
FEW_WITH_PRIOR = 5  # the same for methods that predict annotators with few answers like the others


@reads_corpus
def train(
    source: Input,
    output: Path,
    method: str | None = None,
    metric: str | None = None,
    encoder: str | None = None,
    epochs: int | None = None,
    learning_rate: float | None = None,
    fine_tune: bool = False,
    question: list[str] | None = None,
    split: str | None = None,
    hold_out: float | None = None,
    validation: str | None = None,
    seed: int = 0,
    overwrite: bool = False,
    skip_bad: bool = False,
    set_: list[str] | None = None,
) -> None:
    """Train a method on FILE and save the model to a folder.

    If FILE has an official split, its training part is used. Give settings of the method with
    --set, e.g. --set hidden=64 --set training.epochs=20. Under torchrun, several processes share
    each batch and end with the same model.

    Args:
        output (-o): Folder to write the model to.
        method: Method to train, e.g. single, soft-label or annotator-heads; docs/methods.md lists
            all (default: by what FILE has, mostly annotator-heads).
        metric: Metric that predictions will be scored by, e.g. 'annotator CCC'
            or 'accuracy (gold)'; the default method depends on it.
        encoder: Encoder of the contents: minilm, a model folder or a Hugging Face name; or one per
            role, e.g. text=minilm,speech=whisper-tiny.
        question: Question to learn; repeatable, or 'all' (default: all, or of more than three the
            one with most answers).
        split: Part of the official split to train on, or 'all' (default: train).
        hold_out: Share of the items to hold out for evaluation; equal contents stay together.
        validation: Part of the official split to choose the best epoch on.
        seed: Random seed.
        set_: Setting of the method, name=value; repeatable.

    Examples:
        dissensus train labels.csv -o model/ --hold-out 0.2
        dissensus train labels.csv -o model/ --method soft-label --fine-tune --epochs 5
    """
    from dissensus.files.folders import check_free, writing
    from dissensus.methods import build
    from dissensus.methods.choice import chosen_method, chosen_questions
    from dissensus.methods.framework.model_folder import save_trained_items
    from dissensus.methods.framework.settings import common_settings

    check_folder(output, "train")
    check_free(output, "config", overwrite)
    unfinished = output.with_name(f"{output.name}.unfinished")
    with _among_others() as leads:
        reserve(output if leads else None)
        settings = typed_settings(epochs, learning_rate, fine_tune, set_)
        whole = source.read()
        if method is not None and metric is not None:
            raise DataError("--metric chooses the default method; leave it or --method out")
        questions, line = chosen_questions(whole, question or ())
        if line:
            console.say(line)
        if method is None:
            choice = chosen_method(whole, questions, metric=metric, one_network=bool(settings))
            method, settings = choice.method, [*choice.settings, *settings]
            console.say(f"method: {method}, because {choice.reason}")
        if wrong := [text for text in settings if "=" not in text]:
            raise DataError(f"--set must be name=value, found {wrong[0]!r}")
        parts = (text.partition("=") for text in settings)
        pairs = [(name.strip(), value.strip()) for name, _, value in parts]
        fitted = common_settings(build(method), seed, encoder, pairs)
        part, note, line = training_part(whole, split, hold_out, seed)
        console.say(line)
        validation_part = None if validation is None else whole.part(validation)
        if skip_bad:
            part = readable(fitted, part)
            validation_part = validation_part and readable(fitted, validation_part)
        try:
            if unfinished.exists():
                console.say(f"{unfinished}: resuming the training that was stopped")
            fitted.fit(part, questions, validation_part, note, checkpoint=unfinished)
        except KeyboardInterrupt:
            message = f"checkpoint saved in {unfinished}; run the same command again to resume"
            raise KeyboardInterrupt(*[message] if unfinished.exists() else []) from None
        for message in [*few_answers(fitted), *fitted.notes_]:
            console.say(message)
        if leads:
            with writing(output, "config", overwrite) as folder:
                fitted.write_to(folder)
                save_trained_items(folder, part)
            fitted.forget_checkpoint()
        console.say(f"{output}: {method} for {', '.join(questions)}")


def few_answers(fitted: Method) -> list[str]:
    """A line if most annotators gave so few answers that the method does not fit; else nothing."""
    if not fitted.individual:
        return []
    most = FEW_WITH_PRIOR if fitted.has_prior else FEW
    lines = []
    for question, n_answers in fitted.learned_.n_answers.items():
        n_annotators = int((n_answers > 0).sum())
        n_few = int(((n_answers > 0) & (n_answers <= most)).sum())
        if n_annotators and 2 * n_few > n_annotators:
            nominal = fitted.learned_.questions[question].kind == "nominal"
            lines.append(
                f"{question}: {n_few} of {n_annotators} annotators gave {most} answers or fewer, "
                f"too few {_advice(fitted, nominal)}repeated-label, which does not use the "
                "annotator"
            )
    return lines


def _advice(fitted: Method, nominal: bool) -> str:
    from dissensus.methods.framework.settings import changed

    if fitted.has_prior:
        return (
            f"to learn how each one answers: {fitted.name} predicts each of them much like all "
            "annotators together; compare it with "
        )
    could = "spread" in fitted.get_params() and changed(fitted, {"spread": 0.5}).has_prior
    prior, other = "--set spread=0.5, " * could, " or annotator-confusions" * nominal
    return (
        f"for {fitted.name} to learn how each one answers; try {prior}--method "
        f"annotator-heads{other}, or "
    )


@contextmanager
def _among_others() -> Iterator[bool]:
    """Within the block, this process takes part in a training in all processes of torchrun.

    Yields whether it is the first or only one; the others print nothing and write nothing.
    """
    if "WORLD_SIZE" not in os.environ:
        yield True
        return
    from dissensus.training.processes import joined

    with joined() as processes, nullcontext() if processes.is_first else quiet():
        yield processes.is_first
