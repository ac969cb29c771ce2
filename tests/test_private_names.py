"""Tests use public names: what they need is worth a name without an underscore."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
# of Python, transformers and notebooks
OTHERS = {"_asdict", "_replace", "_fields", "_attn_implementation", "_repr_html_", "_repr_svg_"}


def private(name: str) -> bool:
    """Whether a name, or the last part of a dotted one, begins with one underscore."""
    last = name.rpartition(".")[2]
    return last.startswith("_") and not last.startswith("__") and last not in OTHERS


def private_names(source: str) -> Iterator[str]:
    """The private names of other objects and modules that a file uses."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and private(node.attr):
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                yield f"line {node.lineno}: .{node.attr}"
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if private(alias.name):
                    yield f"line {node.lineno}: import {alias.name}"
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "setattr":
            for argument in node.args:
                value = argument.value if isinstance(argument, ast.Constant) else None
                if isinstance(value, str) and private(value):
                    yield f"line {node.lineno}: setattr {value}"


def test_tests_use_public_names() -> None:
    results = [
        f"{path.relative_to(TESTS)}, {use}"
        for path in sorted(TESTS.rglob("*.py"))
        for use in private_names(path.read_text(encoding="utf-8"))
    ]
    assert results == []


def test_the_search_finds_every_use() -> None:
    source = """
from dissensus.corpus import _alone, Corpus
corpus._cache = pair._asdict()
self._own = corpus.__dict__
monkeypatch.setattr(module, "_limit", 3)
monkeypatch.setattr("dissensus.module._limit", 3)
"""
    assert list(private_names(source)) == [
        "line 2: import _alone",
        "line 3: ._cache",
        "line 5: setattr _limit",
        "line 6: setattr dissensus.module._limit",
    ]
