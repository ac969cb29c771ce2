"""Who is asked, who is unknown, and whose answers make up an item's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dissensus as ds
from dissensus import Annotations, Corpus, Names
from dissensus.methods import AnnotatorHeads, AnnotatorMajority, Single
from dissensus.training import Training
from tests.crowds import feature_crowd

QUICK = Training(epochs=3, device="cpu")


@pytest.fixture(scope="module")
def heads() -> AnnotatorHeads:
    return AnnotatorHeads(encoder="features", training=QUICK).fit(feature_crowd())


def _with_a_stranger() -> Corpus:
    """Item 0 was answered by p0 and a stranger, item 1 by the stranger alone, item 2 by nobody."""
    crowd = feature_crowd().select(items=np.arange(3))
    rows = [("0", "p0", "a"), ("0", "zoe", "b"), ("1", "zoe", "c")]
    answers = Annotations.from_rows(rows, crowd["q"].scale, annotators=Names(["zoe", "p0", "p1"]))
    contents = {"x": (crowd.contents["x"], crowd.content["x"])}
    return Corpus.build("made-up", crowd.items, {"q": answers}, contents=contents)


def test_a_stranger_is_dropped(heads: AnnotatorHeads) -> None:
    corpus = _with_a_stranger()
    prediction = heads.predict(corpus, unknown="drop")["q"]
    assert prediction.by_annotator is not None
    assert prediction.by_annotator.item.tolist() == [0]
    everyone = heads.predict(corpus, annotators="all")["q"].by_annotator
    assert everyone is not None and everyone.distribution is not None
    cube = everyone.distribution.reshape(3, 4, -1)
    np.testing.assert_allclose(prediction.distribution[0], cube[0, 0], rtol=1e-5)
    np.testing.assert_allclose(prediction.distribution[1:], cube[1:].mean(axis=1), rtol=1e-5)


def test_a_stranger_answers_as_the_mean_of_everyone(heads: AnnotatorHeads) -> None:
    corpus = _with_a_stranger()
    prediction = heads.predict(corpus, unknown="mean")["q"]
    everyone = heads.predict(corpus, annotators="all")["q"].by_annotator
    assert prediction.by_annotator is not None and everyone is not None
    assert everyone.distribution is not None and prediction.by_annotator.distribution is not None
    cube = everyone.distribution.reshape(3, 4, -1)
    names = [prediction.by_annotator.annotators[a] for a in prediction.by_annotator.annotator]
    assert names == ["zoe", "p0", "zoe"]
    expected = np.stack([cube[0].mean(axis=0), cube[0, 0], cube[1].mean(axis=0)])
    np.testing.assert_allclose(prediction.by_annotator.distribution, expected, rtol=1e-5)
    np.testing.assert_allclose(prediction.distribution[0], expected[:2].mean(axis=0), rtol=1e-5)


def test_another_corpus_has_other_people_unless_told(heads: AnnotatorHeads) -> None:
    other = feature_crowd(name="elsewhere")
    told = heads.predict(other, same_annotators=True)["q"]
    here = heads.predict(feature_crowd())["q"]
    np.testing.assert_array_equal(told.distribution, here.distribution)


def test_a_name_given_by_hand_is_a_person_of_training(heads: AnnotatorHeads) -> None:
    other = feature_crowd(name="elsewhere")
    pairs = heads.predict(other, annotators=["p2"], unknown="error")["q"].by_annotator
    assert pairs is not None and len(pairs) == 60


def test_the_consensus_of_all_is_not_that_of_the_own(heads: AnnotatorHeads) -> None:
    crowd = feature_crowd()
    only_p0 = crowd.select(annotators=["p0"])
    own = heads.predict(only_p0, consensus="own")["q"].distribution
    every = heads.predict(only_p0, consensus="all")["q"].distribution
    cube = heads.predict(crowd, annotators="all")["q"].by_annotator
    assert cube is not None and cube.distribution is not None
    shares = cube.distribution.reshape(60, 4, -1)
    np.testing.assert_allclose(own, shares[:, 0], rtol=1e-5)
    np.testing.assert_allclose(every, shares.mean(axis=1), rtol=1e-5)


def test_methods_that_answer_for_everybody_know_no_strangers() -> None:
    single = Single(encoder="features", training=QUICK).fit(feature_crowd())
    prediction = single.predict(_with_a_stranger())["q"]
    assert prediction.by_annotator is not None
    np.testing.assert_array_equal(
        prediction.by_annotator.distribution, prediction.distribution[prediction.by_annotator.item]
    )


# ---- annotators of the training corpus without an answer ----


def _untaught() -> Corpus:
    """Two questions; p4 is listed and answered neither, p3 only the first."""
    crowd = feature_crowd(n_annotators=5)
    answers, annotator = crowd["q"], crowd["q"].annotator_codes("test")
    first = answers.take(annotator != 4)
    return replace(crowd, questions={"q": first, "r": answers.take(annotator < 3)})


INDIVIDUAL = {
    "annotator-heads": AnnotatorHeads(encoder="features", training=QUICK),
    "heads without a common one": AnnotatorHeads(encoder="features", training=QUICK, common=False),
    "annotator-majority": AnnotatorMajority(),
}


@pytest.mark.parametrize("name", INDIVIDUAL)
def test_an_annotator_without_training_answers_is_not_in_the_consensus_of_all(name: str) -> None:
    corpus = _untaught()
    fitted = INDIVIDUAL[name].fit(corpus)
    assert fitted.notes_ == [
        "1 of 5 annotators gave no answer to 'q' to learn from ('p4'): they are left out of the "
        "consensus of all",
        "2 of 5 annotators gave no answer to 'r' to learn from ('p3', 'p4'): they are left out of "
        "the consensus of all",
    ]
    every = fitted.predict(corpus, annotators="all", consensus="all")
    for question, n_learned in (("q", 4), ("r", 3)):
        pairs = every[question].by_annotator
        assert pairs is not None and pairs.distribution is not None
        assert len(pairs) == 60 * 4  # p4 is not among all
        own = pairs.distribution.reshape(60, 4, -1)[:, :n_learned]
        np.testing.assert_allclose(every[question].distribution, own.mean(axis=1), rtol=1e-5)


@pytest.mark.parametrize("name", INDIVIDUAL)
def test_an_annotator_without_training_answers_is_predicted_as_the_mean_and_named(
    name: str, tmp_path: Path
) -> None:
    corpus = _untaught()
    fitted = INDIVIDUAL[name].fit(corpus)
    fitted.save(tmp_path / "model")
    for model in (fitted, ds.load(tmp_path / "model")):
        prediction = model.predict(corpus, annotators=["p3", "p4"], consensus="all")
        assert model.notes_ == [
            "no answer to 'q' in training from annotator 'p4'; predicted as the mean of the "
            "annotators who gave one",
            "no answer to 'r' in training from annotator 'p3', 'p4'; predicted as the mean of the "
            "annotators who gave one",
        ]
        for question, unlearned in (("q", ["p4"]), ("r", ["p3", "p4"])):
            pairs = prediction[question].by_annotator
            assert pairs is not None and pairs.distribution is not None
            for at, person in enumerate(["p3", "p4"]):
                mean = prediction[question].distribution
                same = np.allclose(pairs.distribution.reshape(60, 2, -1)[:, at], mean, rtol=1e-5)
                assert same == (person in unlearned)
        dropped = model.predict(corpus, annotators=["p3", "p4"], unknown="drop")["q"].by_annotator
        assert dropped is not None and len(dropped) == 60
        assert model.notes_[0].startswith("no answer to 'r' in training from annotator 'p3'")


def test_an_annotator_without_training_answers_does_not_vote_on_own_items() -> None:
    train, test = _untaught(), feature_crowd(n_annotators=5)
    heads = AnnotatorHeads(encoder="features", training=QUICK).fit(train, "q")
    prediction = heads.predict(test)["q"]
    cube = heads.predict(test, annotators="all")["q"].by_annotator
    assert cube is not None and cube.distribution is not None
    expected = cube.distribution.reshape(60, 4, -1).mean(axis=1)
    np.testing.assert_allclose(prediction.distribution, expected, rtol=1e-5)


def test_annotators_without_training_answers_do_not_choose_the_epoch() -> None:
    train, corpus = _untaught(), feature_crowd(n_items=40, n_annotators=5, seed=1)
    every, known = (
        AnnotatorHeads(encoder="features", training=QUICK).fit(train, "q", validation=part)
        for part in (corpus, corpus.select(annotators=["p0", "p1", "p2", "p3"]))
    )
    assert every.log_.validation == known.log_.validation
