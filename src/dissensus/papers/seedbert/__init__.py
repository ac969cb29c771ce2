"""SeedBERT (Sampath, Lin & Morency 2022): its Table 4 on public corpora, printed beside ours.

`run` trains what is missing into a folder, `report` judges what is there, `shown` prints it. Where
members look is a study of its own: `hypothesis` prints what was kept of it.
"""

from __future__ import annotations

from dissensus.papers.reports import to_json
from dissensus.papers.seedbert.choosing import outcomes
from dissensus.papers.seedbert.conditions import CONDITIONS, PRINTED, Condition, named
from dissensus.papers.seedbert.corpora import SOURCES, read
from dissensus.papers.seedbert.hypothesis_showing import kept as hypothesis
from dissensus.papers.seedbert.hypothesis_showing import shown as hypothesis_shown
from dissensus.papers.seedbert.judging import report
from dissensus.papers.seedbert.running import run
from dissensus.papers.seedbert.showing import shown

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
