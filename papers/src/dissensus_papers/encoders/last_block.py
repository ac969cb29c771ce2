"""The last block of EfficientNet-Lite0 as an encoder, over cached outputs of the other blocks.

With `tune=1`, an image encoder runs its whole network at every step, although only the last block
is trained. Here the outputs of the other blocks are computed once and cached, and trainings of the
last block can be stacked.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus.contents import Contents, Kind
from dissensus.encoders import (
    EncoderNetwork,
    FeaturesEncoder,
    ImageEncoder,
    NeuralEncoder,
    PictureNetwork,
    Prepared,
    Store,
    cached_store,
)
from dissensus.errors import ModelError

LITE = "efficientnet-lite0"
READ, INSIDE, NARROW, WIDTH = 192, 1152, 320, 1280  # channels, from the input to the output
EPSILON = 1e-3  # of batch normalisation


class _Normal(nn.Module):
    """Batch normalisation with the statistics of pretraining; scale and shift are trained."""

    mean: Tensor
    variance: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("variance", torch.ones(width))

    def forward(self, values: Tensor) -> Tensor:
        scale = self.weight * (self.variance + EPSILON).rsqrt()
        return (values - self.mean) * scale + self.bias


class LastBlock(EncoderNetwork):
    """Expand, 3 x 3 depthwise, project, and the last convolution: from a grid of 192 channels to
    one of 1,280. The 1 x 1 convolutions are written as linear layers."""

    width = WIDTH

    def __init__(self) -> None:
        super().__init__()
        self.expand = nn.Parameter(torch.zeros(INSIDE, READ))
        self.around = nn.Parameter(torch.zeros(INSIDE, 3, 3))
        self.project = nn.Parameter(torch.zeros(NARROW, INSIDE))
        self.last = nn.Parameter(torch.zeros(WIDTH, NARROW))
        self.normal_0, self.normal_1 = _Normal(INSIDE), _Normal(INSIDE)
        self.normal_2, self.normal_3 = _Normal(NARROW), _Normal(WIDTH)

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        side = math.isqrt(units.shape[1])
        grid = units.reshape(len(units), side, side, READ)
        grid = F.relu6(self.normal_0(F.linear(grid, self.expand)))
        padded = F.pad(grid, (0, 0, 1, 1, 1, 1))
        shifted = [
            padded[:, row : row + side, column : column + side] * self.around[:, row, column]
            for row in range(3)
            for column in range(3)
        ]
        grid = F.relu6(self.normal_1(sum(shifted[1:], shifted[0])))
        grid = self.normal_2(F.linear(grid, self.project))
        grid = F.relu6(self.normal_3(F.linear(grid, self.last)))
        return grid.flatten(1, 2)

    @property
    def blocks(self) -> list[nn.Module]:
        return [self]


def block_weights(lite: Any) -> dict[str, Tensor]:
    """The weights of the last block of an EfficientNet-Lite0."""
    block = lite._blocks[-1]
    weights = {
        "expand": block._expand_conv.weight[:, :, 0, 0],
        "around": block._depthwise_conv.weight[:, 0],
        "project": block._project_conv.weight[:, :, 0, 0],
        "last": lite._conv_head.weight[:, :, 0, 0],
    }
    for number, normal in enumerate((block._bn0, block._bn1, block._bn2, lite._bn1)):
        parts = {"weight": normal.weight, "bias": normal.bias}
        parts |= {"mean": normal.running_mean, "variance": normal.running_var}
        weights |= {f"normal_{number}.{name}": values for name, values in parts.items()}
    return {name: values.detach().clone().contiguous() for name, values in weights.items()}


class _FrontNetwork(EncoderNetwork):
    """EfficientNet-Lite0 without its last block."""

    width = READ

    def __init__(self, whole: PictureNetwork) -> None:
        super().__init__()
        self.whole = whole

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        whole, lite = self.whole, self.whole.model
        pictures = (units.flatten(0, 1) - whole.mean) / whole.spread
        grid: Any = pictures.contiguous(memory_format=torch.channels_last)
        grid = lite._swish(lite._bn0(lite._conv_stem(grid)))  # type: ignore[operator]
        for block in lite._blocks[:-1]:  # type: ignore[index]
            grid = block(grid)
        cells: Tensor = grid.flatten(2).transpose(1, 2)
        return cells

    @property
    def blocks(self) -> list[nn.Module]:
        return list(self.whole.model._blocks[:-1])  # type: ignore[index]


@dataclass(frozen=True)
class FrontEncoder(ImageEncoder):
    """EfficientNet-Lite0 without its last block: 192 channels per cell."""

    @property
    def identity(self) -> str:
        return json.dumps(["image, but for the last block", *json.loads(super().identity)[1:]])

    @cached_property
    def _whole(self) -> ImageEncoder:
        return ImageEncoder(self.name, self.size)

    def load(self) -> EncoderNetwork:  # type: ignore[override]
        network = self._whole.network
        assert isinstance(network, PictureNetwork)
        return _FrontNetwork(network)

    def prepare(self, contents: Contents) -> Prepared:
        return self._whole.prepare(contents)


@dataclass(frozen=True)
class LastBlockEncoder(NeuralEncoder):
    """The last block of EfficientNet-Lite0, over cached outputs of the other blocks.

    Frozen, it is the same as "efficientnet-lite0", up to half precision between the blocks. With
    `tune=all` the block is trained, at a fraction of the cost of `tune=1` there, and trainings are
    stacked.

    Args:
        name: "efficientnet-lite0", or a file of the block's weights (`block_weights`). Contents
            are pictures, or features: the outputs of the other blocks.
    """

    name: str = LITE
    kinds: ClassVar[tuple[Kind, ...]] = ("image", "features")
    units_per_batch: ClassVar[int] = 1024

    @property
    def identity(self) -> str:
        digest = hashlib.sha256()
        for key, values in sorted(self.network.state_dict().items()):
            digest.update(key.encode() + values.cpu().numpy().tobytes())
        return json.dumps(["last block", digest.hexdigest()])

    @cached_property
    def front(self) -> FrontEncoder:
        """The encoder of the other blocks."""
        return FrontEncoder(LITE)

    def load(self) -> EncoderNetwork:
        network = LastBlock()
        network.load_state_dict(self._weights())
        return network

    def _weights(self) -> dict[str, Tensor]:
        if self.name == LITE:
            whole = ImageEncoder(LITE).network
            assert isinstance(whole, PictureNetwork)
            return block_weights(whole.model)
        from safetensors.torch import load_file

        if not Path(self.name).is_file():
            raise ModelError(
                f"last-block:{self.name}: no such file; pass a file of weights, or {LITE!r}"
            )
        return load_file(self.name)

    def prepare(self, contents: Contents) -> Prepared:
        store = self._read(contents)
        n_cells = np.diff(store.offsets)
        if store.width != READ or (n_cells != np.square([math.isqrt(n) for n in n_cells])).any():
            raise ModelError(
                f"the last block reads square grids of vectors {READ} wide, found {store.width} "
                f"wide, {n_cells.min()} to {n_cells.max()} per content"
            )
        units = np.asarray(store.vectors, np.float32)
        cut = np.zeros(len(contents), dtype=bool)
        return Prepared(units, store.offsets, store.places, store.offsets, cut)

    def _read(self, contents: Contents) -> Store:
        if contents.kind == "features":
            return FeaturesEncoder().encode(contents)
        return cached_store(self.front, contents)
