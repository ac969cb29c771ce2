"""The command line: a command is a file that parses, calls one function and prints.

Command files import only what `--help` needs; heavy packages are imported when a command runs.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

import typer

from dissensus.cli import console
from dissensus.cli.aggregate import aggregate
from dissensus.cli.agreement import agreement
from dissensus.cli.cache import cache
from dissensus.cli.compare import UNFINISHED, compare, seconds
from dissensus.cli.console import fail, reservations
from dissensus.cli.convert import convert, datasets
from dissensus.cli.describe import describe
from dissensus.cli.draw import draw
from dissensus.cli.evaluate import attention, evaluate
from dissensus.cli.layout import layout
from dissensus.cli.options import HelpedCommand, documentation, with_options
from dissensus.cli.papers import papers
from dissensus.cli.predict import predict
from dissensus.cli.report import report, serve
from dissensus.cli.run import demo, run
from dissensus.cli.simulate import simulate
from dissensus.cli.train import train
from dissensus.errors import DissensusError
from dissensus.version import __version__

__all__ = ["COMMANDS", "UNFINISHED", "app", "console", "main", "seconds"]

COMMANDS: dict[str, Callable[..., Any]] = {
    "run": run,
    "report": report,
    "demo": demo,
    "serve": serve,
    "describe": describe,
    "layout": layout,
    "agreement": agreement,
    "aggregate": aggregate,
    "convert": convert,
    "datasets": datasets,
    "simulate": simulate,
    "train": train,
    "predict": predict,
    "evaluate": evaluate,
    "attention": attention,
    "draw": draw,
    "compare": compare,
    "papers": papers,
    "cache": cache,
}

app = typer.Typer(
    name="dissensus",
    help="Learn from annotators who disagree, and keep what they disagree about.",
    epilog="Try it: dissensus demo, or dissensus run FILE -o report/ with a file of your own.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _stoppable(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that ends in one line on Ctrl-C."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            with reservations():
                return command(*arguments, **options)
        except KeyboardInterrupt as stop:
            fail(f"Stopped; {stop}." if stop.args else "Stopped.", 130)

    return run


# commands of other packages, which may replace one of ours
COMMANDS |= {entry.name: entry.load() for entry in entry_points(group="dissensus_commands")}
for _name, _function in COMMANDS.items():
    _text, _, _examples = documentation(_function)
    app.command(_name, cls=HelpedCommand, short_help=_text.splitlines()[0], epilog=_examples)(
        _stoppable(with_options(_function))
    )


@app.callback(invoke_without_command=True)
def _options(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    if version:
        print(f"dissensus {__version__}")
        raise typer.Exit()


def main() -> None:
    """Run the command line; wrong input is one line on stderr and exit code 1."""
    try:
        app()
    except DissensusError as error:
        fail(f"Error: {error}", 1)
    except KeyboardInterrupt:  # while the command line was still being read
        fail("Stopped.", 130)
    except MemoryError:
        fail("Error: not enough memory; use fewer items, annotators or values", 1)
    except BrokenPipeError:  # dissensus describe FILE | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:  # a folder that may not be entered, a name too long, a full disk
        if error.strerror is None:
            raise
        place = "" if error.filename is None else f"{error.filename}: "
        fail(f"Error: {place}{error.strerror}", 1)
