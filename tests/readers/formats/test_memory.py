"""Tables in memory: pandas, polars and Arrow, with the types that real tables have."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dissensus import Annotations
from dissensus.corpus import LeftOut
from dissensus.errors import DataError
from dissensus.readers import read
from dissensus.scales import Interval, Nominal, Ordinal

COLUMNS: dict[str, Any] = {
    "task": ["t1", "t1", "t2"],
    "worker": [7, 8, 7],
    "label": ["yes", "no", "yes"],
}


@pytest.mark.parametrize(
    "make",
    [
        *(pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table, pa.RecordBatch.from_pydict, dict),
        lambda columns: [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ],
    ],
)
def test_any_table_is_read(make: Any) -> None:
    corpus = read(make(COLUMNS))
    assert corpus.name == "table"
    assert list(corpus.items) == ["t1", "t2"]
    assert list(corpus.annotators) == ["7", "8"]
    assert corpus["label"].answers() == ["yes", "no", "yes"]
    assert corpus.notes == (
        "table: long table; item = task, annotator = worker, answer = label (nominal: no, yes); "
        "3 answers by 2 annotators on 2 items",
    )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([{"item": "t1"}, 3], "a list must have a dict for each row, found int"),
        ({"item": 3}, "a dict must have a list of values by column"),
        ({"item": [1, 2], "label": [1]}, "the columns have different lengths: [1, 2]"),
        ([], "no columns"),
    ],
)
def test_objects_that_are_no_table(table: Any, message: str) -> None:
    with pytest.raises(DataError, match=re.escape(message)):
        read(table)


def test_rows_without_a_key_have_a_gap_and_values_of_several_kinds_are_texts() -> None:
    answers = [(1, "x", "yes"), (1, "y", 2), (2, "y", "yes")]
    rows: list[dict[str, Any]] = [dict(item=n, annotator=a, label=v) for n, a, v in answers]
    rows.append({"item": 2, "annotator": "x"})
    corpus = read(rows, scale="nominal")
    assert corpus["label"].answers() == ["yes", "2", "yes"]


def test_a_dataset_of_hugging_face_has_the_names_of_its_classes() -> None:
    datasets = pytest.importorskip("datasets")
    features = {"item": datasets.Value("string"), "annotator": datasets.Value("string")}
    features["label"] = datasets.ClassLabel(names=["no", "yes"])
    columns = {"item": ["a", "a", "b"], "annotator": ["x", "y", "x"], "label": [0, 1, -1]}
    whole = datasets.Dataset.from_dict(columns, datasets.Features(features))
    assert read(whole)["label"].answers() == ["no", "yes"]
    assert read(whole.select([1]), item="item")["label"].answers() == ["yes"]


def test_options_reach_tables() -> None:
    corpus = read(
        pd.DataFrame(COLUMNS),
        name="mine",
        answer="worker",
        annotator="label",
        scale=Interval(0, 10),
        repeats="keep",
    )
    assert corpus["worker"].answers() == [7.0, 8.0, 7.0]


def test_pandas_types() -> None:
    table = pd.DataFrame(
        {
            "item": pd.Series([1, 2, 3, 4], dtype="Int64"),
            "annotator": pd.Categorical(["a", "b", "a", "b"], categories=["b", "a", "unused"]),
            "rating": [1.0, np.nan, 3.0, 2.0],
            "when": pd.Series(
                ["2020-01-01", None, "2020-01-02", "2020-01-03"], dtype="datetime64[ns]"
            ),
        }
    )
    corpus = read(table)
    assert list(corpus.items) == ["1", "2", "3", "4"]
    assert list(corpus.annotators) == ["a", "b"]
    assert corpus["rating"].answers() == ["1", "3", "2"]
    assert corpus.left_out == (LeftOut("rating", "no answer", 1),)


def test_ids_with_a_gap_elsewhere_are_whole() -> None:
    table = pd.DataFrame({"item": [1, 2], "annotator": [1.0, 2.0], "answer": ["x", "y"]})
    assert list(read(table).annotators) == ["1", "2"]


def test_mixed_and_huge_ids() -> None:
    ids = pd.Series([2**70, "x", 1.5], dtype=object)
    table = pd.DataFrame({"item": ids, "annotator": ["a", "b", "c"], "answer": ["x", "y", "x"]})
    assert list(read(table).items) == [str(2**70), "x", "1.5"]


def test_sets_in_pandas_and_polars() -> None:
    sets = [["joy", "fear"], [], ["joy"]]
    for make in (pd.DataFrame, pl.DataFrame):
        answers = read(make({"item": [1, 2, 3], "annotator": [1, 1, 1], "answer": sets}))["answer"]
        assert answers.answers() == [("fear", "joy"), (), ("joy",)]
    mixed = pd.Series([{"joy"}, ("fear", "joy"), None], dtype=object)
    answers = read(pd.DataFrame({"item": [1, 2, 3], "annotator": [1, 1, 1], "answer": mixed}))[
        "answer"
    ]
    assert answers.answers() == [("joy",), ("fear", "joy")]


def test_polars_types() -> None:
    table = pl.DataFrame(
        {
            "item": ["t1", "t2", "t3"],
            "annotator": pl.Series(["a", "b", "a"], dtype=pl.Categorical),
            "rating": [0.5, float("nan"), None],
            "sure": [True, False, None],
        }
    )
    corpus = read(table, scale="interval:0:1")
    assert corpus["rating"].answers() == [0.5]
    assert corpus.left_out == (LeftOut("rating", "no answer", 2),)
    assert corpus.item_attributes["sure"].to_pylist() == ["true", "false", None]


def test_arrow_dictionaries_in_chunks() -> None:
    one = pa.array(["a", "b"]).dictionary_encode()
    two = pa.array(["c", "b"]).dictionary_encode()
    table = pa.table(
        {
            "item": pa.chunked_array([one, two]),
            "annotator": pa.chunked_array([pa.array([1, 1]), pa.array([1, 2])]),
            "answer": pa.chunked_array(
                [pa.array(["x", "y"], pa.large_string()), ["x", "y"]], pa.large_string()
            ),
        }
    )
    corpus = read(table)
    assert list(corpus.items) == ["a", "b", "c"]
    assert corpus["answer"].item.tolist() == [0, 1, 2, 1]


def test_a_named_index_is_a_column() -> None:
    corpus = read(pd.DataFrame(COLUMNS).set_index(["task", "worker"]))
    assert list(corpus.items) == ["t1", "t2"]


def test_numbers_as_column_names() -> None:
    table = pd.DataFrame([["t1", "a", "x"], ["t1", "b", "y"]])
    corpus = read(table, item=0, annotator=1, answer=2)
    assert corpus["2"].answers() == ["x", "y"]


# ---- types that say more than their texts ----

LEVELS = ["low", "mid", "high", "extreme"]


def rated(ordered: bool) -> pd.DataFrame:
    output = pd.Categorical(["high", "low", "low", "mid"], LEVELS, ordered=ordered)
    return pd.DataFrame({"item": list("aabb"), "annotator": list("xyxy"), "answer": output})


def test_ordered_categories_are_an_ordinal_scale(tmp_path: Any) -> None:
    table = rated(ordered=True)
    assert read(table)["answer"].scale == Ordinal(tuple(LEVELS))
    assert read(pa.Table.from_pandas(table))["answer"].scale == Ordinal(tuple(LEVELS))
    table.to_parquet(tmp_path / "rated.parquet")
    assert read(tmp_path / "rated.parquet")["answer"].scale == Ordinal(tuple(LEVELS))
    assert read(table)["answer"].answers() == ["high", "low", "low", "mid"]
    prediction = Annotations.from_table(table)
    assert (
        prediction.scale == Ordinal(tuple(LEVELS))
        and prediction.answers() == read(table)["answer"].answers()
    )
    assert Annotations.from_table(table, scale=Nominal(tuple(LEVELS))).scale.kind == "nominal"
    assert read(table, scale="nominal")["answer"].scale.kind == "nominal"
    assert read(rated(ordered=False))["answer"].scale == Nominal(("high", "low", "mid"))


def test_people_in_columns_of_ordered_categories() -> None:
    both = {who: pd.Categorical(["high", "low"], LEVELS, ordered=True) for who in "xy"}
    table = pd.DataFrame({"item": ["a", "b"], **both})
    corpus = read(table, annotators=["x", "y"])
    assert next(iter(corpus.questions.values())).scale == Ordinal(tuple(LEVELS))


def test_an_enum_of_polars_need_not_be_in_order() -> None:
    output = pl.Series(["joy", "anger"], dtype=pl.Enum(["joy", "anger", "fear"]))
    table = pl.DataFrame({"item": ["a", "a"], "annotator": ["x", "y"], "answer": output})
    assert read(table)["answer"].scale == Nominal(("anger", "joy"))
    assert Annotations.from_table(table).scale == Nominal(("anger", "joy"))


def test_periods_are_names_and_durations_are_seconds() -> None:
    table = pd.DataFrame(
        {
            "item": pd.period_range("2020-01", periods=3, freq="M"),
            "annotator": ["x", "y", "x"],
            "answer": ["yes", "no", "yes"],
            "seconds": pd.to_timedelta([1, 2.5, None], unit="s"),
        }
    )
    corpus = read(table)
    assert list(corpus.items) == ["2020-01", "2020-02", "2020-03"]
    seconds = corpus["answer"].seconds
    np.testing.assert_array_equal(np.asarray(seconds, float), [1, 2.5, np.nan])
