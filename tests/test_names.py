"""Names: strings to the user, codes to the computer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus import names as names_module
from dissensus.names import Names, same, string_array

NAN, INF = float("nan"), float("inf")
FIRST = "'0', '1', '2', '3', '4', '5', '6', '7', ..."
distinct_texts = st.lists(st.text(max_size=6), unique=True, max_size=12)


def test_names_are_a_sequence_of_texts() -> None:
    names = Names(["ann", "bob", "007"])
    assert len(names) == 3 and list(names) == ["ann", "bob", "007"]
    assert (names[0], names[-1], names[1:]) == ("ann", "007", ["bob", "007"])
    number: object = 7  # a name is a text, also where it looks like a number
    assert "bob" in names and "eve" not in names and number not in names
    assert names.codes("bob").tolist() == [1]
    assert names.find(["bob", "eve", "ann"]).tolist() == [1, -1, 0]
    assert list(names.take(np.array([2, 0]))) == ["007", "ann"]
    assert repr(Names(["ann", "bob"])) == "Names('ann', 'bob'; 2)"
    assert names != ["ann", "bob", "007"] and names != Names(["bob", "ann", "007"])
    assert len(Names([])) == 0 and Names([]) == Names.range(0)
    for index in (3, -4):
        with pytest.raises(IndexError):
            names[index]


def test_a_range_is_its_own_spelling() -> None:
    names = Names.range(3)
    assert names.is_range and list(names) == ["0", "1", "2"]
    assert names == Names(["0", "1", "2"]) and Names(["0", "1", "2"]) == names
    wanted = ["2", "02", "+2", "-1", "3", "", "2\n", "99999999999999999999999", "two"]
    assert names.find(wanted).tolist() == [2] + [-1] * 8
    many = Names.range(20_000_000)
    assert many[19_999_999] == many[-1] == "19999999" and many != names
    assert "12345678" in many and "20000000" not in many
    assert many.codes(["5", "19999999"]).tolist() == [5, 19_999_999]
    assert many.take(np.arange(3)).is_range and list(many.take(np.array([4, 2]))) == ["4", "2"]
    assert repr(many) == f"Names({FIRST}; 20000000)"


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


@pytest.mark.parametrize(
    "values",
    [
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
def test_names_are_equal_whatever_library_has_them(values: Any) -> None:
    assert Names(values) == Names(["ann", "bob"])
    assert Names(["bob", "ann"]).codes(values).tolist() == [1, 0]


def test_long_numpy_arrays_take_the_same_way() -> None:
    values = np.array([f"name-{i}" for i in range(1500)])
    assert list(Names(values)) == list(Names(values.astype("S"))) == values.tolist()


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (["007", "7"], ["007", "7"]),
        ([3, 1, 2], ["3", "1", "2"]),
        (["a", None], ["a", None]),
        (["a", NAN], ["a", None]),
        (np.array([1.0, np.nan]), ["1", None]),
        (pa.array([1.0, NAN]), ["1", None]),
        ([1, "x", None], ["1", "x", None]),
        ([1.5, 2.0], ["1.5", "2"]),
        ([1.0, INF], ["1", "inf"]),
    ],
)
def test_any_values_as_texts(values: Any, texts: list[str | None]) -> None:
    assert string_array(values).to_pylist() == texts


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([1.0]), None),
        (None, np.array([1.0])),
        (pa.array(["a"]), pa.array(["b"])),
        (pa.array(["a"]), None),
        (Names(["a"]), Names(["b"])),
        ({"x": np.array([1])}, {"y": np.array([1])}),
        ({"x": 1, "y": 2}, {"y": 2, "x": 1}),
    ],
)
def test_what_is_the_same(first: Any, second: Any) -> None:
    assert same(first, first) and same(second, second) and not same(first, second)


@given(distinct_texts, st.randoms())
def test_compressed_names_are_as_others(texts: list[str], random: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(names_module, "MANY", 3)
        patch.setattr(names_module, "PART", 2)
        compressed, names = Names.compressed(pa.array(texts, pa.string())), Names(texts)
        assert list(compressed) == list(names) and compressed == names
        assert [compressed[place] for place in range(len(texts))] == texts
        codes = np.array(random.sample(range(len(texts)), len(texts) // 2), dtype=np.int64)
        assert list(compressed.take(codes)) == list(names.take(codes))
        wanted = ["not there", *texts[:3]]
        assert compressed.find(wanted).tolist() == names.find(wanted).tolist()
        assert not compressed.is_range
