"""The lines with ratings that the MSP corpora share: `WORKER1; Happy; Excited; A:3; V:4; D:2;`."""

from __future__ import annotations

import re
from typing import NamedTuple

from dissensus.errors import DataError
from dissensus.scales import Interval

_LINE = re.compile(
    r"(?P<name>[^;]+);(?P<emotions>.*);\s*A:(?P<A>[^;]*);\s*V:(?P<V>[^;]*);\s*D:(?P<D>[^;]*);"
    r"(?:\s*N:(?P<N>[^;]*);)?\s*"
)


class RatedLine(NamedTuple):
    """A file or an annotator, and the numbers in the line; nan where there is none."""

    name: str
    emotions: str  # the category, and for annotators what else they named
    valence: float
    activation: float
    dominance: float
    naturalness: float


def rated_line(text: str, scale: Interval, where: str) -> RatedLine:
    """The parts of a line. Free text among the emotions may contain semicolons.

    Example:
        >>> line = "W1; Sad; Sad;Tired; A:3.0; V:2.0; D:NaN;"
        >>> rated_line(line, Interval(1, 5), "labels.txt, line 2")[:4]
        ('W1', 'Sad; Sad;Tired', 2.0, 3.0)
    """
    parts = _LINE.fullmatch(text)
    try:
        if parts is None:
            raise ValueError
        valence, activation, dominance, naturalness = (
            float(parts[key] or "nan") for key in ("V", "A", "D", "N")
        )
    except ValueError:
        raise DataError(
            f"{where}: expected 'NAME; EMOTION; ...; A:3.0; V:3.0; D:3.0;', found {text[:60]!r}"
        ) from None
    line = RatedLine(
        parts["name"], parts["emotions"].strip(), valence, activation, dominance, naturalness
    )
    if any(value < scale.low or value > scale.high for value in line[2:]):
        raise DataError(
            f"{where}: ratings are from {scale.low:g} to {scale.high:g}, found {text[:60]!r}"
        )
    return line
