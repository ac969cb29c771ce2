"""From a file to a judged prediction, as a user types it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dissensus import Annotations, Corpus, Names
from dissensus.methods import METHODS, method
from tests.cli.conftest import Run
from tests.crowds import SMALL, feature_crowd, others_slow

FEW = ("--set", "training.epochs=3")


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    feature_crowd().save(tmp_path / "crowd")
    return tmp_path / "crowd"


def without_members(message: str) -> list[str]:
    """The lines, but for those on how far an ensemble's members disagree, and on densities."""
    left_out = (" members disagree ", "density of q, ")
    return [line for line in message.splitlines() if not any(part in line for part in left_out)]


@pytest.mark.parametrize("name", others_slow(METHODS))
def test_the_whole_way(run: Run, crowd: Path, tmp_path: Path, name: str) -> None:
    model, answers = tmp_path / "model", tmp_path / "predictions"
    if "nominal" not in method(name).scales:
        feature_crowd("interval").save(crowd, overwrite=True)
    few: tuple[str, ...] = FEW if "training" in method(name)().get_params() else ()
    for setting, value in SMALL.get(name, {}).items():
        few += ("--set", f"{setting}={value}")
    own = ("-o", model, "--method", name, "--encoder", "features", "--hold-out", 0.25)
    trained = run("train", crowd, *own, *few)
    assert (trained.code, trained.out) == (0, "")
    lines = [line for line in without_members(trained.err) if not line.startswith("penalty of")]
    assert lines[-2:] == ["training on 45 items; 15 held out", f"{model}: {name} for q"]
    predicted = run("predict", model, crowd, "-o", answers)
    assert without_members(predicted.err)[-2:] == [
        "predicting the 15 held-out items",
        f"{answers}: {method(name).name} for q on 15 items",
    ]
    evaluated = run("evaluate", answers, crowd, "--json")
    result, *of_densities = json.loads(evaluated.out)["results"]
    assert (result["method"], result["items"], result["answers"]) == (method(name).name, 15, 60)
    named = ["q (density)"] if name == "grid-density" else []
    assert [each["question"] for each in of_densities] == named


def test_newcomers_are_predicted_as_the_nearest(run: Run, crowd: Path, tmp_path: Path) -> None:
    model, early, answers = tmp_path / "model", tmp_path / "early", tmp_path / "predictions"
    run("train", crowd, "-o", model, "--encoder", "features", "--method", "annotator-heads", *FEW)
    seen = feature_crowd().select(annotators=["p1"])
    own = seen["q"]
    zoe = Annotations.from_arrays(
        own.item, np.zeros(own.n_rows, int), own.answer, own.scale,
        items=own.items, annotators=Names(["zoe"]),
    )  # fmt: skip
    contents = {"x": (seen.contents["x"], seen.content["x"])}
    Corpus.build("early", seen.items, {"q": zoe}, contents=contents).save(early)
    who = ("--annotators", "zoe", "--split", "all", "--overwrite")
    arguments = ("predict", model, crowd, "-o", answers, *who)
    alone = run(*arguments, "--unknown", "nearest")
    assert alone.code == 0 and "'zoe'; predicted as the mean of the annotators" in alone.err
    enrolled = run(*arguments, "--unknown", "nearest", "--enrolment", early)
    assert enrolled.code == 0
    assert "from annotator 'zoe'; predicted as the annotator who agrees best with" in enrolled.err


@pytest.mark.slow
@pytest.mark.data
def test_hs_brexit_by_its_official_split(run: Run, data_folder: Path, tmp_path: Path) -> None:
    source = (data_folder / "lewidi2023", "--corpus", "HS-Brexit")
    on_dev = {}
    for name in (name for name in METHODS if "nominal" in method(name).scales):
        model, answers = tmp_path / name, tmp_path / f"{name}-says"
        trained = run("train", *source, "-o", model, "--method", name, "--question", "hate")
        assert "training on the official part 'train': 784 of 952 items" in trained.err
        predicted = run("predict", model, *source, "-o", answers)
        assert "predicting the official part 'dev': 168 items" in predicted.err
        (result,) = json.loads(run("evaluate", answers, *source, "--json").out)["results"]
        on_dev[name] = result["scores"]
    assert on_dev["prior"]["cross-entropy"] == pytest.approx(0.388, abs=5e-4)  # of the card
    for name in ("single", "annotator-heads"):
        for floor in ("prior", "annotator-majority"):
            assert on_dev[name]["cross-entropy"] < on_dev[floor]["cross-entropy"] - 0.02
            assert on_dev[name]["macro-F1"] > on_dev[floor]["macro-F1"] + 0.05
            assert on_dev[name]["annotator accuracy"] > on_dev[floor]["annotator accuracy"]


@pytest.mark.slow
def test_ctrl_c_ends_in_one_line_and_keeps_what_was_trained(crowd: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from dissensus.cli import main; main()"]
    typed = ["train", str(crowd), "-o", str(tmp_path / "model"), "--encoder", "features"]
    typed += ["--set", "training.epochs=100000", "--set", "training.save_every=0.1"]
    kept = tmp_path / "model.unfinished"
    for first in ("training on", f"{kept}: resuming the training that was stopped"):
        process = subprocess.Popen([*command, *typed], stdout=-1, stderr=-1, text=True)
        assert process.stderr is not None
        assert any(line.startswith(first) for line in process.stderr)
        end = time.monotonic() + 60
        while not kept.exists() and time.monotonic() < end:  # until it is into the first epochs
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        line = f"Stopped; checkpoint saved in {kept}; run the same command again to resume.\n"
        assert (process.returncode, out, err) == (130, "", line)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["crowd", kept.name]


def test_files_of_a_model_have_the_modes_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        method("annotator-majority")().fit(feature_crowd()).save(tmp_path / "model")
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "model").iterdir()} == {0o644}
