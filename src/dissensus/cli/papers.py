"""dissensus papers: a paper's tables, printed beside ours."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from dissensus.cli import console
from dissensus.cli.compare import UNFINISHED, seconds
from dissensus.errors import DataError, Unfinished
from dissensus.papers import PAPERS
from dissensus.papers import paper as module_of


def papers(
    paper: Annotated[
        str, typer.Argument(metavar="PAPER", help=f"Which paper: {' or '.join(PAPERS)}.")
    ],
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA", help="Folder with the corpora, each in a folder of its name."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Folder for fits and results; a stopped run resumes in it."
        ),
    ] = None,
    conditions: Annotated[
        str | None,
        typer.Option(
            help="Conditions to run, separated by commas (default: those of the paper's tables)."
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(help="Number of runs (default: as many as in the paper)."),
    ] = None,
    glove: Annotated[
        Path | None,
        typer.Option(help="Word vectors for part-of-speech tags; `make glove` writes them."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Change a setting, name=value, to try something out; repeatable."
        ),
    ] = None,
    processes: Annotated[
        int | None, typer.Option(help="Number of processes (default: one for each processor).")
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option(help="Time to finish within, e.g. 90s, 10m or 2h.")
    ] = None,
    show: Annotated[
        Path | None, typer.Option(help="Show the results of a folder or file; nothing is trained.")
    ] = None,
    hypothesis: Annotated[
        Path | None,
        typer.Option(
            help="Show a saved study of the paper's hypothesis, if it has one; nothing is trained."
        ),
    ] = None,
    json: console.Json = False,
) -> None:
    """Reproduce the experiments of PAPER and compare with its published tables.

    Each fit is saved in OUT when it ends; run the same command again to resume, also with more
    conditions or runs. `dissensus papers PAPER --show OUT` prints the tables so far.
    """
    found = module_of(paper)
    if hypothesis is not None:
        if data is not None or output is not None or show is not None:
            raise DataError("--hypothesis shows a saved study; leave DATA, -o and --show out")
        return _print_study(found, paper, hypothesis, json)
    if show is not None:
        if data is not None or output is not None:
            raise DataError("--show trains nothing; leave DATA and -o out")
    elif data is None or output is None:
        raise DataError("name DATA and an output folder with -o, or a folder to --show")
    else:
        options = [("--conditions", conditions), ("--glove", glove), ("--runs", runs)]
        words = ["dissensus", "papers", paper, str(data)]
        for option, value in options:
            words += [option, str(value)] if value is not None else []
        words += [word for text in set_ or [] for word in ("--set", text)]
        words += ["-o", str(output)]
        given: dict[str, Any] = {"runs": runs, "processes": processes}
        given |= {"glove": glove} if glove is not None else {}
        if glove is not None and "glove" not in signature(found.run).parameters:
            raise DataError(f"--glove is not an option of {paper}")
        given |= {"settings": [_setting(text) for text in set_ or []]}
        given |= {"time_limit": seconds(time_limit, "--time-limit")}
        corpora = found.read(data)
        asked = found.named(conditions, tuple(corpora))
        try:
            found.run(corpora, asked, output, command=shlex.join(words), **given)
        except Unfinished as over:
            console.fail(f"{output}: {over}", UNFINISHED)
        except KeyboardInterrupt:
            resume = f"{output} holds what is done; run the same command again to resume"
            raise KeyboardInterrupt(resume) from None
    _print(found.report(show or output), found.shown, json)


def _print_study(found: ModuleType, paper: str, path: Path, json: bool) -> None:
    """A study beside a paper's tables, from its file."""
    if not hasattr(found, "hypothesis"):
        raise DataError(f"{paper} has no --hypothesis to show")
    _print(found.hypothesis(path), found.hypothesis_shown, json)


def _print(report: dict[str, Any], shown: Callable[..., str], json: bool) -> None:
    if json:
        console.print_json(report)
    else:
        print(shown(report, width=console.width()), end="")


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise DataError(f"--set must be name=value, found {text!r}")
    return name.strip(), value.strip()
