"""The corpora of a paper: where they are in a folder, and how they are prepared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from dissensus.corpus import Corpus
from dissensus.errors import DataError


class InFolder(Protocol):
    """A corpus with its folder in DATA, and its name there if the folder has several."""

    @property
    def folder(self) -> str: ...

    @property
    def corpus(self) -> str | None: ...


@dataclass(frozen=True)
class Source:
    """A corpus of a paper.

    Args:
        folder: its folder in DATA, as it is distributed; empty if it is simulated.
        corpus: which one, if the folder has several.
        prepared: what methods learn from: a sample, other questions, another name of a scale.
        simulated: makes the corpus, if no folder has it.
    """

    folder: str
    corpus: str | None = None
    prepared: Callable[[Corpus], Corpus] = lambda corpus: corpus
    simulated: Callable[[], Corpus] | None = None


S = TypeVar("S", bound=InFolder)


def some_items(corpus: Corpus, n: int) -> Corpus:
    """So many items, spread evenly over the corpus: for trying out."""
    chosen = np.unique(np.linspace(0, corpus.n_items - 1, n).astype(int))
    return corpus.select(items=chosen)


def read_sources(data: Path, sources: Mapping[str, S]) -> dict[str, Corpus]:
    """The corpora that a folder contains: saved by name, or in the folders they came in; and those
    that are simulated."""
    from dissensus import datasets

    corpora: dict[str, Corpus] = {}
    distributed: dict[tuple[str, str | None], Corpus] = {}
    for name, source in sources.items():
        folder, which = data / source.folder, (source.folder, source.corpus)
        if (data / name / "corpus.json").is_file():
            corpora[name] = Corpus.load(data / name)
        elif not source.folder:
            continue
        elif folder.is_dir() and not (folder / "corpus.json").is_file():
            if which not in distributed:
                distributed[which] = datasets.read(folder, corpus=source.corpus)
            corpora[name] = replace(distributed[which], name=name)
    if not corpora:
        folders = ", ".join(filter(None, dict.fromkeys(s.folder for s in sources.values())))
        raise DataError(f"{data}: none of {folders} is in it")
    for name, source in sources.items():
        if name not in corpora and isinstance(source, Source) and source.simulated is not None:
            corpora[name] = replace(source.simulated(), name=name)
    return corpora
