"""Scales: what an answer can be, what a distribution and a consensus are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import DataError
from dissensus.scales import (
    MOST_BITS,
    SCALES,
    Interval,
    MultiLabel,
    Nominal,
    Ordinal,
    Scale,
    by_value,
    has_value,
    infer_scale,
    most_probable,
    parse_scale,
    scale_from_dict,
    set_sizes,
    shared_sizes,
)

GAPS = ("-3", "-2", "-1", "1", "2", "3")
CIRCUMPLEX = np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]])

EXAMPLES: dict[str, tuple[Scale, list[Any]]] = {  # a scale, and answers as users write them
    "nominal": (Nominal(("no", "yes", "maybe"), CIRCUMPLEX), ["yes", "no", "maybe", "yes"]),
    "ordinal": (Ordinal(GAPS), ["-3", "1", "3"]),
    "interval": (Interval(0, 10, n_bins=5), [0.0, 2.5, 10.0]),
    "multi-label": (MultiLabel(("joy", "fear", "anger")), [("joy", "anger"), (), ("fear",)]),
}


# ---- the promise of every scale ----


@pytest.fixture(params=SCALES)
def example(request: pytest.FixtureRequest) -> tuple[Scale, list[Any]]:
    return EXAMPLES[request.param]


def test_every_kind_of_scale_has_an_example() -> None:
    assert EXAMPLES.keys() == SCALES.keys()
    assert all(type(scale) is SCALES[kind] for kind, (scale, _) in EXAMPLES.items())


def test_what_was_encoded_is_decoded(example: tuple[Scale, list[Any]]) -> None:
    scale, answers = example
    stored = scale.encode(answers)
    assert stored.dtype == scale.dtype and stored.shape == (len(answers),)
    assert scale.decode(stored) == answers
    scale.check(stored)


def test_a_scale_is_read_back_from_its_dict(example: tuple[Scale, list[Any]]) -> None:
    scale = example[0]
    again = scale_from_dict(scale.to_dict())
    assert again == scale and hash(again) == hash(scale) and type(again) is type(scale)
    assert all(scale != other for other, _ in EXAMPLES.values() if other.kind != scale.kind)


def test_one_answer_as_a_distribution_has_that_consensus(example: tuple[Scale, list[Any]]) -> None:
    scale, answers = example
    stored = scale.encode(answers)
    sure = scale.one_hot(stored)
    assert sure.shape == (len(answers), scale.n_columns)
    half_a_bin = 1.0 if isinstance(scale, Interval) else 0.0
    np.testing.assert_allclose(scale.consensus(sure), stored, atol=half_a_bin)


def test_no_answers_are_no_rows(example: tuple[Scale, list[Any]]) -> None:
    scale = example[0]
    stored = scale.encode([])
    assert stored.shape == (0,) and scale.decode(stored) == []
    assert scale.one_hot(stored).shape == (0, scale.n_columns)
    scale.check(stored)


def test_encoding_takes_lists_arrays_and_arrow(example: tuple[Scale, list[Any]]) -> None:
    scale, answers = example
    stored = scale.encode(answers).tolist()
    values = [list(answer) for answer in answers] if scale.kind == "multi-label" else answers
    assert scale.encode(pa.array(values)).tolist() == stored
    assert scale.encode(pa.chunked_array([values[:1], values[1:]])).tolist() == stored
    column = np.empty(len(answers), dtype=object)
    column[:] = answers
    assert scale.encode(column).tolist() == stored


# ---- by hand ----

NO_YES, NUMBERS, FEELINGS = Nominal(("no", "yes")), Interval(0, 10), MultiLabel(("joy", "fear"))
COMPUTED: list[tuple[Any, Any, Any]] = [  # a function of a scale, its argument, what it returns
    (Nominal(("a", "b", "c")).consensus, [[0.2, 0.5, 0.3], [0.4, 0.2, 0.4]], [1, 0]),
    (Ordinal(("1", "2", "3")).consensus, [[0.5, 0.0, 0.5], [0.4, 0.2, 0.4]], [0, 1]),
    (Ordinal(("1", "2", "3")).consensus, [[0.1, 0.2, 0.7], [0.2, 0.3, 0.5]], [2, 1]),
    (Ordinal(tuple("0123456789")).consensus, [[0.1] * 10], [4]),  # they sum to 0.999...
    (Interval(1, 5).to_unit, [1, 3, 5], [-1, 0, 1]),
    (Interval(1, 5).from_unit, [-1, 0, 1], [1, 3, 5]),
    (Interval(0, 10, n_bins=2).consensus, [[1, 0], [0.5, 0.5], [2, 2]], [2.5, 5, 5]),
    (Interval(0, 10, n_bins=2).consensus, [[0.2, 0.8]], [6.5]),
    (MultiLabel(tuple("abc")).one_hot, [5, 0, 2], [[1, 0, 1], [0, 0, 0], [0, 1, 0]]),
    (MultiLabel(tuple("abc")).consensus, [[0.6, 0.5, 0.51], [0.1, 0.2, 0.3]], [5, 0]),
]


@pytest.mark.parametrize(("function", "argument", "expected"), COMPUTED)
def test_values_by_hand(function: Any, argument: Any, expected: Any) -> None:
    np.testing.assert_allclose(function(np.array(argument)), expected)


# ---- nominal ----


def test_the_most_probable_by_a_plain_loop() -> None:
    generator = np.random.default_rng(0)
    votes = generator.integers(0, 4, (500, 3)) + 0.5
    noise = 1 + generator.uniform(-1e-12, 1e-12, votes.shape)
    result = most_probable(votes / votes.sum(axis=1, keepdims=True) * noise)
    for row, column in zip(votes.tolist(), result.tolist(), strict=True):
        assert column == row.index(max(row))  # as if the noise were not there
    assert (np.sort(votes)[:, -1] == np.sort(votes)[:, -2]).sum() > 100
    apart = np.array([[0.3, 0.3 * (1 + 1e-8), 0.4 - 3e-9], [0.5, 0.5 * (1 + 1e-8), 0]])
    assert most_probable(apart).tolist() == [2, 1]


def test_numbers_are_found_among_values_that_spell_them() -> None:
    assert Nominal(("0", "1")).encode([1, 0]).tolist() == [1, 0]
    assert Nominal(("0", "1")).encode(np.array([1.0, 0.0])).tolist() == [1, 0]
    assert Nominal((0, 1)).values == ("0", "1")  # type: ignore[arg-type]


def test_nominal_scales_are_equal_with_equal_distances() -> None:
    plain = Nominal(("no", "yes", "maybe"))
    assert plain != Nominal(plain.values, CIRCUMPLEX)
    assert Nominal(plain.values, CIRCUMPLEX) == Nominal(plain.values, CIRCUMPLEX.astype(float))
    assert plain != Nominal(("yes", "no", "maybe"))


# ---- ordinal ----


def test_levels_with_a_gap_keep_their_places() -> None:
    scale = Ordinal(GAPS)
    assert list(scale.positions) == [-3, -2, -1, 1, 2, 3]
    assert scale.encode(["1", "-1"]).tolist() == [3, 2]
    words = ("low", "mid", "high")
    assert list(Ordinal(words).positions) == [0, 1, 2]
    assert list(Ordinal(words, (0, 1, 10)).positions) == [0, 1, 10]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=15))
def test_median_level_is_the_lower_median(answers: list[int]) -> None:
    scale = Ordinal(GAPS)
    share = scale.one_hot(np.array(answers)).mean(axis=0, keepdims=True)
    lower_median = sorted(answers)[(len(answers) - 1) // 2]
    assert scale.consensus(share).tolist() == [lower_median]


# ---- interval ----


def test_an_edge_belongs_to_the_bin_above_it() -> None:
    hundredths = np.arange(101) / 100
    expected = np.minimum(np.arange(101), 99)
    assert Interval(0, 1, n_bins=100).bins(hundredths).tolist() == expected.tolist()
    twentieths = np.arange(21) / 20 * 10 - 5
    assert Interval(-5, 5).bins(twentieths).tolist() == [*range(20), 19]


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=30))
def test_bins_agree_with_numpy(hundredths: list[int]) -> None:
    answers = np.array(hundredths) / 100
    expected = np.histogram(answers, bins=8, range=(0, 10))[0]
    values = np.bincount(Interval(0, 10, n_bins=8).bins(answers), minlength=8)
    assert values.tolist() == expected.tolist()


def test_numbers_as_text_are_read() -> None:
    scale = Interval(-10, 10)
    texts = ["1", " 2.5 ", "-3e0", "+4", "0"]
    assert scale.encode(texts).tolist() == [1, 2.5, -3, 4, 0]
    assert scale.encode(["+4", "٣"]).tolist() == [4, 3]  # Python knows more digits than Arrow


# ---- multi-label ----


def test_a_set_is_a_bit_mask_in_any_spelling() -> None:
    scale = MultiLabel(("joy", "fear", "anger"))
    spellings = [["joy", "anger"], ("anger", "joy"), {"joy", "anger"}, " anger ,joy", "joy,anger,"]
    assert scale.encode(spellings).tolist() == [5] * 5
    assert scale.encode(["", [], "joy,joy"]).tolist() == [0, 0, 1]


def test_a_value_with_a_comma_can_stand_in_a_list() -> None:
    scale = MultiLabel(("yes, but", "no"))
    assert scale.encode([["yes, but", "no"]]).tolist() == [3]


def test_the_highest_bit_is_still_a_positive_number() -> None:
    values = tuple(str(i) for i in range(MOST_BITS))
    scale = MultiLabel(values)
    every = scale.encode([list(values)])
    assert every.tolist() == [2**MOST_BITS - 1] and scale.decode(every) == [values]


def test_a_scale_of_many_values() -> None:
    values = tuple(f"v{i}" for i in range(100))
    scale = MultiLabel(values)
    sets = [["v0", "v99"], [], list(values), ["v62", "v63"]]
    masks = scale.encode(sets)
    assert masks.tolist() == [1 | 1 << 99, 0, (1 << 100) - 1, 3 << 62]
    scale.check(masks)
    assert [list(one) for one in scale.decode(masks)] == sets
    assert scale.pack(scale.one_hot(masks) > 0).tolist() == masks.tolist()
    assert scale.consensus(scale.one_hot(masks)).tolist() == masks.tolist()
    assert set_sizes(masks).tolist() == [2, 0, 100, 2]
    assert has_value(masks, 63).tolist() == [0, 0, 1, 1]
    with pytest.raises(DataError, match="^multi-label answers are masks 0 to 126765060"):
        scale.check(np.array([1 << 100], dtype=object))


@given(st.lists(st.integers(0, 2**5 - 1), max_size=20))
def test_masks_agree_with_python_sets(masks: list[int]) -> None:
    scale = MultiLabel(tuple("abcde"))
    sets = [tuple(v for i, v in enumerate("abcde") if mask >> i & 1) for mask in masks]
    assert scale.decode(np.array(masks, dtype=np.int64)) == sets
    assert scale.encode(sets).tolist() == masks


# ---- invariance ----


@given(st.permutations(["a", "b", "c", "d"]), st.lists(st.sampled_from("abcd"), max_size=12))
def test_decoding_does_not_depend_on_the_order_of_values(order: Any, answers: Any) -> None:
    scale = Nominal(tuple(order))
    assert scale.decode(scale.encode(answers)) == list(answers)


# ---- reading and inferring scales ----


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nominal:no,yes", Nominal(("no", "yes"))),
        (" Nominal : no , yes ", Nominal(("no", "yes"))),
        ("ordinal:low,mid,high", Ordinal(("low", "mid", "high"))),
        ('nominal:no, "yes, mostly"', Nominal(("no", "yes, mostly"))),
        ("interval:-3:3", Interval(-3, 3)),
        ("multi-label:joy,fear", MultiLabel(("joy", "fear"))),
        ("multilabel:joy,fear", MultiLabel(("joy", "fear"))),
    ],
)
def test_scales_as_users_write_them(text: str, expected: Scale) -> None:
    assert parse_scale(text) == expected


@pytest.mark.parametrize(
    ("kind", "expected_text", "expected"),
    [
        ("nominal", ["yes", "no"], Nominal(("no", "yes"))),
        ("ordinal", ["10", "9", "-1"], Ordinal(("-1", "9", "10"))),
        ("interval", ["3", "1", "2.5"], Interval(1, 3)),
        ("multi-label", ["joy,fear", "anger", ""], MultiLabel(("anger", "fear", "joy"))),
    ],
)
def test_what_is_left_open_is_read_from_the_answers(
    kind: str, expected_text: list[str], expected: Scale
) -> None:
    assert parse_scale(kind, expected_text) == expected


@pytest.mark.parametrize(
    ("expected_text", "expected"),
    [
        (["yes", "no"], Nominal(("no", "yes"))),
        (["1", "0"], Nominal(("0", "1"))),
        (["2", "1", "3"], Ordinal(("1", "2", "3"))),
        ([str(i) for i in range(20)], Ordinal(tuple(str(i) for i in range(20)))),
        ([str(i) for i in range(21)], Interval(0, 20)),
        (["0.5", "2"], Interval(0.5, 2)),
        (["1", "1.0", "2", "3"], Interval(1, 3)),
        (["0.5"], Nominal(("0.5",))),
        (["1", "2", "three"], Nominal(("1", "2", "three"))),
        (["1", "2", "nan"], Nominal(("1", "2", "nan"))),
    ],
)
def test_inferred_scales(expected_text: list[str], expected: Scale) -> None:
    assert infer_scale(expected_text) == expected
    assert infer_scale(expected_text[::-1]) == expected


@pytest.mark.parametrize("n_values", [5, 62, 63, 130])
def test_sets_of_many_values_are_counted_as_sets(n_values: int) -> None:
    generator, scale = np.random.default_rng(0), MultiLabel(tuple(map(str, range(n_values))))
    chosen = generator.random((30, n_values)) < generator.random((30, 1))
    masks, sets = scale.pack(chosen), [set(np.flatnonzero(row)) for row in chosen]
    assert (np.stack([*by_value(masks, n_values)], axis=1) == chosen).all()
    shared = shared_sizes(masks[:, None], masks[None, :9])
    assert shared.tolist() == [[len(a & b) for b in sets[:9]] for a in sets]
