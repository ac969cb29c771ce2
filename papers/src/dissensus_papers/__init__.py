"""Published tables and their reproduction: `corpora -> fits -> report`.

A paper is its corpora, conditions, models, printed figures and claims, in a module with a `PAPER`.
What papers share is in `framework`. A paper whose tables are methods x corpora x metrics is a
`ComparisonPaper`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from dissensus.errors import DataError, listed

if TYPE_CHECKING:
    from dissensus_papers.framework.paper import Paper

PAPERS = {  # the name that users type -> the module
    "soft-labels": "dissensus_papers.soft_labels",
    "seedbert": "dissensus_papers.seedbert",
    "individual": "dissensus_papers.individual",
    "qumatl": "dissensus_papers.qumatl",
}


def paper(name: str) -> Paper:
    """The paper of this name; its module is imported on first use."""
    if name not in PAPERS:
        raise DataError(f"no paper {name!r}; there are {listed(PAPERS)}")
    chosen: Paper = importlib.import_module(PAPERS[name]).PAPER
    return chosen
