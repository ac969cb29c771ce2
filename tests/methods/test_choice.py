"""The method that is trained where none is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dissensus import Corpus
from dissensus.methods import build
from dissensus.methods.choice import chosen_method, chosen_questions, has_truth
from tests.crowds import anonymous, confused_crowd, feature_crowd


@pytest.mark.parametrize(
    ("corpus", "method"),
    [
        (feature_crowd("nominal"), "annotator-heads"),
        (feature_crowd("multi-label"), "annotator-logistic"),
        (anonymous(feature_crowd("nominal")), "soft-label"),
        (confused_crowd()[0], "method-ensemble"),
    ],
    ids=["nominal", "sets", "anonymous", "truth"],
)
def test_a_method_is_chosen_that_can_learn_from_the_corpus(corpus: Corpus, method: str) -> None:
    choice = chosen_method(corpus)
    assert choice.method == method
    assert build(choice.method).check(corpus) == ("q",)


@pytest.mark.parametrize(
    ("corpus", "metric", "method", "settings"),
    [
        (confused_crowd()[0], "accuracy (gold)", "method-ensemble", ()),
        (confused_crowd()[0], "annotator accuracy", "annotator-heads", ()),
        (confused_crowd()[0], "cross-entropy", "annotator-heads", ()),
        (feature_crowd("interval"), "annotator-ccc", "annotator-heads", ("loss=ccc",)),
        (feature_crowd("interval"), "annotator error", "annotator-heads", ()),
    ],
)
def test_the_choice_depends_on_the_metric(
    corpus: Corpus, metric: str, method: str, settings: tuple[str, ...]
) -> None:
    assert chosen_method(corpus, metric=metric)[:2] == (method, settings)
    assert chosen_method(confused_crowd()[0], one_network=True).method == "geo-f"


def test_of_more_than_three_questions_the_one_with_most_answers_is_learned() -> None:
    corpus = feature_crowd("nominal")
    fewer = corpus["q"].take(np.arange(20))
    three = replace(corpus, questions={"a": fewer, "b": corpus["q"], "c": corpus["q"]})
    assert chosen_questions(three) == (("a", "b", "c"), "")
    four = replace(corpus, questions={**three.questions, "d": fewer})
    assert chosen_questions(four) == (("b",), "question: b, the one of 4 with most answers; name "
                                      "others with --question, or --question all")  # fmt: skip
    assert chosen_questions(four, ["a", "d"]) == (("a", "d"), "")
    assert chosen_questions(four, ["all"]) == (("a", "b", "c", "d"), "")
    named = replace(corpus, questions={**four.questions, "all": fewer})
    assert chosen_questions(named, ["all"]) == (("all",), "")


def test_gold_labels_that_are_the_majority_are_no_truth() -> None:
    crowd, _ = confused_crowd()
    assert has_truth(crowd, "q")
    assert not has_truth(replace(crowd, gold={"q": crowd["q"].consensus(ties="drop")}), "q")
    assert not has_truth(feature_crowd("nominal"), "q")
