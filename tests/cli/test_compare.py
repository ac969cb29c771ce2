"""Comparing methods as a user types it; stopped, killed, gone on with, and shown again."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus import Corpus
from dissensus.cli.method_options import configured_methods, typed_settings
from dissensus.errors import DataError
from dissensus.evaluation import Results
from dissensus.evaluation.execution import schedule
from dissensus.methods import METHODS, ON_REQUEST, method
from dissensus.methods.framework.settings import settings_of
from tests.cli.conftest import Run
from tests.crowds import anonymous, feature_crowd

DISSENSUS = [sys.executable, "-c", "from dissensus.cli import main; main()"]
HERE = ("--seeds", "2", "--processes", "1")
QUICK = ("--set", "training.epochs=2", *HERE)


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    feature_crowd(n_items=40).save(tmp_path / "crowd")
    return tmp_path / "crowd"


def typed(
    crowd: Path, out: Path, *more: object, methods: str = "prior,single", seeds: int = 2
) -> list[object]:
    settings = ("--set", "training.epochs=2", "--seeds", seeds, "--processes", 1)
    return ["compare", crowd, "--methods", methods, "--folds", 2, *settings, "-o", out, *more]


def found(out: Path) -> tuple[dict[str, Any], bytes]:
    """Everything that must be the same each time."""
    front = json.loads((out / "results.json").read_text())
    front["when"] = front["about"]["commit"] = None
    notes = front["about"]["notes"]  # on another commit too, if somebody works on the code
    front["about"]["notes"] = [note for note in notes if not note.startswith("fitted by")]
    return front, (out / "items.parquet").read_bytes()


def test_a_table_with_floors_differences_and_the_command(
    run: Run, crowd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    monkeypatch.setenv("COLUMNS", "200")
    ended = run(*typed(crowd, out))
    assert (ended.code, ended.err) == (0, "2 folds of 40 items\n")
    lines = ended.out.splitlines()
    assert lines[0].split() == [
        "q", "cross-entropy", "↓", "macro-F1", "↑", "accuracy", "↑", "annotator", "accuracy", "↑",
    ]  # fmt: skip
    starts = [line.split("  ")[0] for line in lines]
    assert [s for s in starts if s in ("single", "prior", "perfect prediction")] == [
        "single", "prior", "perfect prediction", "prior",
    ]  # fmt: skip
    assert "Difference from single" in lines
    assert lines[-1] == (
        f"dissensus compare {crowd} --methods prior,single --folds 2 --set training.epochs=2 "
        f"--seeds 2 --processes 1 -o {out}"
    )


def test_predictions_of_another_system_are_compared(run: Run, crowd: Path, tmp_path: Path) -> None:
    out, path = tmp_path / "out", tmp_path / "llm.csv"
    corpus = Corpus.load(crowd)
    value = corpus["q"].scale.values[0]  # type: ignore[attr-defined]
    lines = [f"{name},{value}" for name in (*corpus.items, "elsewhere")]
    path.write_text("\n".join(["id,label", *lines]) + "\n")
    with_file = run(*typed(crowd, out, "--with", path))
    assert with_file.code == 0
    assert f"{path}: 1 row of 41 left out: an item that is not in the corpus ('elsewhere')" in (
        with_file.out
    )
    assert with_file.out.endswith(f"--with {path}\n")
    starts = [line.split("  ")[0] for line in with_file.out.splitlines()]
    assert starts.count("llm") >= 2  # its scores, and its difference from single
    assert run("compare", "--show", out).out == with_file.out
    refused = run("compare", "--show", out, "--with", path)
    assert (refused.code, refused.err) == (
        1, "Error: --show reads results only; leave FILE, -o and --with out\n",
    )  # fmt: skip


def test_a_stranger_rebuilds_the_table(run: Run, crowd: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = run(*typed(crowd, out))
    before = found(out)
    for path in sorted(out.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    again = run(*shlex.split(first.out.splitlines()[-1])[1:])
    assert again == first and found(out) == before
    (out / "results.json").unlink()  # the fits are still there
    assert run(*typed(crowd, out)) == first and found(out) == before


@pytest.mark.slow
def test_unasked_every_method_that_can_learn(run: Run, tmp_path: Path) -> None:
    anonymous(feature_crowd(n_items=40)).save(tmp_path / "votes")
    ended = run("compare", tmp_path / "votes", "--folds", 2, *QUICK, "-o", tmp_path / "out")
    assert ended.code == 0
    about = Results.load(tmp_path / "out").about
    quick = {*METHODS} - {*ON_REQUEST, "annotator-median"}
    assert {*about.methods, *about.left_out} == quick and "bayesian" not in quick
    assert about.methods[:2] == ("prior", "logistic") and "annotator-majority" in about.left_out
    assert (
        "annotator-majority left out: annotator-majority needs known annotators; these "
        "answers are anonymous"
    ) in ended.out.splitlines()


@pytest.mark.parametrize(("parts", "tested"), [(("dev", "test"), "test"), (("dev",), "dev")])
def test_the_official_split_where_there_is_one(
    run: Run, tmp_path: Path, parts: tuple[str, ...], tested: str
) -> None:
    crowd = feature_crowd(n_items=40)
    split = np.array(["train"] * 20 + [parts[0]] * 10 + [parts[-1]] * 10)
    contents = {
        role: (validation, crowd.content[role]) for role, validation in crowd.contents.items()
    }
    Corpus.build(
        "parted", crowd.items, crowd.questions, contents=contents, splits={"official": split}
    ).save(tmp_path / "crowd")
    out = tmp_path / "out"
    ended = run("compare", tmp_path / "crowd", "--methods", "prior", *HERE, "-o", out)
    validation = ", validation on 10" if tested == "test" else ""
    n = 10 if tested == "test" else 20
    assert ended.err == (
        f"official split: training on 20 items, testing on {n} ({tested}){validation}; use "
        "--protocol k-fold for cross-validation\n"
    )
    about = Results.load(out).about
    assert about.protocol == {"kind": "official", "scheme": "official", "test": tested}
    requested = run(
        "compare", tmp_path / "crowd", "--methods", "prior", "--protocol", "repeated",
        "--folds", 2, "--times", 3, *HERE, "-o", tmp_path / "other",
    )  # fmt: skip
    assert requested.err == (
        "2 folds of 40 items, repeated 3 times, without regard to the official split\n"
    )


def test_settings_of_one_method_and_of_all(run: Run, crowd: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    more = ("--set", "soft-label:loss=kl", "--trials", 2)
    assert run(*typed(crowd, out, *more, methods="prior,single,soft-label")).code == 0
    results = Results.load(out)
    assert {fit.settings["loss"] for fit in results.of("soft-label")} == {"kl"}
    for fit in (*results.of("single"), *results.of("soft-label")):
        assert len(fit.tried) == 2 and fit.settings["training.epochs"] == 2
        assert all("training.epochs" not in one["settings"] for one in fit.tried)


def test_the_options_of_train_set_every_method_that_has_them() -> None:
    settings = typed_settings(3, 0.01, True, ["single:hidden=8"])
    methods, choices = configured_methods(["prior", "single", "soft-label"], None, settings)
    for name in ("single", "soft-label"):
        own = settings_of(methods[name])
        assert own["training.epochs"] == 3 and own["training.learning_rate"] == 0.01
        assert own["tune"] == "all" and "training.learning_rate" not in choices[name]
    assert settings_of(methods["single"])["hidden"] == (8,)
    assert settings_of(methods["prior"]) == settings_of(method("prior")())
    with pytest.raises(DataError, match="--set training.epochs: none of 'prior' has this setting"):
        configured_methods(["prior"], None, typed_settings(3, None, False, None))


def test_a_budget_that_is_too_small(run: Run, crowd: Path, tmp_path: Path) -> None:
    ended = run(*typed(crowd, tmp_path / "out", "--budget", "0s"))
    assert (ended.code, ended.err.splitlines()[-1]) == (
        3,
        f"{tmp_path / 'out'}: time limit reached: 0 of 6 fits done; run the same command again "
        "to resume",
    )
    shown = run("compare", "--show", tmp_path / "out")
    assert (shown.code, shown.err) == (
        1,
        f"Error: {tmp_path / 'out'}: no fit is done yet; resume with: dissensus compare {crowd} "
        f"--methods prior,single --folds 2 --set training.epochs=2 --seeds 2 --processes 1 -o "
        f"{tmp_path / 'out'} --budget 0s\n",
    )
    assert run(*typed(crowd, tmp_path / "out")).code == 0


def test_fits_that_are_done_are_shown_before_the_end(
    run: Run, crowd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs_of = schedule.jobs_of
    monkeypatch.setattr(schedule, "jobs_of", lambda *known: jobs_of(*known)[:1])
    ended = run(*typed(crowd, tmp_path / "out", "--budget", "5s"))
    note = re.search(r"^Not finished: [1-4] of 6 fits done \((prior|single) ", ended.out, re.M)
    assert (ended.code, note is not None) == (3, True)
    shown = run("compare", "--show", tmp_path / "out")
    assert (shown.code, shown.out) == (0, ended.out)


def test_a_comparison_without_any_fit_fails(run: Run, crowd: Path, tmp_path: Path) -> None:
    rate = ("--set", "training.learning_rate=1e30")
    ended = run(*typed(crowd, tmp_path / "out", *rate, methods="single"))
    assert ended.code == 1
    assert ended.err.splitlines()[-1].startswith("Error: all 4 fits failed: training diverged")


# ---- real processes ----

LONG = (
    "compare ../crowd --methods prior,single,soft-label,repeated-label --folds 2 --seeds 2 "
    "--set training.epochs=150 --processes 2 -o out"
).split()


def begun(folder: Path, *more: str) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    return subprocess.Popen(
        [*DISSENSUS, *LONG, *more],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def until_done(process: subprocess.Popen[str], out: Path, n: int) -> None:
    """Wait until this many fits are kept."""
    for _ in range(1200):
        if len(list((out / "fits").glob("[!.]*"))) >= n or process.poll() is not None:
            break
        time.sleep(0.05)
    assert process.poll() is None, process.communicate()


def gone(group: int, seconds: float) -> bool:
    """Whether no process of the group is left within this time."""
    for _ in range(int(seconds * 20)):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.slow
def test_killed_twice_it_ends_as_if_it_had_never_been(crowd: Path, tmp_path: Path) -> None:
    out = tmp_path / "killed" / "out"
    for n in (1, 3):
        process = begun(tmp_path / "killed")
        until_done(process, out, n)
        os.kill(process.pid, signal.SIGKILL)  # its workers have to notice by themselves
        process.communicate()
        assert gone(process.pid, 10)
        assert not (out / "results.json").exists()
    for name in ("killed", "whole"):
        process = begun(tmp_path / name)
        shown, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, "2 folds of 40 items\n")
    assert found(out) == found(tmp_path / "whole" / "out")
    assert sorted(p.name for p in out.iterdir()) == [
        ".lock", "comparison.json", "fits", "items.parquet", "results.json",
    ]  # fmt: skip


@pytest.mark.slow
def test_ctrl_c_ends_all_processes_in_one_line(crowd: Path, tmp_path: Path) -> None:
    process = begun(tmp_path / "stopped", "--set", "training.epochs=1000000")  # until it is stopped
    until_done(process, tmp_path / "stopped" / "out", 1)
    second = subprocess.run(
        [*DISSENSUS, *LONG], cwd=tmp_path / "stopped", capture_output=True, text=True
    )
    assert (second.returncode, second.stderr.splitlines()[-1]) == (
        1,
        f"Error: out: another comparison is running in it (process {process.pid}); wait for it, "
        "or choose another folder",
    )
    os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it, to all of them
    shown, err = process.communicate(timeout=10)
    assert (process.returncode, shown, err.splitlines()[1:]) == (
        130,
        "",
        ["Stopped; out has the fits done so far; run the same command again to resume."],
    )
    assert gone(process.pid, 5)
