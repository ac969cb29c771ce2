"""Surveys as Google Forms, Qualtrics and Prolific export them: a CSV file, a row per participant.

Qualtrics has three rows of headers: names, wording and import ids. See `exports/surveys.py` for how
the questions that are repeated for each item are recognised.
"""

from __future__ import annotations

from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.delimited import delimited_cells
from dissensus.readers.exports.surveys import is_survey, survey_corpus
from dissensus.readers.head import Head
from dissensus.readers.layout import Layout


def recognise(head: Head) -> bool:
    """Whether the first line has a survey's columns, or the same names again and again."""
    return is_survey(head.names, ())


def read(path: Path, options: Layout) -> Corpus:
    """Read every participant's answers."""
    header, *cells = delimited_cells(path, options) or [[]]
    if not header:
        raise DataError(f"{path}: the file is empty")
    width = len(header)
    rows = [[*row, *[None] * (width - len(row))][:width] for row in cells if any(row)]
    return survey_corpus(path, [(name or "").strip() for name in header], rows, options)
