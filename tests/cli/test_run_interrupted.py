"""dissensus run, killed or interrupted and run again: it ends as if nothing had happened."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.test_run import labels_table
from tests.tiny import tiny_bert

OPTIONS = ("--methods", "prior,single,annotator-heads", "--seeds", "1", "--encoder", "bert")
TIMES = (
    rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(\+00:00|Z| UTC)?",
    rb'"[a-z ]*seconds": [\[\d.,\s\]e-]+',
    rb"(?m),[\d.]+,(yes)?\r?$",  # of log.csv
)
STOPS = {  # what is written when the signal is sent, and the signal
    "a fit is saved": ("comparison/fits/*/fit.json", signal.SIGINT),
    "the comparison is done": ("comparison/results.json", signal.SIGKILL),
}


def _start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "dissensus", "run", "labels.csv", "-o", "out", *OPTIONS],
        cwd=folder,
        env=os.environ | {"DISSENSUS_CACHE": str(folder / "cache"), "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def _prepared(folder: Path) -> Path:
    folder.mkdir()
    labels_table(folder / "labels.csv", 60, n_bare=3)
    tiny_bert(folder / "bert")
    return folder


def _files(out: Path) -> dict[str, bytes]:
    """All files without times."""
    files = {}
    for path in sorted(path for path in out.rglob("[!.]*") if path.is_file()):
        content = path.read_bytes()
        if path.suffix == ".parquet":
            read = pq.read_table(path)
            timed = [name for name in read.column_names if "seconds" in name]
            content = repr(read.drop(timed).to_pydict()).encode()
        for pattern in TIMES:
            content = re.sub(pattern, b"TIME", content)
        files[str(path.relative_to(out))] = content
    return files


@pytest.mark.slow
def test_a_stopped_run_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    whole = _prepared(tmp_path / "whole")
    process = _start(whole)
    _, error = process.communicate()
    assert process.returncode == 0, error
    expected = _files(whole / "out")
    assert {"report.html", "predictions.csv", "model/config.json"} <= expected.keys()
    for name, (pattern, number) in STOPS.items():
        folder = _prepared(tmp_path / name)
        process = _start(folder)
        while process.poll() is None and not any((folder / "out").glob(pattern)):
            time.sleep(0.005)
        process.send_signal(number)
        _, error = process.communicate()
        assert process.returncode != 0, name
        assert b"Traceback" not in error
        process = _start(folder)
        _, error = process.communicate()
        assert process.returncode == 0, error
        disturbed = _files(folder / "out")
        assert disturbed.keys() == expected.keys(), name
        assert [path for path in expected if disturbed[path] != expected[path]] == [], name
