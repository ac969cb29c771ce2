"""dissensus train: fit a method and keep it as a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus.cli import console
from dissensus.cli.parts import to_learn
from dissensus.errors import DataError

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting of the method, as name=value; repeatable."),
]


def train(
    file: console.File,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write the model to.")],
    method: Annotated[str, typer.Option(help="Method to train.")] = "annotator-heads",
    encoder: Annotated[
        str | None,
        typer.Option(help="What reads the contents: minilm, features, a folder or a hub name."),
    ] = None,
    question: console.Question = None,
    corpus: console.CorpusName = None,
    split: Annotated[
        str | None,
        typer.Option(help="Part of the official split to train on, or 'all'; train by default."),
    ] = None,
    hold_out: Annotated[
        float | None,
        typer.Option(help="Share of items, by content, to leave out for judging."),
    ] = None,
    validation: Annotated[
        str | None,
        typer.Option(help="Part of the official split to choose the best epoch on."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    set_: Settings = None,
    format: console.Format = None,
    item: console.Item = None,
    annotator: console.Annotator = None,
    answer: console.Answer = None,
    text: console.Text = None,
    scale: console.ScaleText = None,
    repeats: console.RepeatsRule = "error",
) -> None:
    """Train a method on FILE and write the model as a folder.

    Where FILE has an official split, its training part is used. Settings of the method are given
    with --set, for instance --set hidden=64 --set training.epochs=20.
    """
    from dissensus.methods import method as method_class
    from dissensus.methods.settings import configured

    cls = method_class(method)
    chosen = [_setting(text) for text in set_ or []]
    fitted = configured(
        cls, [*_seeds(cls, seed), *([("encoder", encoder)] if encoder else []), *chosen]
    )
    whole = console.read_corpus(
        file,
        corpus=corpus,
        format=format,
        item=item,
        annotator=annotator,
        answer=answer,
        text=text,
        scale=scale,
        repeats=repeats,
    )
    part, note, line = to_learn(whole, split, hold_out, seed)
    console.say(line)
    held = None if validation is None else whole.part(validation)
    fitted.fit(part, question or None, held, note)
    fitted.save(output)
    questions = ", ".join(fitted.learned_.questions)
    console.say(f"{output}: {method} for {questions}")


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise DataError(f"--set takes name=value, found {text!r}")
    return name.strip(), value.strip()


def _seeds(cls: type, seed: int) -> list[tuple[str, str]]:
    fields = getattr(cls, "__dataclass_fields__", {})
    seeds = {"init_seed": "init_seed", "training": "training.seed"}
    return [(setting, str(seed)) for field, setting in seeds.items() if field in fields]
