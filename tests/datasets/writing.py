"""How the small folders of the known corpora are written."""

from __future__ import annotations

import gzip
from pathlib import Path


def write(folder: Path, name: str, text: str) -> None:
    """Write a text, gzipped where the name says so."""
    content = text.encode()
    packed = gzip.compress(content, mtime=0) if name.endswith(".gz") else content
    (folder / name).write_bytes(packed)
