"""Published tables and their reproduction: `corpora -> outcomes -> report`. A paper is a folder.

`PAPERS` maps the name that users type to the module of a paper; a new paper is a folder and an
entry here. Its module has

- `read(folder)`: the corpora that a folder holds, by name;
- `named(text, corpora)`: the conditions to run;
- `run(corpora, conditions, out, ...)`: make the fits that are missing in a folder;
- `report(path)`: what a folder of outcomes says, or a file of an earlier report: plain data;
- `shown(report, width)`: the paper's tables with ours beside them, as text.

A paper is its corpora, conditions, models, printed figures, claims and tables. What papers share
is in `framework`.
"""

from __future__ import annotations

from types import ModuleType

from dissensus.errors import DataError, listed

PAPERS: dict[str, str] = {"soft-labels": "soft_labels", "seedbert": "seedbert"}


def paper(name: str) -> ModuleType:
    """The module of a paper, imported when it is first asked for."""
    import importlib

    if name not in PAPERS:
        raise DataError(f"no paper {name!r}; there are {listed(PAPERS)}")
    return importlib.import_module(f"dissensus.papers.{PAPERS[name]}")
