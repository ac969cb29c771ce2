"""Datasets: the folder of a known public corpus -> Corpus.

A corpus is a file here. Its module has CORPORA, the names of the corpora in the folder,
DEFAULT, the one that is read if none is named (None: the user must choose), and two functions:

    recognise(folder: Path) -> bool
    load(folder: Path, corpus: str | None = None) -> Corpus

and one line in `DATASETS`.
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, cast

from dissensus import readers
from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.readers.options import Options

DATASETS: dict[str, str] = {
    "pos_tweets": "dissensus.datasets.pos_tweets",
    "speechocean762": "dissensus.datasets.speechocean762",
    "jester5k": "dissensus.datasets.jester5k",
    "cifar10h": "dissensus.datasets.cifar10h",
    "lewidi2023": "dissensus.datasets.lewidi2023",
    "stemming": "dissensus.datasets.stemming",
    "emobank": "dissensus.datasets.emobank",
    "eye_fixations_12coders": "dissensus.datasets.eye_fixations_12coders",
    "lewidi2025": "dissensus.datasets.lewidi2025",
    "toxic_spans": "dissensus.datasets.toxic_spans",
    "nli_variation": "dissensus.datasets.nli_variation",
    "faces_3dsk": "dissensus.datasets.faces_3dsk",
    "labelme_crowds": "dissensus.datasets.labelme_crowds",
    "snow2008": "dissensus.datasets.snow2008",
    "bluebirds_ducks": "dissensus.datasets.bluebirds_ducks",
    "dawid_skene_classics": "dissensus.datasets.dawid_skene_classics",
    "vgmidi": "dissensus.datasets.vgmidi",
    "msp_improv": "dissensus.datasets.msp_improv",
    "msp_podcast": "dissensus.datasets.msp_podcast",
    "iemocap": "dissensus.datasets.iemocap",
    "muse": "dissensus.datasets.muse",
    "tvsum": "dissensus.datasets.tvsum",
    "street": "dissensus.datasets.street",
    "amer": "dissensus.datasets.amer",
}


class Dataset(Protocol):
    """What the module of a known corpus offers."""

    CORPORA: tuple[str, ...]
    DEFAULT: str | None

    def recognise(self, folder: Path) -> bool: ...

    def load(self, folder: Path, corpus: str | None = None) -> Corpus: ...


def dataset(name: str) -> Dataset:
    """The module of a known corpus.

    Example:
        >>> dataset("lewidi2023").CORPORA
        ('HS-Brexit', 'ArMIS', 'ConvAbuse', 'MD-Agreement')
    """
    if name not in DATASETS:
        raise DataError(f"no dataset {name!r}; there are {listed(DATASETS)}")
    return cast(Dataset, importlib.import_module(DATASETS[name]))


def recognise(path: str | Path) -> str | None:
    """The name of the known corpus in a folder, by the names of its files; else None."""
    folder = Path(path)
    if not folder.is_dir():
        return None
    return next((name for name in DATASETS if dataset(name).recognise(folder)), None)


def load(folder: str | Path, corpus: str | None = None) -> Corpus:
    """The corpus in a folder that is known.

    Args:
        folder: contains the files of the corpus, under the names that they have in their source.
        corpus: which one, if the folder contains several.
    """
    name = recognise(folder)
    if name is None:
        raise DataError(f"{folder}: contains no known corpus; there are {listed(DATASETS)}")
    loaded = dataset(name).load(Path(folder), corpus)
    note = f"{Path(folder).resolve().name}: the known corpus {name}, read as {loaded.name}"
    return replace(loaded, notes=(note, *loaded.notes))


def read(source: Any, *, corpus: str | None = None, **options: Any) -> Corpus:
    """Any source of annotations as a Corpus: the folder of a known corpus, a file, a corpus
    folder or a table in memory.

    Args:
        source: a path, or a pandas, polars or Arrow table.
        corpus: which one, if the source contains several.
        options: for files and tables, as in `readers.read`; a known corpus needs none.
    """
    name = recognise(source) if isinstance(source, str | Path) else None
    if name is None:
        return readers.read(source, corpus=corpus, **options)
    usual = vars(Options())
    refused = [f"{k}=" for k, v in options.items() if v is not None and v != usual.get(k)]
    if refused:
        raise DataError(
            f"{source}: this is the known corpus {name}, which is read as it is; "
            f"leave out {', '.join(refused)}"
        )
    return load(source, corpus)
