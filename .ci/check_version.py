"""Fail unless CHANGELOG.md, CITATION.cff and the papers have the version of the package."""

import re
import sys
from pathlib import Path

from dissensus import __version__

ROOT = Path(__file__).parent.parent
STATED = {  # file -> where it states the version
    "CHANGELOG.md": r"^## \[(\d[^\]]*)\]",
    "CITATION.cff": r"^version: (\S+)",
    "papers/pyproject.toml": r'^version = "(.+?)"',
}


def main() -> None:
    for name, pattern in STATED.items():
        stated = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        found = stated[1] if stated else "no version"
        if found != __version__:
            sys.exit(
                f"{name} has {found}, src/dissensus/version.py says {__version__}; make them equal"
            )
    print(f"version {__version__}, as in {', '.join(STATED)}")


if __name__ == "__main__":
    main()
