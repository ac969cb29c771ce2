"""Staging: files and folders are written next to their place, and moved there when complete.

The staging folder of `model` is `.model.new`. Its file `lock` is locked by the process that writes,
and the operating system releases the lock of a process that dies. So the next process knows whether
another one is writing, which it does not disturb, or was killed, whose leftovers it deletes.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from dissensus.errors import DataError

LOCK = "lock"
NEW = "files"  # the folder in a staging folder that has what is being written
REPLACED = "replaced"  # what was there before, while it is being replaced
_ATTEMPTS = 20  # to lock a folder that other processes create and delete
_HERE = -100  # paths are relative to the current folder, for renameat2
_EXCHANGE = 2

_reserved: ContextVar[Mapping[Path, Path]] = ContextVar("reserved", default={})  # noqa: B039


@contextmanager
def staged(target: str | Path) -> Iterator[Path]:
    """A path for a file or folder that becomes `target` if the block succeeds.

    If the block fails, `target` is as before. If another process is writing to it, it is refused.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with staged(Path(folder, "answers.csv")) as path:
        ...         _ = path.write_text("yes")
        ...     [file.name for file in Path(folder).iterdir()]
        ['answers.csv']
    """
    with write_errors(target), reserved(target):
        place = _absolute(target)
        new = _reserved.get()[place] / NEW / (place.name or "root")
        new.parent.mkdir(exist_ok=True)
        try:
            yield new
            _move(new, place)
        finally:
            _delete(new.parent)


@contextmanager
def reserved(target: str | Path) -> Iterator[None]:
    """Within the block, no other process can write to `target`; its leftovers are deleted."""
    place = _absolute(target)
    if place in _reserved.get():
        yield
        return
    if place.exists() and not (place.is_file() or place.is_dir()):
        raise DataError(f"{target}: is a device or a pipe; name a file")
    with write_errors(target):
        place.parent.mkdir(parents=True, exist_ok=True)
        folder = place.with_name(f".{place.name}.new")
        handle = _locked_folder(folder, target)
        _recover(folder, place)
    token = _reserved.set({**_reserved.get(), place: folder})
    try:
        yield
    finally:
        _reserved.reset(token)
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

    BlockingIOError with the number of the other process if that has locked it. On systems without
    such locks nothing is checked.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _flock(handle)
    except BlockingIOError:
        owner = os.pread(handle, 20, 0).decode(errors="replace").strip() or "unknown"
        os.close(handle)
        raise BlockingIOError(owner) from None
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
    return handle


def remove_locked(folder: Path) -> None:
    """Delete a folder that this process has locked; the lock last, as others may then begin."""
    with suppress(OSError):
        for path in folder.iterdir():
            if path.name != LOCK:
                _delete(path)
        (folder / LOCK).unlink(missing_ok=True)
        folder.rmdir()


def remove_abandoned(folder: Path) -> None:
    """Delete a folder with a lock, unless the process that locked it is running."""
    try:
        handle = lock(folder / LOCK)
    except OSError:
        return
    remove_locked(folder)
    os.close(handle)


def _absolute(target: str | Path) -> Path:
    return Path(os.path.abspath(target))


def _locked_folder(folder: Path, target: str | Path) -> int:
    """Create a folder with a lock of this process; returns the handle of the lock."""
    for _ in range(_ATTEMPTS):
        folder.mkdir(exist_ok=True)
        try:
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


def _recover(folder: Path, place: Path) -> None:
    """Delete what a killed process left; what it was about to replace comes back."""
    if (folder / REPLACED).exists() and not place.exists():
        os.replace(folder / REPLACED, place)
    for path in folder.iterdir():
        if path.name != LOCK:
            _delete(path)


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


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
