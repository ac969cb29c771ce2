"""dissensus aggregate, as a user types it."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from dissensus import read
from dissensus.aggregation import AGGREGATORS, RANKERS, TEXT_METHODS, DawidSkene, check_shares
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


def test_a_gold_label_that_nobody_gave(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "w.csv"
    table.write_text("item,annotator,label,gold\nt1,ann,yes,yes\nt1,bob,yes,yes\nt2,ann,no,w\n")
    ended = run("aggregate", table)
    assert ended.code == 0 and ended.err.endswith(
        "majority of 2 items; accuracy 0.5000 on 2 gold labels\n"
    )
    ended = run("aggregate", table, "--method", "one-coin", "--use-gold")
    assert ended.code == 1 and ended.err.endswith(
        "Error: w: nobody answered 'label' with the gold label 'w'; say all values, as in --scale "
        "nominal:no,yes,w\n"
    )
    named = ("--scale", "nominal:no,yes,w")
    ended = run("aggregate", table, "--method", "one-coin", "--use-gold", *named)
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    assert [row["answer"] for row in rows] == ["yes", "w"]


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


OWN = """comment_id,comment,source,worker,label,rating
c1,"so good, really",forum,ann,ok,1
c1,"so good, really",forum,bob,ok,2
c2,so bad,news,ann,toxic,5
c2,so bad,news,bob,ok,5
"""


def test_the_columns_of_the_user_and_a_file_per_question(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text(OWN)
    one = ("--answer", "label")
    assert run("aggregate", table, *one, "-o", tmp_path / "said.csv").code == 0
    assert (tmp_path / "said.csv").read_text().splitlines() == [
        "comment_id,comment,source,answer,confidence,answers,tied,tied_values,share.ok,share.toxic",
        'c1,"so good, really",forum,ok,1,2,False,,1,0',
        'c2,so bad,news,ok,0.5,2,True,"ok, toxic",0.5,0.5',
    ]
    both = ("--answer", "label", "--answer", "rating", "--scale", "nominal")
    ended = run("aggregate", table, *both, "-o", tmp_path / "said.tsv")
    assert "said-label.tsv: written" in ended.err and "said-rating.tsv: written" in ended.err
    header, first, _ = (tmp_path / "said-rating.tsv").read_text().splitlines()
    assert header.split("\t")[:5] == ["comment_id", "comment", "source", "question", "answer"]
    assert first.split("\t")[3:6] == ["rating", "1", "0.5"]
    assert run("aggregate", table, *both, "-o", tmp_path / "said").code == 0
    assert {path.name for path in (tmp_path / "said").iterdir()} == {"label.csv", "rating.csv"}
    rows = list(csv.DictReader(io.StringIO(run("aggregate", table, *both).out)))
    assert [(row["question"], row["answer"]) for row in rows] == [
        ("label", "ok"), ("label", "ok"), ("rating", "1"), ("rating", "5"),
    ]  # fmt: skip
    for ending in ("json", "jsonl", "parquet"):
        out = tmp_path / f"again.{ending}"
        assert run("aggregate", table, *one, "-o", out).code == 0
        again = run("agreement", out, "--answer", "answer").code if ending != "json" else 0
        assert again == 0
    assert json.loads((tmp_path / "again.json").read_text())[1]["confidence"] == 0.5


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


def test_each_question_has_its_usual_method(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item,annotator,label,rating\nt1,ann,ok,1.5\nt1,bob,ok,2\nt2,ann,bad,4.5\n")
    ended = run(
        "aggregate", path, "--answer", "label", "--answer", "rating", "-o", tmp_path / "c.csv"
    )
    assert ended.code == 0, ended.err
    assert ended.err.splitlines()[-2:] == ["label: majority of 2 items", "rating: mean of 2 items"]
    assert "t1,rating,1.75," in (tmp_path / "c-rating.csv").read_text()


def test_shares_of_very_many_values_are_refused_before_they_are_counted(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "texts.csv"
    lines = [f"t{n},ann,text number {n}" for n in range(8000)]
    path.write_text("\n".join(["item,annotator,answer", *lines]))
    for method in ("majority", "all"):
        ended = run("aggregate", path, "--method", method)
        assert ended.code == 1
        assert ended.err.splitlines()[-1] == (
            "Error: answer: 8,000 items x 8,000 values are too large a table of shares; if these "
            "answers are free texts, use --method rover, else choose other questions (--question), "
            "or fewer values or items"
        )
    ended = run("aggregate", path, "--method", "rover", "-o", tmp_path / "out.csv")
    assert "answer: rover of 8000 items" in ended.err
    check_shares(10**9, Nominal(("no", "yes")), "answer")  # many items alone are no reason


def test_every_aggregator_is_documented() -> None:
    page = (ROOT / "docs/commands.md").read_text()
    section = page.partition("\n## aggregate\n")[2].partition("\n## ")[0]
    for name in AGGREGATORS:  # what it does, and what its columns hold
        assert section.count(f"`{name}`") >= 2, name
    assert all(f"`{name}`" in section for name in (*RANKERS, *TEXT_METHODS))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"annotator,skill\nann,often\n", ", line 2: 'often' is not a number"),
        (b"annotator,skill\xff\np\xff,0.9\n", ": cannot be read ("),
    ],
)
def test_tables_about_annotators_that_cannot_be_used(
    run: Run, table: Path, tmp_path: Path, content: bytes, message: str
) -> None:
    given = tmp_path / "given.csv"
    given.write_bytes(content)
    ended = run("aggregate", table, "--method", "weighted-vote", "--skills", given)
    assert ended.code == 1
    assert ended.err.splitlines()[-1].startswith(f"Error: {given}{message}")


def test_the_history_of_a_model(run: Run, table: Path, tmp_path: Path) -> None:
    arguments = ("--method", "dawid-skene", "--history", "-o", tmp_path / "out.csv")
    lines = run("aggregate", table, *arguments).err.splitlines()
    fitted = DawidSkene().fit(read(table)["label"])
    assert [line for line in lines if "log-likelihood" in line] == [
        f"label: iteration {n}, log-likelihood {value:.6f}"
        for n, value in enumerate(fitted.log_likelihood_, 1)
    ]
