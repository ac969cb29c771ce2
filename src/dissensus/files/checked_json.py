"""JSON of files and saved folders: parsed with errors of one line, and checked by type hints."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dissensus.errors import DataError, cut

MOST_INTEGER = 2**63 - 1
_WORDS = {str: "a text", int: "an integer", float: "a number", bool: "true or false"}
_WORDS |= {types.NoneType: "null", list: "a list", dict: "an object", tuple: "a list"}


def parse_json(text: str | bytes, where: object, refuse_repeated: bool = False) -> Any:
    """JSON as Python values; what cannot be parsed is refused in one line.

    Args:
        where: the file, and perhaps the place in it, for the message.
        refuse_repeated: whether a key that occurs twice in one object is refused; otherwise the
            last one counts.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            seen: set[str] = set()
            again = (key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise DataError(f"{where}: key {cut(repr(next(again)))} occurs twice in one object")
        return content

    try:
        text = text.decode("utf-8") if isinstance(text, bytes) else text
        value = json.loads(text, object_pairs_hook=once if refuse_repeated else None)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except json.JSONDecodeError as error:
        raise DataError(
            f"{where}, line {error.lineno}: damaged JSON, the file may be truncated ({error.msg})"
        ) from None
    except RecursionError:
        raise DataError(f"{where}: damaged JSON, nested too deeply") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: damaged JSON, not UTF-8 ({cut(error)})") from None
    except UnicodeEncodeError:
        raise DataError(
            f"{where}: damaged JSON, it contains a lone surrogate (half of a character); correct it"
        ) from None
    except DataError:
        raise
    except ValueError:
        raise DataError(
            f"{where}: damaged JSON, an integer has more than 4,300 digits; write it as a text"
        ) from None


def kind(value: Any) -> str:
    """The type of a JSON value, in words.

    Example:
        >>> kind({}), kind(None), kind(1.5)
        ('an object', 'null', 'a number')
    """
    return "a number" if type(value) is int else _WORDS.get(type(value), "a number")


def check_types(value: Any, hint: Any, where: object, place: str = "") -> None:
    """Refuse a JSON value that is not of the type that a hint states.

    Args:
        hint: a type such as `list[str]`, `dict[str, float] | None`, a `TypedDict` or a dataclass.
            A path is a text. What is none of these, such as `Any`, is not checked.
        where: the file, for the message.
        place: where in the file the value is.

    Example:
        >>> check_types({"roles": ["text", 1]}, dict[str, list[str]], "config.json")
        Traceback (most recent call last):
        dissensus.errors.DataError: config.json: damaged ('roles[1]' must be a text, found a number)
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Required, typing.NotRequired, typing.Annotated):
        return check_types(value, arguments[0], where, place)
    if origin in (typing.Union, types.UnionType):
        return _check_any(value, arguments, where, place)
    if origin is typing.Literal:
        if not any(value == one and type(value) is type(one) for one in arguments):
            raise _wrong(value, f"one of {', '.join(map(repr, arguments))}", where, place)
        return None
    if typing.is_typeddict(hint) or dataclasses.is_dataclass(hint):
        return _check_object(value, hint, where, place)
    plain = str if hint is Path else origin or hint
    if plain in (list, tuple, Sequence):
        return _check_list(value, plain, arguments, where, place)
    if plain in (dict, Mapping):
        if not isinstance(value, dict):
            raise _wrong(value, "an object", where, place)
        for key, one in value.items():
            check_types(key, str, where, f"{place} {key!r}".strip())
            if len(arguments) == 2:
                check_types(one, arguments[1], where, f"{place}.{key}" if place else key)
        return None
    if plain in (str, int, float, bool, types.NoneType) or hint is None:
        _check_plain(value, types.NoneType if hint is None else plain, where, place)
    return None


def _check_any(value: Any, hints: tuple[Any, ...], where: object, place: str) -> None:
    """Refuse a value that no hint allows, with the reason of the one for its own type."""
    errors = []
    for hint in hints:
        try:
            return check_types(value, hint, where, place)
        except DataError as error:
            errors.append((_own_type(value, hint), error))
    raise next((error for own, error in errors if own), errors[0][1])


def _own_type(value: Any, hint: Any) -> bool:
    plain = typing.get_origin(hint) or hint
    if typing.is_typeddict(hint) or dataclasses.is_dataclass(hint) or plain is Mapping:
        plain = dict
    return plain is type(value) or (plain in (tuple, Sequence) and isinstance(value, list))


def _check_object(value: Any, hint: Any, where: object, place: str) -> None:
    if not isinstance(value, dict):
        raise _wrong(value, "an object", where, place)
    hints = typing.get_type_hints(hint, include_extras=True)
    missing = [
        key
        for key, of_key in hints.items()
        if key not in value and typing.get_origin(of_key) is not typing.NotRequired
    ]
    if missing and typing.is_typeddict(hint):
        of_place = f"{place}: " if place else ""
        raise DataError(f"{where}: damaged ({of_place}{missing[0]!r} is missing)")
    for key, one in value.items():
        if key in hints:
            check_types(one, hints[key], where, f"{place}.{key}" if place else key)


def _check_list(value: Any, plain: Any, hints: tuple[Any, ...], where: object, place: str) -> None:
    if not isinstance(value, list | tuple):
        raise _wrong(value, "a list", where, place)
    if plain is tuple and hints and hints[-1] is not ...:
        if len(value) != len(hints):
            raise _wrong(value, f"a list of {len(hints)} values", where, place)
        each = hints
    else:
        each = (hints[0] if hints else Any,) * len(value)
    for number, (one, hint) in enumerate(zip(value, each, strict=True)):
        check_types(one, hint, where, f"{place}[{number}]")


def _check_plain(value: Any, plain: Any, where: object, place: str) -> None:
    allowed = (int, float) if plain is float else (plain,)
    if type(value) not in allowed:
        raise _wrong(value, _WORDS[plain], where, place)
    if isinstance(value, int) and not -MOST_INTEGER <= value <= MOST_INTEGER:
        raise _wrong(value, "an integer of 64 bits", where, place)
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise DataError(f"{where}: damaged ({place!r} contains a lone surrogate)") from None


def _wrong(value: Any, expected: str, where: object, place: str) -> DataError:
    subject = repr(cut(place)) if place else "the file"
    return DataError(f"{where}: damaged ({subject} must be {expected}, found {kind(value)})")
