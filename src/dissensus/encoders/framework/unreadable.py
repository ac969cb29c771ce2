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
    """The corpus without the items whose contents an encoder cannot read, and a line on what was
    left out for each kind of content.

    Contents in the feature cache were read before, and are not checked again.
    """
    affected: dict[Kind, np.ndarray] = {}  # (n_items,) booleans each
    first: dict[Kind, str] = {}
    for encoding in encodings.values():
        reasons = _reasons(encoding)
        kind, items = encoding.contents.kind, np.isin(encoding.content, list(reasons))
        if items.any():
            affected[kind] = affected.get(kind, False) | items
            first.setdefault(kind, _named(corpus, encoding, int(items.argmax()), reasons))
    if not affected:
        return corpus, ()
    lines = tuple(_line(kind, int(items.sum()), first[kind]) for kind, items in affected.items())
    left_out = np.logical_or.reduce(list(affected.values()))
    if left_out.all():
        raise DataError(f"{corpus.name}: nothing is left; {'; '.join(lines)}")
    return corpus.select(items=~left_out), lines


def _reasons(encoding: Encoding) -> dict[int, str]:
    """Which contents cannot be read, and why."""
    contents, encoder = encoding.contents, encoding.encoder
    codes = np.arange(len(contents))
    if encoder.cached:
        try:
            codes = np.flatnonzero(~is_cached(encoder, contents))
        except DataError:  # a file that does not exist has no key
            pass
    reasons = unreadable(encoder, contents.take(codes)) if len(codes) else {}
    return {int(codes[code]): reason for code, reason in reasons.items()}


def _named(corpus: Corpus, encoding: Encoding, item: int, reasons: dict[int, str]) -> str:
    """A content, by its path or else by an item, and why it cannot be read."""
    code = int(encoding.content[item])
    value = encoding.contents[code]
    name = value if isinstance(value, str) else f"that of item {corpus.items[item]!r}"
    return f"{name} ({reasons[code].removeprefix(f'{name}: ')})"


def _line(kind: Kind, n_items: int, first: str) -> str:
    if n_items == 1:
        return f"1 item left out: its {NOUNS[kind]} cannot be read: {first}"
    return f"{n_items} items left out: their {NOUNS[kind]}s cannot be read; the first: {first}"
