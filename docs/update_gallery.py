"""Run the code of gallery.md, and write what it draws as pictures/gallery.png."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

DOCS = Path(__file__).parent


def drawn() -> Any:
    """The figure that the page draws, without showing or keeping it."""
    import matplotlib  # of the extra `plot`

    matplotlib.use("agg")
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert code is not None
    names: dict[str, Any] = {}
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(DOCS / "samples", Path(folder) / "samples")
        os.chdir(folder)
        try:
            exec(code[1], names)
        finally:
            os.chdir(here)
    return names["figure"]


def main() -> None:
    path = DOCS / "pictures" / "gallery.png"
    drawn().savefig(path, dpi=90)
    Image.open(path).convert("L").quantize(16).save(path, optimize=True)


if __name__ == "__main__":
    main()
