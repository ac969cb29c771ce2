"""Saved folders whose content was altered, with checksums that are right: refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dissensus import Corpus, compare, simulate
from dissensus.datasets import read
from dissensus.encoders import encode, encoder
from dissensus.errors import DissensusError
from dissensus.evaluation import Results
from dissensus.files.folders import CHECKSUMS, write_json
from dissensus.methods import AnnotatorMajority, load
from dissensus.methods.framework import model_folder
from dissensus.methods.framework.model_folder import checksum, trained_items
from dissensus.prediction import Predictions
from tests.datasets.folders import sample
from tests.tiny import tiny_vit

N = 12


def alter(file: Path, column: str, values: Any) -> None:
    """Put other values into a table of a saved folder, and write the checksums again."""
    table = pq.read_table(file)
    kept = [name for name in table.column_names if name != column]
    pq.write_table(table.select(kept).append_column(column, values), file)
    for front in file.parent.glob("*.json"):
        content = json.loads(front.read_bytes())
        if content.pop(CHECKSUMS, None):
            write_json(file.parent, front.stem, content)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    crowd = simulate.text(n_items=N, n_annotators=3, labels_per_item=2, seed=0)
    parts = {"item_attributes": {"a": range(N)}, "splits": {"s": ["train"] * N}}
    texts = {"text": [f"text {number}" for number in range(N)]}
    return Corpus.build("mine", crowd.items, crowd.questions, contents=texts, **parts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("file", "column", "kind", "message"),
    [
        ("content-0", "value", pa.int64(), "contents 'text': text cannot be int64, or missing"),
        ("content-0", "value", pa.string(), "contents 'text': text cannot be string, or missing"),
        ("items", "attribute.a", pa.struct({"b": pa.int8()}), "attribute 'a' is of type struct<"),
        ("annotators", "name", pa.string(), "name 0 is missing: every name must be a text"),
        ("items", "split.s", pa.list_(pa.date32(), 2), "attribute 's' is of type fixed_size_list<"),
        ("items", "split.s", pa.map_(pa.int8(), pa.int8()), "attribute 's' is of type map<"),
    ],
)
def test_a_corpus(
    corpus: Corpus, tmp_path: Path, file: str, column: str, kind: Any, message: str
) -> None:
    corpus.save(tmp_path / "out")
    table = tmp_path / "out" / f"{file}.parquet"
    alter(table, column, pa.nulls(pq.read_metadata(table).num_rows, kind))
    with pytest.raises(DissensusError) as refused:
        Corpus.load(tmp_path / "out")
    assert message in str(refused.value) and "\n" not in str(refused.value)


def test_codes_of_contents_are_integers(corpus: Corpus, tmp_path: Path) -> None:
    corpus.save(tmp_path / "out")
    codes = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0] * N, pa.int8()))
    alter(tmp_path / "out" / "items.parquet", "content.text", codes)
    with pytest.raises(DissensusError, match="codes of 'text' are bool, not integers"):
        Corpus.load(tmp_path / "out")


def test_codes_of_rationales(tmp_path: Path) -> None:
    simulate.sequence(n_items=N, n_annotators=3, labels_per_item=2, seed=0).save(tmp_path / "out")
    table = tmp_path / "out" / "rationales.parquet"
    n_spans = pq.read_metadata(table).num_rows
    for column, code, least in (("annotator", 3, -1), ("item", -1, 0), ("item", 0.5, 0)):
        before = pq.read_table(table)[column]
        alter(table, column, pa.array([code] * n_spans))
        with pytest.raises(DissensusError, match=f"rationales have {column} codes from {least} to"):
            Corpus.load(tmp_path / "out")
        alter(table, column, before)
    for column in ("start.0", "stop.0"):
        before = pq.read_table(table)[column]
        alter(table, column, pa.array([0] * n_spans, pa.timestamp("us")))
        with pytest.raises(DissensusError, match=f"rationales {column[:-2]} at datetime64"):
            Corpus.load(tmp_path / "out")
        alter(table, column, before)
    Corpus.load(tmp_path / "out")


def test_views_of_texts_beside_answers(corpus: Corpus, tmp_path: Path) -> None:
    corpus.save(tmp_path / "out")
    n_rows = corpus["emotion"].n_rows
    views = pa.array(["why"] * n_rows, pa.string_view())
    alter(tmp_path / "out" / "question-0.parquet", "extra.reason", views)
    part = Corpus.load(tmp_path / "out").select(items=[0])
    assert set(part["emotion"].extra["reason"].to_pylist()) == {"why"}


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (pa.array([[1]] * 2), "damaged (ValueError: setting an array element with a sequence"),
        (pa.array([float("nan")] * 2), "damaged (FloatingPointError: invalid value"),
        (pa.array([b"\xff"] * 2), "damaged (ValueError: invalid literal for int()"),
    ],
)
def test_a_public_corpus(tmp_path: Path, label: Any, message: str) -> None:
    folder = sample("cifar10h", tmp_path / "cifar10h")
    file = folder / "cifar10_test_jpg.parquet"
    table = pq.read_table(file)
    table = table.set_column(table.column_names.index("label"), "label", label)
    pq.write_table(table, file)
    with pytest.raises(DissensusError) as refused:
        read(folder)
    assert message in str(refused.value) and "\n" not in str(refused.value)


def test_dates_of_items_become_texts(corpus: Corpus, tmp_path: Path) -> None:
    corpus.save(tmp_path / "out")
    alter(tmp_path / "out" / "items.parquet", "attribute.a", pa.array([3] * N, pa.date32()))
    dates = Corpus.load(tmp_path / "out").item_attributes["a"]
    assert dates.to_pylist() == ["1970-01-04"] * N


def test_the_items_of_a_model(corpus: Corpus, tmp_path: Path) -> None:
    AnnotatorMajority().fit(corpus).save(tmp_path / "out")
    pq.write_table(pa.table({"other": [1]}), tmp_path / "out" / "trained_items.parquet")
    with pytest.raises(DissensusError, match=r"out: damaged \(KeyError"):
        trained_items(tmp_path / "out", corpus)


def test_weights_are_those_whose_checksum_was_verified(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def verified(config: dict[str, Any], weights: bytes) -> str:
        (tmp_path / "out" / "model.safetensors").unlink()  # another process does, just then
        return checksum(config, weights)

    saved = AnnotatorMajority().fit(corpus)
    saved.save(tmp_path / "out")
    monkeypatch.setattr(model_folder, "checksum", verified)
    weights = load(tmp_path / "out").weights()
    assert all((weights[name] == values).all() for name, values in saved.weights().items())


def test_scores_of_items(corpus: Corpus, tmp_path: Path) -> None:
    results = compare(corpus, ["prior"], out=tmp_path / "all", seeds=1, processes=1)
    n_scores = sum(fit.items.num_rows for fit in results.fits)
    alter(tmp_path / "all" / "items.parquet", "score", pa.nulls(n_scores, pa.float64()))
    with pytest.raises(DissensusError, match=r"damaged \(scores of items are missing\)"):
        Results.load(tmp_path / "all")


def test_the_preprocessing_of_an_encoder(tmp_path: Path) -> None:
    from PIL import Image

    from dissensus.contents import Contents

    tiny_vit(tmp_path / "vit")
    config = tmp_path / "vit" / "preprocessor_config.json"
    config.write_text(json.dumps(json.loads(config.read_bytes()) | {"image_mean": 7}))
    Image.new("RGB", (16, 16)).save(tmp_path / "a.png")
    contents = Contents.distinct("image", [str(tmp_path / "a.png")])[0]
    with pytest.raises(DissensusError, match=r"its files cannot be used \('int' object"):
        encode(encoder(str(tmp_path / "vit"), "image"), contents)


@pytest.mark.parametrize(
    ("file", "column", "values", "message"),
    [
        ("items", "trained", [[1]] * N, "int64> to bool using function cast_boolean"),
        ("items", "consensus", [0.5] * N, "nominal answers are integer codes, found float64"),
        ("pairs", "value", [6] * 36, "nominal answers are codes 0 to 5, found 6 to 6"),
        ("pairs", "item", [N] * 36, f"items of pairs must be codes from 0 to {N - 1}"),
    ],
)
def test_predictions(
    corpus: Corpus, tmp_path: Path, file: str, column: str, values: list[Any], message: str
) -> None:
    AnnotatorMajority().fit(corpus).predict(corpus, annotators="all").save(tmp_path / "out")
    alter(tmp_path / "out" / f"question-0.{file}.parquet", column, pa.array(values))
    with pytest.raises(DissensusError) as refused:
        Predictions.load(tmp_path / "out")
    assert message in str(refused.value) and "\n" not in str(refused.value)
