"""Groups of annotators by an attribute: gender, ranges of age, and so on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, did_you_mean, listed
from dissensus.names import string_array

MOST_NUMBERS = 5  # different numbers that are groups of their own
MOST_RANGES = 4
PER_RANGE = 5  # annotators, at least, if there are enough
MOST_GROUPS = 50
SMALL = 5  # a group with fewer annotators is called small


@dataclass(frozen=True, eq=False)
class AnnotatorGroups:
    """The group of each annotator by one attribute."""

    attribute: str
    names: list[str]
    code: np.ndarray  # (n_annotators,) into names; -1: the attribute is missing
    ranges: bool  # whether numbers were cut into ranges

    def sizes(self) -> np.ndarray:
        """Annotators per group, (n_groups,)."""
        return np.bincount(self.code[self.code >= 0], minlength=len(self.names))

    def notes(self, missing: int) -> list[str]:
        """What a reader must know: ranges, so many missing attributes, small groups."""
        notes = []
        sizes = self.sizes()
        if self.ranges:
            notes.append(f"{self.attribute} is cut into ranges with about as many annotators each")
        if missing:
            verb = "has" if missing == 1 else "have"
            notes.append(
                f"{counted(missing, 'annotator')} {verb} no {self.attribute} and "
                f"{'is' if missing == 1 else 'are'} left out"
            )
        small = [
            f"{name} ({size})"
            for name, size in zip(self.names, sizes.tolist(), strict=True)
            if size < SMALL
        ]
        if small:
            notes.append(f"fewer than {SMALL} annotators, so uncertain: {', '.join(small)}")
        return notes


def group_annotators(corpus: Corpus, attribute: str) -> AnnotatorGroups:
    """Group annotators by an attribute; numbers with many values are cut into ranges.

    Example:
        >>> from dissensus import Annotations
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t1", "cleo", "no")]
        >>> facts = {"gender": ["f", "m", "f"]}
        >>> corpus = Corpus.build("mine", ["t1"], {"q": Annotations.from_rows(rows)},
        ...                       annotator_attributes=facts)
        >>> groups = group_annotators(corpus, "gender")
        >>> groups.names, groups.code.tolist()
        (['f', 'm'], [0, 1, 0])
    """
    attributes = corpus.annotator_attributes
    if attribute not in attributes:
        there = (
            f"there are {listed(attributes, 20)}"
            if attributes
            else (
                "annotators have none; join a table of them (annotator_attributes=, "
                "--annotator-attributes)"
            )
        )
        guess = did_you_mean(attribute, attributes)
        raise DataError(f"{corpus.name}: no annotator attribute {attribute!r}{guess}; {there}")
    column = attributes[attribute]
    if pa.types.is_nested(column.type):
        raise DataError(
            f"{corpus.name}: {attribute!r} has lists or records, and no groups; choose an "
            "attribute with one value per annotator"
        )
    numbers = _numbers(column)
    if numbers is not None and len(np.unique(numbers[~np.isnan(numbers)])) > MOST_NUMBERS:
        names, code = _ranges(numbers)
        ranges = True
    else:
        names, code = _values(column, numbers)
        ranges = False
    n = int((code >= 0).sum())
    if len(names) < 2:
        reason = (
            f"{attribute!r} is {names[0]!r} for all {n}" if names else f"{attribute!r} is empty"
        )
        raise DataError(f"{corpus.name}: {reason} annotators; a comparison needs two groups")
    if len(names) > max(2, min(MOST_GROUPS, n // 2)):
        raise DataError(
            f"{corpus.name}: {attribute!r} has {len(names):,} different values for {n:,} "
            "annotators; groups must have several annotators each"
        )
    return AnnotatorGroups(attribute, names, code, ranges)


def chosen_attributes(corpus: Corpus, attributes: Iterable[str]) -> list[str]:
    """The attributes as named; "all" is every one that has groups.

    Example:
        >>> from dissensus import Annotations
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no")]
        >>> corpus = Corpus.build("mine", ["t1"], {"q": Annotations.from_rows(rows)},
        ...                       annotator_attributes={"gender": ["f", "m"], "id": ["1", "2"]})
        >>> chosen_attributes(corpus, ["all"])
        ['gender', 'id']
    """
    names = list(dict.fromkeys(attributes))
    if names != ["all"] or "all" in corpus.annotator_attributes:
        return names
    chosen = []
    for name in corpus.annotator_attributes:
        try:
            group_annotators(corpus, name)
        except DataError:
            continue
        chosen.append(name)
    if not chosen:
        raise DataError(f"{corpus.name}: no attribute divides annotators into groups")
    return chosen


def _numbers(column: pa.Array) -> np.ndarray | None:
    """The attribute as numbers, nan where missing; None if it has other values."""
    texts = [(text or "").strip() for text in string_array(column).to_pylist()]
    if pa.types.is_boolean(column.type):
        return None
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return None


def _values(column: pa.Array, numbers: np.ndarray | None) -> tuple[list[str], np.ndarray]:
    texts = [(text or "").strip() for text in string_array(column).to_pylist()]
    names = sorted({text for text in texts if text})
    if numbers is not None:
        names.sort(key=float)
    place = {name: code for code, name in enumerate(names)}
    return names, np.array([place.get(text, -1) for text in texts], dtype=np.int64)


def _ranges(numbers: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Ranges with about as many annotators each, named by their lowest and highest number."""
    known = numbers[~np.isnan(numbers)]
    n_ranges = int(np.clip(len(known) // PER_RANGE, 2, MOST_RANGES))
    edges = np.unique(np.quantile(known, np.arange(1, n_ranges) / n_ranges, method="higher"))
    edges = edges[edges > known.min()]
    code = np.where(np.isnan(numbers), -1, np.searchsorted(edges, numbers, side="right"))
    names = []
    for place in range(len(edges) + 1):
        inside = numbers[code == place]
        low, high = f"{inside.min():g}", f"{inside.max():g}"
        names.append(low if low == high else f"{low} to {high}")
    return names, code
