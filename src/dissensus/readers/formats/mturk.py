"""A batch of Amazon Mechanical Turk: a CSV file with a row per assignment.

    "HITId","AssignmentId","WorkerId","AssignmentStatus","Input.tweet","Answer.mood.label",...

An item is a HIT, a question is a column `Answer.*`; boxes and buttons, a column of "true" and
"false" for each value (`Answer.mood.joy`), are one question. Rejected assignments are left out.
"""

from __future__ import annotations

from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.readers.exports.platforms import Platform, read_batch
from dissensus.readers.head import Head
from dissensus.readers.layout import Layout
from dissensus.readers.tables import assignments

MTURK = Platform(
    "Mechanical Turk",
    shown="Input.",
    answer="Answer.",
    item="HITId",
    annotator="WorkerId",
    response="AssignmentId",
    status=assignments.MTURK,
    seconds="WorkTimeInSeconds",
)


def recognise(head: Head) -> bool:
    """Whether the first line names assignments and answers."""
    return MTURK.fits(head.names)


def read(path: Path, options: Layout) -> Corpus:
    """Read every assignment that was not rejected."""
    return read_batch(path, options, MTURK)
