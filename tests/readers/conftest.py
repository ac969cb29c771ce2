"""Fixtures of the readers' tests."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dissensus import Corpus

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A function that writes a file and gives its path."""

    def write_file(content: str | bytes, name: str = "labels.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write_file


def rows_of(corpus: Corpus, question: str) -> list[tuple[str, str, Any]]:
    """Item, annotator and answer of every row."""
    answers = corpus[question]
    assert answers.annotator is not None
    people = [answers.annotators[code] for code in answers.annotator]
    items = [corpus.items[code] for code in answers.item]
    return list(zip(items, people, answers.answers(), strict=True))


def refused(text: str) -> str:
    """A pattern for the whole message."""
    return f"^{re.escape(text)}$"
