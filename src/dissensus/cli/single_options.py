"""A command that refuses a repeated option; click would silently keep the last value."""

from __future__ import annotations

import shlex
from contextvars import ContextVar
from typing import Any

from typer.core import TyperCommand

from dissensus.errors import DataError

_TYPED: ContextVar[str] = ContextVar("typed command", default="")
BARE = {"--interval": ("items", "raters")}  # values that may be left out, then the first is meant
HINTS = {"item": "if two columns name an item together, join them into one column first"}


class SingleOptions(TyperCommand):
    """A command whose options take one value each, unless their help says "repeatable"."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        typed, args = args, _complete(args)
        _, _, parameters = self.make_parser(ctx).parse_args(args=list(args))
        options = [one for one in parameters if one.param_type_name == "option"]
        single = [one for one in options if not (one.multiple or getattr(one, "is_flag", False))]
        for option in single:
            if single.count(option) > 1:
                hint = HINTS.get(str(option.name), "leave all but one out")
                raise DataError(f"{max(option.opts, key=len)} is given more than once; {hint}")
        _TYPED.set(shlex.join(["dissensus", str(ctx.info_name), *typed]))
        return super().parse_args(ctx, args)


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
