"""A paper's tables as a user asks for them: trained, gone on with, shown again."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.papers.tiny import QUICK, stems, tweets, vectors


@pytest.fixture
def data(tmp_path: Path) -> Path:
    tweets(30).save(tmp_path / "data" / "pos_tweets")
    stems(40).save(tmp_path / "data" / "stemming")
    vectors(tmp_path / "vectors.txt")
    return tmp_path / "data"


def typed(data: Path, out: Path, *more: object) -> list[object]:
    settings = [("encoder", f"words:{data.parent / 'vectors.txt'}"), *QUICK]
    set_ = [word for name, value in settings for word in ("--set", f"{name}={value}")]
    return ["papers", "soft-labels", data, "-o", out, *set_, "--processes", 1, *more]


def test_trained_gone_on_with_and_shown_again(run: Run, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    over = run(*typed(data, out, "--runs", 1, "--time-limit", "0s"))
    assert over.code == 3 and over.out == ""
    assert over.err.splitlines()[-1] == (
        f"{out}: the time is over: 0 of 24 are done, 24 are missing; the same again goes on with "
        "them"
    )
    some = run(*typed(data, out, "--runs", 1, "--conditions", "pos-test,stemming-silver"))
    assert some.code == 0
    assert "POS tag, separate test set (pos-test)" in some.out and "86.29*" in some.out
    assert "What became of its claims" in some.out
    again = run("papers", "soft-labels", "--show", out)
    assert again.code == 0 and again.out == some.out
    content = json.loads(run("papers", "soft-labels", "--show", out, "--json").out)
    assert sorted(content["conditions"]) == ["pos-test", "stemming-silver"]
    assert content["command"].startswith("dissensus papers soft-labels ")


DISSENSUS = [sys.executable, "-c", "from dissensus.cli import main; main()"]


@pytest.mark.slow
def test_killed_and_gone_on_with_it_ends_the_same(data: Path, tmp_path: Path) -> None:
    conditions = ("--conditions", "pos-cv,stemming-silver", "--runs", "1")

    def begun(out: Path) -> subprocess.Popen[bytes]:
        words = typed(data, out, *conditions)
        return subprocess.Popen([*DISSENSUS, *map(str, words)], stdout=subprocess.DEVNULL)

    killed = begun(tmp_path / "parts")
    while not list((tmp_path / "parts").glob("fits/[!.]*/fit.json")):
        assert killed.poll() is None
        time.sleep(0.02)
    killed.kill()
    killed.wait()
    assert len(list((tmp_path / "parts").glob("fits/[!.]*/fit.json"))) < 8
    for out in ("parts", "whole"):
        assert begun(tmp_path / out).wait() == 0
    assert answers(tmp_path / "parts") == answers(tmp_path / "whole")


def answers(out: Path) -> dict[str, Any]:
    """What was answered and how trainings went, by model, seed and condition."""
    found = {}
    for path in sorted(out.glob("fits/*/fit.json")):
        folds = json.loads(path.read_text())["folds"]
        found[path.parent.name] = [{**fold, "seconds": None} for fold in folds]
    assert len(found) == 8 and not list(out.glob("fits/.*"))
    return found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bert"], "no paper 'bert'; there are 'soft-labels', 'seedbert'"),
        (["soft-labels"], "name DATA and a folder with -o, or --show what was found"),
        (["soft-labels", "d", "--show", "o"], "--show shows what was found; leave DATA and -o out"),
    ],
)
def test_what_is_refused(run: Run, arguments: list[str], said: str) -> None:
    ended = run("papers", *arguments)
    assert (ended.code, ended.err) == (1, f"Error: {said}\n")


def test_another_corpus_is_refused(run: Run, data: Path, tmp_path: Path) -> None:
    from tests.crowds import feature_crowd

    crowd = feature_crowd(n_items=10)
    crowd.save(tmp_path / "crowd")
    ended = run("papers", "soft-labels", tmp_path / "crowd", "-o", tmp_path / "out")
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == (
        f"Error: {tmp_path / 'crowd'}: holds {crowd.name!r}, not pos_tweets or stemming"
    )


def test_a_setting_without_a_value(run: Run, data: Path, tmp_path: Path) -> None:
    ended = run("papers", "soft-labels", data, "-o", tmp_path / "out", "--set", "epochs")
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == "Error: --set takes name=value, found 'epochs'"
