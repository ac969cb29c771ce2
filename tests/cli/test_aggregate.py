"""dissensus aggregate, as a user types it."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from dissensus.aggregation import AGGREGATORS, RANKERS, check_shares
from dissensus.evaluation import aggregator_scores
from dissensus.scales import Nominal
from tests.cli.conftest import Run
from tests.crowds import confused_crowd
from tests.test_docs import ROOT

LINES = """item,annotator,label,gold
t1,ann,yes,yes
t1,bob,yes,yes
t1,cy,no,yes
t2,ann,no,no
t2,bob,no,no
t2,cy,yes,no
t3,ann,no,no
t3,bob,yes,no
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    path.write_text(LINES)
    return path


@pytest.mark.parametrize("method", AGGREGATORS)
def test_columns_say_what_they_hold(run: Run, table: Path, tmp_path: Path, method: str) -> None:
    aggregator = AGGREGATORS[method]
    ratings = not {"nominal", "ordinal"} & {*aggregator.scales}
    if ratings:
        table.write_text("item,annotator,label\nt1,ann,1\nt1,bob,3\nt2,ann,2\nt2,bob,2\n")
    scale: tuple[str | Path, ...] = ("--scale", "interval:1:3") if ratings else ()
    if "nominal" not in aggregator.scales and not ratings:
        scale = ("--scale", "ordinal:no,yes")
    if aggregator.takes_skills:
        skills = tmp_path / "skills.csv"
        skills.write_text("annotator,skill\nann,0.9\n")
        scale = ("--skills", skills)
    ended = run("aggregate", table, "--method", method, *scale)
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    prefix = f"{aggregator.gives}."
    known = ["item", "answer", "sd" if ratings else "confidence", "answers"]
    named = [name for name in rows[0] if name not in (*known, "tied", "tied_values")]
    assert list(rows[0])[:4] == known and all(name.startswith(prefix) for name in named)
    assert len(named) == (20 if ratings else 2)
    for row in rows:
        assert sum(float(row[name]) for name in named) == pytest.approx(1, abs=1e-5)


@pytest.mark.slow
def test_every_aggregator_against_gold_labels(run: Run, tmp_path: Path) -> None:
    corpus, _ = confused_crowd(n_items=60)
    corpus.save(tmp_path / "crowd")
    ended = run("aggregate", tmp_path / "crowd", "--method", "all", "-o", tmp_path / "all.csv")
    lines = ended.out.splitlines()
    assert lines[0] == "confused, q"
    rows = [line.split() for line in lines if line]
    [best] = [row[0] for row in rows if row[-2:-1] == ["best"] and row[-1].isdigit()]
    assert best not in ("majority", "soft-vote", "softmax-vote")
    assert "Not for nominal answers: mean, median, gaussian." in lines
    header = (tmp_path / "all.csv").read_text().splitlines()[0].split(",")
    others = {
        name for name, a in AGGREGATORS.items() if "nominal" in a.scales and not a.takes_skills
    }
    assert header[0] == "item" and {*header[1:]} <= others and {"majority", "mace"} <= {*header}
    assert max(map(len, lines)) <= 80
    [rows] = json.loads(
        run("aggregate", tmp_path / "crowd", "--method", "all", "--json").out
    ).values()
    scores = [row["scores"]["accuracy (gold)"] for row in rows if "scores" in row]
    assert scores == sorted(scores, reverse=True)
    bare = replace(corpus, gold={})
    [first, second, *_] = aggregator_scores(bare, "q")
    assert (first.name, first.same, second.scores) == ("majority", 1.0, {})


def test_shares_of_very_many_values_are_refused_before_they_are_counted(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "many.csv"
    lines = [f"t{n},ann,text number {n}" for n in range(8000)]
    path.write_text("\n".join(["item,annotator,answer", *lines]))
    for method in ("majority", "all"):
        ended = run("aggregate", path, "--method", method)
        assert ended.code == 1
        assert ended.err.splitlines()[-1] == (
            "Error: answer: 8,000 items x 8,000 values are too large a table of shares; choose "
            "other questions (--question), or fewer values or items"
        )
    check_shares(10**9, Nominal(("no", "yes")), "answer")  # many items alone are no reason


def test_every_aggregator_is_documented() -> None:
    page = (ROOT / "docs/commands.md").read_text()
    section = page.partition("\n## aggregate\n")[2].partition("\n## ")[0]
    for name in AGGREGATORS:  # what it does, and what its columns hold
        assert section.count(f"`{name}`") >= 2, name
    assert all(f"`{name}`" in section for name in RANKERS)
