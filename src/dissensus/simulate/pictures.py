"""Pictures of coloured shapes on a grid, as PNG files, many at once."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.simulate.crowd import Draws, Parts, blocks

COLOURS = {  # what draws the eye: a light and a dark shade each
    "red": ((235, 64, 52), (170, 30, 30)),
    "yellow": ((250, 220, 60), (205, 165, 20)),
    "green": ((60, 190, 90), (20, 120, 50)),
    "cyan": ((80, 210, 225), (20, 140, 160)),
    "blue": ((70, 110, 240), (30, 50, 160)),
    "purple": ((200, 90, 220), (125, 35, 145)),
}
GREYS = (216, 222, 228, 234)  # of the background
GRID = 3  # cells a side
CELL = 16  # pixels a side
SHAPE = 12  # pixels a side
SIDE = GRID * CELL
LARGE = 2**31 - 1  # bytes, beyond which the files need larger offsets
_SHIFTS = (1, 2, 3)  # a shape's place in its cell, along each axis
_N_NOISES = 64  # different pieces of background


def _pixel_grid() -> tuple[np.ndarray, np.ndarray]:
    """How far down and right of the middle each pixel lies, in half pixels, without its sign
    to the right: odd whole numbers."""
    odd = np.arange(1 - SHAPE, SHAPE, 2)
    return np.broadcast_to(odd[:, None], (SHAPE, SHAPE)), np.abs(odd)[None, :].repeat(SHAPE, 0)


_DOWN, _ASIDE = _pixel_grid()
_ROUND = _DOWN**2 + _ASIDE**2
SHAPES = {  # neighbours look alike
    "disc": _ROUND <= 130,
    "ring": (_ROUND <= 130) & (_ROUND >= 50),
    "frame": np.maximum(abs(_DOWN), _ASIDE) >= 7,
    "square": _ROUND >= 0,
    "diamond": abs(_DOWN) + _ASIDE <= 12,
    "triangle": 2 * _ASIDE <= _DOWN + 13,
    "star": abs(_DOWN) * _ASIDE <= 11,
    "cross": np.minimum(abs(_DOWN), _ASIDE) <= 3,
}


def shape_of(value: int) -> np.ndarray:
    """The pixels of a value's shape, (SHAPE, SHAPE); beyond the known ones a pattern of blocks.

    Example:
        >>> bool((shape_of(8) != shape_of(9)).any())
        True
    """
    if value < len(SHAPES):
        return list(SHAPES.values())[value]
    bits = (value * 0x5D588B655) % (1 << 36)  # odd: no two values share a pattern
    pattern = (bits >> np.arange(36) & 1).reshape(6, 6).astype(bool)
    return pattern.repeat(2, axis=0).repeat(2, axis=1)


def draw_pictures(parts: Parts, draws: Draws) -> tuple[Any, np.ndarray, np.ndarray]:
    """PNG files as an Arrow array, and the boxes of their parts, (n_items, most parts, 2) each.

    A part's aspect is the code of its colour, its value that of its shape. The files are not
    compressed: no version of zlib can change them.
    """
    n_items, most = parts.aspect.shape
    cell = draws.distinct(GRID**2, n_items, most)
    shift = draws.below(len(_SHIFTS) ** 2, n_items, most)
    shade = draws.below(2, n_items, most)
    noise = draws.below(_N_NOISES, n_items, GRID**2)
    tiles = np.zeros((n_items, GRID**2), dtype=np.int64)  # 0: an empty cell
    code = ((parts.value * len(COLOURS) + parts.aspect) * 2 + shade) * len(_SHIFTS) ** 2 + shift
    used, tile = np.unique(code[parts.there], return_inverse=True)
    tiles[np.nonzero(parts.there)[0], cell[parts.there]] = tile.reshape(-1) + 1
    shown, hidden = _tiles(used)
    background = _packed(draws.below(len(GREYS), _N_NOISES, CELL, CELL))
    files = np.empty((n_items, len(_frame()[0])), dtype=np.uint8)
    for rows in blocks(n_items, GRID**2 * CELL * CELL // 2):
        cells = (background[noise[rows]] & hidden[tiles[rows]]) | shown[tiles[rows]]
        files[rows] = _png(cells)
    axes = np.stack([cell // GRID, cell % GRID], axis=2) * CELL
    within = np.stack([shift // len(_SHIFTS), shift % len(_SHIFTS)], axis=2)
    start = np.where(parts.there[:, :, None], axes + np.array(_SHIFTS)[within], -1)
    stop = np.where(start < 0, -1, start + SHAPE)
    return _binary(files), start.astype(np.int32), stop.astype(np.int32)


def _tiles(used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each cell adds to the background, and what it leaves of it, packed; first: nothing."""
    shown = np.zeros((len(used) + 1, CELL, CELL), dtype=np.uint8)
    hidden = np.full((len(used) + 1, CELL, CELL), 15, dtype=np.uint8)
    for number, code in enumerate(used.tolist(), 1):
        rest, shift = divmod(code, len(_SHIFTS) ** 2)
        value, colour = divmod(rest, 2 * len(COLOURS))
        row, column = (_SHIFTS[place] for place in divmod(shift, len(_SHIFTS)))
        box = np.s_[number, row : row + SHAPE, column : column + SHAPE]
        shape = shape_of(value)
        shown[box] = np.where(shape, len(GREYS) + colour, 0)
        hidden[box] = np.where(shape, 0, 15)
    return _packed(shown), _packed(hidden)


def _packed(pixels: np.ndarray) -> np.ndarray:
    """Two pixels of four bits in each byte, (n, rows, columns / 2)."""
    pixels = pixels.astype(np.uint8)
    return pixels[:, :, ::2] << 4 | pixels[:, :, 1::2]


def _frame() -> tuple[np.ndarray, int, int]:
    """A PNG file without its pixels and sums, and where its pixels start and stop.

    The pixels stand in one stored (not compressed) block, with a filter byte before each line.
    """
    n_bytes = SIDE * (SIDE // 2 + 1)
    shades = [shade for both in COLOURS.values() for shade in both]
    palette = bytes(number for grey in GREYS for number in (grey,) * 3)
    palette += bytes(number for shade in shades for number in shade)
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 4, 3, 0, 0, 0)
    before = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"PLTE", palette)
    stored = b"\x78\x01\x01" + struct.pack("<HH", n_bytes, n_bytes ^ 0xFFFF)
    before += struct.pack(">I", len(stored) + n_bytes + 4) + b"IDAT" + stored
    after = _chunk(b"IEND", b"")
    whole = before + bytes(n_bytes) + bytes(8) + after
    return np.frombuffer(whole, dtype=np.uint8), len(before), len(before) + n_bytes


def _chunk(kind: bytes, content: bytes) -> bytes:
    body = kind + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))


def _png(cells: np.ndarray) -> np.ndarray:
    """Files of packed cells, (n, GRID ** 2, CELL, CELL / 2) in, (n, n_bytes) out."""
    frame, start, stop = _frame()
    n, half = len(cells), CELL // 2
    files = np.tile(frame, (n, 1))
    lines = files[:, start:stop].reshape(n, SIDE, SIDE // 2 + 1)
    cells = cells.reshape(n, GRID, GRID, CELL, half).transpose(0, 1, 3, 2, 4)
    lines[:, :, 1:] = cells.reshape(n, SIDE, SIDE // 2)
    files[:, start:stop] = lines.reshape(n, -1)
    sums = np.array([zlib.adler32(row) for row in files[:, start:stop].copy()], dtype=">u4")
    files[:, stop : stop + 4] = sums.view(np.uint8).reshape(n, 4)
    body = files[:, start - 11 : stop + 4].copy()  # "IDAT", 7 bytes before the pixels, a sum
    sums = np.array([zlib.crc32(row) for row in body], dtype=">u4")
    files[:, stop + 4 : stop + 8] = sums.view(np.uint8).reshape(n, 4)
    return files


def _binary(files: np.ndarray) -> Any:
    """One Arrow value per row of bytes."""
    n, n_bytes = files.shape
    large = files.size > LARGE
    offsets = np.arange(n + 1, dtype=np.int64 if large else np.int32) * n_bytes
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(files)]
    return pa.Array.from_buffers(pa.large_binary() if large else pa.binary(), n, buffers)
