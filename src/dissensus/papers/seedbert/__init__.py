"""SeedBERT (Sampath, Lin & Morency 2022): its Table 4 on public corpora, printed beside ours.

`run` trains what is missing into a folder, `report` judges what is there, `shown` prints it. Where
members look is a study of its own: `hypothesis` prints what was kept of it.
"""

from __future__ import annotations

from dissensus.papers.framework.reports import to_json
from dissensus.papers.seedbert.agenda import run
from dissensus.papers.seedbert.analysis import report
from dissensus.papers.seedbert.conditions import CONDITIONS, PRINTED, Condition, named
from dissensus.papers.seedbert.corpora import SOURCES, read
from dissensus.papers.seedbert.selection import outcomes
from dissensus.papers.seedbert.studies.hypothesis.tables import kept as hypothesis
from dissensus.papers.seedbert.studies.hypothesis.tables import shown as hypothesis_shown
from dissensus.papers.seedbert.tables import shown

__all__ = [
    "CONDITIONS",
    "PRINTED",
    "SOURCES",
    "Condition",
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
