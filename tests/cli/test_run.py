"""dissensus run, report and demo."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def _table(path: Path, n_items: int, texts: bool = True) -> Path:
    """A long table; the last two items have no answers."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item", *(["text"] if texts else []), "annotator", "answer"])
        for item in range(n_items):
            rude = item % 3 == 0
            words = [f"you are a fool {item}" if rude else f"what a lovely day {item}"]
            for name in ("ann", "bob", "cleo"):
                answer = "yes" if rude != (name == "cleo" and item % 5 == 0) else "no"
                writer.writerow([f"t{item}", *(words if texts else []), name, answer])
    return path


@pytest.mark.slow
def test_from_a_table_to_a_report_a_model_and_a_consensus(tmp_path: Path, run: Run) -> None:
    table, out = _table(tmp_path / "labels.csv", 45), tmp_path / "out"
    typed = ("run", table, "-o", out, "--methods", "prior,single,annotator-heads", "--seeds", "1")
    ended = run(*typed)
    assert ended.code == 0 and "the best of the comparison" in ended.err
    names = {path.name for path in out.iterdir()}
    assert names >= {"report.html", "report.json", "consensus.csv", "comparison", "model"}
    content = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert [section["section"] for section in content["sections"]][-3:] == [
        "Methods compared",
        "Predicted and true",
        "What was run, and how to run it again",
    ]
    assert run(*typed).code == 0  # again: nothing is fitted anew


def test_answers_alone_still_have_a_report(tmp_path: Path, run: Run) -> None:
    table, out = _table(tmp_path / "labels.csv", 40, texts=False), tmp_path / "out"
    ended = run("run", table, "-o", out)
    assert ended.code == 0 and "no texts or other contents" in ended.err
    assert "No method was compared" in ended.out
    assert {path.name for path in out.iterdir()} == {
        *("report.html", "report.json", "consensus.csv", "corpus")
    }
    consensus = (out / "consensus.csv").read_text(encoding="utf-8").splitlines()
    assert len(consensus) == 41 and consensus[0].startswith("item,answer,confidence")


def test_a_report_of_a_file(tmp_path: Path, run: Run) -> None:
    table = _table(tmp_path / "labels.csv", 12)
    ended = run("report", table, "-o", tmp_path / "report.html")
    assert ended.code == 0 and "36 answers by 3 annotators" in ended.out
    assert (tmp_path / "report.json").exists()
    refused = run("report", table, "-o", tmp_path / "report.txt")
    assert refused.code == 1 and "ends in .html" in refused.err


def test_an_unknown_modality_is_refused(tmp_path: Path, run: Run) -> None:
    refused = run("demo", tmp_path / "demo", "--modality", "smell")
    assert refused.code == 1 and "'text', 'image', 'sequence'" in refused.err
