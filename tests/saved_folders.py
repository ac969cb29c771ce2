"""Saved folders as earlier versions wrote them, and models whose settings were altered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dissensus.methods.framework.model_folder import WEIGHTS, checksum


@contextmanager
def altered_config(model: Path) -> Iterator[dict[str, Any]]:
    """What the JSON of a saved model says; what was altered is written with a right checksum."""
    path = model / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    yield config
    config["checksum"] = checksum(config, (model / WEIGHTS).read_bytes())
    path.write_text(json.dumps(config), encoding="utf-8")


def without_checksums(path: Path) -> None:
    """Delete the checksums from the JSON of a folder, which earlier versions did not write."""
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["checksums"]
    path.write_text(json.dumps(content), encoding="utf-8")
