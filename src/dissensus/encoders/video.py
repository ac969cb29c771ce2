"""Video encoders: frames, evenly spread over a clip, through the network of an image encoder."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np
from PIL import Image
from torch import Tensor, nn

from dissensus.contents import Contents, Kind
from dissensus.encoders.framework.base import EncoderNetwork, NeuralEncoder
from dissensus.encoders.framework.inputs import Prepared
from dissensus.encoders.framework.media import Unreadable
from dissensus.encoders.framework.pictures import on_white, squeezed
from dissensus.encoders.image import LITE, ImageEncoder, Look, PictureNetwork
from dissensus.errors import DataError, InstallError
from dissensus.progress import progress

ALONE = {"protocol_whitelist": "none"}  # FFmpeg's way to open nothing but the file itself
SECONDS_PER_FRAME = 0.04  # where a file does not say how long its last frame is shown


class FrameNetwork(EncoderNetwork):
    """A network for pictures on each frame, and the mean over the cells of its grid."""

    def __init__(self, pictures: PictureNetwork) -> None:
        super().__init__()
        self.pictures = pictures
        self.width = pictures.width

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        grid = self.pictures.positions(units.flatten(0, 1))[:, self.pictures.n_whole :]
        return grid.mean(dim=1).reshape(*units.shape[:2], self.width)

    @property
    def blocks(self) -> list[nn.Module]:
        return self.pictures.blocks


@dataclass(frozen=True)
class VideoEncoder(NeuralEncoder):
    """Frames of a clip through an image encoder, one vector per frame.

    The clip is cut into as many parts of like length as frames are wanted, and the first frame of
    each is read. A place is seconds from-to, from this frame to the next that is read; the clip
    begins at 0, where its first frame is shown. Sound is not read.

    Args:
        name: of the image encoder, see `ImageEncoder`.
        frames: how many are read of a clip; all of them where it has fewer.
        size: pixels a side of the square that a frame is squeezed into, see `ImageEncoder`.
    """

    name: str = LITE
    frames: int = 16
    size: int | None = None
    kinds: ClassVar[tuple[Kind, ...]] = ("video",)
    units_per_batch: ClassVar[int] = 16
    piece: ClassVar[int] = 64

    def __post_init__(self) -> None:
        if self.frames < 1:
            raise DataError(f"frames must be at least 1, found {self.frames}")

    @property
    def identity(self) -> str:
        return json.dumps(["video", self._image.identity, self.frames])

    @cached_property
    def _image(self) -> ImageEncoder:
        return ImageEncoder(self.name, self.size)

    def load(self) -> FrameNetwork:
        return FrameNetwork(self._image.load())

    def prepare(self, contents: Contents) -> Prepared:
        units, places = [], []
        with progress("decoding video", len(contents)) as advance:
            for code in range(len(contents)):
                frames, seconds = _frames(contents, code, self.frames, self._image.look)
                units.append(frames)
                places.append(seconds)
                advance(1)
        offsets = np.r_[0, np.cumsum([len(frames) for frames in units])]
        nothing_cut = np.zeros(len(contents), dtype=bool)
        return Prepared(
            np.concatenate(units), offsets, np.concatenate(places), offsets, nothing_cut
        )


def _frames(
    contents: Contents, code: int, wanted: int, look: Look
) -> tuple[np.ndarray, np.ndarray]:
    """Frames (n, 3, size, size), evenly spread, and the seconds (n, 1, 2) each stands for."""
    try:
        import av
    except ImportError:
        raise InstallError("video is read by PyAV; pip install 'dissensus[video]'") from None
    try:
        n = _count(contents, code)
        frames, seconds, shown = _read(contents, code, _spread(n, wanted), look)
        if shown and shown != n:  # packets that show nothing, or two frames: now it is known
            frames, seconds, shown = _read(contents, code, _spread(shown, wanted), look)
    except av.error.FFmpegError as error:
        raise Unreadable(contents, code, str(error.strerror or error)) from None
    if not frames:
        raise Unreadable(contents, code, "it has no frame that can be decoded")
    ends = np.stack([seconds[:-1], seconds[1:]], axis=1)
    return np.stack(frames), ends[:, None].astype(np.float32)


def _spread(n: int, wanted: int) -> set[int]:
    """The numbers of the frames that are read."""
    return set((np.arange(min(n, wanted)) * n // max(1, min(n, wanted))).tolist())


def _count(contents: Contents, code: int) -> int:
    """How many frames there are, without decoding them: a packet holds one as a rule."""
    with _opened(contents, code) as (container, stream):
        n = sum(packet.size > 0 for packet in container.demux(stream))
        if "mp4" in container.format.name and n < stream.frames:  # elsewhere it is an estimate
            raise Unreadable(contents, code, f"it ends after {n} of {stream.frames} frames")
        return n


def _read(
    contents: Contents, code: int, numbers: set[int], look: Look
) -> tuple[list[np.ndarray], np.ndarray, int]:
    """The frames of these numbers; when each begins, and the clip's end; how many there are."""
    frames, seconds, shown = [], [], 0
    start = end = 0.0
    with _opened(contents, code) as (container, stream):
        usual = float(1 / stream.average_rate) if stream.average_rate else SECONDS_PER_FRAME
        for frame in container.decode(stream):  # from the first on: seeking is not exact
            time = end + start if frame.time is None else frame.time
            start = time if not shown else start
            if shown in numbers:
                frames.append(squeezed(_picture(frame), look.size, look.resample))
                seconds.append(time - start)
            end = time - start + (float(frame.duration * frame.time_base) or usual)
            shown += 1
    return frames, np.array([*seconds, end]), shown


def _picture(frame: Any) -> Image.Image:
    """A frame as people see it: upright, on white where it is transparent."""
    clear = any(component.is_alpha for component in frame.format.components)
    pixels = frame.to_ndarray(format="rgba" if clear else "rgb24")
    return on_white(Image.fromarray(pixels)).rotate(frame.rotation, expand=True)


@contextmanager
def _opened(contents: Contents, code: int) -> Iterator[tuple[Any, Any]]:
    """A video's container and its first stream of pictures.

    A playlist is not followed: no other file is opened, and nothing is fetched.
    """
    import av

    with _file(contents, code) as file, av.open(file, options=ALONE) as container:
        if not container.streams.video:
            raise Unreadable(contents, code, "it has no video stream")
        yield container, container.streams.video[0]


def _file(contents: Contents, code: int) -> BinaryIO:
    value = contents[code]
    if isinstance(value, bytes):
        return io.BytesIO(value)
    try:
        return Path(value).open("rb")
    except OSError as error:
        raise Unreadable(contents, code, str(error.strerror or error)) from None
