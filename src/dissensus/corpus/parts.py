"""Small parts of a corpus: focus, rationales, joint answers, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError, did_you_mean, listed


def check_questions(name: str, known: Mapping[str, Any], questions: Iterable[str]) -> None:
    """Refuse questions that a corpus of this name does not have; the message lists its own."""
    unknown = [question for question in questions if question not in known]
    if unknown:
        raise DataError(
            f"{name}: no question {listed(unknown)}{did_you_mean(unknown[0], known)}; it has "
            f"{listed(known, 20)}"
        )


class LeftOut(NamedTuple):
    """Answers of the source that are not in the corpus, and why."""

    question: str
    reason: str
    answers: int


@dataclass(frozen=True, eq=False)
class Focus:
    """The part of a content that an item is about, half-open, in the units of its places.

    Characters of a text or seconds of a clip need one axis, a box in a picture two (row, column).
    """

    role: str
    start: np.ndarray  # (n_items, n_axes); nan: the item is about the whole content
    stop: np.ndarray  # (n_items, n_axes)

    def take(self, codes: np.ndarray) -> Focus:
        return Focus(self.role, self.start[codes], self.stop[codes])


@dataclass(frozen=True, eq=False)
class Rationales:
    """What annotators marked: one row per span, half-open.

    One axis for characters of a text, seconds or frames; two (row, column) for a box in a picture.
    If roles have different numbers of axes, the missing ones are nan.
    """

    item: np.ndarray  # (n_spans,) codes
    annotator: np.ndarray  # (n_spans,) codes, -1: unknown
    question: Any  # (n_spans,) Arrow strings, as are role and kind
    role: Any
    start: np.ndarray  # (n_spans, n_axes) in the units of the role's places; (n_spans,): one axis
    stop: np.ndarray  # (n_spans, n_axes)
    kind: Any

    def __post_init__(self) -> None:
        for end in ("start", "stop"):
            places = np.asarray(getattr(self, end))
            object.__setattr__(self, end, places[:, None] if places.ndim == 1 else places)

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: np.ndarray) -> Rationales:
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        at = pa.array(rows)
        return Rationales(
            self.item[rows],
            self.annotator[rows],
            self.question.take(at),
            self.role.take(at),
            self.start[rows],
            self.stop[rows],
            self.kind.take(at),
        )


@dataclass(frozen=True, eq=False)
class Joint:
    """Answers to several questions in one row per response."""

    item: np.ndarray  # (n_rows,) codes
    annotator: np.ndarray | None  # (n_rows,) codes
    answers: dict[str, np.ndarray]  # question -> (n_rows,)
