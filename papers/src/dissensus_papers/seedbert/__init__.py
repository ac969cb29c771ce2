"""SeedBERT (Sampath, Lin & Morency 2022): its Table 4 on public corpora, next to our figures.

Where members look is a separate study, `studies/hypothesis`, whose saved report is printed.
"""

from __future__ import annotations

from dissensus_papers.framework.fitted_paper import FittedPaper
from dissensus_papers.framework.paper import Study
from dissensus_papers.framework.reports import to_json
from dissensus_papers.seedbert.agenda import plan
from dissensus_papers.seedbert.analysis import KIND, judged
from dissensus_papers.seedbert.conditions import (
    CONDITIONS,
    N_REPEATS,
    SeedBertCondition,
    with_choosing,
)
from dissensus_papers.seedbert.corpora import SOURCES, read
from dissensus_papers.seedbert.models import MODELS
from dissensus_papers.seedbert.selection import outcomes
from dissensus_papers.seedbert.studies.hypothesis.tables import kept as hypothesis
from dissensus_papers.seedbert.studies.hypothesis.tables import shown as hypothesis_shown
from dissensus_papers.seedbert.tables import shown

PAPER = FittedPaper(
    KIND,
    CONDITIONS,
    MODELS,
    N_REPEATS,
    read,
    plan,
    outcomes,
    judged,
    shown,
    kind=lambda key: f"{key.method} {key.fold}",
    needed=with_choosing,
    studies={"hypothesis": Study(hypothesis, hypothesis_shown)},
)
named, report, run = PAPER.named, PAPER.report, PAPER.run

__all__ = [
    "CONDITIONS",
    "PAPER",
    "SOURCES",
    "SeedBertCondition",
    "hypothesis",
    "hypothesis_shown",
    "named",
    "outcomes",
    "read",
    "report",
    "run",
    "shown",
    "to_json",
]
