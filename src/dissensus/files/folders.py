"""Saved folders: written whole or not at all, each with a format number."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import stat
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.errors import DataError, DissensusError, cut, listed
from dissensus.files.arrow import check_parquet, parquet_table
from dissensus.files.checked_json import check_types, parse_json
from dissensus.files.plain import open_plain, plain_bytes
from dissensus.within import set_within

LOCK = "lock"
NEW = "files"  # the folder in a staging folder that has what is being written
REPLACED = "replaced"  # what was there before, while it is being replaced
_ATTEMPTS = 20  # to lock a folder that other processes create and delete
_OWNER = "dissensus "  # in a lock, before the number of the process
_LOCK_CONTENT = re.compile(rb"(dissensus \d+\n?)?")
_HERE = -100  # paths are relative to the current folder, for renameat2
_EXCHANGE = 2

_reserved: ContextVar[Mapping[Path, Path]] = ContextVar("reserved", default={})  # noqa: B039


@contextmanager
def staged(target: str | Path) -> Iterator[Path]:
    """A path for a file or folder that becomes `target` if the block succeeds.

    If the block fails, `target` is as before, also after a power failure: what is written is on the
    disk before it is renamed. If another process is writing to `target`, it is refused.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with staged(Path(folder, "answers.csv")) as path:
        ...         _ = path.write_text("yes")
        ...     [file.name for file in Path(folder).iterdir()]
        ['answers.csv']
    """
    with write_errors(target), reserved(target):
        place = Path(os.path.abspath(target))
        new = _reserved.get()[place] / NEW / (place.name or "root")
        new.parent.mkdir(exist_ok=True)
        try:
            yield new
            for path in (new, *new.rglob("*")):
                _flush(path)
            _move(new, place)
            _flush(place.parent)
        finally:
            _delete(new.parent)


@contextmanager
def reserved(target: str | Path) -> Iterator[None]:
    """Within the block, no other process can write to `target`; its leftovers are deleted."""
    place = Path(os.path.abspath(target))
    if place in _reserved.get():
        yield
        return
    if place.is_symlink() and not place.exists():
        raise DataError(f"{target}: is a symbolic link to nothing; name a file")
    if place.exists() and not (place.is_file() or place.is_dir()):
        raise DataError(f"{target}: is a device or a pipe; name a file")
    with write_errors(target):
        place.parent.mkdir(parents=True, exist_ok=True)
        folder = place.with_name(f".{place.name}.new")
        handle = _locked_folder(folder, target)
        if (folder / REPLACED).exists() and not place.exists():  # a killed process left it
            os.replace(folder / REPLACED, place)
        _delete_within(folder)
    try:
        with set_within(_reserved, {**_reserved.get(), place: folder}):
            yield
    finally:
        remove_locked(folder)
        os.close(handle)


@contextmanager
def write_errors(target: str | Path) -> Iterator[None]:
    """Turn an error of the operating system, such as a full disk, into a line about `target`."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{target}: cannot be written ({reason_of(error)})") from None


def reason_of(error: OSError) -> str:
    """What the operating system says, in a few words.

    Example:
        >>> reason_of(OSError(28, "writing bytes failed"))
        'No space left on device'
    """
    return os.strerror(error.errno) if error.errno else str(error).partition("\n")[0]


def lock(path: Path) -> int:
    """Lock a file for this process, and write the number of the process to it; returns its handle.

    BlockingIOError with the number of the other process if that has locked it. A file that has
    anything else in it is not ours, and refused. On systems without such locks nothing is checked.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    content = os.pread(handle, 100, 0)
    if not _LOCK_CONTENT.fullmatch(content):
        os.close(handle)
        raise DataError(f"{path}: was not written by dissensus; move it, or choose another path")
    try:
        _flock(handle)
    except BlockingIOError:
        owner = os.pread(handle, 100, 0).decode().removeprefix(_OWNER).strip() or "unknown"
        os.close(handle)
        raise BlockingIOError(owner) from None
    os.ftruncate(handle, os.pwrite(handle, f"{_OWNER}{os.getpid()}\n".encode(), 0))  # never empty
    return handle


def remove_locked(folder: Path) -> None:
    """Delete a folder that this process has locked; the lock last, as others may then begin."""
    with suppress(OSError):
        _delete_within(folder)
        (folder / LOCK).unlink(missing_ok=True)
        folder.rmdir()


def _locked_folder(folder: Path, target: str | Path) -> int:
    """Create a folder with a lock of this process; returns the handle of the lock."""
    for _ in range(_ATTEMPTS):
        with suppress(FileExistsError):
            folder.mkdir()
        try:
            if not _is_staging(folder):
                raise DataError(
                    f"{folder}: was not written by dissensus; move it, or choose another path "
                    f"than {target}"
                )
            handle = lock(folder / LOCK)
        except FileNotFoundError:  # another process has just deleted the folder
            continue
        except BlockingIOError as error:
            raise DataError(
                f"{target}: another process is writing it (process {error}); wait for it, or "
                "choose another path"
            ) from None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), os.stat(folder / LOCK)):
                return handle
        os.close(handle)
    raise DataError(f"{target}: other processes are writing it; wait for them")


def _is_staging(folder: Path) -> bool:
    """Whether a folder is empty, or has only what a writer puts into it, with a lock."""
    if folder.is_symlink() or not stat.S_ISDIR(folder.lstat().st_mode):
        return False
    names = {path.name for path in folder.iterdir()}
    written = names == {LOCK} or (LOCK in names and (folder / LOCK).lstat().st_size > 0)
    return not names or (written and names <= {LOCK, NEW, REPLACED})


def _flock(handle: int) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # a file system without locks
        return


def _flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk, as power may fail."""
    folder = path.is_dir()
    with suppress(OSError) if folder else nullcontext():  # not every system can do it for folders
        handle = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _move(new: Path, place: Path) -> None:
    if not (new.is_dir() and place.is_dir()):  # a file never takes the place of a folder
        os.replace(new, place)
    elif not exchanged(new, place):
        old = new.parent.with_name(REPLACED)
        os.replace(place, old)
        try:
            os.replace(new, place)
        except OSError:
            os.replace(old, place)
            raise


def exchanged(first: Path, second: Path) -> bool:
    """Exchange two paths in one step; False if the system or its file system cannot."""
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    paths = os.fsencode(first), os.fsencode(second)
    return bool(rename(_HERE, paths[0], _HERE, paths[1], ctypes.c_uint(_EXCHANGE)) == 0)


def _delete_within(folder: Path) -> None:
    """Delete everything in a staging folder but its lock."""
    for path in folder.iterdir():
        if path.name != LOCK:
            _delete(path)


def delete_files(folder: Path, *patterns: str) -> None:
    """Delete the files in a folder that match, what killed writers of them left there, and the
    folders that are empty then. Everything else stays."""
    for pattern in patterns:
        for path in folder.glob(pattern):
            if path.is_file():
                path.unlink(missing_ok=True)
    for root, _, _ in os.walk(folder, topdown=False):
        delete_leftovers(Path(root))
        with suppress(OSError):
            os.rmdir(root)


def delete_leftovers(folder: Path) -> None:
    """Delete what killed writers left in a folder, unless they were replacing something."""
    for left in folder.glob(".*.new"):
        if _is_staging(left) and not (left / REPLACED).exists():
            with suppress(DataError, OSError):  # it may be of another process
                handle = lock(left / LOCK)
                remove_locked(left)
                os.close(handle)


def delete_own(folder: Path, kind: str) -> None:
    """Delete a folder of this kind; one that has anything else in it stays."""
    if is_own(folder, kind) and not foreign_names(folder, kind):
        shutil.rmtree(folder, ignore_errors=True)


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


WORDS = {"config": "model"}  # what a folder is called, if not after its JSON file
BESIDE = {  # files of a folder that have no checksum in its JSON file
    "config": ("model.safetensors", "trained_items.parquet", "README.md", "log.csv"),
}
FORMAT = 1  # of a folder
TIMES = ("when", "seconds")  # what differs from run to run has no checksum
CHECKSUMS = "checksums"  # in the JSON of a folder: of itself and of the tables, by name

_CHUNK = 1 << 20  # bytes that are read at a time
MANY_ROWS = 1 << 24  # of a column of whole numbers: very many

DAMAGE: tuple[type[Exception], ...] = (  # what the content of a damaged folder can cause
    *(LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError),
    *(MemoryError, pa.ArrowException),
)
_UNREADABLE: tuple[type[Exception], ...] = (*DAMAGE, OSError)


@contextmanager
def writing(path: str | Path, kind: str, overwrite: bool = False) -> Iterator[Path]:
    """A temporary folder that becomes `path` if the block succeeds, and is deleted if it fails.

    An existing folder is replaced as `check_free` says.
    """
    check_free(Path(path), kind, overwrite)
    with staged(path) as folder:
        folder.mkdir()
        yield folder


def check_free(target: Path, kind: str, overwrite: bool = False) -> None:
    """Refuse a path that exists, before any work is done.

    An empty folder is free. A folder is replaced only if its JSON file says that it is of this
    kind, if nothing else is in it, and if that is wanted.
    """
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    word = WORDS.get(kind, kind)
    if not is_own(target, kind):
        raise DataError(
            f"{target}: already exists and is not a dissensus {word} folder; choose another path"
        )
    if foreign := foreign_names(target, kind):
        raise DataError(
            f"{target}: has {listed(foreign)}, which a dissensus {word} folder does not contain; "
            "move that, or choose another path"
        )
    if not overwrite:
        raise DataError(
            f"{target}: is already a dissensus {word} folder; replace it with --overwrite "
            "(overwrite=True), or choose another path"
        )


def check_free_file(target: Path, overwrite: bool = False) -> None:
    """Refuse a file that exists, before any work is done; an empty one is free.

    A table or a picture does not say who wrote it, so that is not distinguished.
    """
    if not overwrite and target.is_file() and target.stat().st_size:
        raise DataError(
            f"{target}: already exists; replace it with --overwrite (overwrite=True), or choose "
            "another path"
        )


def is_own(folder: Path, kind: str) -> bool:
    """Whether a folder has a JSON file that says that dissensus wrote it, and of which kind."""
    return _front_of(folder, kind) is not None


def foreign_names(folder: Path, kind: str) -> list[str]:
    """What is in a folder of this kind, but was not written with it."""
    sums = (_front_of(folder, kind) or {}).get(CHECKSUMS)
    names = {f"{kind}.json", *BESIDE.get(kind, ()), *(sums if isinstance(sums, dict) else ())}
    return sorted(
        path.name for path in folder.iterdir() if path.name not in names or not path.is_file()
    )


def _front_of(folder: Path, kind: str) -> dict[str, Any] | None:
    path = folder / f"{kind}.json"
    try:
        content = parse_json(plain_bytes(path), path)
    except (OSError, DataError):
        return None
    ours = isinstance(content, dict) and content.get("kind") == kind
    return content if ours and type(content.get("format")) is int else None


def write_json(folder: Path, kind: str, content: dict[str, Any]) -> None:
    """Write `kind`.json, which says what the folder is, with the format number.

    It has a checksum of itself and of each table in the folder, so it is written last. The content
    of a model has a checksum already.
    """
    front = json.loads(json.dumps({"format": FORMAT, "kind": kind, **content}))
    sums = {path.name: _file_checksum(path) for path in sorted(folder.glob("*.parquet"))}
    if "checksum" not in content:
        front[CHECKSUMS] = {f"{kind}.json": _json_checksum(front)} | sums
    text = json.dumps(front, ensure_ascii=False, indent=1)
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
        word = WORDS.get(kind, kind)
        raise DataError(
            f"{folder}: not a dissensus {word} folder: {path.name} is missing"
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    except DataError as error:
        raise DataError(f"{error}; make the folder again") from None
    number = content.get("format") if isinstance(content, dict) else None
    if type(number) is not int or number != FORMAT:
        raise DataError(
            f"{path}: format number {cut(repr(number))}, this version reads {FORMAT}; "
            "read it with the version of dissensus that wrote it"
        )
    try:
        check_types(content, schema, path)
        sums = content.pop(CHECKSUMS, {})  # folders of earlier versions have none
        check_types(sums, dict[str, str], path, CHECKSUMS)
        if sums:
            _check_sums(path, content, sums)
    except DataError as error:
        raise DataError(f"{error}; make the folder again") from None
    return dict(content)


def _check_sums(path: Path, content: dict[str, Any], sums: dict[str, str]) -> None:
    """Refuse a JSON file or tables of its folder that are not as they were written."""
    if sums.get(path.name) != _json_checksum(content):
        raise DataError(f"{path}: damaged (its checksum does not match)")
    for table in sorted(path.parent.iterdir()):
        written = sums.get(table.name)
        if written is None or table == path or not table.is_file():
            continue
        if _file_checksum(table) != written:
            raise DataError(f"{table}: damaged (its checksum in {path.name} does not match)")


def _json_checksum(content: dict[str, Any]) -> str:
    kept = {key: value for key, value in content.items() if key not in TIMES}
    return f"{zlib.crc32(json.dumps(kept, sort_keys=True).encode()):08x}"


def _file_checksum(path: Path) -> str:
    checksum = 0
    with open_plain(path) as file:
        while chunk := file.read(_CHUNK):
            checksum = zlib.crc32(chunk, checksum)
    return f"{checksum:08x}"


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Turn any error about the content of a saved folder into one line that names the folder."""
    try:
        yield
    except DissensusError as error:
        if str(folder) in str(error):
            raise
        raise DataError(f"{folder}: damaged ({error}); make the folder again") from None
    except _UNREADABLE as error:
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, OSError):
            reason = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise DataError(f"{folder}: damaged ({cut(reason)}); make the folder again") from None


def write_table(path: Path, columns: dict[str, Any]) -> None:
    """Write named arrays of one length as Parquet; no columns make no file.

    A dictionary of what is distinct anyway (names, contents) would only take memory to read.
    """
    if columns:
        repeated = [name for name in columns if name not in ("name", "value")]
        pq.write_table(pa.table(columns), path, compression="zstd", use_dictionary=repeated)


def read_table(path: Path, columns: Sequence[str] | None = None) -> Any:
    """Read a Parquet file of a saved folder; a damaged one is refused in one line.

    Args:
        columns: only these; all if left out.
    """
    with _table_errors(path), open_plain(path) as file:
        return parquet_table(file, path, ratio_only=True, columns=columns)


def read_integers(path: Path, name: str, least: Any = np.int32) -> np.ndarray:
    """A column of whole numbers in 4 bytes each, without a second copy of it.

    Args:
        least: the type that they have instead if there are very many of them.
    """
    with _table_errors(path), open_plain(path) as file:
        check_parquet(file, path, ratio_only=True)
        table = pq.ParquetFile(file, pre_buffer=False)
        n_rows = table.metadata.num_rows
        values: np.ndarray = np.empty(n_rows, least if n_rows > MANY_ROWS else np.int32)
        begin = 0
        for batch in table.iter_batches(1 << 20, columns=[name]):
            part = batch.column(0).cast(pa.from_numpy_dtype(values.dtype)).to_numpy()
            values[begin : begin + len(part)] = part
            begin += len(part)
    return values


def column_names(path: Path) -> list[str]:
    """The columns of a Parquet file of a saved folder."""
    with _table_errors(path), open_plain(path) as file:
        return list(pq.read_schema(file).names)


@contextmanager
def _table_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{path}: missing; the folder is incomplete, make it again") from None
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: damaged ({cut(error)}); make the folder again") from None
