"""The site: built without a warning, closed in itself, and every question answered soon."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from dissensus.methods import METHODS

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent
QUESTIONS = {  # -> the page that answers it, and words of the answer
    "which method for my data": ("which.html", "annotators are unknown, or votes"),
    "how do I read my file": ("recipes.html", "a spreadsheet with a column for each annotator"),
    "what does this number mean": ("metrics.html", "cross-entropy"),
    "how do I cite": ("index.html", "CITATION.cff"),
    "how do I add a method": ("write_a_method.html", "The method"),
    "how fast is it": ("speed.html", "Dawid-Skene"),
    "what did the papers' claims turn out to be": ("papers.html", "verdict"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="make docs installs it")
    pytest.importorskip("material", reason="make docs installs it")
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "mkdocs",
        "build",
        "--quiet",
        "-d",
        str(folder),
    ]
    environment = os.environ | {"NOTEBOOKS": "unrun"}  # test_notebooks.py runs them
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def links(page: Path) -> list[str]:
    return [unquote(link) for link in re.findall(r'href="([^"]+)"', page.read_text("utf-8"))]


def test_every_link_within_the_site_leads_somewhere(site: Path) -> None:
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    ids = {page: set(re.findall(r'id="([^"]+)"', page.read_text("utf-8"))) for page in pages}
    broken = []
    for page in pages:
        for link in links(page):
            name, _, part = link.partition("#")
            if re.match(r"[a-z]+:", link) or part.startswith("__"):
                continue
            target = (page.parent / name).resolve() if name else page
            if not target.exists() or (part and part not in ids.get(target, {part})):
                broken.append(f"{page.relative_to(site)}: {link}")
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loaded = r'<(?:script|link|img|iframe)[^>]+(?:src|href)="((?:https?:)?//[^"]+)"'
    for page in site.rglob("*.html"):
        assert re.findall(loaded, page.read_text("utf-8")) == [], page


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_within_two_clicks(site: Path, question: str) -> None:
    name, words = QUESTIONS[question]
    home = site / "index.html"
    near = {site / link.partition("#")[0] for link in links(home) if ":" not in link}
    two = {page.parent / link.partition("#")[0] for page in near if page.suffix == ".html"
           for link in links(page) if ":" not in link}  # fmt: skip
    assert site / name in {page.resolve() for page in {home, *near, *two}}
    assert words in re.sub(r"<[^>]+>", "", (site / name).read_text("utf-8"))


def test_every_method_has_a_page(site: Path) -> None:
    for name in METHODS:
        text = (site / "methods" / f"{name}.html").read_text("utf-8")
        assert "Formula" in text and "Defaults" in text and "Measured" in text
