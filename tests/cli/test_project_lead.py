"""A project lead's jobs, typed on the four tables of one project, against what was planted."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections import Counter
from pathlib import Path
from statistics import mean
from typing import Any

import krippendorff
import numpy as np
import pyarrow.parquet as pq
import pytest
from python_calamine import CalamineWorkbook

from tests.cli.conftest import Run
from tests.planted_project import (
    CARELESS,
    DIVIDING,
    TOPICS,
    VERDICTS,
    llm_rows,
    rows_of_project,
    write_project,
)

pytestmark = pytest.mark.slow
FILES = ("long.csv", "wide.csv", "messy.xlsx", "label_studio.json")
MARKED = "without felix, gerd, hana"
Votes = dict[str, dict[str, str]]  # text -> annotator -> verdict


@pytest.fixture(params=FILES)
def file(request: pytest.FixtureRequest, tmp_path: Path, run: Run) -> Path:
    """A file of the project; the columns of annotators are remembered as the refusal says."""
    rows = write_project(tmp_path)
    people = {row["annotator"]: row["gender"] for row in rows}
    at = "@x.org" if request.param == "label_studio.json" else ""
    lines = [f"{name}{at},{gender}" for name, gender in people.items()]
    (tmp_path / "people.csv").write_text("\n".join(["annotator,gender", *lines]))
    path = tmp_path / request.param
    if (refused := run("describe", path)).code:
        (typed,) = re.findall(r"--annotator-columns \S+", refused.err)
        assert run("layout", path, *shlex.split(typed), "--remember").code == 0
    return path


def sheet_of(path: Path) -> list[list[str]]:
    cells = CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()
    return [list(map(str, row)) for row in cells]


def votes_in(path: Path) -> Votes:
    """What the file contains; cells that the messy one lacks are no answers."""
    votes: Votes = {}
    for row in rows_of_project():
        votes.setdefault(row["text"], {})[row["annotator"]] = row["verdict"]
    if path.suffix == ".xlsx":
        _, _, header, *rows = sheet_of(path)
        for cells in rows[:150]:
            of = dict(
                zip(header[2:15], (cell.strip().lower() for cell in cells[2:15]), strict=True)
            )
            votes[cells[1]] = {name: cell for name, cell in of.items() if cell in VERDICTS}
    return votes


def without(votes: Votes) -> Votes:
    return {
        text: {name: answer for name, answer in of.items() if name not in CARELESS}
        for text, of in votes.items()
    }


def alpha(votes: Votes) -> float:
    names = sorted({name for of in votes.values() for name in of})
    codes = [[VERDICTS.index(of[name]) if name in of else np.nan for of in votes.values()]
             for name in names]  # fmt: skip
    return float(krippendorff.alpha(codes, level_of_measurement="nominal"))


def most_frequent(answers: dict[str, str]) -> set[str]:
    counts = Counter(answers.values())
    return {answer for answer, n in counts.items() if n == max(counts.values())}


def truth_of(text: str) -> str | None:
    """The planted verdict; None on the topic about which women and men differ."""
    topic = next(topic for topic, starts in TOPICS.items() if text.startswith(tuple(starts)))
    return {"insult": "toxic", "plain": "ok"}.get(topic)


def described(run: Run, *arguments: Any) -> dict[str, Any]:
    ended = run("describe", *arguments, "--json")
    assert ended.code == 0, ended.err
    question: dict[str, Any] = json.loads(ended.out.replace("@x.org", ""))["questions"][0]
    return question


def test_who_is_bad_and_agreement_without_them(run: Run, file: Path) -> None:
    votes, question = votes_in(file), described(run, file)
    kinds = {row["annotator"]: row["suspicious"] for row in question["by_annotator"]}
    for name, kind in {**CARELESS, "ann": "duplicated"}.items():
        assert kind in kinds.pop(name)
    assert not any(kinds.values())
    assert set(question["marked"]) == set(CARELESS)
    both = (question["agreement"], question["agreement_without"])
    expected = alpha(votes), alpha(without(votes))
    assert tuple(one["krippendorff-alpha"] for one in both) == pytest.approx(expected)
    fewer = described(run, file, "--without", "suspicious")
    assert fewer["agreement"]["krippendorff-alpha"] == pytest.approx(expected[1])
    assert not fewer["marked"] and set(fewer["left_out"]) == {
        "answers of felix (at chance), gerd (constant), hana (same answers as ann; either may be "
        "the copy)"
    }


def test_consensus_is_the_truth_as_often_as_it_says(run: Run, file: Path, tmp_path: Path) -> None:
    ended = run("aggregate", file, "-o", tmp_path / "consensus.csv")
    assert ended.code == 0 and "dawid-skene, because of felix" in ended.err
    with (tmp_path / "consensus.csv").open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if truth_of(row["text"])]
    accuracy = mean(row["answer"] == truth_of(row["text"]) for row in rows)
    assert accuracy > 0.98
    assert accuracy == pytest.approx(mean(float(row["confidence"]) for row in rows), abs=0.06)


def test_the_list_for_the_meeting(run: Run, file: Path, tmp_path: Path) -> None:
    assert run("disputed", file, "-o", tmp_path / "list.xlsx").code == 0
    sheet = sheet_of(tmp_path / "list.xlsx")
    header = [name.replace("@x.org", "") for name in sheet[0]]
    listed = [dict(zip(header, row, strict=True)) for row in sheet[1:]]
    votes = votes_in(file)
    assert {row["text"] for row in listed} == {
        text for text, of in votes.items() if len(set(of.values())) > 1
    }
    spread = []
    for row in listed:
        for of, end in ((votes, ""), (without(votes), f" {MARKED}")):
            counts = Counter(of[row["text"]].values())
            assert row[f"answers{end}"] == ", ".join(
                f"{value} {n}"
                for value, n in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
            )
        spread.append(len(counts) > 1)
    assert spread == sorted(spread, reverse=True)  # what only the careless dispute comes last
    assert run("report", file, "-o", tmp_path / "report.html").code == 0
    sections = json.loads((tmp_path / "report.json").read_text().replace("@x.org", ""))["sections"]
    tables = {b["table"]: b for s in sections for b in s["blocks"] if "table" in b}
    (first,) = (b for title, b in tables.items() if title.startswith("Most disputed"))
    assert [row[first["columns"].index("text")] for row in first["rows"]] == [
        row["text"] for row in listed[:20]
    ]
    assert not any(name in str(first["rows"]) for name in CARELESS)
    (changed,) = (
        b for title, b in tables.items() if title.startswith(f"Another consensus {MARKED}")
    )
    for _, text, *both in changed["rows"]:
        sides = [most_frequent(of[text]) for of in (votes, without(votes))]
        assert [set(side.split(" = ")) for side in both] == sides and sides[0] != sides[1]


def test_groups(run: Run, file: Path, tmp_path: Path) -> None:
    join = [] if file.name == "long.csv" else ["--annotator-attributes", tmp_path / "people.csv"]
    ended = run("agreement", file, "--groups", "gender", *join)
    assert ended.code == 0, ended.err
    text = " ".join(ended.out.split())
    part = text[text.index("without felix") :]
    assert "man and woman answer some items differently" in part
    shares = re.search(r"toxic is the answer of (\d+) % of man and (\d+) % of woman", part)
    assert shares and int(shares[1]) < 15 and int(shares[2]) > 80
    n = int(re.search(r"on (\d+) of 150 items", part)[1])  # type: ignore[index]
    assert abs(n - len(DIVIDING)) <= 3
    words = re.search(r"typical words: ([\w, ]+)\)", part)
    sexist = " ".join(TOPICS["sexist"]).lower()
    assert words and all(word in sexist for word in words[1].split(", "))


def test_the_llm_next_to_people(run: Run, file: Path, tmp_path: Path) -> None:
    ended = run("judge", tmp_path / "llm.csv", file, "--json")
    assert ended.code == 0, ended.err
    votes = votes_in(file)
    llm = {row["comment_id"]: row["verdict"] for row in llm_rows(rows_of_project())}
    ids = {row["text"]: row["comment_id"] for row in rows_of_project()}
    of_all, of_rest = json.loads(ended.out)
    for one, of in ((of_all, votes), (of_rest, without(votes))):
        own = {row["annotator"].removesuffix("@x.org"): row for row in one["annotators"]}
        assert set(own) == {name for answers in of.values() for name in answers}
        for name in ("ivo", "ann"):
            others = [
                mean(answer == mine for who, answer in answers.items() if who != name)
                for text, answers in of.items()
                if name in answers
                for mine in [llm[ids[text]]]
            ]
            assert own[name]["system_agreement"] == pytest.approx(mean(others), abs=1e-6)
    sentences = " ".join(run("judge", tmp_path / "llm.csv", file).out.split())
    assert "passed: the system may answer instead of an annotator" in sentences


@pytest.mark.parametrize("rest", [False, True])
def test_export(run: Run, file: Path, tmp_path: Path, rest: bool) -> None:
    chosen = ["--without", "suspicious"] if rest else []
    ended = run("convert", file, "-o", tmp_path / "tasks.json", "--to", "label-studio", *chosen)
    assert ended.code == 0
    assert ("are the consensus of all, felix" in ended.err) == (not rest)
    assert "name what to write: dissensus convert FILE OUT" in run("convert", file).err
    votes = without(votes_in(file)) if rest else votes_in(file)
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert len(tasks) == 150
    for task in tasks:
        (prediction,) = task["predictions"]
        answers = votes[task["data"]["text"]]
        (answer,) = prediction["result"][0]["value"]["choices"]
        assert answer in most_frequent(answers)
        share = list(answers.values()).count(answer) / len(answers)
        assert prediction["score"] == pytest.approx(share, abs=1e-4)
    assert run("convert", file, tmp_path / "hub", "--to", "datasets", *chosen).code == 0
    (data,) = (tmp_path / "hub" / "data").glob("*.parquet")
    assert pq.read_metadata(data).num_rows > 0
