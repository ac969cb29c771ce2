"""The last block of EfficientNet-Lite0 by itself, to be trained over what the others make once.

With `tune=1` an image encoder runs its whole network at every step, of which only the last block
learns. What stands before that never changes: it is run once, and cached; and a block that reads
vectors can be trained many at a time, side by side.
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
from dissensus.encoders.features import FeaturesEncoder
from dissensus.encoders.framework.base import EncoderNetwork, NeuralEncoder
from dissensus.encoders.framework.cache import cached_store
from dissensus.encoders.framework.inputs import Prepared
from dissensus.encoders.framework.store import Store
from dissensus.encoders.image import LITE, ImageEncoder, PictureNetwork
from dissensus.errors import ModelError

READ, INSIDE, NARROW, WIDTH = 192, 1152, 320, 1280  # channels, from what is read to what is made
EPSILON = 1e-3  # of batch normalisation


class _Normal(nn.Module):
    """Batch normalisation with the statistics of pretraining; scale and shift learn."""

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
    """Expand, look around, project, and the last convolution: a grid of 192 channels in, of 1,280
    out. All convolutions but one are linear in each cell, and are written so."""

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
        seen = [
            padded[:, row : row + side, column : column + side] * self.around[:, row, column]
            for row in range(3)
            for column in range(3)
        ]
        grid = F.relu6(self.normal_1(sum(seen[1:], seen[0])))
        grid = self.normal_2(F.linear(grid, self.project))
        grid = F.relu6(self.normal_3(F.linear(grid, self.last)))
        return grid.flatten(1, 2)

    @property
    def blocks(self) -> list[nn.Module]:
        return [self]


def block_weights(lite: Any) -> dict[str, Tensor]:
    """The weights of the last block of an EfficientNet-Lite0."""
    block = lite._blocks[-1]
    found = {
        "expand": block._expand_conv.weight[:, :, 0, 0],
        "around": block._depthwise_conv.weight[:, 0],
        "project": block._project_conv.weight[:, :, 0, 0],
        "last": lite._conv_head.weight[:, :, 0, 0],
    }
    for number, normal in enumerate((block._bn0, block._bn1, block._bn2, lite._bn1)):
        parts = {"weight": normal.weight, "bias": normal.bias}
        parts |= {"mean": normal.running_mean, "variance": normal.running_var}
        found |= {f"normal_{number}.{name}": held for name, held in parts.items()}
    return {name: held.detach().clone().contiguous() for name, held in found.items()}


class _FrontNetwork(EncoderNetwork):
    """All of EfficientNet-Lite0 but its last block."""

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
        found: Tensor = grid.flatten(2).transpose(1, 2)
        return found

    @property
    def blocks(self) -> list[nn.Module]:
        return list(self.whole.model._blocks[:-1])  # type: ignore[index]


@dataclass(frozen=True)
class FrontEncoder(ImageEncoder):
    """What all blocks of EfficientNet-Lite0 but the last make of a picture: 192 channels a cell."""

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
    """The last block of EfficientNet-Lite0, over what the others make of a picture.

    Frozen it is "efficientnet-lite0" (up to half precision in between); with `tune=all` the block
    learns, at a fraction of the cost of `tune=1` there, and networks are trained side by side.

    Args:
        name: "efficientnet-lite0", or a file of the block's weights (`block_weights`). Contents
            are pictures, or features: what the other blocks made of them.
    """

    name: str = LITE
    kinds: ClassVar[tuple[Kind, ...]] = ("image", "features")
    units_per_batch: ClassVar[int] = 1024

    @property
    def identity(self) -> str:
        digest = hashlib.sha256()
        for key, held in sorted(self.network.state_dict().items()):
            digest.update(key.encode() + held.cpu().numpy().tobytes())
        return json.dumps(["last block", digest.hexdigest()])

    @cached_property
    def front(self) -> FrontEncoder:
        """What runs before it."""
        return FrontEncoder(LITE)

    def load(self) -> EncoderNetwork:
        made = LastBlock()
        made.load_state_dict(self._weights())
        return made

    def _weights(self) -> dict[str, Tensor]:
        if self.name == LITE:
            whole = ImageEncoder(LITE).network
            assert isinstance(whole, PictureNetwork)
            return block_weights(whole.model)
        from safetensors.torch import load_file

        if not Path(self.name).is_file():
            raise ModelError(f"last-block:{self.name}: a file of weights, or {LITE!r}, is wanted")
        return load_file(self.name)

    def prepare(self, contents: Contents) -> Prepared:
        store = self._read(contents)
        n_cells = np.diff(store.offsets)
        if store.width != READ or (n_cells != np.square([math.isqrt(n) for n in n_cells])).any():
            raise ModelError(
                f"the last block reads squares of vectors {READ} wide, found {store.width} wide, "
                f"{n_cells.min()} to {n_cells.max()} of a content"
            )
        units = np.asarray(store.vectors, np.float32)
        cut = np.zeros(len(contents), dtype=bool)
        return Prepared(units, store.offsets, store.places, store.offsets, cut)

    def _read(self, contents: Contents) -> Store:
        if contents.kind == "features":
            return FeaturesEncoder().encode(contents)
        return cached_store(self.front, contents)
