"""Files are opened only if they are plain, folders are written whole or not at all."""

from __future__ import annotations

from dissensus.files.checked_json import parse_json
from dissensus.files.folders import read_json, reading, staged, write_json, writing
from dissensus.files.plain import plain_bytes

__all__ = ["parse_json", "plain_bytes", "read_json", "reading", "staged", "write_json", "writing"]
