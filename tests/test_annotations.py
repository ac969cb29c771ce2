"""Annotations: who gave which answer to which item."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.annotations import Annotations
from dissensus.names import Names
from dissensus.scales import SCALES, Interval, MultiLabel, Nominal, Ordinal, Scale

ROWS = [
    ("t1", "ann", "yes"),
    ("t1", "bob", "no"),
    ("t1", "eve", "yes"),
    ("t2", "ann", "no"),
    ("t2", "bob", "yes"),
    ("t3", "eve", "no"),
]
SCALE_OF: dict[str, Scale] = {
    "nominal": Nominal(("no", "maybe", "yes")),
    "ordinal": Ordinal(("-2", "-1", "1", "2")),
    "interval": Interval(0, 10, n_bins=4),
    "multi-label": MultiLabel(("joy", "fear", "anger")),
}


def crowd(scale: Scale, seed: int = 0, n_rows: int = 60) -> Annotations:
    """Random answers of 6 annotators to 15 items, at most one each; item 14 has none."""
    random = np.random.default_rng(seed)
    pairs = random.permutation(14 * 6)[:n_rows]
    answer: np.ndarray
    if isinstance(scale, Interval):
        answer = random.uniform(scale.low, scale.high, n_rows)
    elif isinstance(scale, MultiLabel):
        answer = random.integers(0, 2 ** len(scale), n_rows)
    else:
        assert isinstance(scale, Nominal | Ordinal)
        answer = random.integers(0, len(scale), n_rows)
    items, annotators = Names.range(15), Names(["a", "b", "c", "d", "e", "f"])
    return Annotations.from_arrays(
        pairs // 6, pairs % 6, answer, scale, items=items, annotators=annotators
    )


def labels(annotations: Annotations) -> dict[str, Any]:
    """Item -> label of annotations that have one label per item."""
    assert annotations.annotator is None and len(np.unique(annotations.item)) == annotations.n_rows
    names = [annotations.items[code] for code in annotations.item]
    return dict(zip(names, annotations.answers(), strict=True))


# ---- building ----


def test_rows_become_codes_and_names() -> None:
    annotations = Annotations.from_rows(ROWS)
    assert annotations.item.tolist() == [0, 0, 0, 1, 1, 2]
    assert annotations.annotator_codes("a test").tolist() == [0, 1, 2, 0, 1, 2]
    assert annotations.answer.tolist() == [1, 0, 1, 0, 1, 0]
    assert list(annotations.items) == ["t1", "t2", "t3"]
    assert list(annotations.annotators) == ["ann", "bob", "eve"]
    assert annotations.scale == Nominal(("no", "yes"))
    assert annotations.answers() == [answer for _, _, answer in ROWS]
    assert (annotations.n_rows, annotations.n_answers) == (6, 6)
    assert (annotations.n_items, annotations.n_annotators) == (3, 3)


def test_arrays_are_not_copied() -> None:
    columns = {
        "item": np.array([0, 1, 1]),
        "annotator": np.array([0, 0, 1]),
        "response": np.array([5, 6, 7]),
        "seconds": np.array([0.5, 1.0, 2.0]),
    }
    scales: list[tuple[Scale, np.ndarray]] = [
        (Nominal(("no", "yes")), np.array([0, 1, 1])),
        (Interval(0, 1), np.array([0.5, 0.25, 1.0])),
        (MultiLabel(("a", "b")), np.array([3, 0, 1])),
    ]
    for scale, answer in scales:
        annotations = Annotations.from_arrays(
            columns["item"],
            columns["annotator"],
            answer,
            scale,
            response=columns["response"],
            seconds=columns["seconds"],
        )
        assert np.shares_memory(annotations.answer, answer)
        for name, column in columns.items():
            assert np.shares_memory(getattr(annotations, name), column), name
    count = np.array([3, 2])
    votes = Annotations.from_arrays(count, None, count, Ordinal(tuple("0123")), count=count)
    assert votes.count is not None and np.shares_memory(votes.count, count)


def test_integers_are_codes_on_a_declared_scale_and_values_without_one() -> None:
    answer = np.array([1, 2, 3])
    item, who = np.arange(3), np.zeros(3, int)
    inferred = Annotations.from_arrays(item, who, answer)
    assert inferred.items.is_range and list(inferred.items) == ["0", "1", "2"]
    assert inferred.scale == Ordinal(("1", "2", "3")) and inferred.answer.tolist() == [0, 1, 2]
    declared = Annotations.from_arrays(item, who, answer, Nominal(("a", "b", "c", "d")))
    assert declared.answers() == ["b", "c", "d"]
    ratings = Annotations.from_arrays(item, None, answer, Interval(0, 10))
    assert ratings.answer.dtype == np.float64 and ratings.answers() == [1.0, 2.0, 3.0]


TABLE = {"task": ["t1", "t1", "t2"], "worker": ["007", "bob", "007"], "label": ["yes", "no", "yes"]}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_of_every_library_give_the_same(library: Any) -> None:
    annotations = Annotations.from_table(library(TABLE), "task", "worker", "label")
    rows = list(zip(*TABLE.values(), strict=True))
    assert annotations.equals(Annotations.from_rows(rows))
    assert list(annotations.annotators) == ["007", "bob"]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_with_numbers_categories_and_sets(library: Any) -> None:
    table = library({"item": [3, 1], "annotator": [1.0, 2.0], "answer": [0.5, 2.5]})
    numbers = Annotations.from_table(table)
    assert list(numbers.items) == ["3", "1"] and list(numbers.annotators) == ["1", "2"]
    assert numbers.scale == Interval(0.5, 2.5)
    sets = library({"item": ["a", "b"], "answer": [["joy", "fear"], []]})
    scale = MultiLabel(("joy", "fear"))
    annotations = Annotations.from_table(sets, annotator=None, scale=scale)
    assert annotations.answer.tolist() == [3, 0] and annotations.annotator is None
    texts = library({"item": ["a", "b"], "answer": ["joy,fear", ""]})
    assert Annotations.from_table(texts, annotator=None, scale=scale).answer.tolist() == [3, 0]


# ---- repeats ----

REPEATED = [
    ("t2", "ann", "3"),
    ("t1", "bob", "1"),
    ("t1", "ann", "2"),
    ("t1", "bob", "4"),
    ("t1", "bob", "10"),
    ("t2", "ann", "6"),
]


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=30))
def test_rules_for_repeats_agree_with_pandas(rows: list[tuple[int, int, int]]) -> None:
    frame = pd.DataFrame(rows, columns=["item", "annotator", "answer"])
    groups = frame.groupby(["item", "annotator"])["answer"]
    for rule in ("first", "last", "mean"):
        annotations = Annotations.from_rows(rows, Interval(0, 3), repeats=rule)
        kept = {
            (int(annotations.items[i]), int(annotations.annotators[a])): x
            for i, a, x in zip(
                annotations.item,
                annotations.annotator_codes("a test"),
                annotations.answers(),
                strict=True,
            )
        }
        assert kept == pytest.approx(groups.agg(rule).to_dict())


def test_the_other_columns_of_a_repeat_go_with_its_row() -> None:
    annotations = Annotations.from_rows(
        REPEATED, seconds=range(6), response=range(6), extra={"page": list("abcdef")},
        repeats="last",
    )  # fmt: skip
    assert annotations.seconds is not None and annotations.seconds.tolist() == [2, 4, 5]
    assert annotations.response is not None and annotations.response.tolist() == [2, 4, 5]
    assert annotations.extra["page"].to_pylist() == ["c", "e", "f"] and not annotations.repeats
    kept = Annotations.from_rows(REPEATED, repeats="keep")
    assert kept.repeats and kept.answers() == [answer for _, _, answer in REPEATED]


# ---- counting ----


def test_counts_and_shares_by_hand() -> None:
    annotations = Annotations.from_rows(ROWS)
    assert annotations.counts().tolist() == [[1, 2], [1, 1], [1, 0]]
    shares = [[1 / 3, 2 / 3], [0.5, 0.5], [1.0, 0.0]]
    np.testing.assert_allclose(annotations.distribution(), shares)
    assert annotations.per_item().tolist() == [3, 2, 1]
    assert annotations.per_annotator().tolist() == [2, 2, 2]
    assert annotations.weight.tolist() == [1] * 6


def test_counted_votes_are_as_many_rows() -> None:
    scale = Nominal(("no", "yes"))
    votes = Annotations.from_arrays(
        np.array([0, 0, 1]), None, np.array([0, 1, 1]), scale, count=[3, 1, 4]
    )
    rows = Annotations.from_arrays(
        np.array([0, 0, 0, 0, 1, 1, 1, 1]), None, np.array([0, 0, 0, 1, 1, 1, 1, 1]), scale
    )
    assert (votes.n_rows, votes.n_answers) == (3, 8) and rows.n_answers == 8
    assert votes.counts().tolist() == rows.counts().tolist() == [[3, 1], [0, 4]]
    assert votes.per_item().tolist() == rows.per_item().tolist()
    assert labels(votes.majority()) == labels(rows.majority()) == {"0": "no", "1": "yes"}


def test_marginals_by_hand() -> None:
    scale = MultiLabel(("joy", "fear"))
    annotations = Annotations.from_arrays(["t1", "t1", "t2"], None, ["joy,fear", "joy", ""], scale)
    assert annotations.marginals().tolist() == [[2, 1], [0, 0]]
    assert annotations.distribution().tolist() == [[1, 0.5], [0, 0]]


@pytest.fixture(params=SCALES)
def scale(request: pytest.FixtureRequest) -> Scale:
    return SCALE_OF[request.param]


def test_distributions_agree_with_brute_force(scale: Scale) -> None:
    annotations = crowd(scale)
    one_hot = scale.one_hot(annotations.answer)
    for item in range(annotations.n_items - 1):
        expected = one_hot[annotations.item == item].mean(axis=0)
        np.testing.assert_allclose(annotations.distribution()[item], expected)
    assert np.isnan(annotations.distribution()[14]).all()  # an item without answers


# ---- majority and consensus ----

TIED = {"t1": "aabb", "t2": "abb", "t3": "c", "t4": "abc"}


def tied(scale: Scale) -> Annotations:
    rows = [
        (item, f"p{n}", answer) for item, output in TIED.items() for n, answer in enumerate(output)
    ]
    return Annotations.from_rows(rows, scale)


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("first", {"t1": "a", "t2": "b", "t3": "c", "t4": "a"}),
        ("last", {"t1": "b", "t2": "b", "t3": "c", "t4": "c"}),
        ("drop", {"t2": "b", "t3": "c"}),
    ],
)
def test_majority_by_tie_rule(ties: Any, expected: dict[str, str]) -> None:
    annotations = tied(Nominal(("a", "b", "c")))
    assert labels(annotations.majority(ties)) == expected
    assert labels(annotations.consensus(ties)) == expected


def test_random_ties_are_seeded_and_reach_every_answer_that_ties() -> None:
    annotations = tied(Nominal(("a", "b", "c")))
    draws = [labels(annotations.majority("random", seed)) for seed in range(40)]
    assert draws == [labels(annotations.majority("random", seed)) for seed in range(40)]
    seen = {item: {label[item] for label in draws} for item in TIED}
    assert seen == {"t1": {"a", "b"}, "t2": {"b"}, "t3": {"c"}, "t4": {"a", "b", "c"}}


@pytest.mark.parametrize(("ties", "expected"), [("first", "1"), ("last", "3"), ("drop", None)])
def test_levels_between_the_middle_answers_tie(ties: Any, expected: str | None) -> None:
    scale = Ordinal(("1", "2", "3"))
    annotations = Annotations.from_rows([("t1", "ann", "1"), ("t1", "bob", "3")], scale)
    assert labels(annotations.consensus(ties)).get("t1") == expected
    middle = {labels(annotations.consensus("random", seed))["t1"] for seed in range(30)}
    assert middle == {"1", "2", "3"}


def test_ordinal_consensus_agrees_with_the_median() -> None:
    scale = SCALE_OF["ordinal"]
    assert isinstance(scale, Ordinal)
    annotations = crowd(scale)
    low, high = annotations.consensus("first"), annotations.consensus("last")
    for item, lower, upper in zip(low.item, low.answer, high.answer, strict=True):
        answers = annotations.answer[annotations.item == item]
        assert (lower + upper) / 2 == np.median(answers)


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("first", {"t1": ("joy",), "t2": ()}),
        ("last", {"t1": ("joy", "fear"), "t2": ()}),
        ("drop", {"t2": ()}),
    ],
)
def test_multi_label_consensus_by_tie_rule(ties: Any, expected: dict[str, Any]) -> None:
    rows = [("t1", "ann", "joy,fear"), ("t1", "bob", "joy"), ("t2", "ann", "")]
    annotations = Annotations.from_rows(rows, MultiLabel(("joy", "fear")))
    assert labels(annotations.consensus(ties)) == expected
    seen = {labels(annotations.consensus("random", seed))["t1"] for seed in range(20)}
    assert seen == {("joy",), ("joy", "fear")}


def test_items_without_answers_have_no_label(scale: Scale) -> None:
    consensus = crowd(scale).consensus()
    assert 14 not in consensus.item and len(consensus.item) == 14
    assert consensus.answer.dtype == scale.dtype and consensus.n_items == 15


def test_consensus_agrees_with_the_scale_on_clear_cases(scale: Scale) -> None:
    if isinstance(scale, Interval):  # the mean of answers, the scale knows only their bins
        scale = Interval(0, 10, n_bins=100_000)
    annotations = crowd(scale)
    label = annotations.consensus()
    expected = scale.consensus(annotations.distribution()[label.item])
    np.testing.assert_allclose(label.answer, expected, atol=0.005)


# ---- invariance ----


def test_row_order_changes_nothing(scale: Scale) -> None:
    annotations = crowd(scale)
    shuffled = annotations.take(np.random.default_rng(1).permutation(annotations.n_rows))
    np.testing.assert_allclose(shuffled.distribution(), annotations.distribution())
    assert shuffled.per_annotator().tolist() == annotations.per_annotator().tolist()
    one, other = annotations.consensus(), shuffled.consensus()
    assert one.item.tolist() == other.item.tolist()
    np.testing.assert_allclose(one.answer, other.answer)


def test_names_do_not_matter() -> None:
    renamed = [(f"x{item}", f"y{who}", f"z{answer}") for item, who, answer in ROWS]
    annotations, other = Annotations.from_rows(ROWS), Annotations.from_rows(renamed)
    assert annotations.counts().tolist() == other.counts().tolist()
    assert [f"z{a}" for a in labels(annotations.majority()).values()] == [
        *labels(other.majority()).values()
    ]


# ---- reading answers on another scale ----


def test_every_pair_of_single_answer_scales_goes_both_ways() -> None:
    scales: list[Scale] = [Nominal(("-1", "1", "3")), Ordinal(("-1", "1", "3")), Interval(-1, 3)]
    rows = [("t1", "ann", "-1"), ("t1", "bob", "3"), ("t2", "ann", "1")]
    for here in scales:
        annotations = Annotations.from_rows(rows, here)
        for there in scales:
            assert annotations.to(there).equals(Annotations.from_rows(rows, there))
            assert annotations.to(there).to(here).equals(annotations)


def test_nominal_values_may_be_sorted_anew_or_become_more() -> None:
    rows = Annotations.from_rows(ROWS)
    assert rows.to(Nominal(("no", "yes"))) is rows
    annotations = rows.to(Nominal(("yes", "no", "maybe")))
    assert annotations.answers() == [answer for _, _, answer in ROWS]
    assert annotations.counts()[0].tolist() == [2, 1, 0]


# ---- selections ----


def test_take_keeps_names_and_brings_every_column() -> None:
    annotations = Annotations.from_rows(
        ROWS, response=range(6), seconds=range(6), extra={"page": list("abcdef")}
    )
    mask = np.array([False, True, False, False, True, False])
    for taken in (annotations.take(mask), annotations.take(np.array([1, 4]))):
        assert taken.answers() == ["no", "yes"] and taken.items == annotations.items
        assert taken.response is not None and taken.response.tolist() == [1, 4]
        assert taken.seconds is not None and taken.seconds.tolist() == [1, 4]
        assert taken.extra["page"].to_pylist() == ["b", "e"]


def test_selections_are_renumbered_in_the_order_asked_for() -> None:
    annotations = Annotations.from_rows(ROWS)
    chosen = annotations.select_items(np.array([2, 0]), Names(["t3", "t1"]))
    assert chosen.item.tolist() == [1, 1, 1, 0]
    assert chosen.counts().tolist() == [[1, 0], [1, 2]]
    chosen = annotations.select_annotators(np.array([2, 0]), Names(["eve", "ann"]))
    assert chosen.annotator_codes("a test").tolist() == [1, 0, 1, 0]
    assert chosen.per_annotator().tolist() == [2, 2] and chosen.n_items == 3


def test_rows_are_put_on_longer_lists_of_names() -> None:
    annotations = Annotations.from_rows(ROWS)
    longer = annotations.on(Names(["t0", "t3", "t2", "t1"]), Names(["eve", "ann", "bob", "zoe"]))
    assert longer.item.tolist() == [3, 3, 3, 2, 2, 1]
    assert longer.annotator_codes("a test").tolist() == [1, 2, 0, 1, 2, 0]


def test_equals_sees_every_difference() -> None:
    annotations = Annotations.from_rows(
        ROWS, seconds=[1, 2, 3, 4, 5, float("nan")], extra={"p": range(6)}
    )
    assert annotations.equals(Annotations.from_rows(
        ROWS, seconds=[1, 2, 3, 4, 5, float("nan")], extra={"p": range(6)}
    ))  # fmt: skip
    assert not annotations.equals(Annotations.from_rows(ROWS))
    assert not annotations.equals(annotations.take(np.arange(6)[::-1]))
    assert not annotations.equals(annotations.to(Nominal(("yes", "no"))))
    assert not annotations.equals(
        annotations.on(Names(["t1", "t2", "t3", "t4"]), annotations.annotators)
    )


# ---- size ----


@pytest.mark.slow
def test_ten_million_rows_are_flat_arrays() -> None:
    n_rows, n_annotators = 10_000_000, 1000
    pairs = np.arange(n_rows)
    answer = np.random.default_rng(0).integers(0, 5, n_rows)
    annotations = Annotations.from_arrays(
        pairs // n_annotators, pairs % n_annotators, answer, Ordinal(tuple("12345"))
    )
    assert np.shares_memory(annotations.answer, answer)
    assert annotations.counts().sum() == n_rows
    assert annotations.majority().n_rows == n_rows // n_annotators
