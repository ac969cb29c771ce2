"""Pictures with several objects; annotators look at different objects."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pyarrow as pa

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.scales import Nominal
from dissensus.simulate.crowd import Draws, Parts, Sizes, blocks, circle
from dissensus.simulate.truth import SimulatedContents, labelled

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
SHIFTS = (1, 2, 3)  # a shape's place in its cell, along each axis
N_NOISES = 64  # different pieces of background
# how far down and right of the middle each pixel lies, in half pixels, without its sign to the
# right: odd whole numbers
_ODD = np.arange(1 - SHAPE, SHAPE, 2)
_DOWN, _ASIDE = np.broadcast_to(_ODD[:, None], (SHAPE, SHAPE)), abs(_ODD)[None].repeat(SHAPE, 0)
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


def image(
    n_items: int = 1000,
    n_annotators: int = 10,
    labels_per_item: int = 5,
    n_values: int = 6,
    seed: int = 0,
) -> Corpus:
    """A corpus of pictures with several objects, and annotators whose tendencies are known.

    Each picture is a PNG of 48 x 48 pixels with three or four objects in the cells of a 3 x 3
    grid. An object's shape carries the answer, its colour draws the eye; two objects of a picture
    share their shape, none its colour. Annotators are asked for *the* shape: each looks mostly at
    objects of the colours they prefer, prefers certain answers and is careless now and then.

    The truth is saved with the corpus, as `text` describes: parts are objects, aspects colours,
    values shapes, and places boxes (row, column).

    All else, and the arguments, are as in `text`: preferences, noise, the best possible accuracy.

    Example:
        >>> corpus = image(n_items=100)
        >>> corpus["shape"].n_rows, corpus["shape"].scale.values[:3]
        (500, ('disc', 'ring', 'frame'))
        >>> corpus.contents["image"][0][1:4]
        b'PNG'
    """
    sizes = Sizes(n_items, n_annotators, labels_per_item, n_values, seed)
    return labelled("image", "shape", sizes, shape_scale, tuple(COLOURS), show_pictures)


def shape_scale(n_values: int) -> Nominal:
    """Shapes in a circle of likeness; the distance counts steps on it.

    Example:
        >>> shape_scale(3).values
        ('disc', 'ring', 'frame')
    """
    return Nominal(tuple(SHAPES)[:n_values], circle(n_values))


def show_pictures(parts: Parts, scale: Nominal, draws: Draws) -> SimulatedContents:
    """A PNG file of each item; a part's aspect is the code of its colour, its value of its shape.

    The files are not compressed: no version of zlib can change them.
    """
    n_items, most = parts.aspect.shape
    cell = draws.distinct(GRID**2, n_items, most)
    shift = draws.below(len(SHIFTS) ** 2, n_items, most)
    shade = draws.below(2, n_items, most)
    noise = draws.below(N_NOISES, n_items, GRID**2)
    tiles = np.zeros((n_items, GRID**2), dtype=np.int64)  # 0: an empty cell
    code = ((parts.value * len(COLOURS) + parts.aspect) * 2 + shade) * len(SHIFTS) ** 2 + shift
    used, tile = np.unique(code[parts.there], return_inverse=True)
    tiles[np.nonzero(parts.there)[0], cell[parts.there]] = tile.reshape(-1) + 1
    pixels, hidden = _tiles(used)
    background = _packed(draws.below(len(GREYS), N_NOISES, CELL, CELL))
    files: list[bytes] = []
    for rows in blocks(n_items, GRID**2 * CELL * CELL // 2):
        cells = (background[noise[rows]] & hidden[tiles[rows]]) | pixels[tiles[rows]]
        files += _png_files(cells)
    axes = np.stack([cell // GRID, cell % GRID], axis=2) * CELL
    within = np.stack([shift // len(SHIFTS), shift % len(SHIFTS)], axis=2)
    start = np.where(parts.there[:, :, None], axes + np.array(SHIFTS)[within], -1)
    stop = np.where(start < 0, -1, start + SHAPE)
    large = len(files) * len(files[0]) > LARGE
    pictures = pa.array(files, pa.large_binary() if large else pa.binary())
    distinct = Contents.distinct("image", pictures)
    return SimulatedContents("image", *distinct, start.astype(np.int32), stop.astype(np.int32))


def _tiles(used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each cell adds to the background, and what it leaves of it, packed; first: nothing."""
    pixels = np.zeros((len(used) + 1, CELL, CELL), dtype=np.uint8)
    hidden = np.full((len(used) + 1, CELL, CELL), 15, dtype=np.uint8)
    shapes = list(SHAPES.values())
    for number, code in enumerate(used.tolist(), 1):
        rest, shift = divmod(code, len(SHIFTS) ** 2)
        value, colour = divmod(rest, 2 * len(COLOURS))
        row, column = (SHIFTS[place] for place in divmod(shift, len(SHIFTS)))
        box = np.s_[number, row : row + SHAPE, column : column + SHAPE]
        shape = shapes[value]
        pixels[box] = np.where(shape, len(GREYS) + colour, 0)
        hidden[box] = np.where(shape, 0, 15)
    return _packed(pixels), _packed(hidden)


def _packed(pixels: np.ndarray) -> np.ndarray:
    """Two pixels of four bits in each byte, (n, rows, columns / 2)."""
    pixels = pixels.astype(np.uint8)
    return pixels[:, :, ::2] << 4 | pixels[:, :, 1::2]


def _png_files(cells: np.ndarray) -> list[bytes]:
    """Files of packed cells, (n, GRID ** 2, CELL, CELL / 2)."""
    n, half = len(cells), CELL // 2
    lines = np.zeros((n, SIDE, SIDE // 2 + 1), dtype=np.uint8)  # a filter byte before each line
    cells = cells.reshape(n, GRID, GRID, CELL, half).transpose(0, 1, 3, 2, 4)
    lines[:, :, 1:] = cells.reshape(n, SIDE, SIDE // 2)
    greys = [(grey,) * 3 for grey in GREYS]
    palette = bytes(
        np.array([*greys, *(shade for both in COLOURS.values() for shade in both)], np.uint8)
    )
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 4, 3, 0, 0, 0)
    before = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"PLTE", palette)
    stored = b"\x78\x01\x01" + struct.pack("<HH", lines[0].size, lines[0].size ^ 0xFFFF)
    after = _chunk(b"IEND", b"")
    pixels, size = lines.tobytes(), lines[0].size
    bodies = (
        stored + each + zlib.adler32(each).to_bytes(4, "big")
        for each in (pixels[first : first + size] for first in range(0, len(pixels), size))
    )
    return [before + _chunk(b"IDAT", body) + after for body in bodies]


def _chunk(kind: bytes, content: bytes) -> bytes:
    body = kind + content
    return len(content).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")
