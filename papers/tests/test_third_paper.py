"""A third paper: what it has to say itself, and what it gets from the framework for that."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dissensus.evaluation import Results, k_fold
from dissensus_papers import PAPERS
from dissensus_papers.framework.claims import Claim
from dissensus_papers.framework.comparison import ComparisonPaper
from dissensus_papers.framework.declared import BetterThan, ComparisonCondition, Model, Source
from tests.cli.conftest import Run
from tests.crowds import feature_crowd

SINGLE, MAJORITY = "single", "majority"
CROWD = ComparisonCondition(
    "crowd",
    "A simulated crowd",
    "crowd",
    models=(SINGLE, MAJORITY),
    metrics=("accuracy", "cross-entropy"),
    seeds=(0, 1, 2),
    reference=MAJORITY,
    settings={"training.epochs": 5},
    folds=lambda corpus: k_fold(corpus, 2),
    printed={SINGLE: {"accuracy": 0.9}},
    decided_by="accuracy",
)
PAPER = ComparisonPaper(
    name="tiny",
    title="Doe (2020), a tiny paper",
    sources={"crowd": Source("crowd"), "absent": Source("absent")},
    models={SINGLE: Model("Network", "single"), MAJORITY: Model("Most frequent answer", "prior")},
    blocks=(
        CROWD,
        ComparisonCondition(
            "absent", "Not at hand", "absent", (SINGLE,), ("accuracy",), (0,), SINGLE
        ),
    ),
    claims=(
        BetterThan("The network is more accurate", SINGLE, MAJORITY),
        Claim("Its figures are high", lambda report: f"{len(report['conditions'])} condition"),
        BetterThan("It is better elsewhere", SINGLE, MAJORITY, ("absent",)),
    ),
    notes="The paper's own corpus is not public.",
)


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The command that runs the paper, once it is registered."""
    monkeypatch.setitem(PAPERS, "tiny", __name__)
    feature_crowd(n_items=60).save(tmp_path / "data" / "crowd")
    where = [tmp_path / "data", "-o", tmp_path / "out"]
    return ["papers", "tiny", *where, "--processes", 1]


def dateless(text: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "", text)


def test_run_stopped_resumed_and_shown(run: Run, typed: list[object], tmp_path: Path) -> None:
    out = tmp_path / "out"
    stopped = run(*typed, "--time-limit", "0s")
    assert stopped.code == 3 and stopped.out == ""
    assert stopped.err.splitlines()[-1].startswith(f"{out}: crowd: ")
    nothing = run("papers", "tiny", "--show", out)
    assert nothing.code == 1 and "nothing is trained yet; resume with: dissensus" in nothing.err
    first = run(*typed, "--runs", 1)
    assert first.code == 0, first.err
    assert Results.load(out / "conditions" / "crowd").about.seeds == (0,)
    whole = run(*typed)  # more runs in the same folder
    assert whole.code == 0, whole.err
    assert Results.load(out / "conditions" / "crowd").about.seeds == (0, 1, 2)
    assert len(list(out.glob("conditions/crowd/fits/*/fit.json"))) == 2 * 3 + 2
    lines = whole.out.splitlines()
    assert lines[0] == "Doe (2020), a tiny paper"
    assert "A simulated crowd (crowd): q, 60 items, 2 folds, seeds 0, 1, 2" in whole.out
    assert any(re.match(r"Network .* 0\.900 +0\.\d{3} \+- 0\.\d{3} ", line) for line in lines)
    assert re.search(
        r"The network is more accurate: .*\n  crowd, 60 items +accuracy +[+-]0\.", whole.out
    )
    assert "Its figures are high: 1 condition" in lines
    words = "Not run yet: dissensus papers tiny DATA -o OUT --conditions absent"
    assert f'{words} --models "single, majority"\n  It is better elsewhere' in whole.out
    assert lines[-1] == words
    again = run("papers", "tiny", "--show", out)
    assert dateless(again.out) == dateless(whole.out)
    kept = tmp_path / "kept.json"
    kept.write_text(run("papers", "tiny", "--show", out, "--json").out)
    assert dateless(run("papers", "tiny", "--show", kept).out) == dateless(whole.out)
    assert json.loads(kept.read_text())["claims"][0]["tests"]["crowd"]["n_runs"] == 3


def test_claims_about_models_that_cannot_be_fitted(run: Run, typed: list[object]) -> None:
    ended = run(*typed, "--runs", 1, "--set", "encoder=words:nowhere.txt")
    assert ended.code == 0, ended.err
    assert re.search(r"crowd, 60 items +accuracy +not tested: single could not be", ended.out)
    assert re.search("single left out: .*nowhere.txt", ended.out)


def test_what_is_refused(run: Run, typed: list[object], tmp_path: Path) -> None:
    def refused(*more: object) -> str:
        ended = run(*typed, *more)
        assert ended.code == 1
        return ended.err.splitlines()[-1]

    assert refused("--runs", 4) == "Error: the paper has 3 runs; ask for 1 to 3, not 4"
    assert refused("--conditions", "absent") == (
        "Error: absent needs the corpus 'absent'; it is not in DATA"
    )
    assert refused("--set", "epochs=1") == "Error: crowd: no model has a setting 'epochs'"
    assert refused("--glove", "file") == "Error: --glove is not an option of tiny"
    assert run(*typed, "--runs", 1).code == 0
    assert "single's training.epochs: 5 there, 6 here" in refused("--set", "training.epochs=6")
    shown = run("papers", "seedbert", "--show", tmp_path / "out")
    assert "holds outcomes of tiny, not of seedbert" in shown.err
