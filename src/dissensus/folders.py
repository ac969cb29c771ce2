"""How everything of ours is written: a folder, whole or not at all, with a format number."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.errors import DataError, DissensusError

WORDS = {"config": "model"}  # what a folder is called where its front page is named otherwise
FORMAT = 1  # of every folder we write; raised when an old reader would misread a new folder


@contextmanager
def writing(path: str | Path, kind: str) -> Iterator[Path]:
    """A temporary folder that becomes `path` when the block ends well, and vanishes otherwise.

    An existing folder is replaced only if it is empty or one of the same kind.
    """
    target = Path(path)
    check_free(target, kind)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise DataError(f"{target}: cannot be written ({error.strerror})") from None
    try:
        yield temporary
        _replace(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_free(target: Path, kind: str) -> None:
    """Refuse a folder that holds something else, before work is done that would end there."""
    if target.exists() and not _replaceable(target, kind):
        raise DataError(
            f"{target}: exists and is no {_word(kind)} folder of ours; choose another name"
        )


def _word(kind: str) -> str:
    return WORDS.get(kind, kind)


def _replaceable(target: Path, kind: str) -> bool:
    if not target.is_dir():
        return False
    return not any(target.iterdir()) or (target / f"{kind}.json").is_file()


def _replace(temporary: Path, target: Path) -> None:
    temporary.chmod(0o755)  # mkdtemp makes folders that nobody else may read
    if target.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        os.replace(target, old)
        try:
            os.replace(temporary, target)
        except OSError:
            os.replace(old, target)
            raise
        shutil.rmtree(old)
    else:
        os.replace(temporary, target)


def write_json(folder: Path, kind: str, content: dict[str, Any]) -> None:
    """Write `kind`.json, the folder's front page, with the format number in it."""
    text = json.dumps({"format": FORMAT, "kind": kind, **content}, ensure_ascii=False, indent=1)
    (folder / f"{kind}.json").write_text(text + "\n", encoding="utf-8")


def read_json(folder: str | Path, kind: str) -> dict[str, Any]:
    """Read `kind`.json; an unknown format number or a damaged file is refused in one line."""
    path = Path(folder) / f"{kind}.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(
            f"{folder}: no {_word(kind)} folder of ours: {path.name} is missing"
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"{path}: damaged ({error}); make the folder again") from None
    number = content.get("format") if isinstance(content, dict) else None
    if number != FORMAT:
        raise DataError(
            f"{path}: format number {number!r}, this version reads {FORMAT}; "
            "read it with the version of dissensus that wrote it"
        )
    return dict(content)


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Turn whatever does not fit together in a folder of ours into one line that names it."""
    try:
        yield
    except DissensusError as error:
        if str(folder) in str(error):
            raise
        raise DataError(f"{folder}: damaged ({error}); make the folder again") from None
    except (LookupError, TypeError, ValueError, AttributeError, pa.ArrowException) as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise DataError(f"{folder}: damaged ({reason}); make the folder again") from None


def write_table(path: Path, columns: dict[str, Any]) -> None:
    """Write named arrays of one length as Parquet; no columns make no file."""
    if columns:
        pq.write_table(pa.table(columns), path, compression="zstd")


def read_table(path: Path) -> Any:
    """Read a Parquet file of ours as an Arrow table; a damaged one is refused in one line."""
    try:
        return pq.read_table(path)
    except FileNotFoundError:
        raise DataError(f"{path}: missing; the folder is incomplete, make it again") from None
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{path}: damaged ({reason}); make the folder again") from None
