from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.metrics import floor, scores
from dissensus.names import Names
from dissensus.prediction import ByAnnotator, Prediction, Predictions
from dissensus.scales import Interval, Nominal
from tests.cli.conftest import Run

ITEMS = Names([f"t{i}" for i in range(6)])


def small(splits: dict[str, list[str | None]] | None = None) -> Corpus:
    scale = Nominal(("no", "yes"))
    item, annotator = np.divmod(np.arange(18), 3)
    answer = np.array([0, 0, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1])
    rude = Annotations.from_arrays(item, annotator, answer, scale, items=ITEMS)
    funny = Annotations.from_arrays(
        item, annotator, answer * 2.0 + item, Interval(0, 10), items=ITEMS
    )
    return Corpus.build(
        "small",
        ITEMS,
        {"rude": rude, "funny": funny},
        gold={"rude": rude.majority()},
        splits=splits or {},
    )


def guess(corpus: Corpus, question: str, by_annotator: bool = True) -> Prediction:
    annotations = corpus[question]
    mass = annotations.distribution() * 0.5 + 0.5 / annotations.scale.n_columns
    who = annotations.who("here")
    pairs = ByAnnotator(
        annotations.item, who, annotations.annotators, np.zeros_like(annotations.answer)
    )
    return Prediction(
        annotations.scale,
        annotations.items,
        mass,
        annotations.scale.consensus(mass),
        pairs if by_annotator else None,
    )


def saved(corpus: Corpus, folder: Path, method: str = "single") -> Path:
    by_question = {q: guess(corpus, q, method == "single") for q in corpus.questions}
    Predictions(by_question, method, corpus.name).save(folder)
    return folder


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    corpus = small()
    corpus.save(tmp_path / "corpus")
    return saved(corpus, tmp_path / "predictions"), tmp_path / "corpus"


EXPECTED = """\
small, rude
                      single  better
items compared             6
answers by annotator      18
gold labels compared       6
cross-entropy          0.469  lower
  perfect prediction   0.318
macro-F1               1.000  higher
accuracy               1.000  higher
annotator accuracy     0.444  higher
macro-F1 (gold)        1.000  higher
accuracy (gold)        1.000  higher

small, funny
"""


def test_a_table_per_question(run: Run, folders: tuple[Path, Path]) -> None:
    ended = run("evaluate", *folders)
    assert ended.code == 0
    assert ended.out.startswith(EXPECTED)
    assert "annotator CCC " in ended.out


def test_json_holds_the_scores(run: Run, folders: tuple[Path, Path]) -> None:
    found = json.loads(run("evaluate", *folders, "--json", "--question", "rude").out)
    corpus = small()
    prediction = guess(corpus, "rude")
    assert found == {
        "corpus": "small",
        "results": [
            {
                "question": "rude",
                "part": None,
                "method": "single",
                "items": 6,
                "answers": 18,
                "gold": 6,
                "floor": floor(corpus["rude"]),
                "scores": scores(prediction, corpus["rude"], corpus.gold["rude"]),
            }
        ],
    }


def test_output_writes_the_same_as_json(
    run: Run, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    output = tmp_path / "new" / "scores.json"
    ended = run("evaluate", *folders, "--json", "-o", output)
    assert json.loads(output.read_text(encoding="utf-8")) == json.loads(ended.out)
    assert [path.name for path in output.parent.iterdir()] == ["scores.json"]


def test_undefined_scores_are_null(run: Run, tmp_path: Path) -> None:
    one = small().select(items=["t1"])
    one.save(tmp_path / "one")
    folder = saved(one, tmp_path / "predictions")
    ended = run("evaluate", folder, tmp_path / "one", "--json", "--question", "funny")
    assert json.loads(ended.out)["results"][0]["scores"]["CCC"] is None
    shown = run("evaluate", folder, tmp_path / "one", "--question", "funny").out
    assert "CCC                        -  higher\n" in shown


def test_a_block_per_part_of_the_official_split(run: Run, tmp_path: Path) -> None:
    corpus = small({"official": ["train", "dev", "train", "dev", "dev", None]})
    corpus.save(tmp_path / "corpus")
    folder = saved(corpus, tmp_path / "predictions")
    found = json.loads(run("evaluate", folder, tmp_path / "corpus", "--json").out)["results"]
    rude = {r["part"]: r for r in found if r["question"] == "rude"}
    assert {part: r["items"] for part, r in rude.items()} == {"train": 2, "dev": 3, "in no part": 1}
    dev = corpus.part("dev")
    expected = scores(guess(corpus, "rude"), dev["rude"], dev.gold["rude"])
    assert rude["dev"]["scores"] == pytest.approx(expected)
    assert rude["dev"]["floor"] == pytest.approx(floor(dev["rude"]))
    out = run("evaluate", folder, tmp_path / "corpus").out
    assert "\nsmall, rude, dev\n" in out

    saved(dev, tmp_path / "on dev")
    only = json.loads(run("evaluate", tmp_path / "on dev", tmp_path / "corpus", "--json").out)
    assert {result["part"] for result in only["results"]} == {"dev"}


def test_further_predictions_are_further_columns(
    run: Run, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    prior = saved(small(), tmp_path / "prior", "prior")
    lines = run("evaluate", *folders, "--against", prior).out.splitlines()
    assert lines[1].split() == ["single", "prior", "better"]
    assert lines[3].split() == ["answers", "by", "annotator", "18", "0"]
    again = run("evaluate", *folders, "--against", folders[0], "--json").out
    names = {result["method"] for result in json.loads(again)["results"]}
    assert names == {f"single ({folders[0]})"}


def test_items_that_the_corpus_does_not_have(
    run: Run, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    fewer = small().select(items=["t0", "t1"])
    fewer.save(tmp_path / "fewer")
    output = tmp_path / "scores.json"
    ended = run("evaluate", folders[0], tmp_path / "fewer", "-o", output)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[-1] == (
        f"Error: {folders[0]}: 4 of 6 predicted items are not in small: 't2', 't3', 't4', ... "
        "(4 in all); evaluate on what was predicted"
    )
    assert not output.exists()


def test_items_that_nobody_answered(run: Run, tmp_path: Path) -> None:
    corpus = small()
    silent = {q: a.take(np.zeros(0, dtype=int)) for q, a in corpus.questions.items()}
    replace(corpus, questions=silent, gold={}).save(tmp_path / "silent")
    folder = saved(corpus, tmp_path / "predictions")
    ended = run("evaluate", folder, tmp_path / "silent")
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == (
        f"Error: {folder}: no predicted item has an answer in small"
    )


def test_questions_that_do_not_meet(run: Run, folders: tuple[Path, Path], tmp_path: Path) -> None:
    ended = run("evaluate", *folders, "--question", "polite")
    assert ended.err.splitlines()[-1] == (
        "Error: small: no question 'polite'; it has 'rude', 'funny'"
    )
    other = tmp_path / "other"
    Predictions({"polite": guess(small(), "rude")}, "single", "small").save(other)
    ended = run("evaluate", other, folders[1])
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == (
        f"Error: {other}: predicts 'polite'; small asks 'rude', 'funny'"
    )
    both = {"polite": guess(small(), "rude"), "rude": guess(small(), "rude")}
    Predictions(both, "single", "small").save(other)
    ended = run("evaluate", other, folders[1])
    assert ended.code == 0
    assert f"{other}: 'polite' is no question of small; left out" in ended.err.splitlines()
    ended = run("evaluate", other, folders[1], "--question", "funny")
    assert ended.err.splitlines()[-1] == (
        "Error: no prediction for 'funny'; there is 'polite', 'rude'"
    )


def test_a_folder_that_holds_no_predictions(run: Run, folders: tuple[Path, Path]) -> None:
    ended = run("evaluate", folders[1], folders[1])
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == (
        f"Error: {folders[1]}: no predictions folder of ours: predictions.json is missing"
    )
