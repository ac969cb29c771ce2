"""What is compared on a corpus, and why; items with and without answers; what is held out."""

from __future__ import annotations

import dataclasses

import pytest

from dissensus import Annotations, Corpus, simulate
from dissensus.methods import method
from dissensus.workflow.items import with_answers, without_answers
from dissensus.workflow.models import held_out
from dissensus.workflow.plan import columns_of_text, plan


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return simulate.text(n_items=40, n_annotators=4, labels_per_item=3, seed=0)


def test_a_plan_says_why() -> None:
    texts = plan(simulate.text(n_items=300, seed=0))
    assert texts.seeds == 2 and "annotator-queries" in texts.methods
    assert texts.reasons[0].startswith("folds: 5 folds of 300 items")
    few = plan(simulate.text(n_items=20, seed=0))
    assert few.methods == () and "30 are needed" in few.reasons[0]
    rows = [(f"t{i}", "ann", "yes") for i in range(50)]
    answers = Annotations.from_rows(rows)
    bare = plan(Corpus.build("bare", answers.items, {"q": answers}))
    assert bare.methods == () and "no texts" in bare.reasons[0]


def test_columns_that_look_like_texts_are_named() -> None:
    names = [f"t{i}" for i in range(40)]
    answers = Annotations.from_rows([(name, "ann", "yes") for name in names])
    attributes = {
        "headline": [f"the mayor opened a new bridge {i}" for i in range(40)],
        "expires": [f"Tue Apr {i} 14:37:40 PDT 2017" for i in range(40)],
        "title": ["label the headline of this article"] * 40,
    }
    corpus = Corpus.build("bare", answers.items, {"q": answers}, item_attributes=attributes)
    assert columns_of_text(corpus) == ["headline"]
    assert plan(corpus).reasons[0].endswith("name it: --text headline")


def test_items_called_by_letters_are_not_taken_for_texts() -> None:
    names = [chr(97 + i // 26) + chr(97 + i % 26) for i in range(40)]
    answers = Annotations.from_rows([(name, "ann", "yes") for name in names])
    corpus = Corpus.build("bare", answers.items, {"q": answers})
    corpus = dataclasses.replace(corpus, columns={"item": "id"})
    assert columns_of_text(corpus) == []
    few = plan(corpus.select(items=list(names[:3])))
    assert few.reasons == ("no method is compared: 3 items have answers; at least 30 are needed",)


def test_anonymous_answers_have_no_methods_of_annotators() -> None:
    crowd = simulate.text(n_items=40, n_annotators=4, labels_per_item=3, seed=0)
    answers = crowd["emotion"]
    anonymous = Annotations.from_arrays(
        answers.item, None, answers.answer, answers.scale, items=crowd.items
    )
    texts = {"text": (crowd.contents["text"], crowd.content["text"])}
    plain = Corpus.build("votes", crowd.items, {"emotion": anonymous}, contents=texts)
    chosen = plan(plain)
    assert not any(name.startswith("annotator") for name in chosen.methods)
    assert any("annotators are unknown" in reason for reason in chosen.reasons)


def test_items_without_answers_are_set_apart(corpus: Corpus) -> None:
    assert without_answers(corpus) is None and with_answers(corpus) is corpus
    answers = corpus["emotion"].take(corpus["emotion"].item > 2)
    some = Corpus.build("some", corpus.items, {"emotion": answers})
    bare = without_answers(some)
    assert bare is not None and (bare.n_items, with_answers(some).n_items) == (3, 37)


def test_held_out_items_were_not_trained_on(corpus: Corpus) -> None:
    learner = method("annotator-majority")()
    tested, predictions = held_out(corpus, learner)
    assert tested.n_items == 8 and len(predictions["emotion"].items) == 8
    assert learner.learned_.corpus == corpus.name
