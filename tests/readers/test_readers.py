"""What every reader promises, and how a source finds its reader."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dissensus import datasets
from dissensus.errors import DataError, DissensusError
from dissensus.readers import READERS, read, recognise
from dissensus.readers.layout import Layout
from dissensus.readers.recognition import Head

from .conftest import Write


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_nothing_to_read_is_refused_in_one_line(reader: str, write: Write, tmp_path: Path) -> None:
    sources = [tmp_path / "nowhere", tmp_path, write(b"", "empty"), write(b"\0\1\2", "binary")]
    for source in sources:
        with pytest.raises(DissensusError) as caught:
            read(source, format=reader)
        assert str(caught.value).startswith(f"{source}")
        assert "\n" not in str(caught.value)


def test_recognising_never_fails(reader: str, write: Write, tmp_path: Path) -> None:
    for source in [tmp_path / "nowhere", tmp_path, write(b"", "empty"), write(b"\0\xff", "binary")]:
        READERS[reader].fits(Head.of(source))


def test_every_option_of_read_reaches_the_readers() -> None:
    joined = {"items", "annotator_attributes", "layout"}  # tables of their own
    parameters = set(inspect.signature(datasets.read).parameters) - {"source"} - joined
    internal = {"item_parts", "columns_only"}
    alone = {"delimiter", "quotes", "skip", "comment", "columns", "files", "ignore"}  # in a layout
    options = set(inspect.signature(Layout).parameters) - internal - alone - joined
    assert parameters == options | {"max_unpacked", "media_root"}


def test_the_format_overrules(write: Write) -> None:
    path = write("{item,annotator,label\nt1,ann,yes\n")
    assert recognise(path) == "jsonl"
    assert read(path, format="csv", item="{item")["label"].answers() == ["yes"]


def test_a_saved_corpus(write: Write, tmp_path: Path) -> None:
    corpus = read(write("item,annotator,answer\nt1,a,x\nt1,b,y\n"))
    saved = tmp_path / "saved"
    corpus.save(saved)
    assert recognise(saved) == "corpus"
    assert read(str(saved)).equals(corpus)
    assert read(saved, name="other").name == "other"
    (saved / "question-0.parquet").write_bytes(b"PAR1")
    with pytest.raises(
        DataError, match=f"^{re.escape(str(saved / 'question-0.parquet'))}: damaged"
    ):
        read(saved)


def test_reading_loads_nothing_heavy(write: Write) -> None:
    path = write("item,annotator,answer\nt1,a,x\nt1,b,y\n")
    code = (
        f"import sys; from dissensus.readers import read; read({str(path)!r}); "
        "print([m for m in ('torch', 'transformers', 'sklearn', 'scipy', 'polars') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
