"""Separators: cells that contain several answers -> sets of answers.

    "joy|fear", "joy; fear", "joy\\nfear"

A separator is recognised by what it separates: the parts occur again in other cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

SEPARATORS = ("\n", "|", ";")
KNOWN = 0.8  # share of the parts that occur in several cells or alone
MOST_LETTERS = 60  # of an answer, on average


def separator_of(texts: Sequence[str]) -> str | None:
    """What separates the answers in a column's distinct cells; None if each is one answer.

    Example:
        >>> separator_of(["joy|fear", "joy", "fear"]), separator_of(["yes", "no"])
        ('|', None)
    """
    cells = [text.strip() for text in texts if text.strip()]
    for separator in SEPARATORS:
        joined = [cell for cell in cells if separator in cell]
        if not joined:
            continue
        parts = [split_cell(cell, separator) for cell in cells]
        n_cells = Counter(part for cell in parts for part in set(cell))
        alone = {cell[0] for cell in parts if len(cell) == 1}
        inside = {part for cell in parts if len(cell) > 1 for part in cell}
        known = [part for part in inside if n_cells[part] > 1 or part in alone]
        letters = sum(map(len, inside)) / max(len(inside), 1)
        if inside and len(known) >= KNOWN * len(inside) and letters <= MOST_LETTERS:
            return separator
    return None


def split_cell(text: str, separator: str) -> list[str]:
    """The answers in a cell, each once.

    Example:
        >>> split_cell("joy | fear|joy", "|")
        ['joy', 'fear']
    """
    parts = (part.strip() for part in text.replace("\r\n", "\n").split(separator))
    return list(dict.fromkeys(part for part in parts if part))


def separator_name(separator: str) -> str:
    """A separator for a note."""
    return "line breaks" if separator == "\n" else repr(separator)
