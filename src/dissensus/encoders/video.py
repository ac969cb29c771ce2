"""Video encoders: frames at equal distances in a clip, through the network of an image encoder."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from PIL import Image
from torch import Tensor, nn

from dissensus.contents import Contents, Kind
from dissensus.encoders.framework.base import EncoderNetwork, NeuralEncoder
from dissensus.encoders.framework.media import on_white, squeezed
from dissensus.encoders.framework.store import Prepared, Unreadable
from dissensus.encoders.image import LITE, ImageEncoder, PictureNetwork, Preprocessing
from dissensus.errors import DataError, InstallError
from dissensus.files.plain import open_plain
from dissensus.progress import progress

NO_OTHER_FILES = {"protocol_whitelist": "none"}  # FFmpeg opens only the file itself
SECONDS_PER_FRAME = 0.04  # of the last frame, if the file does not say


class FrameNetwork(EncoderNetwork):
    """Applies a picture network to each frame; the mean over the cells of its grid, or all
    `cells`, one frame after another."""

    def __init__(self, pictures: PictureNetwork, cells: bool) -> None:
        super().__init__()
        self.pictures, self.cells = pictures, cells
        self.width = pictures.width

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        grid = self.pictures.positions(units.flatten(0, 1))[:, self.pictures.n_whole :]
        vectors = grid if self.cells else grid.mean(dim=1)
        return vectors.reshape(len(units), -1, self.width)

    @property
    def blocks(self) -> list[nn.Module]:
        return self.pictures.blocks


@dataclass(frozen=True)
class VideoEncoder(NeuralEncoder):
    """Frames of a clip through an image encoder, one vector per frame or per cell of its grid.

    The clip is divided into `frames` parts of equal length, and the first frame of each is read. A
    place is the time in seconds from this frame to the next one that is read; the first frame of
    the clip is at 0. Sound is not read.

    Args:
        name: of the image encoder, see `ImageEncoder`.
        frames: how many frames of a clip are read; all if it has fewer.
        size: pixels per side of the square that a frame is resized to, see `ImageEncoder`.
        positions: one per "frame", or one per "cell": all cells of a frame have its place.
    """

    name: str = LITE
    frames: int = 16
    size: int | None = None
    positions: str = "frame"
    kinds: ClassVar[tuple[Kind, ...]] = ("video",)
    units_per_batch: ClassVar[int] = 16
    piece: ClassVar[int] = 64

    def __post_init__(self) -> None:
        if self.frames < 1:
            raise DataError(f"frames must be at least 1, found {self.frames}")
        if self.positions not in ("frame", "cell"):
            raise DataError(f"positions must be 'frame' or 'cell', found {self.positions!r}")

    @property
    def identity(self) -> str:
        parts = ["video", self._image.identity, self.frames]
        return json.dumps([*parts, self.positions] if self.positions == "cell" else parts)

    @cached_property
    def _image(self) -> ImageEncoder:
        return ImageEncoder(self.name, self.size)

    def load(self) -> FrameNetwork:
        return FrameNetwork(self._image.load(), self.positions == "cell")

    def prepare(self, contents: Contents) -> Prepared:
        units, places = [], []
        with progress("decoding video", len(contents)) as advance:
            for code in range(len(contents)):
                frames, seconds = _frames(contents, code, self.frames, self._image.preprocessing)
                units.append(frames)
                places.append(seconds)
                advance(1)
        offsets = np.r_[0, np.cumsum([len(frames) for frames in units])]
        nothing_cut, network = np.zeros(len(contents), dtype=bool), self.network
        assert isinstance(network, FrameNetwork)
        n = network.pictures.n_side**2 if self.positions == "cell" else 1  # of a frame
        every = np.repeat(np.concatenate(places), n, axis=0)
        return Prepared(np.concatenate(units), offsets, every, n * offsets, nothing_cut)


def _frames(
    contents: Contents, code: int, n_frames: int, preprocessing: Preprocessing
) -> tuple[np.ndarray, np.ndarray]:
    """Frames at equal distances, (n, 3, size, size), and from when to when each is, (n, 1, 2)."""
    try:
        import av
    except ImportError:
        raise InstallError("video is read by PyAV; pip install 'dissensus[video]'") from None
    try:
        n = _count(contents, code)
        frames, seconds, n_decoded = _read(contents, code, _spread(n, n_frames), preprocessing)
        if n_decoded and n_decoded != n:  # a packet may contain no frame, or two
            numbers = _spread(n_decoded, n_frames)
            frames, seconds, n_decoded = _read(contents, code, numbers, preprocessing)
    except av.error.FFmpegError as error:
        raise Unreadable(contents, code, str(error.strerror or error)) from None
    if not frames:
        raise Unreadable(contents, code, "it has no frame that can be decoded")
    ends = np.stack([seconds[:-1], seconds[1:]], axis=1)
    return np.stack(frames), ends[:, None].astype(np.float32)


def _spread(n: int, n_read: int) -> set[int]:
    """The numbers of the frames that are read, of n."""
    return set((np.arange(min(n, n_read)) * n // max(1, min(n, n_read))).tolist())


def _count(contents: Contents, code: int) -> int:
    """The number of frames, without decoding them: a packet usually contains one."""
    with _opened(contents, code) as (container, stream):
        n = sum(packet.size > 0 for packet in container.demux(stream))
        # in other formats than MP4 the number that is stated is an estimate
        if "mp4" in container.format.name and n < stream.frames:
            raise Unreadable(contents, code, f"it ends after {n} of {stream.frames} frames")
        return n


def _read(
    contents: Contents, code: int, numbers: set[int], preprocessing: Preprocessing
) -> tuple[list[np.ndarray], np.ndarray, int]:
    """The frames of these numbers, the start of each and the end of the clip; how many it has."""
    frames, seconds, n_decoded = [], [], 0
    start = end = 0.0
    with _opened(contents, code) as (container, stream):
        usual = float(1 / stream.average_rate) if stream.average_rate else SECONDS_PER_FRAME
        for frame in container.decode(stream):  # all of them: seeking is not exact
            time = end + start if frame.time is None else frame.time
            start = time if not n_decoded else start
            if n_decoded in numbers:
                frames.append(squeezed(_picture(frame), preprocessing.size, preprocessing.resample))
                seconds.append(time - start)
            end = time - start + (float(frame.duration * frame.time_base) or usual)
            n_decoded += 1
    return frames, np.array([*seconds, end]), n_decoded


def _picture(frame: Any) -> Image.Image:
    """A frame as it is displayed: rotated, with white for transparent parts."""
    transparent = any(component.is_alpha for component in frame.format.components)
    pixels = frame.to_ndarray(format="rgba" if transparent else "rgb24")
    return on_white(Image.fromarray(pixels)).rotate(frame.rotation, expand=True)


@contextmanager
def _opened(contents: Contents, code: int) -> Iterator[tuple[Any, Any]]:
    """The container of a video, and its first video stream.

    Playlists are not followed: no other file is opened, and nothing is downloaded.
    """
    import av

    value = contents[code]
    try:
        opened = io.BytesIO(value) if isinstance(value, bytes) else open_plain(value)
    except OSError as error:
        raise Unreadable(contents, code, str(error.strerror or error)) from None
    with opened as file, av.open(file, options=NO_OTHER_FILES) as container:
        if not container.streams.video:
            raise Unreadable(contents, code, "it has no video stream")
        yield container, container.streams.video[0]
