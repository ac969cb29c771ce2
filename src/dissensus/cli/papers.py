"""dissensus papers: a paper's tables, printed beside ours."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dissensus.cli import console
from dissensus.cli.compare import UNFINISHED, seconds
from dissensus.errors import DataError, Unfinished

if TYPE_CHECKING:
    from dissensus.corpus import Corpus


def papers(
    paper: Annotated[str, typer.Argument(help="Which paper: soft-labels.")],
    data: Annotated[
        Path | None,
        typer.Argument(help="Folder that holds the paper's corpora, each in a folder of its name."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for what is trained; one goes on in it."),
    ] = None,
    conditions: Annotated[
        str | None,
        typer.Option(
            help="Conditions with commas between; those of the paper's tables if left out."
        ),
    ] = None,
    runs: Annotated[int, typer.Option(help="How many of the paper's ten seeds.")] = 10,
    glove: Annotated[
        Path | None, typer.Option(help="Word vectors for part-of-speech tags (make glove).")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Another setting, name=value, for trying out; repeatable."),
    ] = None,
    processes: Annotated[
        int | None, typer.Option(help="Processes at once; one for each processor if left out.")
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option(help="Time to end within, such as 90s, 10m, 2h.")
    ] = None,
    show: Annotated[
        Path | None, typer.Option(help="Show a folder or kept file; nothing is trained.")
    ] = None,
    json: console.Json = False,
) -> None:
    """Train what a PAPER trained on its own DATA, and print its tables with ours beside.

    Every training is kept in OUT as it ends, and the same command goes on where it was stopped,
    also with more conditions and runs. `dissensus papers PAPER --show OUT` prints the tables of
    what is there.
    """
    from dissensus.papers import paper as module_of

    found = module_of(paper)
    if show is not None:
        if data is not None or output is not None:
            raise DataError("--show shows what was found; leave DATA and -o out")
    elif data is None or output is None:
        raise DataError("name DATA and a folder with -o, or --show what was found")
    else:
        corpora = _corpora(data, found.CORPORA)
        asked = found.named(conditions, tuple(corpora))
        words = ["dissensus", "papers", paper, str(data)]
        for option, value in (("--conditions", conditions), ("--glove", glove)):
            words += [option, str(value)] if value else []
        words += [word for text in set_ or [] for word in ("--set", text)]
        words += ["--runs", str(runs), "-o", str(output)]
        given: dict[str, Any] = {"glove": glove, "runs": runs, "processes": processes}
        given |= {"settings": [_setting(text) for text in set_ or []]}
        given |= {"time_limit": seconds(time_limit, "--time-limit")}
        try:
            found.run(corpora, asked, output, command=shlex.join(words), **given)
        except Unfinished as over:
            console.fail(f"{output}: {over}", UNFINISHED)
        except KeyboardInterrupt:
            held = f"{output} holds what is done, the same command goes on"
            raise KeyboardInterrupt(held) from None
    report = found.report(show or output)
    if json:
        console.print_json(report)
    else:
        print(found.shown(report), end="")


def _corpora(data: Path, names: tuple[str, ...]) -> dict[str, Corpus]:
    """The corpora of the paper that a folder holds, or the one that it is."""
    from dissensus import datasets

    there = [data / name for name in names if (data / name).is_dir()]
    found = {}
    for path in there or [data]:
        corpus = datasets.read(path)
        if corpus.name not in names:
            raise DataError(f"{path}: holds {corpus.name!r}, not {' or '.join(names)}")
        found[corpus.name] = corpus
    return found


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise DataError(f"--set takes name=value, found {text!r}")
    return name.strip(), value.strip()
