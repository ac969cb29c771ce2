"""Archives of outcomes, and the compact form of pos_tweets.json."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus_papers import paper
from dissensus_papers.seedbert.protocol import FIRST
from papers.tests.tiny import stems
from papers.tests.tiny_seedbert import write

SCRIPTS = Path(__file__).parents[2] / "benchmarks" / "gpu"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    return importlib.import_module


def test_a_run_resumes_from_the_first_archive_that_exists(script: Any, tmp_path: Path) -> None:
    archive = script("archive")
    folder = write(tmp_path / "out", {f"{FIRST}-paper": ("single", "seeds")}, repeats=2)
    archive.write_archive(folder, tmp_path / "seedbert.tar.gz")
    resumed = archive.resumed(tmp_path / "none.tar.gz", tmp_path / "seedbert.tar.gz")
    reports = [paper("seedbert").report(path) for path in (folder, resumed)]
    for one in reports:
        one.pop("date")
    assert json.dumps(reports[0]) == json.dumps(reports[1])
    assert not archive.resumed(tmp_path / "none.tar.gz").exists()  # begins anew


@pytest.mark.slow
def test_a_run_of_a_paper_resumes_from_its_own_archive(
    script: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    soft_labels: Any = paper("soft-labels")
    given = {
        "corpora": {"stemming": stems()},
        "conditions": [soft_labels.conditions["stemming"]],
        "runs": 1,
        "processes": 1,
        "settings": [("training.epochs", "1"), ("training.batch_size", "64")],
    }
    where = (soft_labels, tmp_path / "out", tmp_path / "kit", "soft_labels.tar.gz")
    runs = script("paper_runs")
    runs.run(*where, **given, time_limit=0)
    assert "Time limit reached: 0 of 4 fits done." in capsys.readouterr().out
    runs.run(*where, **given)
    assert capsys.readouterr().out.count("  1   ") == 4  # of each model
    done = script("archive").unpack(tmp_path / "out" / "soft_labels.tar.gz")
    runs.keep_reported(soft_labels, soft_labels.report(done), tmp_path / "kept.json")
    assert soft_labels.report(tmp_path / "kept.json")["seeds"] == [1000]


@pytest.mark.slow
def test_a_script_is_tried_out_on_any_machine_and_resumes_from_the_archive_in_its_kit(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kit = tmp_path / "gpu-kit" / "soft_labels"
    stems().save(kit / "corpora" / "stemming")
    (kit / "commit.txt").write_text("abc")
    monkeypatch.chdir(tmp_path)
    tried = ["--try", "--conditions", "stemming-text", "--items", "30"]
    for out in ("first", "second"):
        monkeypatch.setattr(sys, "argv", ["soft_labels.py", "run", out, *tried])
        script("soft_labels").main()
        assert capsys.readouterr().out.count("stemming-text  ") == 4  # a fit of each model
        shutil.copy(tmp_path / out / "soft_labels.tar.gz", kit)
    fits = []
    for out in ("first", "second"):
        done = script("archive").unpack(tmp_path / out / "soft_labels.tar.gz")
        fits.append({path.parent.name: path.read_bytes() for path in done.rglob("fit.json")})
    assert len(fits[0]) == 4 and fits[0] == fits[1]


def test_answers_are_packed_without_loss(script: Any, tmp_path: Path) -> None:
    answers = script("pos_answers")
    generator = np.random.default_rng(0)

    def letters() -> str:
        return "".join(generator.choice(list("ABC"), 40, p=(0.8, 0.1, 0.1)))

    gold, seeds = letters(), [letters(), letters(), letters()]
    tested = {"{}": {"seeds": seeds, "together": gold}}
    content = {"gold": gold, "rows": [{"method": "a", "seeds": seeds}, {"tested": tested}]}
    answers.write(tmp_path / "kept.json", content)
    assert answers.read(tmp_path / "kept.json") == content
    assert answers.packed(gold, gold) == ""


def test_marks_of_two_annotators_with_the_same_and_with_different_reasons(
    script: Any, tmp_path: Path
) -> None:
    spans = ["0,Insult,0,4", "1,Insult,2,6", "2,Threat,4,8", "3,Insult,0,4"]
    rows = ["0,7", "1,7", "2,7", "3,8"]
    (tmp_path / "spans.csv").write_text("annotation,type,start,end\n" + "\n".join(spans))
    (tmp_path / "annotations.csv").write_text("annotation,comment_id\n" + "\n".join(rows))
    figures = script("seedbert").evidence(tmp_path)
    assert figures["n_items"] == 1
    assert (figures["same"], figures["different"]) == (0.5, pytest.approx((0 + 0.5) / 2))
