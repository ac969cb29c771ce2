"""Fail unless the newest version in CHANGELOG.md is the one that the package states."""

import re
import sys
from pathlib import Path

from dissensus import __version__

CHANGELOG = Path(__file__).parent.parent / "CHANGELOG.md"


def main() -> None:
    newest = re.search(r"^## \[(\d[^\]]*)\]", CHANGELOG.read_text(encoding="utf-8"), re.MULTILINE)
    found = newest[1] if newest else "no version"
    if found != __version__:
        sys.exit(
            f"CHANGELOG.md begins with {found}, src/dissensus/version.py says {__version__}; "
            "make them equal"
        )
    print(f"version {__version__}, as in CHANGELOG.md")


if __name__ == "__main__":
    main()
