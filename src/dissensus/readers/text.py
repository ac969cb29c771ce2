"""Text files: their bytes as UTF-8, whatever they were written in."""

from __future__ import annotations

import codecs
from pathlib import Path

from dissensus.errors import DataError

MARKS = (  # byte order marks, the longer ones first: UTF-32's begins as UTF-16's does
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
BINARY = {  # how well-known files begin that people take for tables
    b"PK\x03\x04": "a zip or Excel file; unpack it, or save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel file; save the sheet as CSV",
    b"\x1f\x8b": "a gzip file; unpack it",
    b"PAR1": 'a Parquet file; say format="parquet" (--format parquet)',
}
_CHUNK = 1 << 22


def head(path: Path, size: int = 4096) -> bytes:
    """The first bytes of a file; nothing where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""


def is_text(start: bytes) -> bool:
    """Whether a file that begins like this can be a text: NUL occurs only in UTF-16 and UTF-32."""
    marked = any(start.startswith(mark) for mark, _ in MARKS[1:])
    return marked or (b"\0" not in start and not start.startswith(tuple(BINARY)))


def read_utf8(path: Path, encoding: str | None = None) -> bytes:
    """The whole file as UTF-8 without a byte order mark; refused with the position otherwise."""
    data = read_bytes(path)
    if encoding is not None:
        return _recoded(data, encoding, path)
    for mark, marked in MARKS:
        if data.startswith(mark):
            if marked != "utf-8":
                return _recoded(data, marked, path)
            data = data[len(mark) :]
            _check_utf8(data, path, len(mark))
            return data
    if not is_text(data[:4096]):
        raise DataError(f"{path}: {what_binary(data[:8])}")
    _check_utf8(data, path)
    return data


def read_bytes(path: Path) -> bytes:
    """The whole file; an empty one is refused."""
    try:
        data = path.read_bytes()
    except IsADirectoryError:
        raise DataError(f"{path}: is a folder; name a file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: cannot be read: {reason}") from None
    if not data:
        raise DataError(f"{path}: the file is empty")
    return data


def what_binary(start: bytes) -> str:
    """What to say of a file that is no text."""
    for magic, what in BINARY.items():
        if start.startswith(magic):
            return what
    return f"a binary file (it begins with {start!r}), not a table"


def _recoded(data: bytes, encoding: str, path: Path) -> bytes:
    try:
        return data.decode(encoding).removeprefix("\ufeff").encode("utf-8")
    except LookupError:
        raise DataError(
            f"{path}: no encoding {encoding!r}; common ones are utf-8, utf-16, latin-1, cp1252"
        ) from None
    except UnicodeDecodeError as error:
        found = f"byte 0x{data[error.start]:02x} at position {error.start} is not {encoding}"
        raise DataError(f"{path}: {found}; was it written in another encoding?") from None
    except UnicodeError as error:
        raise DataError(f"{path}: is not {encoding} ({error})") from None


def _check_utf8(data: bytes, path: Path, skipped: int = 0) -> None:
    """Refuse what is not UTF-8, by pieces, so that no second copy of the file is held."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    for start in range(0, len(data), _CHUNK):
        waiting = len(decoder.getstate()[0])  # bytes of a letter that was cut in two
        try:
            decoder.decode(view[start : start + _CHUNK], final=start + _CHUNK >= len(data))
        except UnicodeDecodeError as error:
            at = start - waiting + error.start
            line = data.count(b"\n", 0, at) + 1
            raise DataError(
                f"{path}, line {line}: byte 0x{data[at]:02x} at position {at + skipped} is not "
                'UTF-8; name the encoding it was written in, such as encoding="latin-1" '
                "(--encoding latin-1)"
            ) from None
