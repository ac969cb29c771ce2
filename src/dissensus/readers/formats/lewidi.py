"""Shared by the readers of both LeWiDi editions: a JSON file that is an object of items by key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.files.checked_json import kind
from dissensus.readers.files import read_utf8
from dissensus.readers.head import Head
from dissensus.readers.json_text import as_object, parsed
from dissensus.readers.layout import Layout

T = TypeVar("T")  # an item, as the reader of an edition represents it
REQUIRED = ("text", "annotation task", "annotators", "annotations", "split")
_OPENING = re.compile(r'\s*\{\s*("(?:[^"\\]|\\.)*"\s*:\s*\{|\}\s*$)')


def opens_with(head: Head, *keys: str) -> bool:
    """Whether the file begins with an object of objects and matches all these patterns."""
    return bool(_OPENING.match(head.text)) and all(re.search(key, head.text) for key in keys)


def read_alone(
    path: Path, options: Layout, edition: str, read_parts: Callable[..., Corpus]
) -> Corpus:
    """One file by itself, with a note about its content; options about columns are refused."""
    stated = dict(options.columns_named, scale=options.scale, merge_variants=options.merge_variants)
    refused = [key for key, value in stated.items() if value not in (None, False)]
    if refused:
        raise DataError(
            f"{path}: in {edition} JSON the meaning of every key is fixed; leave out "
            f"{listed(refused)}"
        )
    name = re.sub(r"_(train|dev|test)$", "", path.stem)
    if options.corpus not in (None, name):
        raise DataError(f"{path}: no corpus {options.corpus!r}; the file has {name!r}")
    corpus = read_parts([path], options.name or name, options.repeats, options.encoding)
    note = (
        f"{path.name}: {edition} JSON; questions {', '.join(corpus.questions)}; "
        f"items {corpus.n_items}, annotators {corpus.n_annotators}"
    )
    return replace(corpus, notes=(note, *corpus.notes))


def build(
    paths: Iterable[Path],
    encoding: str | None,
    item: Callable[[dict[str, Any], str, str], T],
    corpus: Callable[[list[T]], Corpus],
) -> Corpus:
    """One corpus from several files: `item(entry, where, key)` of each entry, then all of them."""
    files = list(paths)
    items = [
        item(entry, where, key) for path in files for key, entry, where in entries(path, encoding)
    ]
    try:
        return corpus(items)
    except DataError as error:  # its messages name items and annotators, not files
        raise DataError(f"{', '.join(map(str, files))}: {error}") from None


def entries(path: Path, encoding: str | None) -> Iterable[tuple[str, dict[str, Any], str]]:
    """Each item's key, its object and its place, for messages."""
    content = as_object(parsed(read_utf8(path, encoding), path), str(path), "items by key")
    if not content:
        raise DataError(f"{path}: no items")
    for key, entry in content.items():
        where = f"{path}, item {key!r}"
        entry = as_object(entry, where, "keys such as 'text' and 'annotations'")
        missing = [name for name in REQUIRED if name not in entry]
        if missing:
            raise DataError(f"{where}: no key {listed(missing)}; it has {listed(entry, 12)}")
        yield key, entry, where


def as_text(entry: dict[str, Any], key: str, where: str, objects: bool = False) -> Any:
    """The value of this key, which must be a text, or an object if `objects` is set."""
    value = entry[key]
    if not isinstance(value, str) and not (objects and isinstance(value, dict)):
        raise DataError(f"{where}: {key!r} must be a text, found {kind(value)}")
    return value


def between_commas(text: str) -> list[str]:
    """The parts of a text between commas; none of an empty one.

    Example:
        >>> between_commas("Ann1, Ann2"), between_commas(" ")
        (['Ann1', 'Ann2'], [])
    """
    return [part.strip() for part in text.split(",")] if text.strip() else []


def without_detection(task: str) -> str:
    """The question of an annotation task.

    Example:
        >>> without_detection("offensive language detection")
        'offensive'
    """
    return task.removesuffix(" detection").removesuffix(" language")


def columns(rows: list[dict[str, str]]) -> dict[str, list[str | None]]:
    """Dicts, one per row, as one list per key; None where a row does not have the key.

    Example:
        >>> columns([{"lang": "en"}, {"bot": "A"}])
        {'lang': ['en', None], 'bot': [None, 'A']}
    """
    keys = dict.fromkeys(key for row in rows for key in row)
    return {key: [row.get(key) for row in rows] for key in keys}
