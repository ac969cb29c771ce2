"""Names: strings to the user, codes to the computer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import DataError
from dissensus.names import Names, string_array

distinct_texts = st.lists(st.text(max_size=6), unique=True, max_size=12)


# ---- values by hand ----


def test_names_are_a_sequence_of_texts() -> None:
    names = Names(["ann", "bob", "007"])
    assert len(names) == 3
    assert list(names) == ["ann", "bob", "007"]
    assert (names[0], names[-1], names[1:]) == ("ann", "007", ["bob", "007"])
    number: object = 7  # a name is a text, also where it looks like a number
    assert "bob" in names and "eve" not in names and number not in names


def test_numbers_are_written_out_and_texts_stay_as_they_are() -> None:
    assert list(Names([3, 1, 2])) == ["3", "1", "2"]
    assert list(Names(np.array([1.0, 2.0]))) == ["1", "2"]
    assert list(Names(["007", "7"])) == ["007", "7"]


def test_encode_numbers_names_by_first_appearance() -> None:
    names, codes = Names.encode(["bob", "ann", "bob", "eve"])
    assert list(names) == ["bob", "ann", "eve"]
    assert codes.tolist() == [0, 1, 0, 2]


def test_find_gives_minus_one_to_strangers() -> None:
    assert Names(["ann", "bob"]).find(["bob", "eve", "ann"]).tolist() == [1, -1, 0]


def test_a_single_text_is_one_name() -> None:
    assert Names(["ann", "bob"]).codes("bob").tolist() == [1]


def test_take_gives_names_in_the_order_of_the_codes() -> None:
    assert list(Names(["a", "b", "c"]).take(np.array([2, 0]))) == ["c", "a"]


def test_repr_shows_the_first_and_how_many() -> None:
    assert repr(Names(["ann", "bob"])) == "Names('ann', 'bob'; 2)"
    shown = "'0', '1', '2', '3', '4', '5', '6', '7', ..."
    assert repr(Names.range(20_000_000)) == f"Names({shown}; 20000000)"


# ---- a range ----


def test_a_range_is_its_own_spelling() -> None:
    names = Names.range(3)
    assert names.is_range and list(names) == ["0", "1", "2"]
    assert names == Names(["0", "1", "2"]) and Names(["0", "1", "2"]) == names
    assert names != Names.range(4)


def test_a_range_knows_only_the_plain_spelling_of_its_numbers() -> None:
    wanted = ["2", "02", "+2", "-1", "3", "", "2\n", "99999999999999999999999", "two"]
    assert Names.range(3).find(wanted).tolist() == [2] + [-1] * 8


def test_a_range_finds_what_a_list_finds() -> None:
    wanted = ["0", "11", "12", "x", "7"]
    listed = Names([str(i) for i in range(12)])
    assert Names.range(12).find(wanted).tolist() == listed.find(wanted).tolist()


def test_a_prefix_of_a_range_stays_a_range() -> None:
    assert Names.range(5).take(np.arange(3)).is_range
    assert list(Names.range(5).take(np.array([4, 2]))) == ["4", "2"]


def test_twenty_million_names_as_a_range() -> None:
    names = Names.range(20_000_000)
    assert names[19_999_999] == "19999999" and names[-1] == "19999999"
    assert "12345678" in names and "20000000" not in names
    assert names.codes(["5", "19999999"]).tolist() == [5, 19_999_999]
    assert names == Names.range(20_000_000)
    assert names.take(np.arange(3)) == Names.range(3)


# ---- an independent reference ----


@given(st.lists(st.text(max_size=3), min_size=1, max_size=30))
def test_encode_agrees_with_numpy(values: list[str]) -> None:
    names, codes = Names.encode(values)
    distinct = list(dict.fromkeys(values))
    assert list(names) == distinct
    assert [names[code] for code in codes] == values
    assert np.unique(codes).tolist() == list(range(len(distinct)))


@given(distinct_texts, st.lists(st.text(max_size=6), max_size=12))
def test_find_agrees_with_a_dict(values: list[str], wanted: list[str]) -> None:
    position = {value: code for code, value in enumerate(values)}
    result = Names(values).find(wanted)
    assert result.tolist() == [position.get(name, -1) for name in wanted]


# ---- invariance: whatever library holds the texts ----


@pytest.mark.parametrize(
    "values",
    [
        ["ann", "bob"],
        ("ann", "bob"),
        np.array(["ann", "bob"]),
        np.array(["ann", "bob"], dtype=object),
        np.array([b"ann", b"bob"]),
        pa.array(["ann", "bob"]),
        pa.array(["ann", "bob"], pa.large_string()),
        pa.array(["ann", "bob"], pa.string_view()),
        pa.array(["ann", "bob"]).dictionary_encode(),
        pa.chunked_array([["ann"], ["bob"]]),
        Names(["ann", "bob"]),
    ],
    ids=lambda values: f"{type(values).__name__}-{getattr(values, 'type', '')}",
)
def test_names_are_equal_whatever_held_them(values: Any) -> None:
    assert Names(values) == Names(["ann", "bob"])
    assert Names(["bob", "ann"]).codes(values).tolist() == [1, 0]


def test_long_numpy_arrays_take_the_same_way() -> None:
    values = np.array([f"name-{i}" for i in range(1500)])
    assert list(Names(values)) == values.tolist()
    assert list(Names(values.astype("S"))) == values.tolist()


def test_names_are_equal_only_to_names() -> None:
    assert Names(["ann"]) != ["ann"]
    assert Names(["ann", "bob"]) != Names(["bob", "ann"])


# ---- strings from anything ----


def test_gaps_become_null_in_every_kind_of_column() -> None:
    assert string_array(["a", None]).to_pylist() == ["a", None]
    assert string_array(["a", float("nan")]).to_pylist() == ["a", None]
    assert string_array(np.array([1.0, np.nan])).to_pylist() == ["1", None]
    assert string_array(pa.array([1.0, float("nan")])).to_pylist() == ["1", None]
    assert string_array([1, "x", None]).to_pylist() == ["1", "x", None]


def test_numbers_with_fractions_or_without_end_are_spelled_as_they_are() -> None:
    assert string_array([1.5, 2.0]).to_pylist() == ["1.5", "2"]
    assert string_array([1.0, float("inf")]).to_pylist() == ["1", "inf"]
    assert string_array([1e300, 1.0]).null_count == 0


def test_no_values_are_no_names() -> None:
    assert len(Names([])) == 0 and list(Names([])) == []
    assert Names([]) == Names.range(0)


# ---- errors ----


def refused(values: Any) -> str:
    with pytest.raises(DataError) as caught:
        Names(values)
    return str(caught.value)


def test_a_name_that_occurs_twice_is_refused() -> None:
    assert refused(["ann", "bob", "ann"]) == "names occur twice: 'ann'"


def test_a_missing_name_is_refused() -> None:
    assert refused(["ann", None]) == "name 1 is missing: every name must be a text"
    with pytest.raises(DataError) as caught:
        Names.encode(["ann", None])
    assert str(caught.value) == "row 2 has no name"


def test_strangers_are_listed_beside_those_who_are_there() -> None:
    with pytest.raises(DataError) as caught:
        Names(["ann", "bob"]).codes(["eve", "ann", "eve", "zoe"], "annotator")
    assert str(caught.value) == "no annotator 'eve', 'zoe'; there are 2: 'ann', 'bob'"


def test_only_the_first_of_many_are_shown() -> None:
    with pytest.raises(DataError) as caught:
        Names.range(12).codes("x", "item")
    shown = "'0', '1', '2', '3', '4', '5', '6', '7', ..."
    assert str(caught.value) == f"no item 'x'; there are 12: {shown}"
    with pytest.raises(DataError) as caught:
        Names([]).codes("x", "item")
    assert str(caught.value) == "no item 'x'; there is none"


@pytest.mark.parametrize("index", [2, -3])
def test_an_index_outside_is_an_index_error(index: int) -> None:
    with pytest.raises(IndexError):
        Names(["ann", "bob"])[index]
