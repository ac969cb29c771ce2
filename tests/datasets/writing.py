"""How the small folders of the known corpora are written."""

from __future__ import annotations

import gzip
from pathlib import Path


def write(folder: Path, name: str, text: str) -> None:
    """Write a text, gzipped where the name says so."""
    content = text.encode()
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
