"""Plain files: opened only if they are no pipe, device or socket, and unpacked up to a limit."""

from __future__ import annotations

import bz2
import copy
import gzip
import io
import lzma
import os
import re
import stat
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.lib import format as npy

from dissensus.errors import DataError, cut
from dissensus.within import set_within

MOST_UNPACKED = 2 * 10**9  # bytes that a compressed file may unpack to, if nothing else is said
MOST_RATIO = 200  # and how many times its size that may be
SMALL = 50 * 10**6  # unless it is no more than these bytes
ENDINGS = (".gz", ".bz2", ".xz", ".zst")
OPTION = 'max_unpacked="{}" (--max-unpacked {})'  # of all that reads a corpus
_CHUNK = 1 << 20
_UNITS = {"": 1, "B": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_limit: ContextVar[int | None] = ContextVar("max_unpacked", default=None)
_DAMAGE: tuple[type[Exception], ...] = (
    *(EOFError, OSError, ValueError, RuntimeError, MemoryError, struct.error),
    *(zlib.error, lzma.LZMAError, zipfile.BadZipFile, KeyError, pa.ArrowException),
)


def open_plain(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file to read its bytes; what may never end or never begin is refused at once."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    kind = os.fstat(handle).st_mode
    if stat.S_ISREG(kind):
        return os.fdopen(handle, "rb")
    os.close(handle)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(21, "Is a directory", str(path))
    raise not_plain(path)


def check_plain(path: Path) -> None:
    """Refuse a path that exists and is neither a file nor a folder."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise not_plain(path)


def not_plain(path: str | os.PathLike[str]) -> DataError:
    """The error for a pipe, a device or a socket."""
    return DataError(
        f"{path}: a pipe, a device or a socket, not a file; write its content to a file first"
    )


def plain_bytes(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a plain file, as they are."""
    with open_plain(path) as file:
        return file.read()


# ---- the limit ----


def size_of(size: int | float | str, what: str = "max_unpacked") -> int:
    """A number of bytes, also written with a unit.

    Example:
        >>> size_of("8GB"), size_of("500 mb"), size_of(1000)
        (8000000000, 500000000, 1000)
    """
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d+)?)\s*([KMGT]?)i?B?\s*", str(size), re.IGNORECASE)
    if match is None or not (n_bytes := int(float(match[1]) * _UNITS[match[2].upper()])):
        raise DataError(f"{what} must be a size such as 8GB or 500MB, found {size!r}")
    return n_bytes


def unpacking_up_to(size: int | float | str | None) -> AbstractContextManager[None]:
    """Within the block, compressed files may unpack to this size; None changes nothing."""
    return nullcontext() if size is None else set_within(_limit, size_of(size))


def most_unpacked(n_packed: int) -> int:
    """The bytes that a compressed file of this size may unpack to."""
    limit = _limit.get()
    return min(MOST_UNPACKED, max(MOST_RATIO * n_packed, SMALL)) if limit is None else limit


def _too_large(
    path: Path, size: int, n_packed: int, whole: bool = True, option: str = OPTION
) -> DataError:
    """The error for a file of `n_packed` bytes.

    Args:
        whole: whether `size` is all that it unpacks to; if not, twice as much is offered.
        option: how to allow more; {} is the size.
    """
    wanted = f"{max(8, -(-size * (1 if whole else 2) // 10**9))}GB"
    return DataError(
        f"{path}: unpacks to {'' if whole else 'more than '}{size / 1e6:,.0f} MB, "
        f"{size // max(n_packed, 1)} times its size; if that is right, allow more: "
        f"{option.replace('{}', wanted)}"
    )


def check_read(path: Path, n_read: int, n_packed: int, option: str) -> None:
    """Refuse a file of which this much was unpacked, if that is many times its size.

    Args:
        option: how to allow more; {} is the size.
    """
    most = _limit.get() or max(MOST_UNPACKED, MOST_RATIO * n_packed)
    if n_read > most:
        raise _too_large(path, most, n_packed, False, option)


def check_unpacked(path: Path, size: int, n_packed: int, ratio_only: bool = False) -> None:
    """Refuse a file of `n_packed` bytes that declares to unpack to `size` bytes, if it may not.

    Args:
        ratio_only: whether any size is allowed that is not many times that of the file.
    """
    most = most_unpacked(n_packed)
    if ratio_only and _limit.get() is None:
        most = max(MOST_UNPACKED, MOST_RATIO * n_packed)
    if size > most:
        raise _too_large(path, size, n_packed)


# ---- compressed files ----


_CODECS: tuple[tuple[str, re.Pattern[bytes], Callable[[BinaryIO], Any]], ...] = (
    ("gzip", re.compile(rb"\x1f\x8b"), lambda file: gzip.GzipFile(fileobj=file)),
    ("bzip2", re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), bz2.BZ2File),
    ("xz", re.compile(rb"\xfd7zXZ\x00"), lzma.LZMAFile),
    (
        "zstd",
        re.compile(rb"\x28\xb5\x2f\xfd"),
        lambda file: pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd"),
    ),
)


def compression(start: bytes) -> str | None:
    """The compression of a file that begins like this, or None.

    Example:
        >>> compression(b"BZh91AY&SY"), compression(b"item,answer")
        ('bzip2', None)
    """
    return next((name for name, magic, _ in _CODECS if magic.match(start)), None)


def beginning(path: Path, size: int) -> bytes:
    """The first bytes of a plain file, unpacked; no more of it is read or unpacked."""
    with open_plain(path) as file:
        start = file.read(size)
        opened = _opened(start[:16], file)
        if opened is None:
            return start
        file.seek(0)
        try:
            return bytes(opened.read(size))
        except _DAMAGE:
            return b""


def unpacked(data: bytes, path: Path) -> bytes:
    """The bytes of a file, unpacked if they are compressed; too many are refused."""
    if compression(data[:16]) is None:
        return data
    source, buffer = Unpacked(io.BytesIO(data), path, len(data)), io.BytesIO()
    while chunk := source.read(_CHUNK):
        buffer.write(chunk)
    return buffer.getvalue()


class Unpacked:
    """A file that is unpacked while it is read; too many bytes are refused."""

    def __init__(self, file: BinaryIO, path: Path, n_packed: int) -> None:
        self._path, self._n_packed = path, n_packed
        start = file.read(16)
        file.seek(0)
        self._source = _opened(start, file)
        self._what = compression(start)
        self._file, self._n_read, self._most = file, 0, most_unpacked(self._n_packed)

    def read(self, size: int) -> bytes:
        """The next bytes, none at the end."""
        if self._source is None:
            return self._file.read(size)
        try:
            data = bytes(self._source.read(size))
        except _DAMAGE as error:
            raise DataError(
                f"{self._path}: damaged {self._what} ({cut(error)}); is the file cut off?"
            ) from None
        self._n_read += len(data)
        if self._n_read > self._most:
            raise _too_large(self._path, self._most, self._n_packed, whole=False)
        return data


def _opened(start: bytes, file: BinaryIO) -> Any:
    """The file, unpacked while it is read; None if it is not compressed."""
    return next((opened(file) for _, magic, opened in _CODECS if magic.match(start)), None)


def numpy_array(data: bytes, path: Path) -> np.ndarray:
    """The array in the bytes of a .npy file; pickled objects are refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about files of numpy under Python 2
            return npy.read_array(io.BytesIO(data), allow_pickle=False)
    except Exception as error:  # a header is parsed as Python: a damaged one fails in many ways
        raise DataError(f"{path}: damaged ({cut(error)}); is the file cut off?") from None


# ---- zip ----


def check_zip(path: Path) -> list[zipfile.ZipInfo]:
    """The files in a zip; one that is damaged, leaves its folder or is too large is refused.

    An entry's real size is counted where the size that it states cannot be trusted.
    """
    with _damaged_zip(path), open_plain(path) as file, zipfile.ZipFile(file) as packed:
        entries = [entry for entry in packed.infolist() if not entry.filename.endswith("/")]
        for entry in entries:
            _check_entry(entry, path)
        n_packed = path.stat().st_size
        most, size = most_unpacked(n_packed), sum(entry.file_size for entry in entries)
        whole = size > most
        if not whole and most < 1032 * sum(entry.compress_size for entry in entries):
            size = _real_size(packed, entries, most)
        if size > most:
            raise _too_large(path, size if whole else most, n_packed, whole)
    return entries


def zip_members(path: Path, size: int | None = None) -> Iterator[tuple[str, bytes]]:
    """The name and the bytes of each file in a zip, or its first ones, by name."""
    entries = check_zip(path)
    with _damaged_zip(path), open_plain(path) as file, zipfile.ZipFile(file) as packed:
        for entry in sorted(entries, key=lambda entry: entry.filename):
            with packed.open(entry) as member:
                yield entry.filename, member.read(-1 if size is None else size)


def _check_entry(entry: zipfile.ZipInfo, path: Path) -> None:
    """Refuse an entry outside the zip's folder, in another compression, or with a password."""
    name = entry.filename
    if ".." in PurePosixPath(name.replace("\\", "/")).parts or name.startswith(("/", "\\")):
        raise DataError(f"{path}: the entry {name!r} is outside the zip's own folder")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise DataError(
            f"{path}: the entry {name!r} is compressed with method {entry.compress_type}; pack it "
            "again with the usual one (deflate)"
        )
    if entry.flag_bits & 1:
        raise DataError(f"{path}: the entry {name!r} has a password; pack it again without one")


def _real_size(packed: zipfile.ZipFile, entries: list[zipfile.ZipInfo], most: int) -> int:
    """How many bytes all entries unpack to, whatever they state; counting ends above `most`."""
    size = 0
    for entry in entries:
        whole = copy.copy(entry)
        whole.file_size = most + 1  # zipfile would stop at the size that is stated
        whole.CRC = None  # type: ignore[assignment]  # of the stated size
        with packed.open(whole) as member:
            while size <= most and (chunk := member.read(_CHUNK)):
                size += len(chunk)
    return size


@contextmanager
def _damaged_zip(path: Path) -> Iterator[None]:
    try:
        yield
    except DataError:
        raise
    except _DAMAGE as error:
        raise DataError(f"{path}: a damaged zip ({cut(error)}); is the file cut off?") from None
