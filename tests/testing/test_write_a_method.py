"""The page "Write a method", typed word for word into an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dissensus.errors import ModelError
from dissensus.methods import AnnotatorMajority, load
from dissensus.testing import CHECKS

PAGE = Path(__file__).parents[2] / "docs" / "write_a_method.md"


def files() -> dict[str, str]:
    """The files that the page shows, by name."""
    blocks = re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return dict(blocks)


def run(folder: Path, name: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", name],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"DISSENSUS_CACHE": str(folder.parent / "cache")},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder with what the page shows."""
    typed = tmp_path_factory.mktemp("typed") / "own"
    typed.mkdir()
    for name, text in files().items():
        (typed / name).write_text(text)
    assert [path.name for path in sorted(typed.iterdir())] == [
        "annotator_shift.py",
        "check.py",
        "use.py",
    ]
    return typed


@pytest.mark.slow
def test_the_method_of_the_page_keeps_every_promise(folder: Path) -> None:
    assert run(folder, "check.py") == ["all promises are kept"]


@pytest.mark.slow
def test_the_method_of_the_page_is_trained_saved_loaded_and_compared(folder: Path) -> None:
    lines = run(folder, "use.py")
    assert lines[0] == lines[1]
    printed = re.search(r"comparison prints:\n\n```\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert printed
    pages, ours = (dict(re.findall(r"(.+): (.+)", text)) for text in (printed[1], "\n".join(lines)))
    assert list(ours) == list(pages)
    for name, figure in pages.items():
        assert float(ours[name]) == pytest.approx(float(figure), abs=0.05)
    assert float(pages["annotator-shift"]) > float(pages["annotator-majority"]) + 0.05
    model = folder / "model"
    with pytest.raises(ModelError) as caught:
        load(model)
    assert str(caught.value) == (
        f"{model}: a model of 'annotator-shift', which is not a method of dissensus; pass its "
        "class: load(path, TheClass)"
    )
    with pytest.raises(ModelError) as caught:
        load(model, AnnotatorMajority)
    assert str(caught.value) == (
        f"{model}: a model of 'annotator-shift', but AnnotatorMajority is 'annotator-majority'; "
        "pass the class that the model was fitted with"
    )


def test_the_page_lists_every_promise() -> None:
    rows = re.findall(r"^\| ([a-z ]+) \| ", PAGE.read_text("utf-8"), re.MULTILINE)
    assert rows == ["promise", *CHECKS]
