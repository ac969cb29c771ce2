"""Saved folders: written whole or not at all, each with a format number."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.errors import DataError, DissensusError, cut
from dissensus.json_files import check_types, parse_json
from dissensus.plain_files import open_plain, plain_bytes
from dissensus.staging import staged

WORDS = {"config": "model"}  # what a folder is called, if not after its JSON file
FORMAT = 1  # of a folder; a kind has a higher one where an old version would misread it
NEWEST = {"predictions": 3}  # the highest format number that is read, if not FORMAT

DAMAGE: tuple[type[Exception], ...] = (  # what the content of a damaged folder can cause
    *(LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError),
    *(MemoryError, pa.ArrowException),
)


@contextmanager
def writing(path: str | Path, kind: str) -> Iterator[Path]:
    """A temporary folder that becomes `path` if the block succeeds, and is deleted if it fails.

    An existing folder is replaced only if it is empty or one of the same kind.
    """
    check_free(Path(path), kind)
    with staged(path) as folder:
        folder.mkdir()
        yield folder


def check_free(target: Path, kind: str) -> None:
    """Refuse a path that contains something else, before any work is done."""
    if target.exists() and not _replaceable(target, kind):
        raise DataError(
            f"{target}: already exists and is not a dissensus {_word(kind)} folder; "
            "choose another path"
        )


def _word(kind: str) -> str:
    return WORDS.get(kind, kind)


def _replaceable(target: Path, kind: str) -> bool:
    if not target.is_dir():
        return False
    return not any(target.iterdir()) or (target / f"{kind}.json").is_file()


def write_json(folder: Path, kind: str, content: dict[str, Any], number: int = FORMAT) -> None:
    """Write `kind`.json, which says what the folder is, with the format number."""
    text = json.dumps({"format": number, "kind": kind, **content}, ensure_ascii=False, indent=1)
    (folder / f"{kind}.json").write_text(text + "\n", encoding="utf-8")


def read_json(folder: str | Path, kind: str, schema: Any = dict[str, Any]) -> dict[str, Any]:
    """Read `kind`.json; an unknown format number or a damaged file is refused in one line.

    Args:
        schema: the type of its content, as `check_types` takes it.
    """
    path = Path(folder) / f"{kind}.json"
    try:
        content = parse_json(plain_bytes(path), path)
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(
            f"{folder}: not a dissensus {_word(kind)} folder: {path.name} is missing"
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    except DataError as error:
        raise DataError(f"{error}; make the folder again") from None
    number = content.get("format") if isinstance(content, dict) else None
    newest = NEWEST.get(kind, FORMAT)
    if type(number) is not int or number not in range(FORMAT, newest + 1):
        known = f"{FORMAT}" if newest == FORMAT else f"{FORMAT} to {newest}"
        raise DataError(
            f"{path}: format number {cut(repr(number))}, this version reads {known}; "
            "read it with the version of dissensus that wrote it"
        )
    try:
        check_types(content, schema, path)
    except DataError as error:
        raise DataError(f"{error}; make the folder again") from None
    return dict(content)


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Turn any error about the content of a saved folder into one line that names the folder."""
    try:
        yield
    except DissensusError as error:
        if str(folder) in str(error):
            raise
        raise DataError(f"{folder}: damaged ({error}); make the folder again") from None
    except DAMAGE as error:
        reason = cut(f"{type(error).__name__}: {error}")
        raise DataError(f"{folder}: damaged ({reason}); make the folder again") from None


def write_table(path: Path, columns: dict[str, Any]) -> None:
    """Write named arrays of one length as Parquet; no columns make no file."""
    if columns:
        pq.write_table(pa.table(columns), path, compression="zstd")


def read_table(path: Path) -> Any:
    """Read a Parquet file of a saved folder; a damaged one is refused in one line."""
    try:
        with open_plain(path) as file:
            return pq.read_table(file)
    except FileNotFoundError:
        raise DataError(f"{path}: missing; the folder is incomplete, make it again") from None
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: damaged ({cut(error)}); make the folder again") from None
