"""A folder of every known corpus, made in the form of the real one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.datasets.folders import FOLDERS


@pytest.fixture
def sample_folder(tmp_path: Path) -> Callable[[str], Path]:
    """Make the small folder of the corpus with this name."""

    def make(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        FOLDERS[name](folder)
        return folder

    return make
