"""Published tables and their reproduction: `corpora -> fits -> report`. A paper is a folder.

`PAPERS` has an entry for every paper: the name that users type, the module, and the options that
the paper adds to `dissensus papers`. The module has a `PAPER`, which is a `framework.paper.Paper`.

A paper is its corpora, conditions, models, printed figures and claims. What papers share is in
`framework`. A paper whose tables are methods x corpora x metrics is a `ComparisonPaper`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dissensus.errors import DataError, listed

if TYPE_CHECKING:
    from dissensus_papers.framework.paper import Paper


@dataclass(frozen=True)
class Option:
    """An option of `dissensus papers` that only some papers have. Its value is a path.

    Args:
        name: without dashes, as `Paper.run` or `Paper.studies` names it.
        shows: whether it shows a saved study of the paper; then nothing is trained.
    """

    name: str
    help: str
    shows: bool = False


@dataclass(frozen=True)
class Entry:
    """Where a paper is, and the options that it adds."""

    module: str
    options: tuple[Option, ...] = ()


PAPERS: dict[str, Entry] = {
    "soft-labels": Entry(
        "dissensus_papers.soft_labels",
        (Option("glove", "Word vectors for part-of-speech tags; `make glove` writes them."),),
    ),
    "seedbert": Entry(
        "dissensus_papers.seedbert",
        (Option("hypothesis", "Show a saved study of the paper's hypothesis.", shows=True),),
    ),
    "individual": Entry("dissensus_papers.individual"),
    "qumatl": Entry("dissensus_papers.qumatl"),
}


def paper(name: str) -> Paper:
    """The paper of this name; its module is imported on first use."""
    import importlib

    if name not in PAPERS:
        raise DataError(f"no paper {name!r}; there are {listed(PAPERS)}")
    chosen: Paper = importlib.import_module(PAPERS[name].module).PAPER
    return chosen
