"""When answers were given: from columns such as start and end, or created, of a table."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pyarrow as pa

from dissensus.agreement import agreement_of_answers, false_discovery
from dissensus.annotations import Annotations
from dissensus.names import string_array

START = re.compile(r"(start|begin|began|opened|assigned|accept)", re.I)
END = re.compile(
    r"(end|finish|complet|submit|creat|(label|labell|annotat|rat)ed|answered|updated"
    r"|timestamp|datetime|^(date|time)$)",
    re.I,
)
BREAK = 600.0  # seconds after which an annotator did something else
DRIFTING = 0.002  # level of the test whether somebody agrees less as time goes on
LEAST_FALL = 0.05  # of the agreement, or of the distance, that is worth a word
LATER = "in the later half of the answers"
EPOCH = 1e8  # seconds since 1970: a smaller number is a duration


def times_of(column: pa.Array) -> np.ndarray | None:
    """A column of dates and times as seconds, nan where there is none; None if it is another one.

    Example:
        >>> times_of(pa.array(["2026-01-02 10:00:00", None, "2026-01-02T10:00:30"])).tolist()
        [1767348000.0, nan, 1767348030.0]
        >>> times_of(pa.array(["yes", "no", "no"])) is None
        True
    """
    texts = string_array(column)
    for zone in (None, "UTC"):
        with suppress(pa.ArrowInvalid):
            stamps = texts.cast(pa.timestamp("us", zone)).cast(pa.int64())
            return np.asarray(stamps.to_numpy(zero_copy_only=False), dtype=float) / 1e6
    with suppress(pa.ArrowInvalid):
        numbers = np.asarray(texts.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=float)
        if np.nanmin(numbers, initial=np.inf) >= EPOCH:
            return numbers / (1000 if np.nanmin(numbers) > 1000 * EPOCH else 1)
    return None


def ends_of(annotations: Annotations) -> tuple[np.ndarray | None, np.ndarray | None]:
    """When work on each answer began, and when it was given, in seconds, (n_rows,) each."""
    known = {name: times_of(column) for name, column in annotations.extra.items()
             if START.search(name) or END.search(name)}  # fmt: skip
    first = next((t for name, t in known.items() if START.search(name) and t is not None), None)
    last = next((t for name, t in known.items() if END.search(name) and t is not None), None)
    return first, last


def with_seconds(annotations: Annotations) -> Annotations:
    """The answers with the time that each took, if they have none and it can be told.

    It is from start to end; without a start, since the annotator's answer before, if that was not
    more than ten minutes ago.
    """
    if annotations.seconds is not None or annotations.annotator is None or not annotations.extra:
        return annotations
    first, last = ends_of(annotations)
    if last is None:
        return annotations
    if first is None:
        order = np.lexsort((last, annotations.annotator))
        gaps = np.diff(last[order], prepend=np.nan)
        gaps[np.diff(annotations.annotator[order], prepend=-1) != 0] = np.nan
        first = np.empty(len(last))
        first[order] = last[order] - np.where(gaps <= BREAK, gaps, np.nan)
    seconds = last - first
    return replace(annotations, seconds=np.where(seconds >= 0, seconds, np.nan))


def given_later(annotations: Annotations, first: int, second: int) -> int | None:
    """Which of two annotators gave nine of ten answers to common items after the other."""
    last = ends_of(annotations)[1]
    if last is None:
        return None
    codes = annotations.annotator_codes("times of answers")
    one, other = (np.flatnonzero(codes == code) for code in (first, second))
    item = annotations.item
    _, a, b = np.intersect1d(item[one], item[other], return_indices=True)
    gap = last[other[b]] - last[one[a]]
    gap = gap[np.isfinite(gap)]
    if len(gap) and (gap > 0).mean() >= 0.9:
        return second
    return first if len(gap) and (gap < 0).mean() >= 0.9 else None


def drifts(annotations: Annotations, few: int) -> dict[int, str]:
    """Annotators whose later answers agree less with the others than their earlier ones do.

    The test is Welch's, of the agreement in both halves, less that of the others on the same items
    (later items may be harder for all), corrected for all annotators.
    """
    from scipy.special import stdtr

    last = ends_of(annotations)[1]
    if last is None:
        return {}
    share, several = _agreement(annotations)
    item, codes = annotations.item, annotations.annotator_codes("times of answers")
    n = np.maximum(np.bincount(item)[item] - 1, 1)
    beyond = share - (np.bincount(item, share)[item] - share) / n
    rows = np.flatnonzero(several & np.isfinite(last))
    rows = rows[np.lexsort((last[rows], codes[rows]))]
    active, begin = np.unique(codes[rows], return_index=True)
    own = {code: np.split(part, [len(part) // 2])
           for code, part in zip(active.tolist(), np.split(rows, begin[1:]), strict=True)
           if len(part) >= 2 * few}  # fmt: skip
    halves = [[beyond[half] for half in both] for both in own.values()]
    errors = [np.hypot(*(half.std() / len(half) ** 0.5 for half in both)) + 1e-12
              for both in halves]  # fmt: skip
    falls = [early.mean() - late.mean() for early, late in halves]
    free = [len(early) - 1 for early, _ in halves]
    chances = false_discovery(stdtr(free, -np.array(falls) / errors))
    apart = annotations.scale.kind == "interval"
    verb, whom = ("is", "from the mean of the others") if apart else ("agrees", "with the rest")
    texts = {}
    for (code, both), chance in zip(own.items(), chances, strict=True):
        if chance < DRIFTING:
            early, late = (abs(share[half].mean()) for half in both)
            if abs(early - late) > LEAST_FALL * max(early, late):
                texts[code] = f"{verb} {late:.2f} {whom} {LATER}, {early:.2f} in the earlier one"
    return texts


def _agreement(annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """The share of the others with the same answer, or the distance from their mean rating, below
    0; and whether there are others, (n_rows,) each."""
    if annotations.scale.kind != "interval":
        return agreement_of_answers(annotations)
    item, rating = annotations.item, annotations.answer
    others = np.bincount(item)[item] - 1
    mean = (np.bincount(item, rating)[item] - rating) / np.maximum(others, 1)
    return -np.abs(rating - mean), others > 0
