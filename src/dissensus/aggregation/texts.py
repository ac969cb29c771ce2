"""One text for each item from the free texts of several annotators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.errors import DataError, did_you_mean, listed

MOST_WORDS = 5000  # of a text that is aligned with others
TEXT_METHODS = {
    "rover": "the most frequent word at each place of the aligned texts",
    "closest-text": "the text whose vector is closest to the mean vector",
}
Slot = Counter[str]  # how many transcriptions have which word here; "" is no word
Vectors = Callable[[Sequence[str]], np.ndarray]  # texts -> (n, width)


def aggregate_texts(
    annotations: Annotations, method: str = "rover", vectors: Vectors | None = None
) -> pa.Table:
    """A table with one text for each item that has answers.

    Columns are item, answer, confidence and the number of answers. Confidence is the share of
    texts that agree with each word (rover), or the cosine of the text and the mean (closest-text).

    Args:
        annotations: nominal answers, whose values are the texts.
        method: "rover" for transcriptions, or "closest-text" for any texts; this one needs
            `vectors`, which turns texts into an array, a row each.

    Example:
        >>> rows = [("t1", "ann", "a cat sat"), ("t1", "bob", "the cat"),
        ...         ("t1", "cy", "the cat sat")]
        >>> aggregate_texts(Annotations.from_rows(rows))["answer"].to_pylist()
        ['the cat sat']
    """
    if method not in TEXT_METHODS:
        guess = did_you_mean(method, TEXT_METHODS)
        raise DataError(f"no method {method!r} for texts{guess}; there are {listed(TEXT_METHODS)}")
    if annotations.scale.kind != "nominal":
        raise DataError(f"{method} is for texts, not {annotations.scale.kind} answers")
    texts: tuple[str, ...] = annotations.scale.values  # type: ignore[attr-defined]
    if not annotations.n_rows:
        raise DataError(f"{method}: there are no answers to aggregate")
    order = _order(annotations)
    items, starts = np.unique(annotations.item[order], return_index=True)
    groups = np.split(annotations.answer[order], starts[1:])
    if method == "rover":
        longest = max(texts, key=lambda text: text.count(" "))
        if longest.count(" ") >= MOST_WORDS:
            raise DataError(f"rover aligns texts of at most {MOST_WORDS:,} words")
        chosen = [rover([texts[code] for code in group]) for group in groups]
    else:
        if vectors is None:
            raise DataError("closest-text needs vectors of the texts: give `vectors`")
        table = np.asarray(vectors(texts), dtype=float)
        picked = [(group, *closest(table[group])) for group in groups]
        chosen = [(texts[group[at]], cosine) for group, at, cosine in picked]
    return pa.table(
        {
            "item": annotations.items.array.take(pa.array(items)),
            "answer": [text for text, _ in chosen],
            "confidence": [confidence for _, confidence in chosen],
            "answers": annotations.per_item()[items],
        }
    )


def closest(vectors: np.ndarray) -> tuple[int, float]:
    """The row that is closest to the mean of all rows, the first of those that tie; its cosine.

    Example:
        >>> at, cosine = closest(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]))
        >>> at, round(cosine, 3)
        (1, 0.997)
    """
    mean = vectors.mean(axis=0)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(mean)
    cosine = np.divide(vectors @ mean, lengths, out=np.zeros(len(vectors)), where=lengths > 0)
    at = int(np.argmax(np.round(cosine, 9)))
    return at, float(cosine[at])


def _order(annotations: Annotations) -> np.ndarray:
    """Rows by item and annotator, so that the order of rows does not matter."""
    second = annotations.answer if annotations.annotator is None else annotations.annotator
    if annotations.count is None:
        return np.lexsort((second, annotations.item))
    order = np.lexsort((annotations.answer, annotations.item))
    return np.repeat(order, annotations.count[order])


def rover(texts: Sequence[str]) -> tuple[str, float]:
    """Align the words of all texts, and take the most frequent word at each place.

    Returns the text, and the mean share of texts that agree with it, over places. Of words that
    tie, the longest is taken, and of these the last in the alphabet. Blanks separate words.

    Example:
        >>> rover(["the cat", "a cat", "the cat", "the dog"])
        ('the cat', 0.75)

    Reference: Fiscus (1997), doi 10.1109/ASRU.1997.659110.
    """
    hypotheses = [text.split() for text in texts]
    slots: list[Slot] = [Counter([word]) for word in hypotheses[0]] if hypotheses else []
    for n_aligned, words in enumerate(hypotheses[1:], start=1):
        slots = _aligned(slots, words, n_aligned)
    chosen = [max((times, len(word), word) for word, times in slot.items()) for slot in slots]
    words = [word for _, _, word in chosen if word]
    share = sum(times for times, _, _ in chosen) / max(len(chosen), 1) / max(len(texts), 1)
    return " ".join(words), share if chosen else 1.0


def _aligned(slots: list[Slot], words: list[str], n_aligned: int) -> list[Slot]:
    """Add a text to the places of the texts before it, at the least number of edits."""
    cost = _costs(slots, words)
    row, column = len(words), len(slots)
    longer = []
    while row or column:
        here = cost[row][column]
        slot = slots[column - 1] if column else Counter()
        if row and column and here == cost[row - 1][column - 1] + (words[row - 1] not in slot):
            row, column = row - 1, column - 1
            longer.append(slot + Counter([words[row]]))
        elif column and (not row or here == cost[row][column - 1] + ("" not in slot)):
            column -= 1
            longer.append(slot + Counter([""]))
        else:
            row -= 1
            longer.append(Counter({"": n_aligned, words[row]: 1}))
    return longer[::-1]


def _costs(slots: list[Slot], words: list[str]) -> list[list[int]]:
    """The least number of edits between the first words and the first places.

    To leave a place out costs nothing where a text before has no word there, except at the
    beginning (as in crowd-kit).
    """
    cost = [[0] * (len(slots) + 1) for _ in range(len(words) + 1)]
    for column in range(1, len(slots) + 1):
        cost[0][column] = column
    for row, word in enumerate(words, start=1):
        cost[row][0] = row
        for column, slot in enumerate(slots, start=1):
            cost[row][column] = min(
                cost[row - 1][column - 1] + (word not in slot),
                cost[row][column - 1] + ("" not in slot),
                cost[row - 1][column] + 1,
            )
    return cost
