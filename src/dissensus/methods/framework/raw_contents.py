"""What `predict` accepts: a corpus, lists of contents, or a table of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals
import numpy as np
import pyarrow as pa

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.names import Names

Raw = Sequence[Any] | np.ndarray | Mapping[str, Sequence[Any] | np.ndarray]
Source = Corpus | Raw


def corpus_of(source: Raw, roles: Sequence[str], kinds: Mapping[str, str]) -> Corpus:
    """Raw contents as a corpus without answers.

    Args:
        roles: the roles that the model reads.
        kinds: the kind of content of every role of the training corpus.
    """
    by_role = _columns(source, roles)
    if not isinstance(by_role, Mapping):
        if isinstance(by_role, (str, bytes)) or len(roles) != 1:
            names = ", ".join(f"{role!r} ({kinds[role]})" for role in roles) or "nothing"
            raise DataError(f"pass a list of contents for each role; the model reads {names}")
        by_role = {roles[0]: by_role}
    lengths = {len(values) for values in by_role.values()}
    if len(lengths) != 1 or any(role not in kinds for role in by_role):
        raise DataError(
            f"pass one list for each role, all of the same length; the model has the roles "
            f"{listed(kinds)}"
        )
    contents = {role: _contents(role, kinds[role], values) for role, values in by_role.items()}
    return Corpus.build("contents", Names.range(lengths.pop()), {}, contents=contents)


def _columns(source: Any, roles: Sequence[str]) -> Any:
    """The columns of a pandas, polars or Arrow table that are roles; other sources unchanged."""
    frame = narwhals.from_native(source, eager_only=True, pass_through=True)
    if not isinstance(frame, narwhals.DataFrame):
        return source
    missing = [role for role in roles if role not in frame.columns]
    if missing:
        raise DataError(
            f"the model reads {listed(roles)}, but the table has no column {listed(missing)}; it "
            f"has {listed(frame.columns)}"
        )
    return {role: frame[role].to_arrow().to_pylist() for role in roles}


def _contents(role: str, kind: Any, values: Any) -> tuple[Contents, np.ndarray]:
    """The contents of one role; a path may be a string or a Path."""
    plain = [os.fspath(value) if isinstance(value, os.PathLike) else value for value in values]
    try:
        return Contents.distinct(kind, plain)
    except (pa.ArrowException, TypeError, ValueError) as error:
        expected = {"text": "texts", "features": "arrays of numbers"}
        raise DataError(
            f"{role!r} must be {expected.get(kind, 'paths, or bytes of files')}, or None without "
            f"content ({str(error).splitlines()[0]})"
        ) from None
