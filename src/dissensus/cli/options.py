"""The options of a command: its parameters, explained under "Args" in its docstring.

    Args:
        predictions (PREDICTIONS): an argument; capital letters are its name in the help.
        output (-o): an option, --output, with a short form; others (--top) are further names.
        seed (min=0): settings of `typer.Option`.
        all_: the option --all, which Python's `all` does not shadow.

"Examples" are shown at the end of the help.
"""

from __future__ import annotations

import functools
import inspect
import re
import shlex
import typing
from collections.abc import Callable
from contextvars import ContextVar
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

from dissensus.errors import DataError

Command = Callable[..., Any]
COMMON = {  # options of several commands, as in `Documentation`
    "question": ("", "Question to use; repeatable (default: all)."),
    "json": ("", "Print the result as JSON."),
    "groups": (
        "",
        "Compare groups of annotators by this attribute, e.g. gender; repeatable; all: by every "
        "attribute that has groups.",
    ),
    "overwrite": ("", "Replace the folder if it already exists."),
    "skip_bad": ("", "Leave out items whose contents cannot be read, and report them."),
    "epochs": ("min=1", "Number of epochs: --set training.epochs."),
    "learning_rate": ("", "Learning rate: --set training.learning_rate."),
    "fine_tune": ("", "Also train the weights of the encoder: --set tune=all."),
}
OUTPUT = "Output"
OUTPUT_OPTIONS = (
    *("output", "table", "annotator_table", "json", "as_", "compact", "plot", "show", "most"),
    *("overwrite", "intervals", "interval", "all_", "help"),
)  # the names of parameters that say what is printed or written, and where
BARE = {"--interval": ("items", "raters")}  # values that may be left out, then the first is meant
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}  # of times
_TYPED: ContextVar[str] = ContextVar("typed command", default="")


# ---- the docstring ----


class Documentation(NamedTuple):
    """The docstring of a command in parts."""

    text: str
    options: dict[str, tuple[str, str]]  # name -> what stands in brackets, and the help
    examples: str


def documentation(command: Command) -> Documentation:
    """The parts of a docstring.

    Example:
        >>> def count(most=5):
        ...     '''Count.
        ...
        ...     Args:
        ...         most (min=1): Number of
        ...             items.
        ...     '''
        >>> documentation(count).options
        {'most': ('min=1', 'Number of items.')}
    """
    text, *sections = re.split(r"\n\n(?=Args:\n|Examples:\n)", inspect.getdoc(command) or "")
    parts = {name: body for name, _, body in (part.partition(":\n") for part in sections)}
    entries = re.findall(
        r"^    (\w+)(?: \((.+?)\))?: (.+?)(?=\n    \w|\Z)", parts.get("Args", ""), re.M | re.S
    )
    own = {name: (given, " ".join(words.split())) for name, given, words in entries}
    return Documentation(text, own, inspect.cleandoc(parts.get("Examples", "")))


def with_options(command: Command) -> Command:
    """The command as typer takes it: each parameter with its option, the docstring without them."""
    parameters = documented(command)

    @functools.wraps(command)
    def run(*arguments: Any, **values: Any) -> Any:
        return command(*arguments, **values)

    run.__doc__ = documentation(command).text
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def documented(command: Command, **settings: Any) -> list[inspect.Parameter]:
    """The parameters, each with the option that the docstring explains and these settings of it."""
    hints = typing.get_type_hints(command, include_extras=True)
    options = COMMON | documentation(command).options
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        hint = hints[name]
        if typing.get_origin(hint) is not Annotated:
            hint = Annotated[hint, _option(name, hint, *options[name], **settings)]
        parameters.append(parameter.replace(annotation=hint))
    return parameters


def _option(name: str, hint: Any, given: str, words: str, **more: Any) -> Any:
    """The option or argument of a parameter."""
    parts = [part.strip() for part in given.split(",") if part]
    if given.isupper():
        return typer.Argument(metavar=given, help=words)
    names = [part for part in parts if part.startswith("-")]
    if names or hint is bool or name.endswith("_"):
        own = f"--{name.rstrip('_').replace('_', '-')}"
        names = sorted([own, *names], key=lambda one: (one.startswith("--"), one != own))
    settings = dict(part.split("=") for part in parts if "=" in part)
    numbers = {key: int(settings.pop(key)) for key in ("min", "max") if key in settings}
    option: Any = typer.Option
    return option(*names, help=words, **numbers, **settings, **more)


# ---- the command line ----


class HelpedCommand(TyperCommand):
    """A command that refuses repeated options, of which click would keep the last value, unless
    their help says "repeatable". Its help has groups: what it does, what it writes, how FILE is
    read; then the examples."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        typed, args = args, _complete(args)
        _, _, parameters = self.make_parser(ctx).parse_args(args=list(args))
        options = [one for one in parameters if one.param_type_name == "option"]
        single = [one for one in options if not (one.multiple or getattr(one, "is_flag", False))]
        for option in single:
            if single.count(option) > 1:
                raise DataError(
                    f"{max(option.opts, key=len)} is given more than once; leave all but one out"
                )
        _TYPED.set(shlex.join(["dissensus", str(ctx.info_name), *typed]))
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], OUTPUT: []}
        for parameter in self.get_params(ctx):
            panel = getattr(parameter, "rich_help_panel", None) or "Options"
            if parameter.param_type_name == "argument":
                panel = "Arguments"
            elif panel == "Options" and parameter.name in OUTPUT_OPTIONS:
                panel = OUTPUT
            spelled, meaning = parameter.get_help_record(ctx) or ("", "")
            spelled = re.sub(r"<list\[(\w+)\]>|<(\w+) range>", _kind, spelled)
            sections.setdefault(panel, []).append((spelled, meaning))
        for heading, rows in sections.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Examples"):
            for line in str(self.epilog or "").splitlines():
                formatter.write(f"  {line}\n")


def _kind(match: re.Match[str]) -> str:
    """The type of one value of an option: <str> for <list[str]>, <int> for <int range>."""
    return f"<{(match[1] or match[2]).lower()}>"


def _complete(args: list[str]) -> list[str]:
    """The arguments with the values that were left out."""
    words, after = args[: args.index("--")] if "--" in args else args, [*args[1:], ""]
    return [
        f"{word}={BARE[word][0]}" if word in BARE and after[place] not in BARE[word] else word
        for place, word in enumerate(words)
    ] + args[len(words) :]


def typed_command() -> str:
    """The command line as the user typed it."""
    return _TYPED.get()


def seconds(text: str | None, option: str = "--budget") -> float | None:
    """A time in seconds.

    Example:
        >>> seconds("90"), seconds("10m"), seconds("1h30m")
        (90.0, 600.0, 5400.0)
    """
    if text is None:
        return None
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([smhd]?)", text.strip())
    spelled = re.fullmatch(r"(\d+(\.\d+)?\s*[smhd]?\s*)+", text.strip())
    if not spelled:
        raise DataError(f"{option} must be a time such as 90s, 10m or 1h30m, found {text!r}")
    return sum(float(n) * UNITS[unit or "s"] for n, unit in parts)
