"""dissensus agreement, as a user types it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from dissensus import agreement
from tests.cli.conftest import Run
from tests.test_description import small
from tests.test_docs import ROOT, table_under


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    small().save(tmp_path / "small")
    return tmp_path / "small"


def test_json_holds_the_values_and_the_reasons(run: Run, corpus: Path) -> None:
    fields = json.loads(run("agreement", corpus, "--json").out)
    assert fields["corpus"] == "small"
    for question, answers in small().questions.items():
        listed = next(q for q in fields["questions"] if q["question"] == question)
        assert listed["answers"] == answers.n_answers
        values = {entry["measure"]: entry["value"] for entry in listed["measures"]}
        expected = agreement.measured(answers)
        assert {n: np.nan if v is None else v for n, v in values.items()} == pytest.approx(
            expected, nan_ok=True
        )
        for entry in listed["measures"]:
            why = agreement.why_undefined(entry["measure"], answers)
            assert entry["undefined"] == why


def test_intervals(run: Run, corpus: Path) -> None:
    ended = run("agreement", corpus, "--interval", "--json")
    for question in json.loads(ended.out)["questions"]:
        annotations = small()[question["question"]]
        for entry in question["measures"]:
            if entry["value"] is None:
                assert (entry["low"], entry["high"]) == (None, None)
            else:
                ends = agreement.interval(entry["measure"], annotations)
                expected = [None if math.isnan(end) else end for end in ends]
                assert [entry["low"], entry["high"]] == expected
    head = run("agreement", corpus, "--interval", "--question", "rude").out.splitlines()[1]
    assert head.split() == ["measure", "value", "low", "high", "meaning"]


def test_by_annotator_with_confusions_for_programs(run: Run, corpus: Path) -> None:
    ended = run("agreement", corpus, "--by", "annotator", "--json")
    rude, funny = json.loads(ended.out)["questions"]
    assert [line["annotator"] for line in rude["annotators"]] == ["ann", "bob", "cleo"]
    assert rude["annotators"][0] == {
        "annotator": "ann",
        "answers": 3,
        "agreement-with-rest": pytest.approx(1 / 3),
        "agreement-with-consensus": 0.5,
        "confusion": [[1, 0], [1, 0]],
    }
    assert funny["annotators"][0]["leniency"] == -6
    shown = run("agreement", corpus, "--by", "annotator").out
    assert "confusion" not in shown
    one = run("agreement", corpus, "--by", "annotator", "--measure", "leniency", "--json")
    assert "confusion" not in one.out


@pytest.mark.parametrize(
    ("by", "ending"), [(None, "csv"), ("item", "parquet"), ("annotator", "csv")]
)
def test_output_writes_a_table(
    run: Run, corpus: Path, tmp_path: Path, by: str | None, ending: str
) -> None:
    options = [] if by is None else ["--by", by]
    written = tmp_path / f"out.{ending}"
    ended = run("agreement", corpus, *options, "--json", "-o", written)
    assert ended.code == 0
    table = csv.read_csv(written) if ending == "csv" else pq.read_table(written)
    lines = [
        {"question": fields["question"], **{k: v for k, v in line.items() if k != "confusion"}}
        for fields in json.loads(ended.out)["questions"]
        for line in fields["measures" if by is None else f"{by}s"]
    ]
    assert len(lines) == table.num_rows > 0
    for line, row in zip(lines, table.to_pylist(), strict=True):
        for name, value in line.items():
            missing = row[name] in (None, "")
            assert missing if value is None else row[name] == pytest.approx(value)


def test_the_docs_list_every_measure() -> None:
    page = ROOT / "docs" / "commands.md"
    assert table_under(page, "measure") == [f"`{name}`" for name in agreement.MEASURES]
