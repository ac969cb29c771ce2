"""dissensus run, report and demo."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run

DATE = r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"


def labels_table(path: Path, n_items: int, texts: bool = True, n_bare: int = 0) -> Path:
    """A long table; the last items have no answers."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item", *(["text"] if texts else []), "annotator", "answer"])
        for item in range(n_items):
            rude = item % 3 == 0
            words = [f"you are a fool {item}" if rude else f"what a lovely day {item}"]
            for name in ("ann", "bob", "cleo"):
                answer = "yes" if rude != (name == "cleo" and item % 5 == 0) else "no"
                answer = answer if item < n_items - n_bare else ""
                writer.writerow([f"t{item}", *(words if texts else []), name, answer])
    return path


@pytest.mark.slow
def test_from_a_table_to_a_report_a_model_and_a_consensus(tmp_path: Path, run: Run) -> None:
    table, out = labels_table(tmp_path / "my labels.csv", 47, n_bare=2), tmp_path / "my report"
    typed = ("run", table, "-o", out, "--methods", "prior,single,annotator-heads", "--seeds", "1")
    ended = run(*typed)
    assert ended.code == 0 and "the best of the comparison" in ended.err
    assert ended.err.endswith(f"  dissensus predict '{out}/model' new.csv -o answers.csv\n")
    names = {path.name for path in out.iterdir()}
    assert names >= {"report.html", "report.json", "consensus.csv", "comparison", "model"}
    assert len((out / "predictions.csv").read_text(encoding="utf-8").splitlines()) == 3
    by_annotator = (out / "predictions-by-annotator.csv").read_text(encoding="utf-8").splitlines()
    assert len(by_annotator) == 7 and {row.split(",")[2] for row in by_annotator[1:]} == {
        *("ann", "bob", "cleo")
    }
    content = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert [section["section"] for section in content["sections"]][-3:] == [
        "Methods compared",
        "Predicted and true",
        "What was run, and how to run it again",
    ]
    assert run(*typed).code == 0  # again: nothing is fitted anew


def test_answers_alone_still_have_a_report(tmp_path: Path, run: Run) -> None:
    table, out = labels_table(tmp_path / "labels.csv", 40, texts=False), tmp_path / "out"
    ended = run("run", table, "-o", out)
    assert ended.code == 0 and "no texts or other contents" in ended.err
    assert "No method is compared: there are no texts or other contents" in ended.out
    assert {path.name for path in out.iterdir()} == {
        *("report.html", "report.json", "run.json", "consensus.csv", "corpus")
    }
    consensus = (out / "consensus.csv").read_text(encoding="utf-8").splitlines()
    assert len(consensus) == 41 and consensus[0].startswith("item,answer,confidence")


def test_a_folder_of_another_file_is_refused_unchanged(tmp_path: Path, run: Run) -> None:
    out = tmp_path / "out"
    options = ("-o", out, "--methods", "prior", "--seeds", "1")
    assert run("run", labels_table(tmp_path / "first.csv", 45), *options).code == 0
    before = (out / "corpus" / "corpus.json").read_bytes()
    refused = run("run", labels_table(tmp_path / "second.csv", 40), *options)
    assert refused.code == 1 and "contains another comparison" in refused.err
    assert (out / "corpus" / "corpus.json").read_bytes() == before


@pytest.mark.parametrize("budget", [(), ("--budget", "30s")])
def test_images_that_are_missing_leave_a_report_on_the_answers(
    tmp_path: Path, run: Run, budget: tuple[str, ...]
) -> None:
    rows = [f"i{i},photo{i}.jpg,{name},{i % 2}" for i in range(40) for name in ("ann", "bob")]
    table = tmp_path / "labels.csv"
    table.write_text("item,image,annotator,answer\n" + "\n".join(rows) + "\n", encoding="utf-8")
    ended = run("run", table, "-o", tmp_path / "out", *budget)
    assert ended.code == 0 and "the report is on the answers alone" in ended.err
    assert (tmp_path / "out" / "report.html").exists()


def test_the_time_limit_is_in_the_summary(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    typed = ("run", labels_table(tmp_path / "labels.csv", 45), "-o", out, "--methods", "prior")
    with monkeypatch.context() as patch:
        patch.setattr("dissensus.workflow.corpus_run.FIRST_SECONDS", 0.0)
        stopped = run(*typed, "--budget", "0s")
    assert stopped.code == 0 and "Time limit reached: 0 of 3 fits done" in stopped.out
    ended = run(*typed)
    assert ended.code == 0 and "Time limit" not in ended.out
    (out / "comparison" / "results.json").unlink()
    shutil.rmtree(min((out / "comparison" / "fits").iterdir()))
    again = run(*typed, "--budget", "0s")  # a fit that is resumed is stopped as well
    assert again.code == 0 and "no further fit was done; give a longer budget" in again.out


def test_a_budget_that_is_too_short_still_ends_with_a_model(tmp_path: Path, run: Run) -> None:
    table, out = labels_table(tmp_path / "labels.csv", 45), tmp_path / "out"
    ended = run("run", table, "-o", out, "--budget", "0s")
    assert ended.code == 0 and "took longer than 0 s (for more, give a longer budget)" in ended.err
    assert "only methods that ignore the content are compared" in ended.err
    assert re.search(r"[Tt]he model is \S+, which ignores the content, because no other", ended.out)
    answers = tmp_path / "answers.csv"
    assert run("predict", out / "model", table, "-o", answers).code == 0 and answers.exists()


def test_a_folder_with_something_else_is_refused_before_any_work(tmp_path: Path, run: Run) -> None:
    labels, model = labels_table(tmp_path / "labels.csv", 40), tmp_path / "out" / "model"
    model.mkdir(parents=True)
    (model / "mine.txt").write_text("mine", encoding="utf-8")
    refused = run("run", labels, "-o", tmp_path / "out")
    assert refused.code == 1 and refused.err.endswith(
        f"Error: {model}: already exists and is not a dissensus model folder; choose another path\n"
    )
    assert "methods:" not in refused.err and [*(tmp_path / "out").iterdir()] == [model]


def _without_date(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    assert len(re.findall(DATE, text)) == 1
    return re.sub(DATE, "", text)


def test_the_same_file_gives_the_same_report(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        labels_table(tmp_path / name / "labels.csv", 12)
        monkeypatch.chdir(tmp_path / name)
        assert run("report", "labels.csv", "-o", "report.html").code == 0
        pages += [_without_date(Path("report.html")), _without_date(Path("report.json"))]
    assert pages[:2] == pages[2:]
