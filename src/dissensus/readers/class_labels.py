"""Class labels of Hugging Face `datasets`: whole numbers whose names are in the features."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

KEY = b"huggingface"  # in the metadata of a Parquet or Arrow table
INFO = "dataset_info.json"


def with_class_names(table: Any, folder: Path | None = None) -> Any:
    """The table with the names of classes instead of their numbers; -1 is a missing label.

    Args:
        folder: a folder that `save_to_disk` wrote, whose dataset_info.json has the features.

    Example:
        >>> features = {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}}
        >>> metadata = {"huggingface": json.dumps({"info": {"features": features}})}
        >>> table = pa.table({"label": [1, 0, -1]}).replace_schema_metadata(metadata)
        >>> with_class_names(table)["label"].to_pylist()
        ['yes', 'no', None]
    """
    features = _features(table, folder)
    for name, feature in features.items():
        at = table.schema.get_field_index(name)
        if at < 0:
            continue
        column = table.column(at)
        named = _named(column.combine_chunks() if column.num_chunks else column, feature)
        if named is not None:
            table = table.set_column(at, name, named)
    return table


def _features(table: Any, folder: Path | None) -> dict[str, Any]:
    texts: list[str | bytes] = []
    if KEY in (table.schema.metadata or {}):
        texts.append(table.schema.metadata[KEY])
    if folder is not None and (folder / INFO).is_file():
        texts.append((folder / INFO).read_text(encoding="utf-8", errors="replace"))
    for text in texts:
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            continue
        info = content.get("info", content) if isinstance(content, dict) else None
        features = info.get("features") if isinstance(info, dict) else None
        if isinstance(features, dict):
            return features
    return {}


def _named(column: Any, feature: Any) -> Any:
    """The column with names, also inside lists and objects; None if it has no classes."""
    if isinstance(feature, list) and feature:  # an older way to write a list
        feature = {"_type": "Sequence", "feature": feature[0]}
    if not isinstance(feature, dict):
        return None
    if feature.get("_type") == "ClassLabel":
        names = feature.get("names")
        known = isinstance(names, list) and pa.types.is_integer(column.type)
        return _names_of(column, [str(name) for name in names]) if known and names else None
    if feature.get("_type") in ("Sequence", "List", "LargeList"):
        inner = feature.get("feature")
        if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
            return _named(column, inner)
        values = _named(column.values, inner)
        return None if values is None else type(column).from_arrays(column.offsets, values)
    if pa.types.is_struct(column.type):
        return _named_fields(column, feature)
    return None


def _named_fields(column: Any, feature: dict[str, Any]) -> Any:
    names = [field.name for field in column.type]
    fields = [column.field(at) for at in range(len(names))]
    new = [_named(field, feature.get(n)) for n, field in zip(names, fields, strict=True)]
    if all(one is None for one in new):
        return None
    whole = [field if one is None else one for field, one in zip(fields, new, strict=True)]
    return pa.StructArray.from_arrays(whole, names)


def _names_of(column: Any, names: list[str]) -> Any:
    inside = pc.and_(pc.greater_equal(column, 0), pc.less(column, len(names)))
    missing = pa.scalar(None, column.type)
    return pa.array(names).take(pc.if_else(inside, column, missing).cast(pa.int64()))
