"""Inferred scales: what speaks against the scale that the answers of a column seem to have.

Free text looks like a nominal scale with as many values as answers; the numbers of classes look
like an ordinal scale.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import numpy as np

from dissensus.annotations import Annotations
from dissensus.readers.tables.column_names import ORDERED, WORDS, plain
from dissensus.scales import Nominal, Ordinal, Scale, as_numbers, sorted_values

FEW_VALUES = 20  # so many are the values of a scale, whatever their share
FREE = 0.5  # different values, as a share of the answers: more are free text
LONG = 60  # letters of a value, on average: longer ones are free text
NEAR = (
    0.9  # distance of unequal answers to an item, as a share of chance: above, order says nothing
)
CLEAR_AGREEMENT = 0.2  # beyond chance: below, any values are confused
FEWEST_PAIRS = 50  # of unequal answers to one item
MOST_ITEMS = 20_000  # that are looked at
FEWEST_VALUES = 4  # with fewer, all values are near
FEWEST_WORDS = 3  # of such words that are in a column


def ordered_words_note(question: str, scale: Scale) -> str:
    """A note if the values of an inferred nominal scale are words with an order; else empty."""
    if not isinstance(scale, Nominal) or len(scale.values) < FEWEST_WORDS:
        return ""
    by_word = {value.strip().casefold(): value for value in scale.values}
    for words in ORDERED:
        if len(by_word) == len(scale.values) and set(by_word) <= set(words):
            ordered = ",".join(by_word[word] for word in words if word in by_word)
            option = shlex.quote(f"{question}=ordinal:{ordered}")
            return (
                "values are read as nominal, but look ordered; if they are, use --scale " + option
            )
    return ""


def is_free_text(values: Sequence[str], n_answers: int) -> bool:
    """Whether these distinct answers are texts, not the values of a scale."""
    if len(values) <= FEW_VALUES or as_numbers(values) is not None:
        return False
    n_letters = sum(map(len, values)) / len(values)
    return len(values) > FREE * n_answers or n_letters > LONG


def free_text_note(n_values: int, n_answers: int) -> str:
    return (
        f"{n_values:,} different answers in {n_answers:,} rows look like free text; they are read "
        "as nominal, so two answers agree only if they are the same letter for letter; name "
        'another column (answer=, --answer), or use scale="nominal" (--scale nominal) if that is '
        "meant"
    )


def as_classes(question: str, scale: Scale) -> Nominal | None:
    """A nominal scale for whole numbers in a column whose name says that they are classes."""
    words = question.replace("_", " ").replace("-", " ").replace(".", " ").casefold().split()
    last = plain(words[-1]) if words else ""
    if not isinstance(scale, Ordinal) or last not in WORDS["class"]:
        return None
    return Nominal(tuple(sorted_values(scale.values)))


def classes_note(question: str) -> str:
    return (
        f"numbers of classes, by the name {question!r}, are read as nominal; if their order means "
        'something, use scale="ordinal" (--scale ordinal)'
    )


def order_notes(annotations: Annotations) -> list[str]:
    """A note if the order of whole numbers says nothing about which of them are confused."""
    scale = annotations.scale
    if not isinstance(scale, Ordinal) or not _is_unordered(
        scale, _counts(annotations, len(scale.values))
    ):
        return []
    return [
        "numbers are read as ordinal, but annotators confuse distant ones as often as near ones; "
        'if they are codes of classes, use scale="nominal" (--scale nominal)'
    ]


def _is_unordered(scale: Ordinal, counts: np.ndarray) -> bool:
    """Whether unequal answers to an item are as distant as unequal answers drawn by chance."""
    values = scale.values
    if len(values) < FEWEST_VALUES or as_numbers(values) is None:
        return False
    pairs = counts.T @ counts
    if _agreement(pairs, counts) < CLEAR_AGREEMENT:
        return False
    np.fill_diagonal(pairs, 0)
    by_chance = np.outer(counts.sum(axis=0), counts.sum(axis=0))
    np.fill_diagonal(by_chance, 0)
    if pairs.sum() < 2 * FEWEST_PAIRS:
        return False
    ranks = np.arange(len(values))
    distances = np.abs(ranks[:, None] - ranks)
    return bool(
        np.average(distances, weights=pairs) > NEAR * np.average(distances, weights=by_chance)
    )


def _agreement(pairs: np.ndarray, counts: np.ndarray) -> float:
    """Agreement on the same value beyond chance: 1 is perfect, 0 is chance."""
    n_answers = counts.sum(axis=1)
    n_pairs = (n_answers * (n_answers - 1)).sum()
    expected = ((counts.sum(axis=0) / counts.sum()) ** 2).sum()
    if not n_pairs or expected == 1:
        return 0.0
    observed = (np.trace(pairs) - n_answers.sum()) / n_pairs
    return float((observed - expected) / (1 - expected))


def _counts(annotations: Annotations, n_values: int) -> np.ndarray:
    """How often each value was given to each of the first items, (n_items, n_values)."""
    counts = np.zeros((min(annotations.n_items, MOST_ITEMS), n_values))
    looked_at = np.flatnonzero(annotations.item < len(counts))
    times = 1 if annotations.count is None else annotations.count[looked_at]
    np.add.at(counts, (annotations.item[looked_at], annotations.answer[looked_at]), times)
    return counts
