from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.datasets.folders import sample


@pytest.fixture
def sample_folder(tmp_path: Path) -> Callable[[str], Path]:
    """Make the small folder of the corpus with this name."""
    return lambda name: sample(name, tmp_path / name)
