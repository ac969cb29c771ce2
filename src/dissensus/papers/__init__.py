"""What papers print, beside what we find: `corpora -> outcomes -> report`. A paper = a folder.

Each trains what the paper trained, as the paper trained it, on the paper's own data or, where that
is not to be had, on the nearest there is, and prints its tables with our figures beside. `PAPERS`
names them as users type them.
"""

from __future__ import annotations

from types import ModuleType

from dissensus.errors import DataError, listed

PAPERS: dict[str, str] = {"soft-labels": "soft_labels", "seedbert": "seedbert"}


def paper(name: str) -> ModuleType:
    """The module of a paper: `read` reads, `run` trains, `report` judges, `shown` prints."""
    import importlib

    if name not in PAPERS:
        raise DataError(f"no paper {name!r}; there are {listed(PAPERS)}")
    return importlib.import_module(f"dissensus.papers.{PAPERS[name]}")
