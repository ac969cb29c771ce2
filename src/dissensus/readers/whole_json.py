"""JSON that is one whole, unlike lines of it: parsed, and what is wrong in it said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dissensus.errors import DataError


def parsed(text: str | bytes, path: Path) -> Any:
    """JSON as Python has it; a key that stands twice in one object is refused."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):  # json would keep the last without a word
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise DataError(f"{path}: key {twice!r} stands twice in one object")
        return made

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path}, line {error.lineno}: damaged JSON, the file may be truncated ({error.msg})"
        ) from None
    except RecursionError:
        raise DataError(f"{path}: damaged JSON, nested too deeply") from None


def as_object(value: Any, where: str, of: str) -> dict[str, Any]:
    """The value, which must be an object."""
    if not isinstance(value, dict):
        raise DataError(f"{where}: an object of {of} is wanted, found {kind(value)}")
    return value


def kind(value: Any) -> str:
    """What a value of JSON is, in words.

    Example:
        >>> kind({}), kind(None), kind(1.5)
        ('an object', 'null', 'a number')
    """
    kinds = {dict: "an object", list: "a list", str: "a text", type(None): "null", bool: "a truth"}
    return kinds.get(type(value), "a number")
