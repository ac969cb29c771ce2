"""Head: the beginning of a file, read once and handed to every format that may recognise it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dissensus.readers.delimited import names_of
from dissensus.readers.files import first_bytes, is_text

SIZE = 1 << 16  # bytes
_OBJECT = re.compile(r"\s*\[?\s*\{")


@dataclass(frozen=True, eq=False)
class Head:
    """The first bytes of a file, unpacked, and what they show; of a folder, its path alone."""

    path: Path
    is_file: bool
    start: bytes  # none of a folder, or of a file that cannot be read

    @classmethod
    def of(cls, path: Path) -> Head:
        is_file = path.is_file()
        return cls(path, is_file, first_bytes(path, SIZE) if is_file else b"")

    @property
    def is_text(self) -> bool:
        return self.is_file and is_text(self.start[:4096])

    @cached_property
    def text(self) -> str:
        """The first bytes as text; what is not UTF-8 is replaced."""
        return self.start.decode("utf-8-sig", errors="replace")

    @cached_property
    def names(self) -> list[str]:
        """The column names in the first line; none if it is not a table of texts."""
        return names_of(self.start)

    def opens_with(self, *keys: str) -> bool:
        """Whether it begins with a JSON object, alone or in an array, that has these patterns."""
        opens = bool(_OBJECT.match(self.text))
        return opens and all(re.search(key, self.text) for key in keys)
