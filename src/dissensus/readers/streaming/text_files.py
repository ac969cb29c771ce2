"""Text files: read in chunks, unpacked and as UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path

from dissensus.errors import DataError
from dissensus.plain_files import Unpacked, open_plain
from dissensus.readers.files import MARKS, head

CHUNK = 16 << 20  # bytes of a text that are read together


@dataclass
class TextFile:
    """A file of text, which may be compressed and in any encoding."""

    path: Path
    encoding: str | None
    position: int = field(init=False, default=0)  # bytes of the file that have been read

    def __post_init__(self) -> None:
        if self.encoding is None:
            start = head(self.path)
            marked = (name for mark, name in MARKS if start.startswith(mark))
            self.encoding = next(marked, "utf-8")

    def texts(self) -> Generator[bytes]:
        """The text in chunks of any length, as UTF-8 without a mark of the byte order."""
        decode = self._decoder()
        n_read = 0
        with open_plain(self.path) as file:
            unpacked = Unpacked(file, self.path)
            while True:
                chunk = unpacked.read(CHUNK)
                self.position = file.tell()
                text = decode(chunk, n_read)
                n_read += len(chunk)
                nul = text.find(b"\0")
                if nul >= 0:
                    raise DataError(
                        f"{self.path}: a NUL byte, which no text has; is the file damaged?"
                    )
                if text:
                    yield text
                if not chunk:
                    return

    def _decoder(self) -> Callable[[bytes, int], bytes]:
        """A function that turns the next bytes of the file into UTF-8."""
        name = str(self.encoding)
        try:
            decoder = codecs.getincrementaldecoder("utf-8-sig" if name == "utf-8" else name)()
        except LookupError:
            raise DataError(
                f"{self.path}: no encoding {name!r}; common ones are utf-8, utf-16, latin-1, cp1252"
            ) from None
        is_utf8 = name == "utf-8"

        def decode(chunk: bytes, n_before: int) -> bytes:
            if is_utf8 and n_before and chunk.isascii() and not decoder.getstate()[0]:
                return chunk
            waiting = len(decoder.getstate()[0])
            try:
                return decoder.decode(chunk, final=not chunk).encode("utf-8")
            except UnicodeDecodeError as error:
                at = n_before - waiting + error.start
                raise DataError(
                    f"{self.path}: byte 0x{error.object[error.start]:02x} at position {at} is not "
                    f"{name}; name the encoding it was written in, such as --encoding latin-1"
                ) from None
            except UnicodeError as error:
                raise DataError(f"{self.path}: is not {name} ({error})") from None

        return decode
