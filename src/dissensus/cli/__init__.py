"""The command line: a command is a file that parses, calls one function and prints.

Command files import only what `--help` needs; heavy packages are imported when a command runs.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

import typer

from dissensus.cli import console
from dissensus.cli.aggregate import aggregate
from dissensus.cli.agreement import agreement
from dissensus.cli.attention import attention
from dissensus.cli.cache import cache
from dissensus.cli.compare import UNFINISHED, compare, seconds
from dissensus.cli.console import fail
from dissensus.cli.convert import convert
from dissensus.cli.datasets import datasets
from dissensus.cli.demo import demo
from dissensus.cli.describe import describe
from dissensus.cli.draw import draw
from dissensus.cli.evaluate import evaluate
from dissensus.cli.examples import EXAMPLES
from dissensus.cli.outputs import reservations
from dissensus.cli.papers import papers
from dissensus.cli.predict import predict
from dissensus.cli.report import report
from dissensus.cli.run import run
from dissensus.cli.serve import serve
from dissensus.cli.simulate import simulate
from dissensus.cli.single_options import SingleOptions
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


OUTPUT = "Output"
OUTPUT_OPTIONS = (
    *(
        "output",
        "table",
        "annotator_table",
        "json",
        "style",
        "compact",
        "plot",
        "show",
        "most",
        "overwrite",
    ),
    *("intervals", "interval", "every", "help"),
)  # the names of parameters that say what is printed or written, and where


class _Command(SingleOptions):
    """A command whose help has groups: what it does, what it writes, how FILE is read; then two
    examples."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], OUTPUT: []}
        for parameter in self.get_params(ctx):
            argument = parameter.param_type_name == "argument"
            panel = getattr(parameter, "rich_help_panel", None)
            if panel is None and parameter.name in OUTPUT_OPTIONS:
                panel = OUTPUT
            spelled, meaning = parameter.get_help_record(ctx) or ("", "")
            spelled = re.sub(r"<list\[(\w+)\]>|<(\w+) range>", _kind, spelled)
            rows = sections.setdefault("Arguments" if argument else panel or "Options", [])
            rows.append((spelled, meaning))
        for heading, rows in sections.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Examples"):
            for line in EXAMPLES.get(str(self.name), ()):
                formatter.write(f"  {line}\n")


def _kind(match: re.Match[str]) -> str:
    """The type of one value of an option: <str> for <list[str]>, <int> for <int range>."""
    return f"<{(match[1] or match[2]).lower()}>"


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
    _first_line = str(_function.__doc__).splitlines()[0]
    app.command(_name, cls=_Command, short_help=_first_line)(_stoppable(_function))


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
