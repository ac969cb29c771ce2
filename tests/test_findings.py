"""What to do about what was found, and the list of disputed items, on planted answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dissensus import Annotations, Corpus, aggregate, compare, describe, read
from dissensus.description import Description, actions, disputed_table
from dissensus.description.advice import group_sentences
from dissensus.evaluation import k_fold
from dissensus.methods import method
from dissensus.report import make_report

N_ITEMS = 300
HONEST = [f"honest{number}" for number in range(4)]


def project(copier: bool = False) -> Corpus:
    """Four who err in a tenth of their answers, and one at random or a copy of the first."""
    draw = np.random.default_rng(3)
    truth = draw.integers(0, 2, N_ITEMS)
    table = np.where(draw.random((N_ITEMS, 5)) < 0.1, 1 - truth[:, None], truth[:, None])
    table[:, 4] = table[:, 0] if copier else draw.integers(0, 2, N_ITEMS)
    rows = [
        (f"t{item}", name, ("no", "yes")[value])
        for item, row in enumerate(table.tolist())
        for name, value in zip([*HONEST, "copy" if copier else "random"], row, strict=True)
    ]
    annotations = Annotations.from_rows(rows)
    return Corpus.build("project", annotations.items, {"rude": annotations})


def test_who_is_marked_comes_first_with_both_figures() -> None:
    question = describe(project()).questions[0]
    first, second, *_ = actions(describe(project()))
    assert first.startswith("Talk to the annotator random (at chance)")
    both = (question.agreement["krippendorff-alpha"],
            question.agreement_without["krippendorff-alpha"])  # fmt: skip
    assert "alpha {:.2f}, and {:.2f} without them".format(*both) in first
    assert f"{question.undecided} items on which no value has more than half" in second
    rest = project().without(annotators=["random"])["rude"].counts()
    assert question.undecided == int((2 * rest.max(axis=1) <= rest.sum(axis=1)).sum())


def test_one_of_two_with_the_same_answers_is_marked_and_the_other_one_named() -> None:
    ((one, why),) = describe(project(copier=True)).questions[0].marked.items()
    (other,) = {"copy", "honest0"} - {one}
    assert why == f"same answers as {other}; either may be the copy"


def test_items_that_only_the_marked_dispute_come_last() -> None:
    listed = disputed_table(project(), "rude")
    apart = [text.count(",") for text in listed["answers without random"].to_pylist()]
    assert apart == sorted(apart, reverse=True) and set(apart) == {0, 1}
    assert all("," in text for text in listed["answers"].to_pylist())
    assert len(disputed_table(project(), "rude", most=7)) == 7
    who = dict(zip(listed["item"].to_pylist(), listed["who"].to_pylist(), strict=True))
    answers = project().to_table().to_pylist()
    for row in answers[:50]:
        if row["item"] in who:
            annotators = dict(part.split(": ") for part in who[row["item"]].split("; "))
            assert row["annotator"] in annotators[row["rude"]].split(", ")


def test_ratings_and_anonymous_votes_are_listed_too() -> None:
    rows = [("t1", "a", 10.5), ("t1", "b", 4.5), ("t2", "a", 2.0), ("t2", "b", 2.0)]
    ratings = Annotations.from_rows(rows)
    listed = disputed_table(Corpus.build("c", ratings.items, {"q": ratings}), "q").to_pylist()
    assert [row["answers"] for row in listed] == ["4.5, 10.5"]
    counts = {"item": ["t1", "t2"], "no": [3, 2], "yes": [1, 0]}
    votes = read(counts, format="votes", answer=["no", "yes"])
    listed = disputed_table(votes, next(iter(votes.questions))).to_pylist()
    assert [(row["answers"], row["most frequent"]) for row in listed] == [("no 3, yes 1", "no")]


def test_the_consensus_weighs_annotators_where_some_are_marked_in_python_too() -> None:
    fitted = aggregate(project())["rude"]
    assert fitted.name == "dawid-skene"
    assert aggregate(project().without(annotators=["random"]))["rude"].name == "majority"
    assert aggregate(project(), "majority")["rude"].name == "majority"


def test_who_agrees_less_later_on_is_named_and_harder_items_at_the_end_accuse_nobody() -> None:
    draw = np.random.default_rng(5)
    truth = draw.integers(0, 2, N_ITEMS)
    slips = np.where(np.arange(N_ITEMS) < N_ITEMS // 2, 0.05, 0.25)  # the later half is harder
    table = np.where(draw.random((5, N_ITEMS)) < slips, 1 - truth, truth)
    tired = table.copy()
    tired[4, N_ITEMS // 2 :] = draw.integers(0, 2, N_ITEMS - N_ITEMS // 2)
    for answers, expected in ((table, []), (tired, ["4"])):
        annotator, item = np.divmod(np.arange(answers.size), N_ITEMS)
        built = Annotations.from_arrays(item, annotator, answers.ravel())
        built = replace(built, extra={"created": pa.array(1.7e9 + 60.0 * built.item)})
        description = describe(Corpus.build("c", built.items, {"q": built}))
        question = description.questions[0]
        assert [row.annotator for row in question.tendencies] == expected == [*question.tired]
        asked = [text for text in actions(description) if text.startswith("Ask 4 why the later")]
        assert len(asked) == len(expected)


def of_table(answers: np.ndarray, **attributes: list[str]) -> Description:
    """Of answers, (n_annotators, n_items)."""
    annotator, item = np.divmod(np.arange(answers.size), answers.shape[1])
    built = Annotations.from_arrays(item, annotator, answers.ravel())
    return describe(Corpus.build("c", built.items, {"q": built}, annotator_attributes=attributes))


def test_where_nobody_can_be_judged_there_is_one_thing_to_do() -> None:
    draw = np.random.default_rng(1)
    for answers, text in (
        (np.ones((3, 50), dtype=int), "All answers are the same"),
        (draw.integers(0, 2, (6, 100)), "Nobody agrees more than chance gives"),
    ):
        (only,) = actions(of_table(answers))
        assert only.startswith(text)
    assert actions(of_table(np.ones((2, 50), dtype=int) * np.arange(50) % 2))[0].endswith(
        "it cannot be said which one is unlike others: ask a third one about some of the items."
    )


def test_more_comparisons_than_few_annotators_allow_are_named_as_such() -> None:
    draw = np.random.default_rng(2)
    answers = np.where(draw.random((10, 100)) < 0.1, 0, draw.integers(0, 2, 100))
    names = {f"a{number}": draw.permutation(["x", "y"] * 5).tolist() for number in range(16)}
    (question,) = of_table(answers, **names).questions
    assert group_sentences(question.groups) == [
        "a0, a1, a2, a3, a4 and 11 more: no difference is shown; 16 comparisons are too many for "
        "so few annotators: choose one beforehand (`dissensus agreement FILE --groups NAME`)"
    ]
    (question,) = of_table(answers, a0=names["a0"]).questions
    assert group_sentences(question.groups)[0].startswith("a0: no difference is shown")


def test_methods_are_scored_with_and_without_who_is_marked(tmp_path: Path) -> None:
    corpus, methods = project(), ["prior", "annotator-majority"]
    folds = k_fold(corpus, 2)
    results = compare(corpus, methods, out=tmp_path / "c", folds=folds, seeds=1, processes=1)
    name = "rude without random"
    for fold in folds:
        train, test, _ = fold.parts(corpus)
        pairs = method("annotator-majority")().fit(train).predict(test)["rude"].by_annotator
        assert pairs is not None
        rows = test["rude"].to_table().to_pylist()
        given = {(row["item"], row["annotator"]): row["answer"] for row in rows}
        shares: dict[str, list[bool]] = {}
        for item, who, value in zip(pairs.item, pairs.annotator, pairs.value, strict=True):
            name_of = pairs.annotators[int(who)]
            answer = given[test.items[int(item)], name_of]
            shares.setdefault(name_of, []).append(answer == ("no", "yes")[int(value)])
        (fit,) = (f for f in results.of("annotator-majority") if f.fold == fold.name)
        means = {who: np.mean(right) for who, right in shares.items()}
        assert fit.score("rude", "annotator accuracy") == pytest.approx(np.mean([*means.values()]))
        del means["random"]
        assert fit.score(name, "annotator accuracy") == pytest.approx(np.mean([*means.values()]))
    assert results.about.questions == ("rude",)  # tests of the question are corrected alone
    every = make_report(corpus, results).to_dict()["sections"]
    (section,) = (one for one in every if one["section"] == "Methods compared")
    titles = [block["table"] for block in section["blocks"] if "table" in block]
    assert titles == ["Mean scores, rude", f"Mean scores, {name}"]
