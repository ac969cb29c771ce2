"""Comparisons: which of two things annotators preferred, from a corpus whose items are pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.names import Names

LEFT = frozenset("left a 1 first l option_a option_1".split())
RIGHT = frozenset("right b 2 second r option_b option_2".split())
TIES = frozenset("tie equal same both draw neither none no_preference 0".split())


@dataclass(frozen=True, eq=False)
class Comparisons:
    """One row per comparison: of two things, the share of a win that the left one gets."""

    left: np.ndarray  # (n_rows,) codes into things
    right: np.ndarray  # (n_rows,)
    won: np.ndarray  # (n_rows,) 1: the left one was preferred, 0: the right one, 0.5: neither
    weight: np.ndarray  # (n_rows,) answers
    annotator: np.ndarray | None  # (n_rows,) codes into annotators
    things: Names
    annotators: Names

    @property
    def n_things(self) -> int:
        return len(self.things)

    def wins(self) -> tuple[np.ndarray, np.ndarray]:
        """How often each thing won (a tie is half a win) and was compared, (n_things,) each."""
        both = np.concatenate([self.left, self.right])
        won = np.concatenate([self.won, 1 - self.won]) * np.tile(self.weight, 2)
        n = len(self.things)
        total = np.bincount(both, np.tile(self.weight, 2), minlength=n)
        return np.bincount(both, won, minlength=n), total


def comparisons(
    corpus: Corpus, question: str, columns: tuple[str, str] | None = None
) -> Comparisons:
    """The comparisons that the answers to a question are.

    Each item is a pair of things, named by two columns of the items, such as left and right. An
    answer is the thing that was preferred, the name of its column, left or right, a or b, 1 or 2,
    or a tie.

    Args:
        columns: the two columns; found by what answers contain if left out.

    Example:
        >>> from dissensus import Annotations
        >>> rows = [("1", "ann", "cat"), ("1", "bob", "dog"), ("2", "ann", "cat")]
        >>> corpus = Corpus.build("pets", ["1", "2"], {"nicer": Annotations.from_rows(rows)},
        ...     item_attributes={"left": ["cat", "cow"], "right": ["dog", "cat"]})
        >>> pairs = comparisons(corpus, "nicer")
        >>> list(pairs.things), pairs.left.tolist(), pairs.won.tolist()
        (['cat', 'cow', 'dog'], [0, 0, 1], [1.0, 0.0, 0.0])
    """
    annotations = corpus[question]
    values = getattr(annotations.scale, "values", ())
    if annotations.scale.kind not in ("nominal", "ordinal"):
        raise DataError(
            f"{corpus.name}: comparisons need answers that name one of two things, not "
            f"{annotations.scale.kind} ones"
        )
    texts = _item_texts(corpus)
    if columns is not None:
        unknown = [name for name in columns if name not in texts]
        if unknown:
            raise DataError(
                f"{corpus.name}: items have no column {listed(unknown)}; they have "
                f"{listed(texts) or 'none'}"
            )
    candidates = [columns] if columns is not None else list(_candidates(texts))
    for first, second in candidates:
        won = _won(
            np.array(texts[first])[annotations.item],
            np.array(texts[second])[annotations.item],
            np.array(values, dtype=object)[annotations.answer],
            (first, second),
        )
        if won is not None:
            return _built(corpus, question, texts[first], texts[second], won)
    raise DataError(
        f"{corpus.name}: {question!r} has no comparisons: items need two columns that name what "
        f"is compared, such as left and right, and answers must be one of them, or left, right or "
        f"tie; found {listed(values)} and the columns {listed(texts) or 'none'}"
    )


def _item_texts(corpus: Corpus) -> dict[str, list[str]]:
    """Columns of items that may name things: attributes and texts, one text per item."""
    columns: dict[str, list[str]] = {}
    for name, values in corpus.item_attributes.items():
        column = values if isinstance(values, pa.Array) else pa.array(values)
        if not pa.types.is_floating(column.type):
            columns[name] = [str(value) for value in column.to_pylist()]
    for role, contents in corpus.contents.items():
        if contents.kind == "text":
            texts = [*map(str, contents.values.to_pylist()), ""]
            columns[role] = [texts[code] for code in corpus.content[role]]  # -1: none
    return columns


def _candidates(texts: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Pairs of columns, those named left and right first."""
    pairs = list(combinations(texts, 2))
    named = [p for p in pairs if _side(p[0]) == "left" and _side(p[1]) == "right"]
    yield from named
    yield from (p for p in pairs if p not in named)


def _side(name: str) -> str | None:
    last = name.lower().replace("-", "_").split("_")[-1]
    return "left" if last in LEFT else "right" if last in RIGHT else None


def _won(
    left: np.ndarray, right: np.ndarray, answer: np.ndarray, names: tuple[str, str]
) -> np.ndarray | None:
    """1 for the left thing, 0 for the right one, 0.5 for a tie; None if an answer is neither."""
    plain = np.array([str(text).strip().lower().replace(" ", "_") for text in answer])
    tie = np.isin(plain, list(TIES))
    ways = (
        (answer == left, answer == right),
        (answer == names[0], answer == names[1]),
        (np.isin(plain, list(LEFT)), np.isin(plain, list(RIGHT))),
    )
    for first, second in ways:
        first, second = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
        known = first | second
        if known.any() and (known | tie).all() and not (first & second & (left != right)).any():
            return np.where(first & ~second, 1.0, np.where(second & ~first, 0.0, 0.5))
    return None


def _built(
    corpus: Corpus, question: str, left: list[str], right: list[str], won: np.ndarray
) -> Comparisons:
    annotations = corpus[question]
    used = np.unique(annotations.item)
    things = sorted({*(left[i] for i in used), *(right[i] for i in used)})
    codes = {thing: code for code, thing in enumerate(things)}
    first = np.array([codes.get(thing, 0) for thing in left])[annotations.item]
    second = np.array([codes.get(thing, 0) for thing in right])[annotations.item]
    kept = first != second  # a thing and itself is no comparison
    if not kept.any():
        raise DataError(f"{corpus.name}: {question!r} has no comparisons of two different things")
    annotator = annotations.annotator
    return Comparisons(
        first[kept],
        second[kept],
        won[kept],
        annotations.weight[kept].astype(float),
        None if annotator is None else annotator[kept],
        Names(things),
        annotations.annotators,
    )
