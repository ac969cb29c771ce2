"""Files: their bytes, unpacked if they are compressed, and texts as UTF-8."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from dissensus.errors import DataError, counted
from dissensus.files.plain import (
    ENDINGS,
    Unpacked,
    beginning,
    compression,
    open_plain,
    plain_bytes,
    unpacked,
)
from dissensus.progress import progress

T = TypeVar("T")
MARKS = (  # byte order marks, the longer ones first: UTF-32's begins as UTF-16's does
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
BINARY = {  # the first bytes of well-known files that are not tables of text
    b"PK\x03\x04": "a zip; unpack it (a spreadsheet needs its ending, such as .xlsx)",
    b"\xd0\xcf\x11\xe0": 'an old Excel file; use format="spreadsheet" (--format spreadsheet)',
    b"\x1f\x8b": "a gzip file in a gzip file; unpack it",
    b"PAR1": 'a Parquet file; use format="parquet" (--format parquet)',
    b"ARROW1": 'an Arrow file; use format="arrow" (--format arrow)',
    b"\x93NUMPY": 'an array of numpy; use format="matrix" (--format matrix)',
}
WESTERN = "cp1252"  # Windows-1252, which has all of Latin-1
_WESTERN_LETTERS = frozenset("àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿœßšžÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝŒŠŽªº")
_WESTERN_SIGNS = frozenset("€£§°«»‘’‚“”„–—…•´·¿¡²³½©®™\xa0")
CHUNK = 1 << 22  # bytes that are read together
LARGE = 256 << 20  # bytes of a file that is read in parts
UNPACKED = 6  # how many times its size a compressed file is expected to be
OTHER = "; was it written in another encoding?"
FEW_ODD = 0.002  # of the bytes of a text
MOST_LINE = 512 << 20  # bytes of a line of text
MOST_COLUMNS = 10_000  # of a table


def check_width(n_columns: int, path: Path | str) -> None:
    """Refuse a table with too many columns, before its cells are read."""
    if n_columns > MOST_COLUMNS:
        raise DataError(
            f"{path}: {n_columns:,} columns, more than {MOST_COLUMNS:,}; write a row for each "
            "answer (item, annotator, answer), or leave columns out"
        )


def first_bytes(path: Path, size: int = 4096) -> bytes:
    """The first bytes of a file, unpacked; empty if it cannot be read."""
    try:
        return beginning(path, size)
    except (OSError, DataError):
        return b""


def ending(path: Path) -> str:
    """The ending of a file's name, without that of its compression.

    Example:
        >>> ending(Path("labels.CSV.gz")), ending(Path("labels"))
        ('.csv', '')
    """
    return Path(_uncompressed(path.name)).suffix.lower()


def stem(name: str) -> str:
    """A file's name without its endings.

    Example:
        >>> stem("labels.csv.gz"), stem("labels.v2.csv")
        ('labels', 'labels.v2')
    """
    return Path(_uncompressed(name)).stem


def _uncompressed(name: str) -> str:
    base, dot, last = name.rpartition(".")
    return base if f"{dot}{last.lower()}" in ENDINGS else name


def is_text(start: bytes) -> bool:
    """Whether a file that begins like this can be a text: NUL occurs only in UTF-16 and UTF-32."""
    marked = any(start.startswith(mark) for mark, _ in MARKS[1:])
    return marked or (b"\0" not in start and not start.startswith(tuple(BINARY)))


def read_utf8(path: Path, encoding: str | None = None) -> bytes:
    """The whole file as UTF-8 without a byte order mark; refused with the position otherwise."""
    _check_lines(path)
    return _as_utf8(read_bytes(path), path, encoding)


def _check_lines(path: Path) -> None:
    """Refuse a line that is too long, before the file is in memory."""
    try:
        if path.stat().st_size <= MOST_LINE:
            return
        with open_plain(path) as file:
            line, length = 1, 0
            for chunk in iter(lambda: file.read(CHUNK), b""):
                if line == 1 and compression(chunk):
                    return
                last = chunk.rfind(b"\n")
                line += chunk.count(b"\n")
                length = len(chunk) - last - 1 if last >= 0 else length + len(chunk)
                if length > MOST_LINE:
                    raise DataError(
                        f"{path}, line {line}: longer than {MOST_LINE >> 20} MB; is the file "
                        "damaged? Write a line for each row or object"
                    )
    except OSError:
        return  # reading the file says why


def western_word(data: bytes) -> str | None:
    """A word with an accent, if a text that is not UTF-8 is very likely Windows-1252; else None.

    That is what spreadsheets of Western Europe and America save: a few accented letters between
    plain ones, quotes and dashes. In any other encoding nearly all letters, or none, look so.

    Example:
        >>> western_word("un café noir".encode("cp1252")), western_word("привет".encode("cp1251"))
        ('café', None)
        >>> western_word("they don’t agree".encode("cp1252"))
        'don’t'
    """
    try:
        text = data.decode(WESTERN)
    except UnicodeDecodeError:
        return None
    signs = [char for char in text if char > "\x7f"]
    accents = [char for char in signs if char.isalpha()]
    utf8 = any(not line.isascii() and _is_utf8(line) for line in data.split(b"\n"))
    if utf8 or not set(signs) <= _WESTERN_SIGNS | _WESTERN_LETTERS:
        return None
    if not accents:  # quotes of a word processor: don’t
        return next(iter(re.findall(r"[a-zA-Z]+’[a-z]+", text)), None)
    inside = re.findall(r"(?<=[a-zA-Z])[^\x00-\x7f\W]|[^\x00-\x7f\W](?=[a-zA-Z])", text)
    n_letters = sum(map(str.isalpha, text))
    if len(inside) < 0.8 * len(accents) or len(accents) > 0.15 * n_letters:
        return None
    return next(word for word in re.findall(r"\w+", text) if not word.isascii())


def read_text(path: Path, encoding: str | None) -> tuple[bytes, tuple[str, ...]]:
    """The file as UTF-8, and a note if it is read as Windows-1252 without being asked."""
    _check_lines(path)
    data = read_bytes(path)
    try:
        return _as_utf8(data, path, encoding), ()
    except DataError:
        if encoding is not None or data.startswith(codecs.BOM_UTF8) or not is_text(data[:4096]):
            raise
        advice = "if letters are wrong, name its encoding (encoding=, --encoding)"
        if (word := western_word(data)) is not None:
            note = f"not UTF-8, read as Windows-1252: {word!r}; {advice}"
            return _recoded(data, WESTERN, path), (note,)
        lines = data.split(b"\n")
        odd = {at: line for at, line in enumerate(lines) if not _is_utf8(line)}
        text = b"\n".join(odd.values())
        n_odd_letters = sum(map(text.count, map(bytes, zip(range(128, 256)))))
        few = n_odd_letters <= FEW_ODD * len(data)  # a wrong guess changes little
        if not few and western_word(text) is None:
            raise
    for at, line in odd.items():
        try:
            lines[at] = line.decode(WESTERN).encode("utf-8")
        except UnicodeDecodeError:
            lines[at] = line.decode("latin-1").encode("utf-8")
    note = f"{counted(len(odd), 'line')} not in UTF-8, read as Windows-1252; {advice}"
    return b"\n".join(lines), (note,)


def read_bytes(path: Path) -> bytes:
    """All bytes of a file, unpacked; an empty one is refused."""
    try:
        data = plain_bytes(path)
    except IsADirectoryError:
        raise DataError(f"{path}: is a folder; name a file in it") from None
    except DataError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: cannot be read: {reason}") from None
    data = unpacked(data, path)
    if not data:
        raise DataError(f"{path}: the file is empty")
    return data


def not_text(path: Path, start: bytes) -> DataError:
    """The error for a file that is not text, or a text with a NUL byte in it.

    Args:
        start: its first bytes.
    """
    at, magic = start.find(b"\0"), start[:8]
    if at >= 8 and all(byte > 31 or byte in b"\t\r\n" for byte in start[:at]):
        line = start.count(b"\n", 0, at) + 1
        return DataError(
            f"{path}, line {line}: contains a NUL byte, at position {at}; remove it, or save the "
            "file again"
        )
    known = (what for known, what in BINARY.items() if magic.startswith(known))
    what = next(known, f"a binary file (it begins with {magic!r}), not a table")
    for which, (zeros, others) in {"utf-16-le": (1, 0), "utf-16-be": (0, 1)}.items():
        if len(magic) >= 4 and all(magic[others::2]) and not any(magic[zeros::2]):
            what = f"text in UTF-16 without its mark; use --format csv --encoding {which}"
    return DataError(f"{path}: {what}")


# ---- large files ----


class NotUtf8Error(DataError):
    """A large file that is not UTF-8 and does not say what else it is."""


def is_large(path: Path) -> bool:
    """Whether a file is to be read in parts."""
    try:
        size = path.stat().st_size
        if UNPACKED * size <= LARGE:
            return False  # however it is packed
        with open_plain(path) as file:
            packed = compression(file.read(16)) or path.suffix in (".parquet", ".pq")
        return (UNPACKED if packed else 1) * size > LARGE
    except (OSError, DataError):
        return False


@dataclass
class LargeText:
    """The text of a large file, which is read in chunks."""

    path: Path
    encoding: str | None
    position: int = 0  # bytes of the file that have been read

    def chunks(self) -> Iterator[bytes]:
        """Chunks of any length, as UTF-8 without a byte order mark."""
        start = first_bytes(self.path)
        marked = (name for mark, name in MARKS if start.startswith(mark))
        name = self.encoding or next(marked, "utf-8")
        try:
            decoder = codecs.getincrementaldecoder("utf-8-sig" if name == "utf-8" else name)()
        except LookupError:
            raise _no_encoding(name, self.path) from None
        file = open_plain(self.path)  # now: the limit of unpacking is not known where it is read
        return self._decoded(
            file, Unpacked(file, self.path, self.path.stat().st_size), name, decoder
        )

    def shown(self, parts: Iterable[T]) -> Iterator[T]:
        """What is made of the text, with a progress bar."""
        done = 0
        with progress("reading", self.path.stat().st_size) as advance:
            for part in parts:
                advance(self.position - done)
                done = self.position
                yield part

    def _decoded(
        self, file: BinaryIO, source: Unpacked, name: str, decoder: codecs.IncrementalDecoder
    ) -> Iterator[bytes]:
        with file:
            chunk = b" "
            while chunk:
                chunk = source.read(CHUNK)
                self.position = file.tell()
                try:
                    text = decoder.decode(chunk, final=not chunk).encode("utf-8")
                except UnicodeDecodeError as error:
                    byte = error.object[error.start]
                    problem = NotUtf8Error if self.encoding is None else DataError
                    raise problem(f"{self.path}: byte 0x{byte:02x} is not {name}{OTHER}") from None
                except UnicodeError as error:
                    raise DataError(f"{self.path}: is not {name} ({error})") from None
                if b"\0" in text:
                    raise DataError(
                        f"{self.path}: a NUL byte, which no text has; is the file damaged?"
                    )
                if text:
                    yield text


def _recoded(data: bytes, encoding: str, path: Path) -> bytes:
    try:
        return data.decode(encoding).removeprefix("\ufeff").encode("utf-8")
    except LookupError:
        raise _no_encoding(encoding, path) from None
    except UnicodeDecodeError as error:
        wrong = f"byte 0x{data[error.start]:02x} at position {error.start} is not {encoding}"
        raise DataError(f"{path}: {wrong}{OTHER}") from None
    except UnicodeError as error:
        raise DataError(f"{path}: is not {encoding} ({error})") from None


def _as_utf8(data: bytes, path: Path, encoding: str | None) -> bytes:
    """Bytes in this encoding, or in that of their mark, as UTF-8."""
    mark, marked = next((one for one in MARKS if data.startswith(one[0])), (b"", "utf-8"))
    if encoding is not None or marked != "utf-8":
        return _recoded(data, encoding or marked, path)
    if not mark and not is_text(data[:4096]):
        raise not_text(path, data[:4096])
    data = data[len(mark) :]
    _check_utf8(data, path, len(mark))
    return data


def _no_encoding(name: str, path: Path) -> DataError:
    return DataError(
        f"{path}: no encoding {name!r}; common ones are utf-8, utf-16, latin-1, cp1252"
    )


def _check_utf8(data: bytes, path: Path, skipped: int = 0) -> None:
    """Refuse what is not UTF-8, in chunks, without a second copy of the file in memory."""
    if data.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    for start in range(0, len(data), CHUNK):
        waiting = len(decoder.getstate()[0])  # bytes of a letter that was cut in two
        try:
            decoder.decode(view[start : start + CHUNK], final=start + CHUNK >= len(data))
        except UnicodeDecodeError as error:
            at = start - waiting + error.start
            line = data.count(b"\n", 0, at) + 1
            raise DataError(
                f"{path}, line {line}: byte 0x{data[at]:02x} at position {at + skipped} is not "
                'UTF-8; name the encoding it was written in, such as encoding="cp1252" (--encoding '
                "cp1252), or save all of it as UTF-8"
            ) from None


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
