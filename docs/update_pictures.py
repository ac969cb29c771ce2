"""Take the pictures of the docs anew: the report on the sample table, in Chromium.

    .venv/bin/pip install -c constraints.txt --group browser      (and: apt-get install chromium)
    .venv/bin/python docs/update_pictures.py

A picture of a section is a part of the page; colours are few, so that pictures are small.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

DOCS = Path(__file__).parent
PICTURES = DOCS / "pictures"
COLOURS = 48
SECTIONS = ("agreement", "disputed", "annotators", "methods")  # a picture each


def save(name: str, taken: bytes) -> None:
    """Write a picture with few colours."""
    picture = Image.open(io.BytesIO(taken)).convert("RGB").quantize(COLOURS)
    PICTURES.mkdir(exist_ok=True)
    picture.save(PICTURES / f"{name}.png", optimize=True)


def take(page: Any) -> None:
    """The head of the report, each section, and the head on a phone and in the dark."""
    save("report", page.screenshot())
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")
    for name in SECTIONS:
        box = page.locator(f"#{name}").bounding_box()
        clip = {**box, "height": min(box["height"], 800)}
        save(name, page.screenshot(clip=clip, full_page=True))


def main() -> None:
    from playwright.sync_api import sync_playwright  # of the group `browser`

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        shutil.copytree(DOCS / "samples", folder, dirs_exist_ok=True)
        command = [sys.executable, "-m", "dissensus", "run", "messages.csv", "-o", "report"]
        subprocess.run(command, cwd=folder, check=True)
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 760})
        page.goto(Path(folder, "report", "report.html").as_uri())
        take(page)
        browser.close()


if __name__ == "__main__":
    main()
