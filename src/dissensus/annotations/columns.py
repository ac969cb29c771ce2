"""Turn columns of the user into flat arrays of codes and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError, listed
from dissensus.names import Names, string_array
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale, as_numbers, infer_scale


def coded(values: Any, names: Names | None, what: str) -> tuple[np.ndarray, Names]:
    """Codes and their names, from codes or from names."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        if names is None:
            names = Names.range(int(values.max()) + 1 if values.size else 0)
        if values.size and not 0 <= values.min() <= values.max() < len(names):
            raise DataError(
                f"{what} codes run from 0 to {len(names) - 1}, found {values.min()} to "
                f"{values.max()}; leave out the rows of missing answers"
            )
        return values, names
    if names is not None:
        return names.codes(values, what), names
    try:
        names, codes = Names.encode(values)
    except DataError:
        texts = string_array(values)
        row = int(texts.is_null().to_numpy(zero_copy_only=False).argmax())
        raise DataError(f"row {row + 1} has no {what}") from None
    return codes, names


def scaled(answer: Any, scale: Scale | None) -> tuple[np.ndarray, Scale]:
    """Stored answers and their scale."""
    if scale is not None and isinstance(answer, np.ndarray) and answer.dtype.kind in "iuf":
        if isinstance(scale, Interval) and answer.dtype.kind != "f":
            answer = answer.astype(float)
        scale.check(answer)
        return answer, scale
    if isinstance(scale, MultiLabel):
        if isinstance(answer, np.ndarray) and all(isinstance(mask, int) for mask in answer):
            scale.check(answer)
            return answer, scale
        return scale.encode(answer), scale
    try:
        texts = string_array(answer)
    except pa.ArrowNotImplementedError:
        raise DataError("answers that are lists of values need a multi-label scale") from None
    if texts.null_count:
        row = int(texts.is_null().to_numpy(zero_copy_only=False).argmax())
        raise DataError(f"row {row + 1} has no answer; leave such rows out")
    if scale is None:
        if not len(texts):
            raise DataError("no answers: a scale cannot be inferred, declare one")
        scale = infer_scale(texts.unique().to_pylist())
    return scale.encode(texts), scale


def numbers(name: str, values: Any | None, dtype: type) -> np.ndarray | None:
    """A column of numbers, whole ones where the type is; None stays None."""
    if values is None:
        return None
    column = np.asarray(values)
    if column.dtype.kind not in "iuf":
        raise DataError(f"{name} must be numbers, found {column.dtype}")
    if dtype is np.int64 and column.dtype.kind == "f":
        not_whole = ~(np.isfinite(column) & (column == np.floor(column)))
        if not_whole.any():
            row = int(not_whole.argmax())
            raise DataError(f"row {row + 1}: {name} is {column[row]:g}, not a whole number")
        too_large = np.abs(column) >= 2.0**63
        if too_large.any():
            row = int(too_large.argmax())
            raise DataError(f"row {row + 1}: {name} is {column[row]:g}; it must be below 2**63")
    return column.astype(dtype, copy=False)


def arrow(values: Any) -> Any:
    """Any values as one Arrow array."""
    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks()
    return values if isinstance(values, pa.Array) else pa.array(values, from_pandas=True)


def level_of(answer: np.ndarray, scale: Scale) -> np.ndarray:
    """Ratings as codes of an ordinal or nominal scale whose values spell those numbers."""
    assert isinstance(scale, Nominal | Ordinal)
    levels = scale.positions if isinstance(scale, Ordinal) else as_numbers(scale.values)
    if levels is None:
        raise DataError(f"numbers cannot be read as {listed(scale.values, 20)}")
    positions = np.array(levels)
    codes = np.abs(answer[:, None] - positions).argmin(axis=1).astype(np.int32)
    off = positions[codes] != answer
    if off.any():
        raise DataError(
            f"{answer[off.argmax()]:g} is none of the levels {listed(scale.values, 20)} "
            f"({int(off.sum())} such answers)"
        )
    return codes
