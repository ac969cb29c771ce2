"""Write a prediction to the tables of a folder, and read it; file names contain the number of the
question."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError
from dissensus.files.folders import read_table, write_table
from dissensus.names import Names
from dissensus.prediction.attention import Attention
from dissensus.prediction.prediction import ByAnnotator, Prediction
from dissensus.scales import (
    Interval,
    MultiLabel,
    Scale,
    ScaleFields,
    mask_bytes,
    masks_of_bytes,
    scale_from_dict,
)

_PredictionFields = TypedDict(
    "_PredictionFields",
    {
        "name": str,
        "scale": ScaleFields,
        "pairs": bool,
        "attention": list[str] | None,
        "attention of": NotRequired[int],
        "members": bool,
        "gives": str,
    },
)


class _DensityFields(TypedDict):
    questions: list[str]
    scales: list[ScaleFields]
    shape: list[int]


class PredictionsFields(TypedDict):
    """The content of predictions.json."""

    method: str
    corpus: str
    questions: list[_PredictionFields]
    densities: list[_DensityFields]


@dataclass(frozen=True)
class _Tables:
    """The tables of one question."""

    folder: Path
    number: int

    def _path(self, part: str) -> Path:
        return self.folder / f"question-{self.number}.{part}.parquet"

    def write(self, part: str, columns: dict[str, Any]) -> None:
        write_table(self._path(part), columns)

    def read(self, part: str) -> dict[str, Any]:
        table = read_table(self._path(part))
        return {name: table[name].combine_chunks() for name in table.column_names}


def write_prediction(
    folder: Path, number: int, question: str, prediction: Prediction
) -> dict[str, Any]:
    """Write the tables of a question; return its entry in the JSON file."""
    tables = _Tables(folder, number)
    tables.write("items", _item_columns(prediction))
    if prediction.by_annotator is not None:
        _write_pairs(tables, prediction.by_annotator, prediction.scale)
    for place, attention in enumerate(prediction.attention):
        tables.write(f"attention-{place}", {"weight": attention.weight})
        tables.write(f"attention-offsets-{place}", {"offset": attention.offsets})
        flat = attention.places.reshape(len(attention.places), 2 * attention.places.shape[1])
        tables.write(f"attention-places-{place}", {"place": _matrix(flat)})
        tables.write(f"attention-place-offsets-{place}", {"offset": attention.place_offsets})
    if prediction.members is not None:
        tables.write("members", {"answer": _matrix(prediction.members.T)})
    return {
        "name": question,
        "scale": prediction.scale.to_dict(),
        "pairs": prediction.by_annotator is not None,
        "attention": [each.role for each in prediction.attention] or None,
        "members": prediction.members is not None,
        "gives": prediction.gives,
    }


def read_prediction(folder: Path, number: int, front: dict[str, Any]) -> Prediction:
    """Read what `write_prediction` wrote; `front` is its entry in the JSON file."""
    tables = _Tables(folder, number)
    items, scale = tables.read("items"), scale_from_dict(front["scale"])
    names = Names(items["item"])
    pairs = _read_pairs(tables, scale, len(names)) if front["pairs"] else None
    return Prediction(
        scale,
        names,
        _array(items["distribution"]),
        _read_column(items["consensus"], scale),
        pairs,
        tuple(_read_attention(tables, *pair) for pair in enumerate(front["attention"] or ())),
        _array(tables.read("members")["answer"]).T if front["members"] else None,
        items["disagreement"].cast(pa.float64()).to_numpy() if "disagreement" in items else None,
        front["gives"],
        trained=np.array(items["trained"].cast(pa.bool_()), bool) if "trained" in items else None,
    )


def _item_columns(prediction: Prediction) -> dict[str, Any]:
    columns = {
        "item": prediction.items.array,
        "consensus": _answers(prediction.consensus, prediction.scale),
        "distribution": _matrix(prediction.distribution),
    }
    if prediction.disagreement is not None:
        columns["disagreement"] = prediction.disagreement
    if prediction.trained is not None:
        columns["trained"] = prediction.trained
    return columns


def _answers(answers: np.ndarray, scale: Scale) -> Any:
    """Stored answers as a column; sets of many values as bytes."""
    if answers.dtype == object and isinstance(scale, MultiLabel):
        return mask_bytes(answers, scale)
    return answers


def _read_column(column: Any, scale: Scale) -> np.ndarray:
    """Read back what `_answers` wrote."""
    large = pa.types.is_binary(column.type)
    values = masks_of_bytes(column.to_pylist()) if large else np.asarray(column.to_numpy())
    if isinstance(scale, Interval):  # whose ends a mean may miss by a rounding error
        return values.astype(float, casting="same_kind", copy=False)
    scale.check(values)
    return values


def _write_pairs(tables: _Tables, pairs: ByAnnotator, scale: Scale) -> None:
    names = pairs.annotators.array
    columns = {
        "item": pairs.item,
        "annotator": pa.DictionaryArray.from_arrays(pa.array(pairs.annotator, pa.int32()), names),
        "value": _answers(pairs.value, scale),
    }
    if pairs.distribution is not None:
        columns["distribution"] = _matrix(pairs.distribution)
    tables.write("pairs", columns)
    tables.write("annotators", {"name": names})


def _read_pairs(tables: _Tables, scale: Scale, n_items: int) -> ByAnnotator:
    rows = tables.read("pairs")
    names, annotator = Names(tables.read("annotators")["name"]), rows["annotator"]
    item = rows["item"].to_numpy()
    if item.dtype.kind not in "iu" or (item.size and not 0 <= item.min() <= item.max() < n_items):
        raise DataError(f"items of pairs must be codes from 0 to {n_items - 1}")
    return ByAnnotator(
        item,
        names.codes(annotator.dictionary)[annotator.indices.to_numpy()],  # Parquet may reorder it
        names,
        _read_column(rows["value"], scale),
        _array(rows["distribution"]) if "distribution" in rows else None,
    )


def _read_attention(tables: _Tables, place: int, role: str) -> Attention:
    places = _array(tables.read(f"attention-places-{place}")["place"])
    return Attention(
        role,
        tables.read(f"attention-{place}")["weight"].to_numpy(),
        tables.read(f"attention-offsets-{place}")["offset"].to_numpy(),
        places.reshape(len(places), places.shape[1] // 2, 2),
        tables.read(f"attention-place-offsets-{place}")["offset"].to_numpy(),
    )


def _matrix(values: np.ndarray) -> Any:
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def _array(column: Any) -> np.ndarray:
    width = column.type.list_size
    return np.asarray(column.flatten().to_numpy(zero_copy_only=False)).reshape(-1, width)
