"""Each method on its own: what it learns, and how its model folder can go wrong."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression

import dissensus as ds
from dissensus import Annotations, Corpus, Interval, Names, Nominal, Ordinal
from dissensus.contents import Contents
from dissensus.corpus import Focus
from dissensus.errors import DissensusError, ModelError
from dissensus.methods import (
    AnnotatorHeads,
    AnnotatorMajority,
    AnnotatorMedian,
    CrowdLayer,
    Single,
)
from dissensus.methods.framework.settings import configured
from dissensus.metrics import METRICS
from dissensus.testing import example_corpus
from dissensus.training import Training
from tests.crowds import feature_crowd
from tests.error_texts import refusal


def test_annotator_majority_by_hand() -> None:
    rows = [("1", "ann", "a"), ("2", "ann", "a"), ("3", "ann", "b"), ("1", "bob", "b")]
    answers = Annotations.from_rows(
        rows, Nominal(("a", "b")), annotators=Names(["ann", "bob", "cy"])
    )
    corpus = Corpus.build("tiny", ["1", "2", "3"], {"q": answers})
    crowd = np.array([0.5, 0.5])  # the mean of (.5, .5), (1, 0) and (0, 1)
    fitted = AnnotatorMajority(smoothing=2).fit(corpus)
    expected = np.array([[2, 1], [0, 1]]) + 2 * crowd
    np.testing.assert_allclose(fitted.own_["q"][:2], expected / expected.sum(axis=1)[:, None])
    np.testing.assert_allclose(fitted.own_["q"][2], crowd)
    exact = AnnotatorMajority(smoothing=0).fit(corpus)
    expected = np.array([[2 / 3, 1 / 3], [0, 1], [0.5, 0.5]])
    np.testing.assert_allclose(exact.own_["q"], expected)


def test_floors_of_annotators_are_the_strongest_for_their_metric() -> None:
    """Of all answers that ignore the content the mode is right most often, and the median has the
    smallest error; on an ordinal scale they differ."""
    answers = {"ann": "1112233", "bob": "3333211", "cy": "1223334"}
    rows = [(str(item), who, a) for who, given in answers.items() for item, a in enumerate(given)]
    labels = Annotations.from_rows(rows, Ordinal(("1", "2", "3", "4")))
    corpus = Corpus.build("tiny", [str(k) for k in range(7)], {"q": labels})
    floors = (AnnotatorMajority(smoothing=0), AnnotatorMedian(smoothing=0))
    majority, median = (floor.fit(corpus).predict(corpus)["q"] for floor in floors)
    assert majority.by_annotator is not None and median.by_annotator is not None
    for pairs, expected in ((majority.by_annotator, [0, 2, 2]), (median.by_annotator, [1, 2, 2])):
        assert [pairs.value[pairs.annotator == code][0] for code in range(3)] == expected
    for metric, best in (("annotator accuracy", majority), ("annotator error", median)):
        higher = METRICS[metric].higher_is_better
        reached = METRICS[metric](best, labels)
        for constant in itertools.product(range(4), repeat=3):
            pairs = majority.by_annotator
            pairs = replace(pairs, value=np.array(constant)[pairs.annotator])
            other = METRICS[metric](replace(best, by_annotator=pairs), labels)
            assert reached >= other - 1e-12 if higher else reached <= other + 1e-12


def test_annotator_median_of_ratings_is_exact() -> None:
    rows = [("1", "ann", 1.0), ("2", "ann", 2.5), ("3", "ann", 9.0), ("1", "bob", 4.0),
            ("2", "bob", 5.0)]  # fmt: skip
    answers = Annotations.from_rows(rows, Interval(0, 10), annotators=Names(["ann", "bob", "cy"]))
    corpus = Corpus.build("tiny", ["1", "2", "3"], {"q": answers})
    fitted = AnnotatorMedian().fit(corpus)
    assert fitted.median_["q"].tolist() == [2.5, 4.5, 4.0]  # cy: the median of all
    pairs = AnnotatorMajority(smoothing=0).fit(corpus).predict(corpus)["q"].by_annotator
    assert pairs is not None and pairs.value[0] == pytest.approx(12.5 / 3, abs=0.25)  # the mean


def test_single_learns_what_logistic_regression_learns() -> None:
    train, test = feature_crowd(n_items=400), feature_crowd(n_items=300, seed=1)
    training = Training(epochs=600, learning_rate=0.5, weight_decay=0, batch_size=400)
    single = Single(encoder="features", dropout=0, training=training).fit(train)
    label = train["q"].majority()
    peer = LogisticRegression(C=1e6, max_iter=1000).fit(_vectors(train), label.answer)
    result = single.predict(test)["q"].distribution
    np.testing.assert_allclose(result, peer.predict_proba(_vectors(test)), atol=0.03)


def test_heads_learn_each_annotator_and_single_cannot() -> None:
    train, test = feature_crowd(n_items=400), feature_crowd(n_items=200, seed=1)
    settings = {"encoder": "features", "training": Training(epochs=20, learning_rate=0.02)}
    right = {}
    for method in (AnnotatorMajority(), Single(**settings), AnnotatorHeads(**settings)):  # type: ignore[arg-type]
        pairs = method.fit(train).predict(test)["q"].by_annotator
        assert pairs is not None
        right[method.name] = float((pairs.value == test["q"].answer).mean())
    assert right["annotator-heads"] > right["single"] + 0.1
    assert right["annotator-heads"] > right["annotator-majority"] + 0.1


def test_heads_learn_two_questions_at_once() -> None:
    rated, named = feature_crowd("interval", n_items=200), feature_crowd("nominal", n_items=200)
    corpus = replace(rated, questions={"v": rated["q"], "class": named["q"]})
    training = Training(epochs=20, learning_rate=0.01)
    fitted = AnnotatorHeads(encoder="features", training=training).fit(corpus)
    predictions = fitted.predict(corpus)
    assert list(predictions) == ["v", "class"]
    joint = predictions.joint("v", "class")
    assert len(joint["item"]) == 800
    assert np.corrcoef(joint["v"], corpus["v"].answer)[0, 1] > 0.9
    assert (joint["class"] == corpus["class"].answer).mean() > 0.7


def test_without_a_common_head_everyone_starts_alone() -> None:
    crowd = feature_crowd()
    settings = {"encoder": "features", "training": Training(epochs=2)}
    alone = AnnotatorHeads(common=False, **settings).fit(crowd)  # type: ignore[arg-type]
    names = [name for name, _ in alone.network_.named_parameters()]
    assert sorted(names) == [
        "heads_0.bias",
        "heads_0.weight",
        "trunk.layers.1.bias",
        "trunk.layers.1.weight",
    ]


def test_a_focus_tells_items_of_one_content_apart() -> None:
    frames = [np.array([[1.0, 0.0], [0.0, 1.0]])]
    contents, _ = Contents.distinct("features", frames)
    rows = [("first", "ann", "a"), ("second", "ann", "b")]
    corpus = Corpus.build(
        "frames",
        ["first", "second"],
        {"q": Annotations.from_rows(rows)},
        contents={"x": (contents, np.zeros(2, np.int32))},
        focus=Focus("x", np.array([[0.0], [1.0]]), np.array([[1.0], [2.0]])),
    )
    training = Training(epochs=50, learning_rate=0.1)
    single = Single(encoder="features", dropout=0, training=training).fit(corpus)
    assert single.predict(corpus)["q"].consensus.tolist() == [0, 1]
    assert single.notes_ == []


def test_a_focus_on_nothing_and_a_role_nobody_reads_are_said() -> None:
    crowd = feature_crowd(n_items=2)
    contents = {
        "x": (crowd.contents["x"], crowd.content["x"]),
        "y": Contents.distinct("text", ["one", "two"]),
    }
    beyond = Focus("x", np.array([[7.0], [np.nan]]), np.array([[9.0], [np.nan]]))
    corpus = Corpus.build("c", crowd.items, {"q": crowd["q"]}, contents=contents, focus=beyond)
    single = Single(encoder="features", training=Training(epochs=1)).fit(corpus)
    assert single.notes_ == [
        "'features' does not read 'y'",
        "1 items have a focus that overlaps nothing the encoder reads; "
        "their whole content is taken",
    ]


def test_single_learns_from_gold_where_it_is_told() -> None:
    crowd = feature_crowd()
    gold = Annotations.from_arrays(
        np.arange(60), None, np.full(60, 2), crowd["q"].scale, items=crowd.items
    )
    corpus = replace(crowd, gold={"q": gold})
    fitted = Single(encoder="features", label="gold").fit(corpus)
    assert (fitted.predict(corpus)["q"].consensus == 2).all()


def test_validation_is_matched_by_the_annotators_names() -> None:
    train, corpus = feature_crowd(n_items=60), feature_crowd(n_items=40, seed=1)
    settings = {"encoder": "features", "training": Training(epochs=4)}
    plain = AnnotatorHeads(**settings).fit(train, validation=corpus)  # type: ignore[arg-type]
    turned = corpus.select(annotators=["p3", "p1", "p0", "p2"])
    other = AnnotatorHeads(**settings).fit(train, validation=turned)  # type: ignore[arg-type]
    np.testing.assert_allclose(other.log_.validation, plain.log_.validation, rtol=1e-6)


# ---- model folders ----


@pytest.fixture
def model(tmp_path: Path) -> Path:
    AnnotatorHeads(encoder="features", training=Training(epochs=1)).fit(feature_crowd()).save(
        tmp_path / "model"
    )
    return tmp_path / "model"


def _with(model: Path, **entries: Any) -> None:
    config = json.loads((model / "config.json").read_text()) | entries
    (model / "config.json").write_text(json.dumps(config))


def _truncated(model: Path, name: str, length: int) -> None:
    (model / name).write_bytes((model / name).read_bytes()[:length])


ALTERED = (
    "{0}: config.json and model.safetensors do not belong together, or were altered or cut off; "
    "train again, or take an undamaged copy"
)
DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "truncated": (lambda model: _truncated(model, "model.safetensors", -10), ALTERED),
    "tampered": (lambda model: _with(model, annotators=["someone else"]), ALTERED),
    "without weights": (
        lambda model: (model / "model.safetensors").unlink(),
        "{0}/model.safetensors: No such file or directory; train again",
    ),
    "another format": (
        lambda model: _with(model, format=99),
        "{0}/config.json: format number 99, this version reads 1; read it with the version of "
        "dissensus that wrote it",
    ),
    "no model": (
        lambda model: (model / "config.json").unlink(),
        "{0}: not a dissensus model folder: config.json is missing",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_model(model: Path, damage: str) -> None:
    spoil, message = DAMAGES[damage]
    spoil(model)
    assert refusal(DissensusError, ds.load, model) == message.format(model)


def test_a_config_that_is_cut_off(model: Path) -> None:
    _truncated(model, "config.json", 40)
    with pytest.raises(DissensusError, match="damaged .*; make the folder again$"):
        ds.load(model)


def test_the_model_card_says_whose_answers_it_holds(model: Path) -> None:
    card = (model / "README.md").read_text()
    assert "# annotator-heads on made-up" in card
    assert "It learned from 4 annotators: 'p0', 'p1', 'p2', 'p3'." in card


# ---- the hub ----


class Hub:
    """What is called of `huggingface_hub.HfApi`; keeps the files that are uploaded."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.calls = folder, []  # type: tuple[Path, list[Any]]

    def __call__(self, token: str | None = None) -> Hub:
        self.calls.append(token)
        return self

    def create_repo(self, repo_id: str, *, private: bool, exist_ok: bool) -> str:
        self.calls.append((repo_id, private, exist_ok))
        return f"https://hub.example/{repo_id}"

    def upload_folder(self, *, repo_id: str, folder_path: Path, commit_message: str) -> None:
        if repo_id == "someone/else":
            raise OSError("403 Forbidden: you have no rights")
        shutil.copytree(folder_path, self.folder)
        self.calls.append(commit_message)

    def download(self, name: str, **options: Any) -> str:
        self.calls.append((name, options["revision"], options["local_files_only"]))
        if name != "someone/moods":
            raise OSError("404 Not Found")
        return str(self.folder)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    hub = Hub(tmp_path / "hub")
    monkeypatch.setattr("huggingface_hub.HfApi", hub)
    monkeypatch.setattr("huggingface_hub.snapshot_download", hub.download)
    monkeypatch.setattr("dissensus.methods.framework.hub.hub_answers", lambda: True)
    return hub


def test_a_model_goes_to_the_hub_and_comes_back(model: Path, hub: Hub) -> None:
    fitted = ds.load(model)
    address = fitted.push_to_hub("someone/moods", commit_message="First", token="secret")
    assert address == "https://hub.example/someone/moods"
    assert hub.calls == ["secret", ("someone/moods", True, True), "First"]
    assert {path.name for path in hub.folder.iterdir()} == {
        "README.md", "config.json", "model.safetensors"}  # fmt: skip
    header = (hub.folder / "README.md").read_text().split("---")[1]
    assert yaml.safe_load(header) == {
        "library_name": "dissensus",
        "tags": ["dissensus", "annotator-heads", "learning-from-disagreement"],
    }
    expected = fitted.predict(example_corpus())["q"].distribution
    for again in (
        ds.load("someone/moods"),
        AnnotatorHeads.from_pretrained("someone/moods", revision="v1"),
        AnnotatorHeads.from_pretrained(model),
    ):
        np.testing.assert_array_equal(again.predict(example_corpus())["q"].distribution, expected)
    assert hub.calls[3:] == [("someone/moods", None, False), ("someone/moods", "v1", False)]


def test_what_the_hub_refuses(model: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted, login = ds.load(model), "log in with `hf auth login`, or pass token="
    message = f"someone/else: the upload failed (403 Forbidden: you have no rights); {login}"
    assert refusal(ModelError, fitted.push_to_hub, "someone/else") == message
    message = "a model of the hub has a name such as 'user/model', found 'moods'"
    assert refusal(ModelError, fitted.push_to_hub, "moods") == message
    unknown = "some/one: neither a folder nor a model of the Hugging Face hub that can be read ({})"
    message = f"{unknown}; check the name, or {login}"
    assert refusal(ModelError, ds.load, "some/one") == message.format("404 Not Found")
    with pytest.raises(ModelError, match="pass the class that the model was fitted with"):
        hub.folder.parent.joinpath("hub").symlink_to(model)
        CrowdLayer.from_pretrained("someone/moods")
    monkeypatch.setattr("dissensus.methods.framework.hub.hub_answers", lambda: False)
    why = "the hub cannot be reached, and it is not in the cache"
    assert refusal(ModelError, ds.load, "some/one") == message.format(why)
    message = "some/one: the Hugging Face hub cannot be reached; nothing was uploaded"
    assert refusal(ModelError, fitted.push_to_hub, "some/one") == message


# ---- settings as text ----


def test_settings_as_users_type_them() -> None:
    typed = [("hidden", "32,16"), ("common", "no"), ("training.epochs", "7"), ("dropout", "0.5")]
    built = configured(AnnotatorHeads, typed)
    training = Training(epochs=7)
    same = AnnotatorHeads(hidden=(32, 16), common=False, dropout=0.5, training=training)
    assert built.get_params() == same.get_params()


def _vectors(corpus: Corpus) -> np.ndarray:
    from dissensus.encoders import FeaturesEncoder

    return FeaturesEncoder().encode(corpus.contents["x"]).vectors[corpus.content["x"]]


def test_a_batch_in_which_nothing_is_shown() -> None:
    contents = Contents.distinct("text", ["so good", None, "so bad"])
    people = Annotations.from_rows([("a", "x", "yes"), ("b", "x", "no"), ("c", "x", "no")])
    corpus = Corpus.build("some", people.items, {"q": people}, contents={"text": contents})
    method = Single(encoder="characters", tune="all", training=Training(batch_size=1, epochs=1))
    assert np.isfinite(method.fit(corpus).predict(corpus)["q"].distribution).all()
