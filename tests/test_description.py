from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dissensus import simulate
from dissensus.agreement import at_a_glance
from dissensus.annotations import Annotations
from dissensus.annotations.annotations import MOST_CELLS
from dissensus.contents import Contents
from dissensus.corpus import Corpus, Focus, LeftOut
from dissensus.description import QuestionDescription, copied_answers, describe, leave_out, one_line
from dissensus.description.describe import shares_of
from dissensus.names import Names
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale

TEXTS = ["so good!", "you\n fool", "meh", "never seen"]


def small() -> Corpus:
    rows = [
        *(("t1", who, "no") for who in ("ann", "bob", "cleo")),
        *(("t2", who, answer) for who, answer in (("ann", "no"), ("bob", "yes"), ("cleo", "yes"))),
        *(("t3", who, answer) for who, answer in (("ann", "no"), ("bob", "yes"))),
    ]
    ratings = [("t1", "ann", 2), ("t1", "bob", 8), ("t2", "ann", 5)]
    return Corpus.build(
        "small",
        ["t1", "t2", "t3", "t4"],
        {
            "rude": Annotations.from_rows(rows, Nominal(("no", "yes"))),
            "funny": Annotations.from_rows(ratings, Interval(0, 10)),
        },
        contents={"text": Contents.distinct("text", TEXTS)},
        item_attributes={"topic": ["a", "a", "b", "b"]},
        annotator_attributes={"age": [20, 30, 40]},
        gold={"rude": Annotations.from_arrays(["t1"], None, ["no"], Nominal(("no", "yes")))},
        splits={"official": ["train", "train", "dev", None]},
        left_out=(
            LeftOut("rude", "the answer is empty", 2),
            LeftOut("rude", "no annotator", 1),
            LeftOut("rude", "the answer is empty", 3),
            LeftOut("other", "asked of other items", 7),
        ),
    )


def question(annotations: Annotations) -> QuestionDescription:
    """The description of the only question of a corpus."""
    return describe(Corpus.build("c", annotations.items, {"q": annotations})).questions[0]


def described(answer: np.ndarray, scale: Scale) -> QuestionDescription:
    """Annotators in rows, items in columns."""
    annotator, item = np.divmod(np.arange(answer.size), answer.shape[1])
    return question(Annotations.from_arrays(item, annotator, answer.ravel(), scale))


def test_the_corpus() -> None:
    result = describe(small())
    assert (result.name, result.items, result.annotators) == ("small", 4, 3)
    assert result.contents == {"text": {"kind": "text", "number": 4}}
    assert (result.item_attributes, result.annotator_attributes) == (["topic"], ["age"])
    assert result.splits == {"official": {"train": 2, "dev": 1, "in no part": 1}}
    assert result.left_out == [
        {"question": "other", "reason": "asked of other items", "answers": 7}
    ]


def test_a_question_of_values() -> None:
    rude = describe(small()).questions[0]
    assert (rude.name, rude.scale, rude.loaded) == ("rude", "nominal: no, yes", 8)
    assert rude.left_out == {"the answer is empty": 5, "no annotator": 1}
    assert (rude.items, rude.items_without_answers, rude.annotators, rude.gold) == (3, 1, 3, 1)
    assert rude.per_item == {"min": 2, "mean": pytest.approx(8 / 3), "max": 3}
    assert rude.per_annotator == {"min": 2, "median": 3, "max": 3}
    assert rude.shares == {"no": 5 / 8, "yes": 3 / 8}
    assert rude.ratings is None
    assert rude.agreement["percent"] == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert rude.disputed_by == "entropy"
    assert [(d.item, d.text) for d in rude.disputed] == [("t3", "meh"), ("t2", "you fool")]
    assert rude.disputed[0].dispute == pytest.approx(np.log(2))
    assert rude.disputed[1].answers == {"yes": 2, "no": 1}


def test_a_question_of_ratings() -> None:
    funny = describe(small(), ["funny"]).questions[0]
    assert (funny.scale, funny.loaded, funny.left_out) == ("interval: 0..10", 3, {})
    assert funny.shares is None
    assert funny.ratings == {
        "mean": 5,
        "sd": 3,
        "lowest": 2,
        "25 %": 2,
        "median": 5,
        "75 %": 8,
        "highest": 8,
    }
    assert [d.item for d in funny.disputed] == ["t1"]
    assert funny.disputed_by == "variance"
    assert funny.disputed[0].dispute == pytest.approx(9)
    assert funny.disputed[0].answers == {"mean": 5, "sd": pytest.approx(18**0.5), "answers": 2}


def test_only_the_questions_and_items_asked_for() -> None:
    result = describe(small(), ["rude"], most=1)
    assert [question.name for question in result.questions] == ["rude"]
    assert len(result.questions[0].disputed) == 1
    assert result.left_out == []


def test_to_dict_is_json_with_null_for_what_is_undefined() -> None:
    alone = Annotations.from_rows([("t1", "ann", "yes")])
    fields = describe(Corpus.build("one", ["t1"], {"rude": alone})).to_dict()
    assert fields["questions"][0]["agreement"] == {"percent": None, "krippendorff-alpha": None}
    assert json.loads(json.dumps(fields, allow_nan=False)) == fields


@pytest.mark.parametrize(
    "scale",
    [Nominal(("a", "b")), Ordinal(("1", "2")), Interval(0, 1), MultiLabel(("a", "b"))],
    ids=lambda scale: scale.kind,
)
def test_a_question_that_nobody_answered(scale: Scale) -> None:
    nothing = Annotations.from_arrays(
        np.zeros(0, int), np.zeros(0, int), np.zeros(0, scale.dtype), scale
    )
    answers = describe(Corpus.build("empty", ["t1"], {"q": nothing})).questions[0]
    assert (answers.loaded, answers.items, answers.items_without_answers) == (0, 0, 1)
    assert not (answers.per_item or answers.per_annotator or answers.shares or answers.ratings)
    assert answers.disputed == []


def test_the_order_of_levels_decides_what_is_disputed() -> None:
    answers = {"near": ["1", "2", "1", "2"], "far": ["1", "1", "1", "3"]}
    rows = [(item, who, a) for item, given in answers.items() for who, a in enumerate(given)]
    for scale, expected in ((Nominal(("1", "2", "3")), "near"), (Ordinal(("1", "2", "3")), "far")):
        corpus = Corpus.build("c", ["near", "far"], {"q": Annotations.from_rows(rows, scale)})
        assert describe(corpus).questions[0].disputed[0].item == expected


def test_sets_of_values() -> None:
    scale = MultiLabel(("joy", "fear"))
    rows = [
        ("t1", "ann", "joy,fear"),
        ("t1", "bob", ""),
        ("t2", "ann", "joy"),
        ("t2", "bob", "joy"),
    ]
    answers = question(Annotations.from_rows(rows, scale))
    assert answers.shares == {"joy": 0.75, "fear": 0.25}
    assert [d.item for d in answers.disputed] == ["t1"]
    assert answers.disputed[0].answers == {"(none)": 1, "joy + fear": 1}


def test_anonymous_counts() -> None:
    votes = Annotations.from_arrays(
        np.array([0, 0, 1]), None, np.array([0, 1, 1]), Nominal(("a", "b")), count=[3, 1, 2]
    )
    answers = describe(Corpus.build("c", ["0", "1"], {"q": votes})).questions[0]
    assert (answers.loaded, answers.annotators, answers.per_annotator) == (6, None, None)
    assert answers.per_item == {"min": 2, "mean": 3, "max": 4}
    assert answers.shares == {"a": 0.5, "b": 0.5}
    assert answers.disputed[0].answers == {"a": 3, "b": 1}


def crowd() -> Annotations:
    """Eight annotators on 60 items: p1 always says b, p2 and p5 say the same, p3 is quick, and p7
    gave nine equal answers, which is too few to say anything."""
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 3, 60)
    answer = np.where(generator.random((8, 60)) < 0.7, truth, generator.integers(0, 3, (8, 60)))
    answer[1], answer[5], answer[7] = 1, answer[2], 2
    seconds = generator.uniform(8, 12, (8, 60))
    seconds[3] = 2.5
    seconds[3, :25] = 100  # a few long ones do not hide the others
    seconds[4, 0] = np.nan
    annotator, item = np.divmod(np.arange(480), 60)
    few = (annotator == 7) & (item >= 9)
    order = generator.permutation(np.flatnonzero(~few))
    return Annotations.from_arrays(
        item[order],
        annotator[order],
        answer.ravel()[order],
        Nominal(("a", "b", "c")),
        items=Names([f"t{i}" for i in range(60)]),
        annotators=Names([f"p{a}" for a in range(8)]),
        seconds=seconds.ravel()[order],
    )


def test_suspicious_annotators() -> None:
    annotations = crowd()
    answers = question(annotations)
    assert [(who.annotator, who.value, who.answers) for who in answers.constant] == [
        ("p1", "b", 60)
    ]
    chance = 1.0  # of the others' answers to each item, and one answer as all answers are
    for item in annotations.item[annotations.annotator == 1]:
        others = annotations.answer[(annotations.item == item) & (annotations.annotator != 1)]
        share = (annotations.answer == 1).mean()
        chance *= ((others == 1).sum() + share) / (len(others) + 1)
    assert chance < answers.constant[0].chance < 1e-9  # others differ in how readily they do
    assert [(who.annotator, who.answers, who.seconds) for who in answers.fast] == [("p3", 60, 2.5)]
    assert 8 < answers.fast[0].usual < 12
    assert [(group.annotators, group.answers) for group in answers.duplicated] == [
        (["p2", "p5"], 60)
    ]


SCALES = {
    "nominal": Nominal(("a", "b", "c")),
    "ordinal": Ordinal(("1", "2", "3")),
    "interval": Interval(0, 2),
    "multi-label": MultiLabel(("a", "b")),
}


def planted(kind: str, seed: int = 0) -> Annotations:
    """Ten annotators on 150 items: 0 is at random, 1 contrary, 2 constant, 3 copies 4."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 3, 150)
    answer = np.where(generator.random((10, 150)) < 0.7, truth, generator.integers(0, 3, (10, 150)))
    answer[0] = generator.integers(0, 3, 150)
    answer[1] = 2 - truth if kind in ("ordinal", "interval") else (truth + 1) % 3
    answer[2], answer[3] = 1, answer[4]
    annotator, item = np.divmod(np.arange(1500), 150)
    return Annotations.from_arrays(item, annotator, answer.ravel(), SCALES[kind])


@pytest.mark.parametrize("kind", SCALES)
def test_planted_annotators_are_named_and_no_others(kind: str) -> None:
    annotations = planted(kind, seed=1)
    described = question(annotations)
    kinds = {row.annotator: row.suspicious for row in described.by_annotator if row.suspicious}
    assert kinds == {
        "0": ("at chance",),
        "1": ("contrary",),
        "2": ("constant",),
        "3": ("duplicated",),
        "4": ("duplicated",),
    }
    assert described.suspicious == described.by_annotator[:5]
    at_chance = next(row for row in described.suspicious if row.suspicious == ("at chance",))
    verb = "correlates" if kind == "interval" else "agrees"
    assert re.fullmatch(
        rf"{verb} -?0\.\d\d with the rest, others 0\.\d\d-0\.\d\d; "
        r"kappa -?0\.\d\d \[-0\.\d\d, 0\.\d\d\].*",
        at_chance.evidence[0],
    )


def copies(answer: np.ndarray, values: int | Ordinal | Interval) -> list[list[str]]:
    """Who is said to have given the same answers, of answers (n_annotators, n_items); -1: none."""
    annotator, item = np.nonzero(answer >= 0)
    scale = Nominal(tuple("abcde"[:values])) if isinstance(values, int) else values
    annotations = Annotations.from_arrays(item, annotator, answer[annotator, item], scale)
    described = question(annotations)
    return [pair.annotators for pair in described.duplicated]


def test_the_work_of_finding_copies_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 annotators with the same 25 items took minutes."""
    annotations = planted("nominal", seed=1)
    monkeypatch.setattr(copied_answers, "MOST_PAIRS", 500)
    rows = copied_answers.Answers.of(annotations)
    rare = rows.sampled(np.arange(1500))
    assert 0 < (np.unique(rows.group[rare], return_counts=True)[1] ** 2).sum() <= 500
    assert [pair.annotators for pair in question(annotations).duplicated] == [["3", "4"]]


def right_with(
    generator: np.random.Generator, truth: np.ndarray, accuracies: list[float], n_values: int
) -> np.ndarray:
    """Answers of annotators who err independently, (n_annotators, n_items)."""
    shape = (len(accuracies), len(truth))
    right = generator.random(shape) < np.array(accuracies)[:, None]
    return np.where(right, truth, (truth + generator.integers(1, n_values, shape)) % n_values)


@pytest.mark.parametrize(
    "accuracies", [[0.85, 0.9, 0.95], [0.97, 0.97, 0.7, 0.7], [0.97, 0.97, 0.8, 0.75, 0.7]]
)
def test_good_annotators_do_not_copy(accuracies: list[float]) -> None:
    for seed in range(4):
        generator = np.random.default_rng([1, seed])
        truth = (generator.random(300) < 0.15).astype(int)
        assert copies(right_with(generator, truth, accuracies, 2), 2) == []


def test_annotators_with_a_common_view_do_not_copy() -> None:
    for seed in range(4):
        generator = np.random.default_rng([2, seed])
        views = generator.integers(0, 3, (2, 300))
        answer = [right_with(generator, view, [0.9, 0.9, 0.9], 3) for view in views]
        assert copies(np.vstack(answer), 3) == []


def test_with_many_items_honest_annotators_are_not_named_for_a_model_that_is_nearly_true() -> None:
    for seed in range(3):
        generator = np.random.default_rng([5, seed])
        truth, difficulty = generator.integers(0, 2, 1500), generator.normal(0, 1, 1500)
        right = 1 / (1 + np.exp(difficulty - np.array([[1.0], [1.3]])))
        right = np.vstack([np.full((2, 1500), 0.98), right])
        experts = np.where(generator.random(right.shape) < right, truth, 1 - truth)
        assert copies(experts, 2) == []
        view = np.where(generator.random((3, 1500)) < 0.3, generator.integers(0, 2, 1500), truth)
        camps = [right_with(generator, one, [0.975], 2) for one in view[[0, 0, 1, 2]]]
        assert copies(np.vstack(camps), 2) == []
        rating = generator.uniform(0, 4, 1500) + generator.normal(0, 1, (5, 1500)) * np.array(
            [[0.05], [0.05], [0.5], [0.6], [0.7]]
        )
        assert copies(rating.round().clip(0, 4).astype(int), Interval(0, 4)) == []


def test_two_who_use_the_ends_of_a_scale_do_not_copy() -> None:
    for seed in range(4):
        generator = np.random.default_rng([6, seed])
        noise = np.array([[0.2], [0.2], [0.2], [0.6], [0.6]])
        value = generator.uniform(0, 4, 200) + generator.normal(0, 1, (5, 200)) * noise
        answer = value.round().clip(0, 4).astype(int)
        answer[:2] = np.where(value[:2] > 2, 4, 0)
        assert copies(answer, Ordinal(("1", "2", "3", "4", "5"))) == []


def test_copies_need_two_others_who_answered_the_same_items() -> None:
    generator = np.random.default_rng(3)
    answer = right_with(generator, generator.integers(0, 3, 200), [0.8, 0.85, 0.85], 3)
    answer = np.vstack([answer, answer[0]])
    assert copies(answer, 3) == [["0", "3"]]
    assert copies(answer[[0, 1, 3]], 3) == []
    apart = np.full((4, 400), -1)
    apart[:3, :200], apart[3, 200:] = answer[:3], answer[3]
    assert copies(apart, 3) == []


def test_more_than_two_copies_and_a_few_own_answers() -> None:
    generator = np.random.default_rng(4)
    answer = right_with(generator, generator.integers(0, 3, 300), [0.8, 0.85, 0.85, 0.9], 3)
    changed = answer[0].copy()
    changed[:6] = (changed[:6] + 1) % 3
    named = copies(np.vstack([answer, answer[0], changed]), 3)
    assert {name for pair in named for name in pair} == {"0", "4", "5"}


def test_ratings_can_be_constant_and_duplicated() -> None:
    generator = np.random.default_rng(2)
    truth = generator.uniform(0.2, 0.8, 100)
    rating = (truth + generator.normal(0, 0.1, (6, 100))).clip(0, 1).round(2)
    rating[0], rating[2] = 0.25, rating[3]
    answers = described(rating, Interval(0, 1))
    assert [(who.annotator, who.value) for who in answers.constant] == [("0", "0.25")]
    assert [pair.annotators for pair in answers.duplicated] == [["2", "3"]]
    assert answers.duplicated[0].answers == 100


def test_the_focus_is_seen_in_a_long_text() -> None:
    text = "padding " * 30 + "target" + " padding" * 30
    at = text.index("target")
    focus = Focus("text", np.array([[at]]), np.array([[at + 6]]))
    annotations = Annotations.from_rows([("t1", "ann", "x"), ("t1", "bob", "y")])
    contents = {"text": Contents.distinct("text", [text])}
    corpus = Corpus.build("c", ["t1"], {"q": annotations}, contents=contents, focus=focus)
    shown = describe(corpus).questions[0].disputed[0].text
    assert shown.endswith(" padding [[target]]...")
    assert len(shown) <= 100


@pytest.mark.data
def test_two_annotators_of_jester5k_are_constant(data_folder: Path) -> None:
    """As its card says."""
    from dissensus import datasets

    description = describe(datasets.read(data_folder / "jester5k"))
    assert len(description.questions[0].constant) == 2


def test_printed_in_short() -> None:
    draw = np.random.default_rng(0)
    truth = draw.integers(0, 3, 150)
    rows = [
        (
            f"t{item}",
            name,
            "abc"[draw.integers(0, 3) if name == "eve" or draw.random() < 0.2 else k],
        )
        for item, k in enumerate(truth)
        for name in ("ann", "bob", "kim", "max", "eve")
    ]
    items = [f"t{item}" for item in range(150)]
    corpus = Corpus.build("mine", items, {"rude": Annotations.from_rows(rows)})
    lines = str(describe(corpus)).splitlines()
    assert lines[0] == "mine: 150 items, 5 annotators"
    both, evidence = (line for line in lines if "eve" in line)
    assert both.startswith("  krippendorff-alpha 0.36; 0.65 without eve (at chance); most disputed")
    assert evidence.startswith("  at chance: eve: agrees 0.")
    assert len(lines) == 5


def test_values_are_counted_without_a_table_of_items_and_values() -> None:
    n = 40_000
    values = Nominal(tuple(f"v{number}" for number in range(n)))
    codes = np.arange(n)
    annotations = Annotations.from_arrays(codes, None, codes, values, items=Names.range(n))
    assert n * n > MOST_CELLS
    shares = shares_of(annotations)
    assert shares is not None and set(shares.values()) == {1 / n}


def test_the_beginning_of_a_very_long_text_is_shown() -> None:
    assert one_line("so " * 10**6, most=12) == "so so so..."
    assert one_line("x " * 10**6 + "[[here]]" + " y" * 10**6, most=20) == "...x x x [[here]]..."


def test_higher_and_lower_ratings_are_tendencies_and_no_suspicion() -> None:
    generator = np.random.default_rng(0)
    rating = generator.normal(5, 1, 100) + generator.normal(0, 0.7, (10, 100))
    rating[3] += 1.5
    rating[4] -= 0.8
    found = described(rating, Interval(-10, 20))
    assert (found.suspicious, found.crowd, found.comparable) == ([], [], True)
    texts = {row.annotator: row.tendencies[0] for row in found.tendencies}
    assert set(texts) == {"3", "4"}
    assert re.fullmatch(r"rates 1\.\d higher than the rest \(1\.\d to 1\.\d\)", texts["3"])
    assert re.fullmatch(r"rates 0\.\d+ lower than the rest \(0\.\d+ to [01]\.?\d*\)", texts["4"])


def test_few_honest_annotators_of_lenient_crowds_are_named() -> None:
    generator, named = np.random.default_rng(1), 0
    for _ in range(40):
        leniency = generator.normal(0, 0.6, (10, 1))
        rating = generator.normal(0, 1, 100) + generator.normal(leniency, 0.7, (10, 100))
        levels = np.rint(rating + 2).clip(0, 4).astype(int)
        found = described(levels, Ordinal(("1", "2", "3", "4", "5")))
        named += bool(found.suspicious)
    assert named <= 3


def test_if_all_answer_at_random_it_is_said_and_nobody_is_named() -> None:
    generator = np.random.default_rng(2)
    found = described(generator.integers(0, 3, (8, 200)), Nominal(("a", "b", "c")))
    assert (found.suspicious, found.comparable) == ([], False)
    assert re.fullmatch(
        r"Nobody agrees more than chance gives \(correlation with the rest -?0\.0\d, at most "
        r"0\.0\d\), so nobody can be judged by comparison with the rest\. Check the task, how the "
        r"columns were read \(items, annotators, answers\), or compare with gold labels\.",
        found.crowd[0],
    )
    assert found.nobody_named == "no constant, fast or duplicated annotators"


@pytest.mark.parametrize("n_random", [6, 8])
def test_many_who_answer_at_random_are_named(n_random: int) -> None:
    generator = np.random.default_rng(3)
    truth = generator.integers(0, 3, 100)
    right = generator.random((12, 100)) < 0.85
    answer = np.where(right, truth, generator.integers(0, 3, (12, 100)))
    answer[:n_random] = generator.integers(0, 3, (n_random, 100))
    found = described(answer, Nominal(("a", "b", "c")))
    named = {int(row.annotator) for row in found.suspicious}
    assert named <= set(range(n_random)) and len(named) >= n_random - 1
    assert found.crowd[0].startswith(f"{len(named)} of 12 annotators answer no better than chance.")


def test_a_camp_with_another_view_is_not_suspicious() -> None:
    generator = np.random.default_rng(5)
    views = generator.normal(0, 1, (2, 150))[np.repeat([0, 1], [9, 4])]
    found = described(views + generator.normal(0, 0.6, views.shape), Interval(-20, 20))
    assert not found.suspicious
    for row in found.tendencies:
        assert int(row.annotator) >= 9
        assert re.match(
            r"agrees with \d+, \d+.* \(correlation 0\.\d\d\), but not ", row.tendencies[0]
        )


def test_of_two_annotators_nobody_is_unlike_the_rest() -> None:
    generator = np.random.default_rng(6)
    answer = generator.integers(0, 2, (1, 60)).repeat(2, axis=0)
    answer[1, :6] = 1 - answer[1, :6]
    found = described(answer, Nominal(("a", "b")))
    assert found.crowd == [
        "There are only two annotators to compare, so it cannot be said which one is unlike "
        "others: ask a third one about some of the items."
    ]


def test_annotators_of_very_many_answers_are_compared_on_a_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    corpus = simulate.text(n_items=400, n_annotators=6, labels_per_item=5)
    whole = describe(corpus).questions[0]
    for name, value in {"MOST_COMPARED": 1000, "SAMPLE": 500}.items():
        monkeypatch.setattr(f"dissensus.description.suspicious_annotators.{name}", value)
    sampled = describe(corpus).questions[0]
    n_answers = sum(row.answers for row in sampled.by_annotator)
    assert 300 < n_answers < 700 and sampled.agreement == whole.agreement
    sentence = f"annotators are compared on a random sample of {n_answers} answers"
    assert sampled.crowd == [*whole.crowd, sentence]


def planted_corpus() -> Corpus:
    """Seven annotators who know, one at random, one constant, one who copies."""
    draw = np.random.default_rng(0)
    truth = draw.integers(0, 2, 300)
    answers = {f"w{n}": np.where(draw.random(300) < 0.15, 1 - truth, truth) for n in range(7)}
    answers |= {"rand": draw.integers(0, 2, 300), "same": np.zeros(300, int)}
    answers["w0 copy"] = answers["w0"]
    rows = [(f"t{n}", who, "ny"[a]) for who, given in answers.items() for n, a in enumerate(given)]
    items = [f"t{n}" for n in range(300)]
    return Corpus.build("planted", items, {"q": Annotations.from_rows(rows)})


def test_marked_annotators_have_figures_with_and_without() -> None:
    corpus = planted_corpus()
    question = describe(corpus).questions[0]
    assert question.marked == {
        "rand": "at chance", "same": "constant",
        "w0 copy": "same answers as w0; either may be the copy",
    }  # fmt: skip
    honest = corpus.without(annotators=list(question.marked))
    assert question.agreement_without == at_a_glance(honest["q"])
    assert question.disputed_without == describe(honest).questions[0].disputed
    assert question.both_figures.endswith(
        "(constant), w0 copy (same answers as w0; either may be the copy)"
    )
    assert question.suspicions[-1].startswith("duplicated: w0 and w0 copy: the same answer to 300")


def test_marked_annotators_are_left_out_and_recorded() -> None:
    corpus = planted_corpus()
    fewer = leave_out(corpus, "suspicious")
    assert list(fewer.annotators) == [f"w{n}" for n in range(7)]
    (left,) = fewer.left_out
    assert (left.question, left.answers) == ("q", 900)
    assert left.reason.startswith("answers of rand (at chance), same (constant), w0 copy")
    described = describe(corpus, without=["w1", "suspicious"])
    assert described.annotators == 6 and described.questions[0].left_out == {
        "answers of w1, " + left.reason.removeprefix("answers of "): 1200
    }
    assert leave_out(fewer, "suspicious").notes[-1] == "no suspicious annotators to leave out"


def test_groups_of_annotators_are_compared() -> None:
    draw, n = np.random.default_rng(0), 200
    truth, topic = draw.integers(0, 2, n), np.arange(n) < 40
    names = [f"{sex}{number}" for sex in "fm" for number in range(5)]
    answers = {}
    for name in names:
        meant = np.where(topic, name[0] == "f", truth)
        answers[name] = np.where(draw.random(n) < 0.1, 1 - meant, meant)
    rows = [(f"t{n}", who, "ny"[a]) for who, given in answers.items() for n, a in enumerate(given)]
    texts = [f"{'kitchen' if one else 'weather'} number {n}" for n, one in enumerate(topic)]
    corpus = Corpus.build(
        "groups", [f"t{number}" for number in range(n)], {"q": Annotations.from_rows(rows)},
        contents={"text": Contents.distinct("text", texts)},
        annotator_attributes={"sex": [name[0] for name in names]},
    )  # fmt: skip
    question = describe(corpus).questions[0]
    (group,) = question.groups
    topics = (
        r"on (\d+) of 200 items n is the answer of (\d+) % of f and (\d+) % of m; typical words: "
    )
    found = re.fullmatch(topics + "kitchen", group.topic)
    assert not question.marked and found is not None
    np.testing.assert_allclose([int(x) for x in found.groups()], [40, 10, 90], atol=5)
    assert group.topic in group.conclusion and group.corrected < 0.05


@pytest.mark.parametrize("columns", ["created_at", "start end", "duration only"])
def test_columns_of_times_are_evidence(columns: str) -> None:
    answers = planted_corpus()["q"]
    who = [answers.annotators[code] for code in answers.annotator_codes("")]
    begun = 1.8e9 + 30.0 * answers.item + np.array([5.0 * (name == "w0 copy") for name in who])
    ended = begun + np.where(np.array(who) == "rand", 1.0, 9.0 + answers.item % 3)
    if columns == "created_at":
        extra = {"created_at": np.where(np.array(who) == "rand", begun, ended)}
    elif columns == "start end":
        extra = {"start": begun, "end": ended}
    else:
        extra = {"duration": ended - begun}
    stamped = replace(answers, extra={name: pa.array(times) for name, times in extra.items()})
    question = describe(Corpus.build("timed", answers.items, {"q": stamped})).questions[0]
    (pair,) = question.duplicated
    assert pair.later == (None if columns == "duration only" else "w0 copy")
    assert [one.annotator for one in question.fast] == (["rand"] if columns == "start end" else [])


def test_who_agrees_less_as_time_goes_on_has_a_tendency() -> None:
    answers, draw = planted_corpus()["q"], np.random.default_rng(1)
    late = (answers.annotator == answers.annotators.codes(["w3"])[0]) & (answers.item >= 150)
    given = np.where(late, draw.integers(0, 2, answers.n_rows), answers.answer)
    times = pa.array(1.8e9 + 30.0 * answers.item)
    timed = replace(answers, answer=given, extra={"submitted": times})
    question = describe(Corpus.build("timed", answers.items, {"q": timed})).questions[0]
    (row,) = question.tendencies
    assert row.annotator == "w3" and "in the later half of the answers" in row.tendencies[0]
