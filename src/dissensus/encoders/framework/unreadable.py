"""Leave out contents that cannot be read, together with their items."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dissensus.contents import Kind
from dissensus.corpus import Corpus
from dissensus.encoders.framework.cache import is_cached
from dissensus.encoders.framework.catalogue import Encoding
from dissensus.encoders.framework.media import NOUNS, unreadable
from dissensus.errors import DataError


def without_unreadable(
    corpus: Corpus, encodings: Mapping[str, Encoding]
) -> tuple[Corpus, tuple[str, ...]]:
    """The corpus without the items that show what an encoder cannot read, and what was left out:
    a line for each kind of content.

    What the feature cache holds was read before, and is not read again.
    """
    lost: dict[Kind, np.ndarray] = {}  # (n_items,) booleans each
    first: dict[Kind, str] = {}
    for reading in encodings.values():
        reasons = _reasons(reading)
        kind, shows = reading.contents.kind, np.isin(reading.content, list(reasons))
        if shows.any():
            lost[kind] = lost.get(kind, False) | shows
            first.setdefault(kind, _named(corpus, reading, int(shows.argmax()), reasons))
    if not lost:
        return corpus, ()
    lines = tuple(_line(kind, int(shows.sum()), first[kind]) for kind, shows in lost.items())
    gone = np.logical_or.reduce(list(lost.values()))
    if gone.all():
        raise DataError(f"{corpus.name}: nothing is left; {'; '.join(lines)}")
    return corpus.select(items=~gone), lines


def _reasons(reading: Encoding) -> dict[int, str]:
    """Which contents cannot be read, and why."""
    contents, reader = reading.contents, reading.encoder
    codes = np.arange(len(contents))
    if reader.cached:
        try:
            codes = np.flatnonzero(~is_cached(reader, contents))
        except DataError:  # a file that is not there has no key
            pass
    found = unreadable(reader, contents.take(codes)) if len(codes) else {}
    return {int(codes[code]): reason for code, reason in found.items()}


def _named(corpus: Corpus, reading: Encoding, item: int, reasons: dict[int, str]) -> str:
    """A content and what is wrong with it; named by its path, or else by an item."""
    code = int(reading.content[item])
    value = reading.contents[code]
    name = value if isinstance(value, str) else f"that of item {corpus.items[item]!r}"
    return f"{name} ({reasons[code].removeprefix(f'{name}: ')})"


def _line(kind: Kind, n_items: int, first: str) -> str:
    if n_items == 1:
        return f"1 item left out: its {NOUNS[kind]} cannot be read: {first}"
    return f"{n_items} items left out: their {NOUNS[kind]}s cannot be read; the first: {first}"
