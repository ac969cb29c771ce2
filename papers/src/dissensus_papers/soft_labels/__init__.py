"""Soft-label multi-task learning (Fornaciari et al. 2021): its tables next to our figures."""

from __future__ import annotations

from dissensus_papers.framework.fitted_paper import FittedPaper
from dissensus_papers.framework.reports import to_json
from dissensus_papers.soft_labels.analysis import KIND, judged
from dissensus_papers.soft_labels.conditions import (
    CONDITIONS,
    CORPORA,
    PRINTED,
    SEEDS,
    SoftLabelsCondition,
    read,
)
from dissensus_papers.soft_labels.printed import MODELS
from dissensus_papers.soft_labels.runs import outcomes, plan
from dissensus_papers.soft_labels.tables import shown

PAPER = FittedPaper(
    KIND, CONDITIONS, MODELS, len(SEEDS), read, plan, outcomes, judged, shown, default=PRINTED
)
named, report, run = PAPER.named, PAPER.report, PAPER.run

__all__ = [
    "CONDITIONS",
    "CORPORA",
    "PAPER",
    "PRINTED",
    "SEEDS",
    "SoftLabelsCondition",
    "named",
    "outcomes",
    "read",
    "report",
    "run",
    "shown",
    "to_json",
]
