"""Assignments of crowdsourcing platforms: which rows of a table were rejected or expired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dissensus.corpus import Corpus, LeftOut
from dissensus.errors import DataError
from dissensus.readers.tables.rows import Rows, take_rows


@dataclass(frozen=True)
class Status:
    """How a platform says that an assignment does not count."""

    column: str
    left_out: tuple[str, ...]  # the statuses of assignments that do not count
    rejection: str | None = None  # a column that is filled in where an assignment is rejected


MTURK = Status("AssignmentStatus", ("Rejected",), "Reject")
TOLOKA = Status("ASSIGNMENT:status", ("REJECTED", "EXPIRED", "SKIPPED"))


def reasons_of(rows: Rows, status: Status) -> list[str | None]:
    """Why each row does not count, such as "rejected"; None where it does."""
    column = rows.columns.get(status.column)
    states = [column[row] if column is not None else None for row in range(rows.n_rows)]
    reasons = [
        text.strip().lower() if text is not None and text.strip() in status.left_out else None
        for text in states
    ]
    if status.rejection in rows.columns:
        column = rows.columns[status.rejection]
        words = [str(value).strip().lower() not in ("none", "") for value in column.values]
        rejected = np.r_[np.array(words, dtype=bool), False][column.codes]
        reasons = ["rejected" if no else why for no, why in zip(rejected, reasons, strict=True)]
    return reasons


def without_rejected(rows: Rows) -> tuple[Rows, Counter[str]]:
    """The rows of a platform's table that count, and how many do not, by reason."""
    status = next((one for one in (MTURK, TOLOKA) if one.column in rows.columns), None)
    reasons = [] if status is None else reasons_of(rows, status)
    left = Counter(why for why in reasons if why is not None)
    if not left:
        return rows, left
    kept = np.array([why is None for why in reasons])
    if not kept.any():
        raise DataError(f"{rows.path}: no answers: {_listed(left)}")
    return take_rows(rows, kept), left


def with_left_out(corpus: Corpus, left: Mapping[str, int], name: str) -> Corpus:
    """The corpus, which also says how many rows do not count.

    Args:
        name: of the file, for the note.
    """
    if not left:
        return corpus
    more = [LeftOut(q, why, n) for q in corpus.questions for why, n in left.items()]
    note = f"{name}: rows left out by their status: {_listed(left)}"
    return replace(corpus, left_out=(*corpus.left_out, *more), notes=(*corpus.notes, note))


def _listed(left: Mapping[str, int]) -> str:
    return ", ".join(f"{why} {n}" for why, n in left.items())
