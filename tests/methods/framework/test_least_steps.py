"""training.least_steps: small corpora of features have more epochs."""

from __future__ import annotations

from dissensus import simulate
from dissensus.methods import AnnotatorHeads, Job, Single, fit_many
from dissensus.methods.framework.settings import (
    TRUNK_CHOICES,
    changed,
    choices_of_features,
    configured,
)
from dissensus.training import Training
from tests.crowds import feature_crowd

SOME = Training(epochs=2, batch_size=8, least_steps=19, device="cpu")


def n_epochs(method: Single) -> int:
    return len(method.log_.train)


def test_features_are_trained_for_so_many_steps_at_least() -> None:
    corpus = feature_crowd("nominal", 32)  # 4 batches
    assert n_epochs(Single(encoder="features", training=SOME).fit(corpus)) == 5
    more = Training(epochs=7, batch_size=8, least_steps=19, device="cpu")
    assert n_epochs(Single(encoder="features", training=more).fit(corpus)) == 7
    assert Training(epochs=2, least_steps=1000).epochs_of_features(1) == 20  # at most ten times


def test_texts_are_trained_for_the_epochs_that_are_set() -> None:
    corpus = simulate.text(n_items=20)
    assert n_epochs(Single(encoder="characters", training=SOME).fit(corpus)) == 2


def test_a_stack_has_members_with_more_epochs() -> None:
    corpus = feature_crowd("nominal", 32)
    parts = [corpus, corpus.select(items=range(8))]
    methods = [Single(encoder="features", training=SOME) for _ in parts]
    fit_many([Job(method, part) for method, part in zip(methods, parts, strict=True)], stack=True)
    assert [n_epochs(method) for method in methods] == [5, 19]


def test_epochs_that_are_chosen_are_not_changed() -> None:
    assert AnnotatorHeads().training.least_steps == 1000
    typed = configured(AnnotatorHeads, [("training.epochs", "20")])
    assert isinstance(typed, AnnotatorHeads) and typed.training.least_steps == 0
    both = [("training.epochs", "5"), ("training.least_steps", "9")]
    assert configured(AnnotatorHeads, both).get_params()["training"].least_steps == 9
    for settings, steps in (
        ({"training.epochs": 5}, 0),
        ({"training.epochs": 20}, 1000),  # the default, as the first of several trials
        ({"training.epochs": 5, "training.least_steps": 9}, 9),
    ):
        assert changed(AnnotatorHeads(), settings).get_params()["training"].least_steps == steps


def test_on_features_steps_are_tried_instead_of_epochs() -> None:
    choices = choices_of_features(TRUNK_CHOICES)
    assert choices["training.least_steps"] == (300, 1000, 3000)
    assert choices.keys() ^ TRUNK_CHOICES.keys() == {"training.epochs", "training.least_steps"}
