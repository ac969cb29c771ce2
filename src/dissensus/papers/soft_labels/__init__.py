"""Soft-label multi-task learning (Fornaciari et al. 2021): its tables, printed beside ours.

`run` trains what is missing into a folder, `report` judges what is there, `shown` prints it.
"""

from __future__ import annotations

from dissensus.papers.framework.reports import to_json
from dissensus.papers.soft_labels.analysis import report
from dissensus.papers.soft_labels.conditions import (
    CONDITIONS,
    CORPORA,
    PRINTED,
    SEEDS,
    Condition,
    named,
    read,
)
from dissensus.papers.soft_labels.runs import outcomes, run
from dissensus.papers.soft_labels.tables import shown

__all__ = [
    "CONDITIONS",
    "CORPORA",
    "PRINTED",
    "SEEDS",
    "Condition",
    "named",
    "outcomes",
    "read",
    "report",
    "run",
    "shown",
    "to_json",
]
