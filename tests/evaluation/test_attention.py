"""Scores of attention: annotators whose focus is known."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dissensus as ds
from dissensus.cli import app
from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.evaluation import AttentionScore, evaluate_attention
from dissensus.prediction import Attention, ByAnnotator, Prediction, Predictions
from dissensus.simulate import truth


def known(corpus: Corpus, *, flat: float = 0.0, seed: int = 0) -> Predictions:
    """Predictions of every annotator whose attention is where the simulated annotators look.

    Args:
        flat: how much of it is random instead.
    """
    (question,) = corpus.questions
    of_corpus, n = truth(corpus, question), corpus.n_annotators
    item, annotator = np.repeat(np.arange(corpus.n_items), n), np.tile(np.arange(n), corpus.n_items)
    texts = corpus.contents["text"]
    words = [
        [match.span() for match in re.finditer(r"\w+", texts[code])]
        for code in corpus.content["text"]
    ]
    offsets = np.append(0, np.cumsum([len(of_item) for of_item in words]))
    places = np.concatenate([np.array(of_item) for of_item in words])[:, None]
    maps = Attention.empty("text", item, places, offsets)
    random = np.random.default_rng(seed)
    for pair, focus in enumerate(of_corpus.focus(item, annotator)):
        begin, start = maps.places_of(item[pair])[:, 0, 0], of_corpus.start[item[pair]]
        inside = (begin[:, None] >= start) & (begin[:, None] < of_corpus.stop[item[pair]])
        inside &= start >= 0
        weight = (inside / np.maximum(inside.sum(axis=0), 1)) @ focus
        maps.of_pair(pair)[:] = (1 - flat) * weight + flat * random.dirichlet(np.ones(len(begin)))
    mass = of_corpus.distribution(item, annotator)
    scale = corpus[question].scale
    pairs = ByAnnotator(item, annotator, corpus.annotators, mass.argmax(axis=1), mass)
    whole = of_corpus.blind_distribution()
    prediction = Prediction(scale, corpus.items, whole, whole.argmax(axis=1), pairs, (maps,))
    return Predictions({question: prediction}, "oracle", corpus.name)


def by_name(scores: tuple[AttentionScore, ...]) -> dict[str, AttentionScore]:
    return {score.score: score for score in scores}


@pytest.fixture(scope="module")
def simulated() -> Corpus:
    return ds.simulate.text(n_items=120, seed=3)


def test_attention_on_what_annotators_look_at_scores_best(simulated: Corpus) -> None:
    others = [known(simulated, flat=0.2, seed=seed) for seed in (1, 2)]
    result = by_name(evaluate_attention(known(simulated), simulated, others=others).scores)
    own = result["own part has most attention"]
    assert (
        own.p < 0.01
        and own.value == 1
        and own.n == 1200
        and own.baseline == pytest.approx(0.29, abs=0.02)
    )
    blind = result["the same, annotator unknown"]
    assert own.baseline < blind.value < 0.7
    share = result["attention on own part"]
    assert share.value > 0.9 and share.baseline < 0.4
    marked = result["AUROC of marked positions"]
    assert marked.value > 0.9 and marked.baseline == 0.5
    assert result["AUROC of marked positions, items with several"].baseline < 0.75
    alike = result["attention and kappa of labels, correlation"]
    assert alike.value > 0.5 and alike.p == 0.001 and (alike.n, alike.unit) == (10, "annotators")
    assert result["attention and kappa of labels, disparity"].p < 0.05
    stable = result["stability over seeds, cosine"]
    assert stable.value > 0.9 > stable.baseline and stable.n == 2400


def test_random_attention_scores_as_chance(simulated: Corpus) -> None:
    others = [known(simulated, flat=1, seed=1)]
    evaluation = evaluate_attention(known(simulated, flat=1), simulated, others=others)
    result = by_name(evaluation.scores)
    assert result["AUROC of marked positions"].value == pytest.approx(0.5, abs=0.03)
    assert result["attention and kappa of labels, correlation"].p > 0.01
    assert result["stability over seeds, correlation"].value == pytest.approx(0, abs=0.05)
    assert evaluation.value("attention on own part") == pytest.approx(
        result["attention on own part"].baseline, abs=0.03
    )
    message = "no score 'x'; choose from"
    with pytest.raises(DataError, match=message):
        evaluation.value("x")


# ---- the command ----


@pytest.mark.slow
def test_the_attention_of_a_trained_method_from_predictions_to_scores(tmp_path: Path) -> None:
    corpus = ds.simulate.sequence(n_items=400, seed=1)
    train, test = corpus.select(items=np.arange(360)), corpus.select(items=np.arange(360, 400))
    train.save(tmp_path / "train")
    replace(test, name="tested").save(tmp_path / "test")
    paths = {name: str(tmp_path / name) for name in ("train", "test", "model", "answers")}
    commands = [
        ["train", paths["train"], "-o", paths["model"], "--method", "annotator-queries",
         "--set", "training.epochs=30"],
        ["predict", paths["model"], paths["test"], "-o", paths["answers"], "--annotators", "all",
         "--same-annotators", "--attention"],
        ["attention", paths["answers"], paths["test"], "-o", f"{tmp_path}/scores.json"],
        ["draw", paths["test"], "--predictions", paths["answers"], "-o", f"{tmp_path}/items.svg"],
    ]  # fmt: skip
    for command in commands:
        assert CliRunner().invoke(app, command, catch_exceptions=False).exit_code == 0, command
    scores = json.loads((tmp_path / "scores.json").read_text())["scores"]
    results = {score["score"]: score for score in scores}
    own = results["own part has most attention"]
    assert own["value"] > own["baseline"] + 0.1 and own["n"] == 400
    assert (tmp_path / "items.svg").read_text().count("predicted ") >= 40
