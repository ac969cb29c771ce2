"""Groups of annotators in `describe --by` and `evaluate --groups`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.csv as csv
import pytest

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.metrics import scores
from dissensus.prediction import Predictions
from dissensus.scales import Interval, Nominal
from tests.cli.conftest import Run
from tests.cli.test_evaluate import guess


def corpus() -> Corpus:
    """Women say yes to every second item, men to all; one annotator gave no gender."""
    rows = [
        (f"t{item}", f"{gender}{code}", "yes" if gender == "m" or item % 2 else "no")
        for item in range(8)
        for gender in "fm"
        for code in range(5)
    ]
    rows += [(f"t{item}", "z", "no") for item in range(8)]
    rude = Annotations.from_rows(rows, Nominal(("no", "yes")))
    ratings = [(item, name, 7.0 if answer == "yes" else 2.0) for item, name, answer in rows]
    facts = {"gender": [None if name == "z" else name[0] for name in rude.annotators]}
    questions = {"rude": rude, "loud": Annotations.from_rows(ratings, Interval(0, 10))}
    return Corpus.build("c", [f"t{i}" for i in range(8)], questions, annotator_attributes=facts)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    corpus().save(tmp_path / "c")
    return tmp_path / "c"


def test_describe_by_group(run: Run, folder: Path) -> None:
    rude, loud = run("describe", folder, "--by", "gender").out.split("\nquestion ")[1:]
    assert rude.split("by gender\n")[1].splitlines()[:5] == [
        "gender     annotators  suspicious  answers  alpha      yes       no",
        "f                   5           0       40   1.00   50.0 %   50.0 %",
        "m                   5           0       40      -  100.0 %    0.0 %",
        "(missing)           1           0        8      -    0.0 %  100.0 %",
        "fewer than 5 annotators, so uncertain  (missing) (1)",
    ]
    assert loud.split("by gender\n")[1].splitlines()[1].split() == [
        *("f", "5", "0", "40", "1.00", "4.50", "2.53")
    ]
    refused = run("describe", folder, "--by", "age")
    assert refused.err.splitlines()[-1] == (
        "Error: c: no annotator attribute 'age'; there are 'gender'"
    )


def test_scores_by_group_and_the_worst(run: Run, folder: Path, tmp_path: Path) -> None:
    predicted = guess(corpus(), "rude")
    Predictions({"rude": predicted}, "single", "c").save(tmp_path / "p")
    options = ("--groups", "gender", "--metric", "annotator accuracy", "--metric", "TVD")
    ended = run("evaluate", tmp_path / "p", folder, *options, "-o", tmp_path / "scores.csv")
    lines = ended.out.splitlines()
    assert lines[0] == "c, rude, single, by gender"
    assert lines[1].split() == ["f", "m", "worst"]
    assert lines[2].split() == ["annotators", "5", "5"]
    assert lines[-1] == "1 annotator has no gender and is left out"
    accuracy = next(line for line in lines if line.startswith("annotator accuracy"))
    assert accuracy.split()[-1] == "m"  # everybody is predicted to say no
    written = csv.read_csv(tmp_path / "scores.csv").to_pylist()
    for row in written:
        annotations = corpus()["rude"]
        names = np.array(list(annotations.annotators))
        own = annotations.take(
            np.char.startswith(names, row["group"])[annotations.annotator_codes("")]
        )
        assert row["score"] == pytest.approx(
            scores(predicted, own, None, [row["metric"]])[row["metric"]]
        )
    printed = json.loads(run("evaluate", tmp_path / "p", folder, *options, "--json").out)
    assert [result["group"] for result in printed["results"]] == ["f", "m"]
