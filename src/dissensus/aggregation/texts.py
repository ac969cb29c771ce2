"""One text for each item from the free texts of several annotators."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from dissensus.aggregation.rover import rover
from dissensus.annotations import Annotations
from dissensus.errors import DataError, did_you_mean, listed

MOST_WORDS = 5000  # of a text that is aligned with others
TEXT_METHODS = {
    "rover": "the most frequent word at each place of the aligned texts",
    "closest-text": "the text whose vector is closest to the mean vector",
}
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
