"""Scores of attention: annotators whose focus is known, and deletion in every kind of content."""

from __future__ import annotations

import io
import json
import re
import wave
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import dissensus as ds
from dissensus.annotations import Annotations
from dissensus.cli import app
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.evaluation import AttentionScore, evaluate_attention
from dissensus.evaluation.attention.deletion import FRACTIONS, deletion_confidence
from dissensus.names import Names
from dissensus.prediction import Attention, ByAnnotator, Prediction, Predictions
from dissensus.scales import Nominal
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


# ---- deletion ----


class Counting:
    """A method that is sure of the first value while a content still shows the thing."""

    def __init__(self, shows: Any) -> None:
        self.shows = shows
        self.seen: list[Any] = []

    def predict(self, corpus: Corpus, annotators: Any, **_: Any) -> dict[str, Prediction]:
        (role,) = corpus.contents
        contents = corpus.contents[role]
        item = corpus.items.codes([name for name, _ in annotators])
        self.seen = [contents[code] for code in corpus.content[role][item]]
        sure = np.array([0.9 if self.shows(shown) else 0.2 for shown in self.seen])
        mass = np.stack([sure, 1 - sure], axis=1)
        names, code = Names.encode([name for _, name in annotators])
        pairs = ByAnnotator(item, code, names, mass.argmax(axis=1), mass)
        scale = Nominal(("yes", "no"))
        built = Prediction(scale, corpus.items, mass, mass.argmax(axis=1), pairs)
        return {"q": built}


def one_item(kind: Any, content: Any, places: Any, weight: Any) -> Any:
    """A corpus of one item, with the attention of one annotator."""
    answers = Annotations.from_rows([("t", "ann", "yes")], Nominal(("yes", "no")))
    contents = {kind: Contents.distinct(kind, [content])}
    corpus = Corpus.build("small", answers.items, {"q": answers}, contents=contents)
    places = np.array(places, dtype=float)
    places = places[:, None] if places.ndim == 2 else places
    maps = Attention.empty(kind, np.array([0]), places, np.array([0, len(places)]))
    maps.weight[:] = weight
    mass = np.array([[0.9, 0.1]])
    pairs = ByAnnotator(np.array([0]), np.array([0]), answers.annotators, np.array([0]), mass)
    built = Prediction(answers.scale, answers.items, mass, np.array([0]), pairs, (maps,))
    given = {"corpus": corpus, "question": "q", "prediction": built, "attention": maps}
    return given | {"pairs": np.array([0])}


def test_words_are_deleted_from_the_most_attended_on() -> None:
    words = "one two three four five six seven eight nine ten".split()
    text = " ".join(words)
    places = [match.span() for match in re.finditer(r"\w+", text)]
    places[3] = (places[3][0], places[3][0] + 2)  # a word of two tokens
    places.insert(4, (places[3][1], places[3][1] + 2))
    weight = np.array([0.05, 0.06, 0.07, 0.2, 0.2, 0.3, 0.02, 0.03, 0.04, 0.02, 0.01])
    method: Any = Counting(lambda shown: "four" in shown)
    whole, deleted = deletion_confidence(
        method, **one_item("text", text, places, weight), by="attention"
    )
    assert method.seen[:3] == [
        text, text.replace("four ", ""), text.replace("four five ", ""),
    ]  # fmt: skip
    assert whole.tolist() == [0.9] and deleted.tolist() == [[0.2] * 5]
    _, by_chance = deletion_confidence(
        method, **one_item("text", text, places, weight), by="random"
    )
    assert by_chance.shape == (1, len(FRACTIONS)) and len(method.seen[-1].split()) == 5


def test_frames_are_cut_cells_blanked_and_sound_shortened() -> None:
    frames = np.arange(10, dtype=np.float32)[:, None].repeat(2, axis=1)
    places = np.stack([np.arange(10), np.arange(1, 11)], axis=1)
    weight = np.linspace(0, 0.2, 10)
    method: Any = Counting(lambda shown: 9.0 in np.array(shown))
    _, deleted = deletion_confidence(
        method, **one_item("features", frames, places, weight), by="attention"
    )
    assert deleted.tolist() == [[0.2] * 5]
    assert [len(shown) for shown in method.seen] == [10, 9, 8, 7, 6, 5]

    pixels = np.zeros((4, 4, 3), dtype=np.uint8)
    pixels[:2, 2:] = 200
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    cells = [[[r, r + 2], [c, c + 2]] for r in (0, 2) for c in (0, 2)]
    method = Counting(lambda shown: np.array(Image.open(io.BytesIO(shown))).max() == 200)
    given = one_item("image", file.getvalue(), cells, [0.1, 0.7, 0.1, 0.1])
    assert deletion_confidence(method, **given, by="attention")[1].tolist() == [[0.2] * 5]
    blanked = np.array(Image.open(io.BytesIO(method.seen[1])))
    assert (blanked[:2, 2:] == 50).all() and (blanked[2:] == 0).all()

    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16_000)
        out.writeframes(np.repeat(np.array([0, 9000], "<i2"), 8000).tobytes())
    places = np.stack([np.arange(10) / 10, np.arange(1, 11) / 10], axis=1)

    def loud(shown: bytes) -> bool:
        with wave.open(io.BytesIO(shown)) as read:
            return bool(np.frombuffer(read.readframes(read.getnframes()), "<i2").any())

    method = Counting(loud)
    weight = np.repeat([0.0, 0.2], 5)
    _, deleted = deletion_confidence(
        method, **one_item("audio", file.getvalue(), places, weight), by="attention"
    )
    assert deleted.tolist() == [[0.9, 0.9, 0.9, 0.9, 0.2]]


def test_videos_cannot_be_shortened() -> None:
    given = one_item("video", b"x", [[0, 1], [1, 2]], [0.5, 0.5])
    nothing: Any = Counting(len)
    with pytest.raises(DataError, match="^nothing can be deleted from video contents$"):
        deletion_confidence(nothing, **given, by="attention")


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
        ["attention", paths["answers"], paths["test"], "--model", paths["model"], "--deleted", "40",
         "-o", f"{tmp_path}/scores.json"],
        ["draw", paths["test"], "--predictions", paths["answers"], "-o", f"{tmp_path}/items.svg"],
    ]  # fmt: skip
    for command in commands:
        assert CliRunner().invoke(app, command, catch_exceptions=False).exit_code == 0, command
    scores = json.loads((tmp_path / "scores.json").read_text())["scores"]
    results = {score["score"]: score for score in scores}
    own = results["own part has most attention"]
    assert own["value"] > own["baseline"] + 0.1 and own["n"] == 400
    deleted = results["AOPC: fall of confidence by deletion"]
    assert deleted["value"] > deleted["baseline"] and deleted["n"] == 40
    assert (tmp_path / "items.svg").read_text().count("predicted ") >= 40
