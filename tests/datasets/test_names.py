"""Known corpora by their names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dissensus import datasets
from dissensus.cli import app
from dissensus.datasets import DATA, DATASETS
from dissensus.errors import DataError

SampleFolder = Callable[[str], Path]


def test_a_corpus_by_its_name(sample_folder: SampleFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    monkeypatch.delenv(DATA, raising=False)
    with pytest.raises(
        DataError, match="^ferplus_votes: no such file or folder; to read the known"
    ):
        datasets.read("ferplus_votes")
    monkeypatch.setenv(DATA, str(sample_folder("ferplus_votes").parent))
    votes = datasets.read("ferplus_votes")
    assert votes["emotion"].counts().sum(axis=1).tolist() == [10, 10, 9]
    assert votes.parts() == ["train", "dev", "test"]
    with pytest.raises(DataError, match=f"{DATA} contains no folder lewidi2023"):
        datasets.read("ArMIS")
    clips = datasets.load(sample_folder("crema_d_votes"))
    assert clips["audio-visual"].counts().tolist() == [[0, 0, 0, 0, 9, 0], [0, 1, 0, 8, 1, 0]]
    assert clips.gold["face"].answers() == ["neutral", "happy"]


def test_several_corpora_are_described_one_by_one(sample_folder: SampleFolder) -> None:
    folder = sample_folder("ferplus_votes").parent
    sample_folder("bluebirds_ducks")
    shown = CliRunner().invoke(app, ["describe", str(folder)])
    assert shown.exit_code == 0, shown.output
    for name in ("bluebirds", "ducks", "ferplus_votes"):
        assert f"\n{name}\n" in f"\n{shown.stdout}"


def test_the_command_lists_them(
    sample_folder: SampleFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DATA, str(sample_folder("ferplus_votes").parent))
    shown = CliRunner().invoke(app, ["datasets"])
    lines = {line.split()[0]: line for line in shown.stdout.splitlines() if line.strip()}
    assert set(DATASETS) <= set(lines)
    assert lines["ferplus_votes"].rstrip().endswith("yes") and "MIT" in lines["ferplus_votes"]
