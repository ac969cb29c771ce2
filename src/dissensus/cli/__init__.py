"""The command line: a command is a file that parses, calls one function and prints.

A command's file is imported when the command is used, or its help; it imports only what `--help`
needs. Heavy packages are imported when a command runs.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import typer
from typer.core import TyperGroup

from dissensus.cli import console
from dissensus.cli.console import UNFINISHED, fail, reservations
from dissensus.cli.options import HelpedCommand, documentation, seconds, with_options
from dissensus.errors import DissensusError
from dissensus.version import __version__

__all__ = ["COMMANDS", "UNFINISHED", "app", "console", "main", "seconds"]

_NAMES = (  # that users type, as they are listed
    "run report demo serve describe disputed review plan layout agreement aggregate convert "
    "datasets encoders simulate train predict prompt enrol forget evaluate judge attention "
    "draw compare papers"
)
_ELSEWHERE = {"serve": "report", "datasets": "convert", "attention": "evaluate"}
COMMANDS = {name: _ELSEWHERE.get(name, name) for name in _NAMES.split()}  # -> file in this folder


class _Commands(Mapping[str, Any]):
    """The commands, ours and those of other packages; each is built when it is first used."""

    def __getitem__(self, name: str) -> Any:
        return _built(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*COMMANDS, *_of_other_packages()]))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Group(TyperGroup):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = _Commands()


@functools.cache
def _of_other_packages() -> dict[str, Any]:
    from importlib.metadata import entry_points  # slow to import

    return {entry.name: entry for entry in entry_points(group="dissensus_commands")}


@functools.cache
def _built(name: str) -> Any:
    """The command of this name; `papers` is that of another package, if it is installed."""
    is_ours = name in COMMANDS and (name != "papers" or name not in _of_other_packages())
    if is_ours:
        function = getattr(importlib.import_module(f"dissensus.cli.{COMMANDS[name]}"), name)
    else:
        function = _of_other_packages()[name].load()
    text, _, examples = documentation(function)
    one = typer.Typer(add_completion=False, rich_markup_mode=None)
    one.command(name, cls=HelpedCommand, short_help=text.splitlines()[0], epilog=examples)(
        _stoppable(with_options(function))
    )
    return typer.main.get_command(one)


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


app = typer.Typer(
    name="dissensus",
    cls=_Group,
    help="Learn from annotators who disagree, and keep what they disagree about.",
    epilog="Try it: dissensus demo, or dissensus run FILE -o report/ with a file of your own.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
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
