"""The page on crowds, typed on LabelMe's features, answers, gold labels and split in files."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.conftest import Run

PAGE = Path(__file__).parents[2] / "docs" / "crowds.md"
PARTS = ("train", "valid", "test")


@pytest.fixture
def files(data_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the four files of the page, which is the current one."""
    source = data_folder / "labelme_crowds"
    with np.load(source / "vgg16_avg_features.npz") as arrays:
        np.save(tmp_path / "features.npy", np.concatenate([arrays[f"X_{p}"] for p in PARTS]))
        gold = {f"{p}-{k}": y for p in PARTS for k, y in enumerate(arrays[f"y_{p}"])}
    with (source / "annotations.csv").open(encoding="utf-8", newline="") as file:
        _, *answers = csv.reader(file)
    tables: dict[str, list[tuple[Any, ...]]] = {
        "items": [("item", "split"), *((item, item.split("-")[0]) for item in gold)],
        "gold": [("item", "label"), *(row for row in gold.items() if row[0][:5] != "train")],
        "answers": [("item", "annotator", "label"), *((f"train-{i}", a, y) for i, a, y in answers)],
    }
    for name, rows in tables.items():
        with (tmp_path / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.data
def test_from_files_to_scores(run: Run, files: Path) -> None:
    block = PAGE.read_text(encoding="utf-8").split("```")[1]
    commands = [shlex.split(line)[1:] for line in block.strip().splitlines()]
    assert [command[0] for command in commands] == [
        *("convert", "describe", "aggregate", "train", "predict", "evaluate", "compare")
    ]
    outcomes = {command[0]: run(*command) for command in commands[:-1]}
    assert {name: ended.code for name, ended in outcomes.items() if ended.code} == {}
    assert "train 1,000, valid 500, test 1,188" in outcomes["describe"].out
    assert "training on the official part 'train': 1000 of 2688" in outcomes["train"].err
    [line] = [row for row in outcomes["evaluate"].out.splitlines() if "accuracy (gold)" in row]
    assert float(line.split()[2]) == pytest.approx(0.864, abs=0.015)
