"""Spellings: values that differ only in case, outer space or the way to write a number."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from dissensus.scales import as_numbers


def merged(values: list[str], groups: list[list[int]], known: Iterable[str]) -> list[str]:
    """Each value in one spelling: that of `known`, or else the most frequent of its group."""
    spelling = {spelling_key(values[group[0]]): values[group[0]] for group in groups}
    spelling |= {spelling_key(value): value for value in known}
    return [spelling.get(spelling_key(value), value) for value in values]


def spellings_note(
    values: list[str], counts: np.ndarray, groups: list[list[int]], became: str
) -> str:
    """A note about values that are spelled in several ways."""
    shown = "; ".join(
        ", ".join(f"{values[code]!r} ({counts[code]})" for code in group) for group in groups[:3]
    )
    more = f"; and {len(groups) - 3} more" if len(groups) > 3 else ""
    return f"spelled in several ways and {became}: {shown}{more}"


def spelling_key(text: str) -> str | float:
    """What the spellings of one value share."""
    bare = unicodedata.normalize("NFC", text.strip()).casefold()
    number = as_numbers([bare])
    if number is None:
        return bare
    whole = bare.lstrip("+-").isdecimal() and len(bare) < 1000  # beyond 2**53 too
    return int(bare) if whole else number[0]


def variants(values: list[str], counts: np.ndarray) -> list[list[int]]:
    """Groups of values that differ only in case, outer space, the way to write a number, or in
    how accents are encoded.

    The most frequent spelling of a group comes first.
    """
    used = np.flatnonzero(counts).tolist()
    numbers = as_numbers(values[code] for code in used)
    if numbers is not None and len(set(numbers)) == len(numbers):
        return []  # the quick way out for a million different ratings
    groups: dict[str | float, list[int]] = defaultdict(list)
    for code in used:
        groups[spelling_key(values[code])].append(code)
    several = (group for group in groups.values() if len(group) > 1)
    return [sorted(group, key=lambda code: -counts[code]) for group in several]
