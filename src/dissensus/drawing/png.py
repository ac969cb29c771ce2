"""Picture files: the size of one, and pixels as a PNG."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np


def picture_size(file: bytes) -> tuple[str, int, int]:
    """The format, width and height of a picture; an empty format if it cannot be drawn."""
    if file[:8] == b"\x89PNG\r\n\x1a\n" and len(file) >= 24:
        return ("png", *struct.unpack(">II", file[16:24]))
    if file[:4] == b"GIF8" and len(file) >= 10:
        return ("gif", *struct.unpack("<HH", file[6:10]))
    at = 2
    while file[:2] == b"\xff\xd8" and at + 9 < len(file):  # segments of a JPEG, up to its frame
        marker, length = file[at + 1], struct.unpack(">H", file[at + 2 : at + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", file[at + 5 : at + 9])
            return "jpeg", width, height
        at += 2 + length
    return "", 0, 0


def png(pixels: np.ndarray) -> bytes:
    """Whole numbers from 0 to 255 as a PNG file: greys, (rows, columns), or colours with an alpha
    channel, (rows, columns, 4)."""
    rows, columns = pixels.shape[:2]
    lines = np.pad(pixels.reshape(rows, -1), ((0, 0), (1, 0))).tobytes()  # a filter byte each

    def chunk(kind: bytes, content: bytes) -> bytes:
        body = kind + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    colours = 0 if pixels.ndim == 2 else 6
    header = struct.pack(">IIBBBBB", columns, rows, 8, colours, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*parts) for parts in chunks)


def data_address(kind: str, file: bytes) -> str:
    """A picture as an address that contains it, for `href`."""
    return f"data:image/{kind};base64,{base64.b64encode(file).decode('ascii')}"
