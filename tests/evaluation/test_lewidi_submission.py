"""A LeWiDi 2025 submission that is written and scored has the score of the task's own formulas.

The formulas are computed here from the JSON of the task and the lines of the submission alone, with
nothing of this package: means over annotators, then over labels, then over items.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from dissensus import Corpus, Prediction
from dissensus.datasets import dataset
from dissensus.errors import DataError
from dissensus.evaluation import evaluate, read_predictions, write_submission
from dissensus.prediction import ByAnnotator
from dissensus.scales import MultiLabel
from dissensus.testing import example_corpus

VALUES = {
    "CSC": [str(level) for level in range(1, 7)],
    "MP": ["0", "1"],
    "Paraphrase": [str(level) for level in range(-5, 6)],
    "VariErrNLI": ["contradiction", "entailment", "neutral"],
}
TASKS = {"CSC": "sarcasm", "MP": "irony", "Paraphrase": "paraphrase", "VariErrNLI": "inference"}
TEXTS = {
    "CSC": ("context", "response"),
    "MP": ("post", "reply"),
    "Paraphrase": ("Question1", "Question2"),
    "VariErrNLI": ("context", "statement"),
}


def soft_score(name: str, entries: dict[str, Any], submitted: dict[str, Any]) -> float:
    scores = []
    for key, entry in entries.items():
        answers = list(entry["annotations"].values())
        shares = [sum(v in a.split(",") for a in answers) / len(answers) for v in VALUES[name]]
        if name == "VariErrNLI":
            pairs = zip(shares, submitted[key], strict=True)
            scores.append(np.mean([abs(p[0] - (1 - s)) + abs(p[1] - s) for s, p in pairs]))
        elif name == "MP":
            scores.append(sum(abs(p - s) for p, s in zip(submitted[key], shares, strict=True)))
        else:
            shares = [0.0, *shares] if name == "CSC" else shares  # the task counts from 0
            levels = range(len(shares))
            scores.append(wasserstein_distance(levels, levels, shares, submitted[key]))
    return float(np.mean(scores))


def perspectivist_score(name: str, entries: dict[str, Any], submitted: dict[str, Any]) -> float:
    scores = []
    for key, entry in entries.items():
        answers = list(entry["annotations"].values())
        if name == "VariErrNLI":
            by_value = zip(VALUES[name], submitted[key], strict=True)
            wrong = [
                [int(value in a.split(",")) != g for a, g in zip(answers, given, strict=True)]
                for value, given in by_value
            ]
            scores.append(np.mean([np.mean(row) for row in wrong]))
        elif name == "MP":
            scores.append(
                np.mean([int(a) != g for a, g in zip(answers, submitted[key], strict=True)])
            )
        else:
            far = [abs(int(a) - g) for a, g in zip(answers, submitted[key], strict=True)]
            scores.append(np.mean(far) / {"CSC": 6, "Paraphrase": 11}[name])
    return float(np.mean(scores))


def predicted(corpus: Corpus, question: str, part: str) -> Prediction:
    """Random distributions and answers for the items of a part, in another order than theirs."""
    draw, answers = np.random.default_rng(7), corpus[question]
    scale, codes = answers.scale, draw.permutation(np.flatnonzero(corpus.in_part(part)))
    soft = draw.dirichlet(np.ones(scale.n_columns), len(codes))
    if isinstance(scale, MultiLabel):
        soft = draw.random(soft.shape)
    place = np.full(corpus.n_items, -1)
    place[codes] = np.arange(len(codes))
    rows = draw.permutation(np.flatnonzero(place[answers.item] >= 0))
    highest = 2**3 if isinstance(scale, MultiLabel) else scale.n_columns
    value = draw.integers(0, highest, len(rows)).astype(scale.dtype)
    annotator = answers.annotator_codes("a test")[rows]
    pairs = ByAnnotator(place[answers.item[rows]], annotator, corpus.annotators, value)
    return Prediction(scale, corpus.items.take(codes), soft, scale.consensus(soft), pairs)


def made_up(folder: Path, name: str) -> Path:
    """Files as the task publishes them, with different numbers of annotators for each item."""
    draw = np.random.default_rng(3)
    for part in ("train", "dev"):
        entries = {}
        for key in range(20):  # the same ids in both parts, as in VariErrNLI
            people = draw.choice(9, draw.integers(2, 7), replace=False)
            chosen = [draw.permutation(VALUES[name])[: 1 + (name == "VariErrNLI")] for _ in people]
            given = {f"Ann{p}": ",".join(c) for p, c in zip(people, chosen, strict=True)}
            entries[str(key)] = {
                "annotation task": f"{TASKS[name]} detection",
                "text": {role: f"{role} {part} {key}" for role in TEXTS[name]},
                "annotators": ",".join(n for n, a in given.items() for _ in a.split(",")),
                "number of annotations": sum(len(c) for c in chosen),
                "annotations": given,
                "soft_label": {},
                "split": part,
                "lang": "en",
                "other_info": {"explanations": ["why"] * sum(len(c) for c in chosen)},
            }
        (folder / f"{name}_{part}.json").write_text(json.dumps(entries))
    (folder / f"{name}_annotators_meta.json").write_text(json.dumps({"Ann0": {"Age": "30"}}))
    return folder


def lines_of(path: Path) -> dict[str, Any]:
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return {key: json.loads(text) for key, text in rows}


def check(folder: Path, name: str, out: Path) -> None:
    corpus, entries = (
        dataset("lewidi2025").load(folder, name),
        json.loads((folder / f"{name}_dev.json").read_text()),
    )
    question = next(iter(corpus.questions))
    prediction = predicted(corpus, question, "dev")
    for task, formula in (("soft", soft_score), ("perspectivist", perspectivist_score)):
        path = out / f"{name}_{task}.tsv"
        write_submission(prediction, corpus, question, path, f"2025-{task}")  # type: ignore[arg-type]
        submitted = lines_of(path)
        assert list(submitted) == list(entries), "the ids and the order of the data"
        predictions, notes = read_predictions(path, corpus)
        assert notes == [f"{path}: LeWiDi 2025, {task}; {question}: {len(entries)} items"]
        metric = f"LeWiDi 2025 {task}"
        [scored] = evaluate(predictions, corpus, metrics=[metric]).results
        assert (scored.part, scored.items) == ("dev", len(entries))
        assert scored.scores[metric] == pytest.approx(formula(name, entries, submitted), abs=1e-8)


@pytest.mark.parametrize("name", VALUES)
def test_on_made_up_data(name: str, tmp_path: Path) -> None:
    check(made_up(tmp_path, name), name, tmp_path)


@pytest.mark.parametrize(
    "name", ["CSC", pytest.param("MP", marks=pytest.mark.slow), "Paraphrase", "VariErrNLI"]
)
def test_on_development_data(name: str, tmp_path: Path, data_folder: Path) -> None:
    check(data_folder / "lewidi2025", name, tmp_path)


def test_what_teams_write_is_read(tmp_path: Path) -> None:
    corpus = dataset("lewidi2025").load(made_up(tmp_path, "CSC"), "CSC")
    shares = [0.5, 0.1, 0.1, 0.1, 0.1, 0.1]
    path = tmp_path / "CSC_test_soft.tsv"
    for first in ([], [0.0]):  # with or without the level that nobody can choose
        path.write_text(f"3\t{[*first, *shares]}\n")
        prediction = read_predictions(path, corpus)[0]["sarcasm"]
        assert prediction.distribution.tolist() == [shares]
    n = int((corpus["sarcasm"].item == corpus.items.codes(["dev-3"])[0]).sum())
    path.write_text(f"3\t{['6'] * n}\n")  # a Python list, not JSON
    pairs = read_predictions(path, corpus)[0]["sarcasm"].by_annotator
    assert pairs is not None and pairs.value.tolist() == [5] * n
    path.write_text("3\t[0.5, 0.5]\n3\t[0.5, 0.5]\n")
    with pytest.raises(DataError, match="an item has several lines"):
        read_predictions(path, corpus)


def test_a_submission_of_2023_has_whole_parts_in_the_order_of_the_data(tmp_path: Path) -> None:
    corpus = dataset("lewidi2025").load(made_up(tmp_path, "MP"), "MP")
    prediction, path = predicted(corpus, "irony", "dev"), tmp_path / "MP_results.tsv"
    write_submission(prediction, corpus, "irony", path, "2023")
    again = read_predictions(path, corpus)[0]["irony"]
    order = np.argsort(corpus.items.codes(prediction.items))
    np.testing.assert_allclose(again.distribution, prediction.distribution[order])
    few = Prediction(
        prediction.scale,
        prediction.items[:3],
        prediction.distribution[:3],
        prediction.consensus[:3],
    )
    with pytest.raises(DataError, match="needs predictions for all items of a part"):
        write_submission(few, corpus, "irony", path, "2023")


def test_other_scales_are_refused_in_2023(tmp_path: Path) -> None:
    corpus = example_corpus("ordinal", n_items=4)
    soft = np.full((4, corpus["q"].scale.n_columns), 1 / corpus["q"].scale.n_columns)
    prediction = Prediction(
        corpus["q"].scale, corpus.items, soft, corpus["q"].scale.consensus(soft)
    )
    with pytest.raises(DataError, match="questions with two values"):
        write_submission(prediction, corpus, "q", tmp_path / "x.tsv", "2023")
