"""Files and folders are moved to their place when complete, by one process at a time."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dissensus.errors import DataError
from dissensus.files.folders import reserved, staged

WRITER = """
import sys, time
from dissensus.files.folders import staged
with staged(sys.argv[1]) as path:
    path.write_text("half")
    print("writing", flush=True)
    sys.stdin.readline()
    path.write_text("whole")
"""


@contextmanager
def writer(target: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that is writing; a line on its stdin lets it end."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(target)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "writing\n"
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_second_writer_is_refused_and_does_not_disturb_the_first(tmp_path: Path) -> None:
    target = tmp_path / "answers.csv"
    with writer(target) as other:
        with pytest.raises(DataError) as error, staged(target) as path:
            path.write_text("mine")
        assert str(error.value) == (
            f"{target}: another process is writing it (process {other.pid}); wait for it, or "
            "choose another path"
        )
        other.communicate("end\n")
    assert target.read_text() == "whole"
    assert names(tmp_path) == ["answers.csv"]


def test_what_a_killed_writer_left_is_deleted_by_the_next_one(tmp_path: Path) -> None:
    target = tmp_path / "answers.csv"
    with writer(target) as other:
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert names(tmp_path) == [".answers.csv.new"]
    with staged(target) as path:
        assert names(path.parent) == []
        path.write_text("mine")
    assert target.read_text() == "mine"
    assert names(tmp_path) == ["answers.csv"]


def test_writers_of_other_places_do_not_wait(tmp_path: Path) -> None:
    with writer(tmp_path / "answers.csv"):
        with staged(tmp_path / "answers.tsv") as path:
            path.write_text("mine")
        assert names(tmp_path) == [".answers.csv.new", "answers.tsv"]


def test_a_reserved_place_is_written_by_its_owner_alone(tmp_path: Path) -> None:
    target = tmp_path / "model"
    with reserved(target):
        with staged(target) as path:
            path.mkdir()
        command = [sys.executable, "-c", WRITER, str(target)]
        other = subprocess.run(command, capture_output=True, text=True, input="")
        assert f"another process is writing it (process {os.getpid()})" in other.stderr
        with staged(target) as path:
            path.mkdir()
            (path / "weights").touch()
    assert names(tmp_path) == ["model"] and names(target) == ["weights"]


def test_what_was_being_replaced_comes_back(tmp_path: Path) -> None:
    """On systems that cannot exchange two folders, a process may be killed between two moves."""
    target, left = tmp_path / "model", tmp_path / ".model.new"
    for folder in (left / "replaced", left / "files" / "model"):
        folder.mkdir(parents=True)
    (left / "replaced" / "weights").write_text("old")
    (left / "lock").write_text("dissensus 1\n")
    with reserved(target):
        assert (target / "weights").read_text() == "old"
    assert names(tmp_path) == ["model"]


@pytest.mark.parametrize("exchange", [True, False])
def test_a_folder_takes_the_place_of_another(
    tmp_path: Path, exchange: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not exchange:
        monkeypatch.setattr("dissensus.files.folders.exchanged", lambda *_: False)
    for name in ("old", "new"):
        with staged(tmp_path / "model") as path:
            path.mkdir()
            (path / name).touch()
    assert names(tmp_path / "model") == ["new"] and names(tmp_path) == ["model"]


def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError) as error, staged(tmp_path / "pipe") as path:
        path.write_text("x")
    assert str(error.value) == f"{tmp_path / 'pipe'}: is a device or a pipe; name a file"
    assert names(tmp_path) == ["pipe"]


def test_a_full_disk_names_the_path(tmp_path: Path) -> None:
    target = tmp_path / "answers.csv"
    with pytest.raises(DataError) as error, staged(target) as path, open("/dev/full", "w") as full:
        path.write_text("half")
        full.write("x")
        full.flush()
    assert str(error.value) == f"{target}: cannot be written (No space left on device)"
    assert names(tmp_path) == []


def test_a_file_does_not_take_the_place_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    message = f"^{re.escape(str(folder))}: cannot be written \\(Is a directory\\)$"
    with pytest.raises(DataError, match=message), staged(folder) as path:
        path.write_text("new")
    assert (folder / "mine.txt").read_text() == "mine"


def test_a_folder_of_others_with_an_empty_lock_is_not_emptied(tmp_path: Path) -> None:
    theirs = tmp_path / ".out.csv.new" / "files"
    theirs.mkdir(parents=True)
    (theirs / "thesis.txt").write_text("mine")
    (theirs.parent / "lock").touch()
    with (
        pytest.raises(DataError, match="was not written by dissensus"),
        staged(tmp_path / "out.csv"),
    ):
        pass
    assert (theirs / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize("folder", [True, False])
def test_what_is_written_is_on_the_disk_before_it_is_renamed(
    folder: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    sync, replace = os.fsync, os.replace

    def fsync(handle: int) -> None:
        steps.append(os.readlink(f"/proc/self/fd/{handle}").removeprefix(f"{tmp_path}/"))
        sync(handle)

    def renamed(*paths: Path) -> None:
        steps.append("renamed")
        replace(*paths)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", renamed)
    with staged(tmp_path / "out") as new:
        if folder:
            new.mkdir()
            (new / "a").write_text("yes")
        else:
            new.write_text("yes")
    before = [".out.new/files/out", *[".out.new/files/out/a"] * folder]
    assert steps == [*before, "renamed", str(tmp_path)]
