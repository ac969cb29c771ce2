"""dissensus aggregate with models, first matrices and comparisons, as a user types it."""

from __future__ import annotations

from pathlib import Path

from dissensus.aggregation import AGGREGATORS, RANKERS, TEXT_METHODS, DawidSkene
from tests.aggregation.test_aggregators import votes
from tests.aggregation.test_ranking import preferred
from tests.cli.conftest import Run
from tests.test_docs import ROOT


def test_every_aggregator_is_documented() -> None:
    page = (ROOT / "docs/commands.md").read_text()
    section = page.partition("\n## aggregate\n")[2].partition("\n## ")[0]
    for name in AGGREGATORS:  # what it does, and what its columns hold
        assert section.count(f"`{name}`") >= 2, name
    assert all(f"`{name}`" in section for name in (*RANKERS, *TEXT_METHODS))


def test_a_table_of_pairs_on_the_command_line(run: Run, tmp_path: Path) -> None:
    made, _ = preferred(200)
    lines = ["left,right,winner,annotator"]
    names = list(made.things)
    seen = set()
    assert made.annotator is not None
    for left, right, won, annotator in zip(
        made.left, made.right, made.won, made.annotator, strict=True
    ):
        if (left, right, annotator) not in seen:
            seen.add((left, right, annotator))
            winner = names[left if won else right]
            lines.append(f"{names[left]},{names[right]},{winner},w{annotator}")
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join(lines) + "\n")
    ended = run("aggregate", path, "--method", "bradley-terry")
    assert ended.code == 0
    assert ended.out.splitlines()[0] == "thing,rank,score,low,high,wins,comparisons"
    assert ended.out.splitlines()[1].startswith("a,1,")
    assert f"bradley-terry of 5 things from {len(seen)} comparisons" in ended.err
    annotators = tmp_path / "annotators.csv"
    refused = run("aggregate", path, "--method", "bradley-terry", "--annotator-table", annotators)
    assert refused.code == 1
    assert refused.err.splitlines()[-1] == (
        "Error: bradley-terry learns nothing about annotators; leave --annotator-table out"
    )


def test_models_on_the_command_line(run: Run, tmp_path: Path) -> None:
    truth, annotations = votes(30, 6)
    codes = annotations.annotator_codes("")
    lines = [
        f"t{i},p{k},{v}"
        for i, k, v in zip(annotations.item, codes, annotations.answers(), strict=True)
    ]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(["item,annotator,label", *lines]) + "\n")
    skills = tmp_path / "skills.csv"
    skills.write_text("annotator,skill\np0,0.9\np1,0.5\n")
    assert run("aggregate", path, "--method", "weighted-vote", "--skills", skills).code == 0
    model, output = tmp_path / "model", tmp_path / "answers.csv"
    options = ("--method", "dawid-skene", "-o", output)
    first = run("aggregate", path, *options, "--history", "--save-model", model)
    fitted = DawidSkene().fit(annotations)
    shown = [line for line in first.err.splitlines() if "log-likelihood" in line]
    assert len(shown) == fitted.n_iterations_
    assert shown[-1] == (
        f"label: iteration {fitted.n_iterations_}, log-likelihood {fitted.log_likelihood_[-1]:.6f}"
    )
    assert run("aggregate", path, *options, "--warm-start", model).code == 0
    start = tmp_path / "start.csv"
    start.write_text("annotator,true,answer,probability\np0,a,a,0.8\np0,a,b,often\n")
    damaged = tmp_path / "damaged.csv"
    damaged.write_bytes(b"annotator,skill\xff\np\xff,0.9\n")
    for more, message in (
        (("--start", start), f"{start}, line 3: 'often' is not a number"),
        (("--skills", skills), "dawid-skene does not take skills; use weighted-vote"),
        (("--warm-start", tmp_path), f"{tmp_path}: "),
        (("--start", damaged), f"{damaged}: cannot be read as a table ("),
        (("--start", "/dev/zero"), "/dev/zero: a pipe, a device or a socket, not a file; "),
        (("--start", path), f"{path}: no column 'true', 'answer', 'probability'; it has 'item', "
                            "'annotator', 'label'"),
    ):  # fmt: skip
        ended = run("aggregate", path, *options, *more)
        assert ended.code == 1
        assert ended.err.splitlines()[-1].startswith(f"Error: {message}")
    ended = run("aggregate", path, "--method", "all", "--history")
    assert ended.err.splitlines()[-1] == "Error: --method all has no --history; leave it out"
