"""A paper's tables as a user asks for them: trained, gone on with, shown again."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from papers.tests.tiny import QUICK, stems, tweets, vectors
from papers.tests.tiny_seedbert import corpus
from tests.cli.conftest import Run
from tests.cli.test_foreign_files import KINDS, WITHIN, hashes, plant
from tests.tiny import tiny_bert


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
        f"{out}: Time limit reached: 0 of 24 fits done. Run the same command again to resume."
    )
    some = run(*typed(data, out, "--runs", 1, "--conditions", "pos-test,stemming-silver"))
    assert some.code == 0
    assert "POS tag, separate test set (pos-test)" in some.out and "86.29*" in some.out
    assert "\nClaims\n" in some.out
    again = run("papers", "soft-labels", "--show", out)
    assert again.code == 0 and dateless(again.out) == dateless(some.out)
    content = json.loads(run("papers", "soft-labels", "--show", out, "--json").out)
    assert sorted(content["conditions"]) == ["pos-test", "stemming-silver"]
    assert content["command"].startswith("dissensus papers soft-labels ")


@pytest.mark.parametrize("later", [False, True])
def test_no_file_of_a_user_is_replaced(run: Run, data: Path, tmp_path: Path, later: bool) -> None:
    command = ("--conditions", "stemming", "--runs", 1, "--items", 20)
    for number, content in enumerate(["mine\n"] if later else ["mine\n", "", *KINDS]):
        out = tmp_path / str(number)
        if later:
            assert run(*typed(data, out, *command)).code == 0
        own = hashes(out).keys()
        plant(out, ["notes.txt", "fits/notes.txt"] if later else WITHIN, content)
        before = {path: known for path, known in hashes(out).items() if path not in own}
        ended = run(*typed(data, out, *command))
        assert before and "Traceback" not in ended.err
        assert before.items() <= hashes(out).items(), ended.err


def test_few_items_to_try_a_paper_out(run: Run, data: Path, tmp_path: Path) -> None:
    few = ("--conditions", "stemming", "--runs", 1, "--items", 20, "--json")
    ended = run(*typed(data, tmp_path / "few", *few))
    assert ended.code == 0, ended.err
    content = json.loads(ended.out)
    assert content["conditions"]["stemming"]["n_items"] == 20
    assert "--runs 1 --items 20" in content["command"]
    whole = run(*typed(data, tmp_path / "whole", "--conditions", "stemming", "--time-limit", "0s"))
    assert whole.err.splitlines()[0] == (
        "soft-labels: stemming; on a CPU this takes hours. "
        "To try it out, add --items 60 --runs 1 --set training.epochs=1."
    )


def dateless(text: str) -> str:
    """A text without the minute in which it was printed."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "", text)


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
    fits = {path.parent.name: json.loads(path.read_text()) for path in out.glob("fits/*/fit.json")}
    assert len(fits) == 8 and not list(out.glob("fits/.*"))
    return {
        name: (
            fit["f1"],
            fit["loss"],
            np.load(out / "fits" / name / "answers.npz")["predicted"].tolist(),
        )
        for name, fit in fits.items()
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bert"], "no paper 'bert'; there are 'soft-labels', 'seedbert', 'individual', 'qumatl'"),
        (["soft-labels"], "name DATA and an output folder with -o, or a folder to --show"),
        (["soft-labels", "d", "--show", "o"], "--show trains nothing; leave DATA and -o out"),
        (["seedbert", "d", "-o", "o", "--glove", "g"], "--glove is not an option of seedbert"),
    ],
)
def test_what_is_refused(run: Run, arguments: list[str], message: str) -> None:
    ended = run("papers", *arguments)
    assert (ended.code, ended.err) == (1, f"Error: {message}\n")


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
    assert ended.err.splitlines()[-1] == "Error: --set must be name=value, found 'epochs'"


RESULTS = Path(__file__).parent.parent.parent / "benchmarks" / "results"


def test_lines_fit_the_terminal_and_are_whole_in_a_pipe(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    requested = ["soft-labels", "--show", RESULTS / "soft_labels.json"]
    piped = run("papers", *requested).out
    assert max(map(len, piped.splitlines())) > 100
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    shown = run("papers", *requested).out
    assert max(map(len, shown.splitlines())) <= 80
    assert set(shown.split()) == set(piped.split())


# ---- seedbert ----


def typed_seedbert(tmp_path: Path, *more: object) -> list[object]:
    settings = [("encoder", str(tmp_path / "bert")), ("training.epochs", 1), ("n_members", 2)]
    set_ = [word for name, value in settings for word in ("--set", f"{name}={value}")]
    where = [tmp_path / "data", "-o", tmp_path / "out"]
    return ["papers", "seedbert", *where, *set_, "--processes", 1, "--runs", 1, *more]


@pytest.mark.slow
def test_seedbert_trained_gone_on_with_and_shown_again(run: Run, tmp_path: Path) -> None:
    tiny_bert(tmp_path / "bert")
    corpus("HS-Brexit", 60).save(tmp_path / "data" / "HS-Brexit")
    arguments = ("--conditions", "HS-Brexit-paper")
    over = run(*typed_seedbert(tmp_path, *arguments, "--time-limit", "0s"))
    assert over.code == 3 and over.out == ""
    assert over.err.splitlines()[-1] == (
        f"{tmp_path / 'out'}: Time limit reached: 0 of 5 fits done. Run the same command again to "
        "resume."
    )
    some = run(*typed_seedbert(tmp_path, *arguments))
    assert some.code == 0, some.err
    assert "HS-Brexit, the paper's rate and epochs (60 items)" in some.out
    assert "Not run yet: dissensus papers seedbert DATA -o OUT --conditions" in some.out
    again = run("papers", "seedbert", "--show", tmp_path / "out")
    assert again.code == 0 and dateless(again.out) == dateless(some.out)
    content = json.loads(run("papers", "seedbert", "--show", tmp_path / "out", "--json").out)
    assert sorted(content["conditions"]) == ["HS-Brexit-paper"]
    assert content["conditions"]["HS-Brexit-paper"]["models"]["seeds"]["repeats"] == [0]
