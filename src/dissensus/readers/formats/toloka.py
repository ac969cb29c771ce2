"""A pool of Toloka: a table with a row per task and assignment.

    INPUT:image  OUTPUT:result  GOLDEN:result  ASSIGNMENT:task_id  ASSIGNMENT:worker_id  ...

An item is a task, or its content if tasks have no id; a question is a column `OUTPUT:*`, and
`GOLDEN:*` its gold labels. Assignments that were rejected, skipped or expired are left out.
"""

from __future__ import annotations

from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.readers.exports.platforms import Platform, read_batch
from dissensus.readers.head import Head
from dissensus.readers.layout import Layout
from dissensus.readers.tables import assignments

TOLOKA = Platform(
    "Toloka",
    shown="INPUT:",
    answer="OUTPUT:",
    gold="GOLDEN:",
    item="ASSIGNMENT:task_id",
    annotator="ASSIGNMENT:worker_id",
    response="ASSIGNMENT:assignment_id",
    status=assignments.TOLOKA,
)


def recognise(head: Head) -> bool:
    """Whether the first line names workers and outputs."""
    return TOLOKA.fits(head.names)


def read(path: Path, options: Layout) -> Corpus:
    """Read every assignment that counts."""
    return read_batch(path, options, TOLOKA)
