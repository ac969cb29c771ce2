"""Clips made here, through the network for pictures: which frames are read, and their seconds."""

from __future__ import annotations

import importlib
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dissensus.contents import Contents
from dissensus.encoders import encode, encoder
from dissensus.encoders.framework.encoding import unreadable
from dissensus.encoders.image import ImageEncoder
from dissensus.encoders.video import VideoEncoder
from dissensus.errors import DataError, InstallError

av: Any = importlib.import_module("av")  # its types know no container that may be read or written
FORMATS = {  # a container, its codec and its pixels
    "mp4": ("mpeg4", "yuv420p"),
    "matroska": ("mpeg4", "yuv420p"),
    "webm": ("libvpx-vp9", "yuv420p"),
    "gif": ("gif", "rgb8"),
}


def moving_square(number: int, n: int) -> np.ndarray:
    """A bright square on black that goes from the left edge to the right one, (64, 96, 3)."""
    pixels = np.zeros((64, 96, 3), np.uint8)
    left = round(number * 72 / max(1, n - 1))
    pixels[20:44, left : left + 24] = 255
    return pixels


def write(target: Any, n: int, rate: int = 10, file_format: str = "mp4", **settings: Any) -> None:
    codec, pixels = FORMATS[file_format]
    with av.open(target, "w", format=file_format, options=settings.get("options")) as container:
        stream = container.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt = 96, 64, pixels
        if "rotation" in settings:
            stream.set_display_rotation(settings["rotation"])
        for number in range(n):
            frame = av.VideoFrame.from_ndarray(moving_square(number, n), format="rgb24")
            for packet in stream.encode(frame):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)


def clip(n: int, rate: int = 10, file_format: str = "mp4", **settings: Any) -> bytes:
    data = io.BytesIO()
    write(data, n, rate, file_format, **settings)
    return data.getvalue()


def contents_of(*files: bytes | str) -> Contents:
    return Contents("video", Contents.distinct("video", list(files))[0].values)


def left_edge(frame: np.ndarray) -> float:
    """Where the square begins, as a share of the frame's width."""
    bright = frame.mean(axis=0)[frame.shape[1] // 2] > 128
    return float(bright.argmax() / len(bright))


@pytest.fixture(scope="module")
def few() -> VideoEncoder:
    return VideoEncoder(frames=4)


@pytest.mark.parametrize("file_format", FORMATS)
def test_frames_are_spread_evenly_and_know_their_seconds(
    file_format: str, few: VideoEncoder
) -> None:
    prepared = few.prepare(contents_of(clip(20, 10, file_format)))
    assert prepared.units.shape == (4, 3, 128, 128)
    expected = [[0, 0.5], [0.5, 1], [1, 1.5], [1.5, 2]]
    np.testing.assert_allclose(prepared.places[:, 0], expected, atol=2e-3)
    edges = [left_edge(frame) for frame in prepared.units]
    np.testing.assert_allclose(edges, np.array([0, 5, 10, 15]) / 19 * 0.75, atol=0.03)


def test_a_short_clip_gives_all_its_frames(few: VideoEncoder) -> None:
    store = few.encode(contents_of(clip(3, 5), clip(1, 5), clip(30, 10)))
    assert np.diff(store.offsets).tolist() == [3, 1, 4]
    assert store.vectors.shape == (8, 1280)
    np.testing.assert_allclose(store.places[:3, 0], [[0, 0.2], [0.2, 0.4], [0.4, 0.6]], atol=1e-5)
    np.testing.assert_allclose(store.places[3, 0], [0, 0.2], atol=1e-5)


def test_a_frame_gives_what_it_gives_as_a_picture(few: VideoEncoder) -> None:
    pixels = [few.prepare(contents_of(clip(20))).units[i] for i in (0, 3)]
    files = []
    for frame in pixels:
        data = io.BytesIO()
        Image.fromarray(frame.transpose(1, 2, 0)).save(data, format="PNG")
        files.append(data.getvalue())
    pictures = Contents("image", Contents.distinct("image", files)[0].values)
    expected = ImageEncoder().encode(pictures).pooled()
    result = few.encode(contents_of(clip(20))).vectors[[0, 3]]
    np.testing.assert_allclose(result, expected, atol=5e-3)
    assert np.abs(expected[0] - expected[1]).max() > 0.05


def test_the_cells_of_a_frame_have_its_mean_and_its_place(few: VideoEncoder) -> None:
    clips = contents_of(clip(20), clip(3, 5))
    cells = VideoEncoder(frames=4, positions="cell").encode(clips)
    frames = few.encode(clips)
    assert np.diff(cells.offsets).tolist() == [4 * 16, 3 * 16]
    means = cells.vectors.astype(np.float32).reshape(7, 16, -1).mean(axis=1)
    np.testing.assert_allclose(means, frames.vectors, atol=5e-3)
    np.testing.assert_array_equal(cells.places, np.repeat(frames.places, 16, axis=0))


def test_a_clip_that_begins_late_begins_at_0(few: VideoEncoder, tmp_path: Path) -> None:
    early, late = clip(8, 10, "matroska"), io.BytesIO()
    with av.open(io.BytesIO(early)) as source, av.open(late, "w", format="matroska") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.size:
                packet.pts, packet.dts = packet.pts + 3000, packet.dts + 3000  # milliseconds
                packet.stream = stream
                target.mux(packet)
    with av.open(io.BytesIO(late.getvalue())) as shifted:
        assert next(shifted.decode(video=0)).time == 3
    prepared = few.prepare(contents_of(early, late.getvalue()))
    np.testing.assert_allclose(prepared.places[:4], prepared.places[4:], atol=1e-5)


def test_a_clip_is_turned_as_it_says(few: VideoEncoder) -> None:
    upright = few.prepare(contents_of(clip(4))).units[0]
    turned = few.prepare(contents_of(clip(4, rotation=90))).units[0]
    with av.open(io.BytesIO(clip(4, rotation=90))) as container:
        assert next(container.decode(video=0)).rotation == 90
    expected = np.rot90(upright, axes=(1, 2))  # counterclockwise, as is PyAV's angle
    assert np.abs(turned.astype(int) - expected).mean() < 12


def test_its_last_block_learns(few: VideoEncoder) -> None:
    inputs = few.prepare(contents_of(clip(6), clip(2))).inputs(np.arange(2))
    network = few.trainable(1).train()
    network(inputs.units, inputs.lengths).square().mean().backward()
    learning = [p for p in network.parameters() if p.requires_grad]
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in learning)
    assert len(learning) < len(list(network.parameters()))
    assert encoder("auto", "video") == VideoEncoder()


# ---- what cannot be read ----


def sound_alone() -> bytes:
    data = io.BytesIO()
    with av.open(data, "w", format="wav") as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), "s16", "mono")
        frame.sample_rate = 8000
        for packet in [*stream.encode(frame), *stream.encode()]:
            container.mux(packet)
    return data.getvalue()


def test_videos_that_cannot_be_read_are_named(few: VideoEncoder, tmp_path: Path) -> None:
    write(str(tmp_path / "whole.mp4"), 60, options={"movflags": "faststart"})
    whole = (tmp_path / "whole.mp4").read_bytes()
    (tmp_path / "half.mp4").write_bytes(whole[: len(whole) * 6 // 10])
    half, gone = str(tmp_path / "half.mp4"), str(tmp_path / "gone.mp4")
    (tmp_path / "list.m3u8").write_text(
        f"#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:2,\n{tmp_path / 'whole.mp4'}\n#EXT-X-ENDLIST\n"
    )
    in_bytes = contents_of(clip(4), b"no video", sound_alone(), b"", clip(9)[:400])
    assert unreadable(few, in_bytes) == {
        1: "Invalid data found when processing input",
        2: "it has no video stream",
        3: "Invalid data found when processing input",
        4: "Invalid data found when processing input",
    }
    by_path = contents_of(half, gone, str(tmp_path / "list.m3u8"), str(tmp_path / "whole.mp4"))
    result = unreadable(few, by_path)
    assert result[0].startswith("it ends after ") and result[0].endswith(" of 60 frames")
    assert result[1] == "No such file or directory"
    assert set(result) == {0, 1, 2}  # a playlist is not followed
    with pytest.raises(DataError) as raised:
        encode(few, in_bytes)
    assert str(raised.value) == (
        "video 1 cannot be read: Invalid data found when processing input; "
        "leave it out with --skip-bad"
    )


def test_a_missing_package_is_named(few: VideoEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(InstallError) as raised:
        few.prepare(contents_of(b"any"))
    assert str(raised.value) == "video is read by PyAV; pip install 'dissensus[video]'"
