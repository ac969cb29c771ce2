"""Corpus: what was shown, what was asked, who answered."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dissensus import agreement, simulate
from dissensus.aggregation import DawidSkene, OneCoin
from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, Focus, LeftOut, Rationales
from dissensus.errors import DataError
from dissensus.files import folders
from dissensus.names import Names
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal
from tests.saved_folders import without_checksums

ITEMS = ["t1", "t2", "t3", "t4", "t5", "t6"]
PEOPLE = ["ann", "bob", "eve"]
TEXTS = ["so good", "so bad", "so good", "meh", "well", None]


def whole() -> Corpus:
    """A corpus with every part that one can have."""
    offensive = Annotations.from_rows(
        [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "no"), ("t4", "eve", "yes")],
        Nominal(("no", "yes"), np.array([[0, 2], [2, 0]])),
        response=[1, 2, 3, 4],
        seconds=[0.5, float("nan"), 2, 3],
        extra={"page": [1, None, 3, 4], "device": pa.array(list("pqpp")).dictionary_encode()},
    )
    valence = Annotations.from_arrays(
        ["t1", "t2", "t1"], ["bob", "ann", "bob"], [1.5, -3, 2], Interval(-3, 3, n_bins=6),
        response=[2, 3, 9], repeats="keep",
    )  # fmt: skip
    emotions = Annotations.from_arrays(
        ["t1", "t3"], None, ["joy,fear", ""], MultiLabel(("joy", "fear"))
    )
    votes = Annotations.from_arrays(
        ["t5", "t5", "t6"], None, ["-1", "1", "2"], Ordinal(("-1", "1", "2")), count=[3, 1, 2]
    )
    features = [np.ones(2), np.zeros(2), np.ones(2), None, None, np.ones(2)]
    return Corpus.build(
        "mine",
        ITEMS,
        {"offensive": offensive, "valence": valence, "emotions": emotions, "votes": votes},
        contents={
            "text": Contents.distinct("text", TEXTS),
            "pixels": Contents.distinct("features", features),
        },
        item_attributes={"domain": list("aabbcc"), "year": [1, 2, 3, None, 5, 6]},
        annotator_attributes={"age": [30, None, 50], "name": ["Ann", "Bob", "Eve"]},
        gold={
            "offensive": Annotations.from_arrays(["t1", "t3"], None, ["yes", "no"]),
            "topic": Annotations.from_arrays(["t4"], None, ["sport"]),
        },
        focus=Focus("text", np.array([[0.0]] * 5 + [[np.nan]]), np.array([[2.0]] * 5 + [[np.nan]])),
        rationales=Rationales(
            np.array([0, 0, 3]),
            np.array([0, -1, 2]),
            pa.array(["offensive", "offensive", "valence"]),
            pa.array(["text", "text", "text"]),
            np.array([0.0, 3.0, 0.0]),
            np.array([2.0, 7.0, 3.0]),
            pa.array(["word", "word", "span"]),
        ),
        splits={"official": ["train", "train", "dev", "test", None, "train"]},
        group="domain",
        left_out=(LeftOut("offensive", "blank", 3), LeftOut("valence", "outside the scale", 1)),
        columns={"item": "task", "annotator": "worker", "text": "tweet"},
        notes=("read from a test",),
    )


def crowd(n_items: int = 200, n_annotators: int = 10, group: int = 1) -> Corpus:
    """Everybody answers two questions on every item; `group` items share a text and a speaker."""
    item = np.repeat(np.arange(n_items), n_annotators)
    who = np.tile(np.arange(n_annotators), n_items)
    answer = np.random.default_rng(0).integers(0, 2, len(item))
    answers = Annotations.from_arrays(item, who, answer, Nominal(("no", "yes")))
    texts = [f"text {i // group}" for i in range(n_items)]
    return Corpus.build(
        "crowd",
        Names.range(n_items),
        {"one": answers, "two": answers},
        contents={"text": Contents.distinct("text", texts)},
        item_attributes={"speaker": [f"s{i // group}" for i in range(n_items)]},
    )


def triples(annotations: Annotations) -> list[tuple[Any, ...]]:
    """(item, annotator, answer) by name, sorted."""
    who = annotations.annotator
    people = (
        [None] * annotations.n_rows if who is None else [annotations.annotators[a] for a in who]
    )
    items = [annotations.items[i] for i in annotations.item]
    return sorted(zip(items, people, annotations.answers(), strict=True), key=repr)


# ---- building ----


def test_the_whole_corpus_has_every_part() -> None:
    corpus = whole()
    empty = [f.name for f in fields(corpus) if getattr(corpus, f.name) in (None, {}, ())]
    assert empty == []
    assert (corpus.n_items, corpus.n_annotators) == (6, 3)
    assert all(answers.items is corpus.items for answers in corpus.questions.values())
    assert all(answers.annotators is corpus.annotators for answers in corpus.questions.values())


def test_annotators_are_those_of_the_questions_in_order() -> None:
    one = Annotations.from_rows([("t1", "bob", "a"), ("t2", "ann", "b")])
    two = Annotations.from_rows([("t2", "eve", "a"), ("t2", "bob", "b")])
    corpus = Corpus.build("mine", ["t2", "t1"], {"one": one, "two": two})
    assert list(corpus.annotators) == ["bob", "ann", "eve"]
    assert triples(corpus["two"]) == [("t2", "bob", "b"), ("t2", "eve", "a")]
    assert corpus["one"].item.tolist() == [1, 0]


def test_texts_are_shown_with_their_focus() -> None:
    corpus = whole()
    assert corpus.text_of(0) == "[[so]] good | <features>"
    assert corpus.text_of(3) == "[[me]]h"
    assert corpus.text_of(5) == "<features>"


# ---- joining questions ----


def test_answers_are_joined_by_response_where_there_is_one() -> None:
    corpus = whole()  # bob gave valence twice on t1, once together with offensive
    joint = corpus.joint("offensive", "valence")
    assert joint.item.tolist() == [0, 1] and joint.annotator is not None
    assert joint.annotator.tolist() == [1, 0]
    assert joint.answers["offensive"].tolist() == [0, 0]
    assert joint.answers["valence"].tolist() == [1.5, -3]


def two_questions(first: Annotations, second: Annotations) -> Corpus:
    return Corpus.build("mine", ["t1", "t2", "t3"], {"one": first, "two": second})


def test_anonymous_answers_are_joined_by_response() -> None:
    scale = Interval(0, 9)
    first = Annotations.from_arrays(["t1", "t1", "t2"], None, [1, 2, 3], scale, response=[7, 8, 9])
    second = Annotations.from_arrays(["t2", "t1"], None, [5, 6], scale, response=[9, 7])
    joint = two_questions(first, second).joint("one", "two")
    assert joint.annotator is None and joint.item.tolist() == [0, 1]
    assert joint.answers["one"].tolist() == [1, 3] and joint.answers["two"].tolist() == [6, 5]


def test_answers_without_response_are_joined_by_item_and_annotator() -> None:
    rows = [("t1", "ann", "1"), ("t1", "bob", "2"), ("t2", "ann", "3"), ("t3", "eve", "4")]
    others = [("t2", "ann", "7"), ("t1", "bob", "8"), ("t3", "ann", "9")]
    scale = Interval(0, 9)
    first, second = Annotations.from_rows(rows, scale), Annotations.from_rows(others, scale)
    joint = two_questions(first, second).joint("one", "two")
    tables = [pd.DataFrame(r, columns=["item", "annotator", "x"]) for r in (rows, others)]
    expected = tables[0].merge(tables[1], on=["item", "annotator"])
    result = sorted(zip(joint.answers["one"], joint.answers["two"], strict=True))
    pairs = zip(expected["x_x"].astype(float), expected["x_y"].astype(float), strict=True)
    assert result == sorted(pairs) == [(2, 8), (3, 7)]


def test_three_questions_are_joined_also_if_only_one_has_responses() -> None:
    rows = [(item, "ann", "1") for item in ("t1", "t2", "t3")]
    answers = {str(n): Annotations.from_rows(rows[n:]) for n in range(3)}
    answers["0"] = Annotations.from_rows(rows, response=[1, 2, 3])
    joint = Corpus.build("mine", ["t1", "t2", "t3"], answers).joint("0", "1", "2")
    assert joint.item.tolist() == [2] and list(joint.answers) == ["0", "1", "2"]


# ---- selecting ----


def test_selected_items_bring_everything_of_theirs() -> None:
    mask = np.array([True, False, False, True, False, False])
    assert whole().select(items=mask).equals(whole().select(items=["t1", "t4"]))
    corpus = whole().select(items=np.array([3, 0]))  # more of it: tests/test_properties.py
    assert triples(corpus.gold["offensive"]) == [("t1", None, "yes")]
    assert [corpus.text_of(i) for i in (0, 1)] == ["[[me]]h", "[[so]] good | <features>"]
    assert len(corpus.contents["text"]) == 2 and len(corpus.contents["pixels"]) == 1
    assert corpus.splits["official"].to_pylist() == ["test", "train"]
    assert corpus.rationales is not None
    assert corpus.rationales.stop.tolist() == [[2.0], [7.0], [3.0]]


def boxes() -> Rationales:
    """A box in a picture and a span of a text, which has no second axis."""
    start = np.array([[2, 4], [0, np.nan]])
    texts = (pa.array(["offensive"] * 2), pa.array(["picture", "text"]))
    return Rationales(
        np.array([1, 0]), np.array([2, 0]), *texts, start, start + 3, pa.array(["box"] * 2)
    )


def test_rationales_have_axes_as_a_focus_has(tmp_path: Path) -> None:
    one = whole().rationales
    assert one is not None and one.start.tolist() == [[0.0], [3.0], [0.0]]
    corpus = replace(whole(), rationales=boxes())
    corpus.save(tmp_path / "corpus")
    again = Corpus.load(tmp_path / "corpus")
    assert again.equals(corpus)
    chosen = again.select(items=["t2"], annotators=["eve"]).rationales
    assert chosen is not None and chosen.item.tolist() == [0] and len(chosen) == 1
    assert (chosen.start.tolist(), chosen.stop.tolist()) == ([[2.0, 4.0]], [[5.0, 7.0]])


def test_nothing_of_what_is_taken_out_stays() -> None:
    corpus = whole().without(annotators="ann")
    assert "ann" not in corpus.annotators and corpus.n_annotators == 2
    assert triples(corpus["offensive"]) == [("t1", "bob", "no"), ("t4", "eve", "yes")]
    assert corpus.annotator_attributes["name"].to_pylist() == ["Bob", "Eve"]
    assert corpus.rationales is not None and corpus.rationales.annotator.tolist() == [-1, 1]
    assert corpus.equals(whole().select(annotators=["bob", "eve"]))
    corpus = whole()
    assert corpus.without(items=["t1", "t6"]).equals(corpus.select(items=ITEMS[1:5]))
    assert corpus.without().equals(whole())  # nothing is changed in place


# ---- official splits ----


def test_parts_of_the_official_split() -> None:
    corpus = whole()
    assert corpus.parts() == ["train", "dev", "test"] and corpus.parts("other") == []
    assert list(corpus.part("train").items) == ["t1", "t2", "t6"]
    in_some = sum(corpus.in_part(part).sum() for part in corpus.parts())
    assert in_some == 5  # t5 is in none


# ---- splitting ----


def test_items_that_share_a_text_stay_together_unless_told() -> None:
    corpus = crowd(n_items=200, group=4)
    for seed in range(5):
        train, test = corpus.split(0.2, seed=seed)
        texts = [{part.text_of(i) for i in range(part.n_items)} for part in (train, test)]
        assert not texts[0] & texts[1]
        assert test.n_items == 40 and train.n_items == 160
    train, test = corpus.split(0.2, by="item")
    assert {train.text_of(i) for i in range(160)} & {test.text_of(i) for i in range(40)}


def test_items_are_grouped_by_an_attribute_or_their_content() -> None:
    corpus = whole()
    assert corpus.group == "domain"
    assert corpus.units().tolist() == corpus.units("domain").tolist()
    assert len(set(corpus.units("content"))) == 5 and len(set(corpus.units("item"))) == 6
    assert len(set(corpus.units("year"))) == 6  # a missing year is nobody else's
    roles = {"premise": ["a", "a", "b", "a", None, None], "hypothesis": [*"xyxx", None, None]}
    pairs = Corpus.build("pairs", Names.range(6), {}, contents=roles)
    units = pairs.units().tolist()
    assert units[0] == units[3]  # the content is that of all roles
    assert len(set(units)) == 5  # and items without content are alone
    assert len(set(Corpus.build("mine", Names.range(4), {}).units())) == 4


def many_small_groups_drawn_first() -> list[int]:
    """51 groups of one item that seed 0 draws first, then 9 groups of nine."""
    sizes = np.full(60, 9)
    sizes[np.random.default_rng(0).permutation(60)[:51]] = 1
    return [int(size) for size in sizes]


@given(
    st.lists(st.integers(1, 9), min_size=60, max_size=120),
    st.sampled_from([0.1, 0.2, 0.5]),
    st.integers(0, 9),
)
@example(many_small_groups_drawn_first(), 0.5, 0)  # 63 or 69 of 132 items, not 66
def test_a_split_never_cuts_a_group_and_keeps_the_share(
    sizes: list[int], share: float, seed: int
) -> None:
    speaker = [f"s{n}" for n, size in enumerate(sizes) for _ in range(size)]
    corpus = Corpus.build(
        "mine", Names.range(len(speaker)), {}, item_attributes={"speaker": speaker}
    )
    train, test = corpus.split(share, by="speaker", seed=seed)
    sides = [set(part.item_attributes["speaker"].to_pylist()) for part in (train, test)]
    assert not sides[0] & sides[1] and sides[0] | sides[1] == set(speaker)
    assert train.n_items + test.n_items == corpus.n_items
    assert abs(test.n_items - share * corpus.n_items) <= max(sizes) / 2 + 1e-9


def test_equal_groups_come_as_near_to_the_share_as_they_can() -> None:
    train, test = crowd(n_items=98, group=7).split(0.2, by="speaker")
    assert test.n_items == 21 and train.n_items == 77  # 14 would be further from 19.6


def test_a_corpus_is_shown_in_a_line() -> None:
    one = Corpus.build("mine", ["t1"], {"q": Annotations.from_rows([("t1", "ann", "yes")])})
    assert repr(one) == (
        "<Corpus 'mine': 1 item, 1 annotator; questions: 'q' (nominal, 1 answer); contents: none>"
    )
    assert repr(one["q"]) == "<Annotations: 1 answer by 1 annotator on 1 item, nominal>"
    votes = Annotations.from_arrays(["t1"], None, ["yes"], Nominal(("yes",)), count=[7])
    assert repr(votes) == "<Annotations: 7 answers by unknown annotators on 1 item, nominal>"
    assert repr(whole().contents["text"]) == "<Contents: 4 different, text>"


# ---- dropping labels ----


def pairs(annotations: Annotations) -> set[tuple[int, int]]:
    return set(
        zip(annotations.item.tolist(), annotations.annotator_codes("a test").tolist(), strict=True)
    )


def test_a_rationale_is_dropped_with_its_answer() -> None:
    full = crowd(n_items=20, n_annotators=3)
    item, who = np.divmod(np.arange(60), 3)
    texts = [pa.array([word] * 63) for word in ("one", "text", "span")]
    spans = Rationales(
        np.r_[item, [0, 1, 2]],
        np.r_[who, [-1, -1, -1]],
        texts[0],
        texts[1],
        np.zeros(63),
        np.ones(63),
        texts[2],
    )
    silent = full.questions["one"].take(full["one"].item != 7)  # marked, but never answered
    kept = replace(full, questions={"one": silent}, rationales=spans).drop_labels(0.5)
    assert kept.rationales is not None
    left = list(zip(kept.rationales.item.tolist(), kept.rationales.annotator.tolist(), strict=True))
    assert left[-3:] == [(0, -1), (1, -1), (2, -1)]
    assert set(left[:-3]) == pairs(kept["one"]) | {(7, 0), (7, 1), (7, 2)}


def test_dropping_is_seeded_and_random() -> None:
    corpus = crowd()
    assert corpus.drop_labels(0.5, seed=1).equals(corpus.drop_labels(0.5, seed=1))
    first, second = (pairs(corpus.drop_labels(0.5, seed=seed)["one"]) for seed in (1, 2))
    assert 0.4 < len(first & second) / len(first) < 0.6  # as independent draws would
    dropped_per_item = 10 - corpus.drop_labels(0.5, seed=1)["one"].per_item()
    assert 3 < dropped_per_item.mean() < 7 and dropped_per_item.std() > 1
    order = np.random.default_rng(0).permutation(corpus["one"].n_rows)
    shuffled = replace(corpus, questions={q: a.take(order) for q, a in corpus.questions.items()})
    assert pairs(shuffled.drop_labels(0.5, seed=1)["one"]) == first  # in any order of rows


# ---- saving and loading ----


def bare() -> Corpus:
    """Nothing but names in a range and anonymous answers."""
    answers = Annotations.from_arrays(np.array([0, 2]), None, ["a", "b"])
    return Corpus.build("bare", Names.range(3), {"q": answers})


def empty() -> Corpus:
    answers = Annotations.from_arrays(np.array([], int), None, [], Nominal(("a",)))
    return Corpus.build("empty", [], {"q": answers})


def with_gaps() -> Corpus:
    """Attributes with nan, and a count that is no plain integer."""
    facts = {"age": np.array([1.0, np.nan]), "name": pd.Series(["a", None])}
    left_out: Any = (LeftOut("q", "blank", np.int64(3)),)  # type: ignore[arg-type]
    corpus = Corpus.build("mine", ["t1", "t2"], {}, item_attributes=facts, left_out=left_out)
    assert corpus.item_attributes["age"].to_pylist() == [1.0, None]
    return corpus


@pytest.mark.parametrize("make", [whole, crowd, bare, empty, with_gaps])
def test_write_then_read_is_the_identity(tmp_path: Path, make: Any) -> None:
    corpus = make()
    corpus.save(tmp_path / "corpus")
    again = Corpus.load(tmp_path / "corpus")
    assert again.equals(corpus) and corpus.equals(again)
    again.save(tmp_path / "again")
    fronts = [
        json.loads((tmp_path / name / "corpus.json").read_text()) for name in ("again", "corpus")
    ]
    assert fronts[0] | {"checksums": {}} == fronts[1] | {"checksums": {}}


def test_equals_sees_every_part() -> None:
    corpus = whole()
    others: dict[str, Any] = {
        "name": "yours",
        "items": Names(list("abcdef")),
        "annotators": Names(list("abc")),
        "questions": {},
        "contents": {},
        "content": {"text": np.zeros(6, np.int32), "pixels": corpus.content["pixels"]},
        "item_attributes": {},
        "annotator_attributes": {},
        "gold": {},
        "focus": None,
        "rationales": None,
        "splits": {"official": pa.array(["train"] * 6)},
        "group": None,
        "left_out": (),
        "notes": (),
        "columns": {},
    }
    assert others.keys() == {part.name for part in fields(corpus)}
    for name, other in others.items():
        assert not corpus.equals(replace(corpus, **{name: other})), name


def test_labels_are_dropped_from_some_items_only() -> None:
    rows = [(f"t{k}", name, "yes") for k in range(20) for name in ("ann", "bob")]
    answers = Annotations.from_rows(rows)
    parts = {"official": ["train"] * 10 + ["test"] * 10}
    corpus = Corpus.build("mine", answers.items, {"q": answers}, splits=parts)
    kept = corpus.drop_labels(0.4, items=corpus.in_part("train"))
    for part, n_answers in (("train", 6), ("test", 10)):
        assert kept.part(part)["q"].per_annotator().tolist() == [n_answers] * 2


# ---- contents as lists of texts ----


def test_contents_may_be_the_text_of_each_item() -> None:
    answers = Annotations.from_rows(
        [("t1", "ann", "yes"), ("t2", "ann", "no"), ("t3", "bob", "no")]
    )
    corpus = Corpus.build(
        "mine", ["t1", "t2", "t3"], {"q": answers}, contents={"text": ["a", None, "a"]}
    )
    assert corpus.content["text"].tolist() == [0, -1, 0] and corpus.contents["text"][0] == "a"


def test_a_folder_whose_answers_an_earlier_version_wrote_in_blocks(tmp_path: Path) -> None:
    """Several row groups, with codes of 8 bytes."""
    corpus = simulate.text(n_items=60, n_annotators=5, labels_per_item=3)
    corpus.save(tmp_path / "crowd")
    path = tmp_path / "crowd" / "question-0.parquet"
    table = pq.read_table(path)
    for at, name in enumerate(("item", "annotator")):
        table = table.set_column(at, name, table[name].cast(pa.int64()))
    pq.write_table(table, path, row_group_size=50)
    without_checksums(tmp_path / "crowd" / "corpus.json")
    loaded = Corpus.load(tmp_path / "crowd")
    assert loaded.equals(corpus) and loaded["emotion"].item.dtype == np.int32


@pytest.mark.parametrize("key", ["n_items", "n_annotators"])
def test_a_number_of_names_that_would_take_all_memory_is_refused(tmp_path: Path, key: str) -> None:
    item, who, answer = np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([0, 1, 0])
    answers = Annotations.from_arrays(item, who, answer, Nominal(("n", "y")))
    Corpus.build("mine", answers.items, {"q": answers}).save(tmp_path / "crowd")
    front = tmp_path / "crowd" / "corpus.json"
    without_checksums(front)
    front.write_text(json.dumps(json.loads(front.read_text()) | {key: 10**9}))
    with pytest.raises(DataError, match=f"1,000,000,000 {key[2:]}, of which nearly none has"):
        Corpus.load(tmp_path / "crowd")


@pytest.mark.parametrize("n_values", [4, 60, 200])
def test_codes_of_very_many_answers_are_the_same_in_fewer_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_values: int
) -> None:
    generator = np.random.default_rng(0)
    item, annotator = np.divmod(generator.permutation(30 * 150)[:2000], 150)
    answer = (item + generator.integers(0, 2, 2000)) % n_values
    scale = Nominal(tuple(f"v{value}" for value in range(n_values)))
    answers = Annotations.from_arrays(item, annotator, answer, scale)
    Corpus.build("mine", answers.items, {"q": answers}).save(tmp_path / "corpus")
    usual = Corpus.load(tmp_path / "corpus")["q"]
    monkeypatch.setattr(folders, "MANY_ROWS", 0)
    small = Corpus.load(tmp_path / "corpus")["q"]
    assert small.annotator is not None and small.annotator.itemsize == 2
    assert (small.item.itemsize, small.answer.itemsize) == (1, 2 if n_values == 200 else 1)
    assert agreement.measured(small) == pytest.approx(agreement.measured(usual), rel=0, abs=0)
    for model in (DawidSkene, OneCoin):
        one, other = (model().fit(each).calibrated_ for each in (usual, small))
        np.testing.assert_array_equal(one, other)
