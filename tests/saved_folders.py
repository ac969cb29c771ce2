"""Saved folders as earlier versions wrote them."""

from __future__ import annotations

import json
from pathlib import Path


def without_checksums(path: Path) -> None:
    """Delete the checksums from the JSON of a folder, which earlier versions did not write."""
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["checksums"]
    path.write_text(json.dumps(content), encoding="utf-8")
