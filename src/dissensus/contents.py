"""Contents: each distinct text, picture, clip or feature array of a corpus, once."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.errors import DataError, listed
from dissensus.files.plain import plain_bytes
from dissensus.names import same, string_array
from dissensus.within import set_within

Kind = Literal["text", "image", "audio", "video", "features"]
_media_roots: ContextVar[tuple[str, ...]] = ContextVar("media_roots", default=())
KINDS: tuple[Kind, ...] = ("text", "image", "audio", "video", "features")


@dataclass(frozen=True, eq=False)
class Contents:
    """Distinct contents of one kind.

    `values` is an Arrow array: strings for texts; bytes of a file, or its path as a string, for
    media; lists of float32 (a vector each) or lists of such lists (a sequence of vectors each)
    for features.

    Args:
        roots: the folders that paths must be in, of what was read from a file; other paths are not
            opened. None: any path is.
    """

    kind: Kind
    values: Any
    roots: tuple[str, ...] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise DataError(f"no kind of content {self.kind!r}; there are {listed(KINDS)}")

    def __repr__(self) -> str:
        return f"<Contents: {len(self):,} different, {self.kind}>"

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, code: int) -> Any:
        return self.values[int(code)].as_py()

    @classmethod
    def distinct(
        cls, kind: Kind, values: Any, roots: tuple[str, ...] | None = None
    ) -> tuple[Contents, np.ndarray]:
        """The distinct values and a code per value; -1 where a value is missing (null).

        Example:
            >>> contents, codes = Contents.distinct("text", ["a", "b", None, "a"])
            >>> len(contents), codes.tolist()
            (2, [0, 1, -1, 0])
        """
        if kind == "features":
            return cls._distinct_features(values)
        array = string_array(values) if kind == "text" else pa.array(values)
        encoded = array.dictionary_encode()
        codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
        return cls(kind, encoded.dictionary, roots), np.asarray(codes, dtype=np.int32)

    @classmethod
    def _distinct_features(cls, values: Any) -> tuple[Contents, np.ndarray]:
        if isinstance(values, np.ndarray) and values.ndim == 2:
            rows = np.ascontiguousarray(values, dtype=np.float32)
        elif isinstance(values, np.ndarray) and values.ndim == 3:
            return cls._distinct_features(list(values))
        else:
            codes = np.full(len(values), -1, dtype=np.int32)
            present = [i for i, value in enumerate(values) if value is not None]
            arrays = [np.ascontiguousarray(values[i], dtype=np.float32) for i in present]
            seen: dict[bytes, int] = {}
            codes[present] = [
                seen.setdefault(repr(a.shape).encode() + a.tobytes(), len(seen)) for a in arrays
            ]
            first = np.unique(codes[present], return_index=True)[1]
            kept = [arrays[i].tolist() for i in first]
            depth = arrays[0].ndim if arrays else 1
            inner = pa.list_(pa.float32()) if depth == 1 else pa.list_(pa.list_(pa.float32()))
            return cls("features", pa.array(kept, inner)), codes
        seen = {}
        codes = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in rows], np.int32)
        first = np.unique(codes, return_index=True)[1]
        flat = pa.array(rows[first].ravel())
        offsets = pa.array(np.arange(len(first) + 1, dtype=np.int32) * rows.shape[1])
        return cls("features", pa.ListArray.from_arrays(offsets, flat)), codes

    def check(self, role: str) -> None:
        """Refuse values that contents of this kind cannot have."""
        of = self.values.type
        while self.kind == "features" and (pa.types.is_list(of) or pa.types.is_fixed_size_list(of)):
            of = of.value_type
        plain = pa.types.is_string(of) or pa.types.is_large_string(of)
        fits = of == pa.float32() if self.kind == "features" else plain
        if self.kind not in ("text", "features"):
            fits |= pa.types.is_binary(of) or pa.types.is_large_binary(of)
        if not fits or self.values.null_count:
            raise DataError(f"contents {role!r}: {self.kind} cannot be {of}, or missing")

    def take(self, codes: np.ndarray) -> Contents:
        """The contents at these codes."""
        return Contents(self.kind, self.values.take(pa.array(codes)), self.roots)

    def bytes_of(self, code: int) -> bytes:
        """The bytes of a media file, read from its path if only that is stored."""
        value = self[code]
        if isinstance(value, bytes):
            return value
        real = os.path.realpath(value)
        if self.roots is not None and not any(map(Path(real).is_relative_to, self.roots)):
            raise DataError(
                f"{value}: not in the folder of the data, {self.roots[0]}; if it may be read: "
                f'media_root="{Path(real).parent}" (--media-root {Path(real).parent})'
            )
        try:
            return plain_bytes(value)
        except OSError as error:
            raise DataError(
                f"{value}: {error.strerror or error}; is the media folder there?"
            ) from None

    def equals(self, other: Contents) -> bool:
        return same(self, other)


def media_within(*folders: str | Path) -> AbstractContextManager[None]:
    """Within the block, media of what is read may also be in these folders."""
    return set_within(_media_roots, (*_media_roots.get(), *map(os.path.realpath, folders)))


def media_roots(folder: Path) -> tuple[str, ...]:
    """The folders that media of a file in a folder may be in."""
    return (os.path.realpath(folder), *_media_roots.get())
