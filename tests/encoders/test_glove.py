"""`make glove`: the words of a corpus out of the package, as a file that encoders read."""

from __future__ import annotations

import importlib.util
import io
import json
import tarfile
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from dissensus.encoders.words import read_vectors

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "glove.py"


@pytest.fixture(scope="module")
def glove() -> ModuleType:
    spec = importlib.util.spec_from_file_location("glove", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _package(path: Path, inside: str) -> Path:
    """Vectors of two numbers, with the norm and the line behind them, as the package has them."""
    vectors = {"so": [0.5, -1.0, 1.1, 0], "good": [2.0, 0.25, 2.0, 1], "bad": [1.0, 1.0, 1.4, 2]}
    text = json.dumps({"dimensions": 2, "words": list(vectors), "vectors": vectors}).encode()
    with tarfile.open(path, "w:gz") as archive:
        entry = tarfile.TarInfo(inside)
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    return path


def test_the_words_of_texts_are_cut_out(glove: ModuleType, tmp_path: Path) -> None:
    package = _package(tmp_path / "package.tgz", glove.INSIDE)
    vectors, width = glove.vectors_in(package)
    words = glove.words_of(["SO good", "so :)"])
    assert words == [":)", "SO", "good", "so"]
    assert glove.write(tmp_path / "glove" / "made.txt", words, vectors, width) == 2
    result, table = read_vectors(tmp_path / "glove" / "made.txt")
    assert result == ["good", "so"]
    np.testing.assert_array_equal(table, [[2, 0.25], [0.5, -1], [0, 0]])


def test_all_words_stay_in_order(
    glove: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = _package(tmp_path / "package.tgz", glove.INSIDE)
    monkeypatch.setattr(glove, "CORPORA", {})
    monkeypatch.setenv("DISSENSUS_DATA", str(tmp_path))
    options = ["--all", "--package", str(package), "--folder", str(tmp_path / "glove")]
    monkeypatch.setattr("sys.argv", ["glove.py", *options])
    glove.main()
    assert read_vectors(tmp_path / "glove" / "all.txt")[0] == ["so", "good", "bad"]
