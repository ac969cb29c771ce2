"""What commands share: options, and ways to print."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any, NoReturn

import typer

Question = Annotated[
    list[str] | None, typer.Option(help="Question to use; repeatable; all if left out.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def say(line: str) -> None:
    """A line for people, on stderr, so that stdout stays for results."""
    print(line, file=sys.stderr, flush=True)


def print_json(content: Any) -> None:
    """A result for programs, on stdout."""
    print(json.dumps(content, ensure_ascii=False, indent=1, allow_nan=True))


def fail(line: str, code: int) -> NoReturn:
    """End with one line on stderr."""
    print(line, file=sys.stderr, flush=True)
    sys.exit(code)
