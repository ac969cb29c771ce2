"""Printing to the terminal."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, NoReturn, cast

from dissensus.errors import DataError

_quiet = ContextVar("quiet", default=False)
_UNSEEN = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)  # control characters, marks of direction, half letters


def visible(text: str) -> str:
    r"""The text with control characters escaped, so that no answer or name from a file can change
    what the terminal shows.

    Example:
        >>> visible("n\x1b[31mo"), visible("two\nlines")
        ('n\\x1b[31mo', 'two\nlines')
    """
    return _UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def say(line: str) -> None:
    """Print a message to stderr; stdout is for results."""
    if not _quiet.get():
        print(visible(line), file=sys.stderr, flush=True)


@contextmanager
def quiet() -> Iterator[None]:
    """Print no messages within the block: another process does."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def width() -> int | None:
    """Columns of the terminal; None if output is piped, so that lines are not cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_json(content: Any) -> None:
    """Print a result as JSON to stdout, with control characters escaped as JSON does."""
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=True)
    print(_UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def fail(line: str, code: int) -> NoReturn:
    """End the command with one line on stderr."""
    print(visible(" ".join(line.splitlines())), file=sys.stderr, flush=True)
    sys.exit(code)


def consensus(name: str | None) -> Literal["own", "all"] | None:
    """The value of --consensus."""
    if name not in (None, "own", "all"):
        raise DataError(f"--consensus must be own or all, found {name!r}")
    return cast('Literal["own", "all"] | None', name)
