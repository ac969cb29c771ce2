"""Fixtures that every folder of tests shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real corpora; a test that asks for it is skipped where there is none."""
    named = os.environ.get("DISSENSUS_DATA")
    if not named:
        pytest.skip("DISSENSUS_DATA is not set: the real corpora are not here")
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"DISSENSUS_DATA names {named}, which is no folder")
    return folder
