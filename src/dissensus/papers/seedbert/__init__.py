"""SeedBERT (Sampath, Lin & Morency 2022): its Table 4 on public corpora, printed beside ours.

`run` trains what is missing into a folder, `report` judges what is there, `shown` prints it.
"""

from __future__ import annotations

from dissensus.papers.seedbert.choosing import outcomes
from dissensus.papers.seedbert.conditions import CONDITIONS, PRINTED, Condition, named
from dissensus.papers.seedbert.corpora import SOURCES
from dissensus.papers.seedbert.running import run

__all__ = ["CONDITIONS", "PRINTED", "SOURCES", "Condition", "named", "outcomes", "run"]
