"""A corpus folder, as `Corpus.save` writes it."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.layout import Layout


def read(path: Path, options: Layout) -> Corpus:
    """Read a saved corpus; only its name can be changed."""
    default = Layout()
    changed_options = [
        f.name for f in fields(Layout) if getattr(options, f.name) != getattr(default, f.name)
    ]
    useless = [name for name in changed_options if name not in ("name", "format")]
    if useless:
        raise DataError(
            f"{path}: a saved corpus knows its columns and scales; leave out {', '.join(useless)}"
        )
    if not (path / "corpus.json").is_file():
        raise DataError(f"{path}: not a corpus folder: corpus.json is missing")
    corpus = Corpus.load(path)
    return corpus if options.name is None else replace(corpus, name=options.name)
