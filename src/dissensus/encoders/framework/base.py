"""What every encoder promises, and what those with a network share."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections import OrderedDict
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.contents import Contents, Kind
from dissensus.encoders.framework.inputs import Prepared
from dissensus.encoders.framework.store import Store
from dissensus.errors import ModelError
from dissensus.progress import progress

ON_GPU = 4  # times as many units in a batch


class Encoder(ABC):
    """Turns contents into sequences of vectors. A frozen one is run once and cached on disk."""

    kinds: ClassVar[tuple[Kind, ...]]  # what it can read
    cached: ClassVar[bool] = True
    piece: ClassVar[int] = 4096  # contents encoded, and written to the cache, at a time

    @property
    @abstractmethod
    def identity(self) -> str:
        """Everything its output depends on but the content: name, revision, length limit."""

    @abstractmethod
    def encode(self, contents: Contents) -> Store:
        """One sequence per content, in order."""

    def missed(self, contents: Contents) -> str | None:
        """A note on what of the contents is unknown to it, if anything."""
        return None


class EncoderNetwork(nn.Module):
    """The network of an encoder: units of contents in, a vector per position out."""

    width: int
    pretrained: ClassVar[bool] = True  # else it learns as fast as what is new
    stackable: ClassVar[bool] = True  # whether vmap runs it

    @abstractmethod
    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        """Units (n_contents, length, ...), of which each content has `lengths`, to vectors
        (n_contents, positions, width); what stands behind a content's last position is
        never looked at."""

    @property
    @abstractmethod
    def blocks(self) -> list[nn.Module]:
        """Its layers, the first one first; what is in none of them comes before them."""

    def initialise(self) -> None:
        """Draw anew what is not pretrained, from torch's generator; nothing of most networks."""


def copied(network: EncoderNetwork) -> EncoderNetwork:
    """A deep copy in half the time: most of what there is to copy are each layer's lists of hooks,
    which are empty."""
    values = (value for part in network.modules() for value in vars(part).values())
    empty = [value for value in values if type(value) is OrderedDict and not value]
    known: dict[int, Any] = {id(value): OrderedDict() for value in empty}
    return copy.deepcopy(network, known)


class NeuralEncoder(Encoder):
    """An encoder with a network: frozen here, or trained as a part of another one."""

    units_per_batch: ClassVar[int]  # on a CPU

    @abstractmethod
    def prepare(self, contents: Contents) -> Prepared:
        """Contents as the network reads them; a content that cannot be read is an error."""

    @abstractmethod
    def load(self) -> EncoderNetwork:
        """The pretrained network."""

    @cached_property
    def network(self) -> EncoderNetwork:
        """The pretrained network, loaded once; not to be changed."""
        return self.load().eval().requires_grad_(False)

    def trainable(self, n_blocks: int | None = None) -> EncoderNetwork:
        """A copy to be trained, as a whole or only its last blocks."""
        made = copied(self.network).requires_grad_(n_blocks is None)
        if n_blocks is not None:
            if not 1 <= n_blocks <= len(made.blocks):
                raise ModelError(
                    f"the encoder has {len(made.blocks)} blocks to train, found {n_blocks}"
                )
            for block in made.blocks[-n_blocks:]:
                block.requires_grad_(True)
        return made

    def encode(self, contents: Contents) -> Store:
        prepared = self.prepare(contents)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        network = self.network.to(device)
        offsets = prepared.place_offsets
        vectors = np.empty((int(offsets[-1]), network.width), dtype=np.float16)
        with progress(f"encoding {contents.kind}", len(contents)) as advance:
            for codes in self._batches(np.diff(prepared.offsets)):
                inputs = prepared.inputs(codes).to(device)
                with torch.inference_mode():
                    found = network(inputs.units, inputs.lengths).half().cpu().numpy()
                for row, code in zip(found, codes, strict=True):
                    first, last = offsets[code], offsets[code + 1]
                    vectors[first:last] = row[: last - first]
                advance(len(codes))
        return Store(vectors, prepared.places, offsets, prepared.cut)

    def _batches(self, lengths: np.ndarray) -> list[np.ndarray]:
        """Contents of like length together, so that little is padded; the longest first."""
        n_units = self.units_per_batch * (ON_GPU if torch.cuda.is_available() else 1)
        order = np.argsort(-lengths, kind="stable")
        batches, first = [], 0
        while first < len(order):
            size = max(1, n_units // max(1, int(lengths[order[first]])))
            batches.append(order[first : first + size])
            first += size
        return batches


class UntrainedEncoder(NeuralEncoder):
    """An encoder that has learned nothing yet, and learns with a method or not at all."""

    cached: ClassVar[bool] = False
    called: ClassVar[str]  # by its name, in errors

    @abstractmethod
    def made(self) -> EncoderNetwork:
        """The network, with any first weights."""

    def load(self) -> EncoderNetwork:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return self.made()

    def trainable(self, n_blocks: int | None = None) -> EncoderNetwork:
        if n_blocks is not None:
            raise ModelError(f"encoder {self.called!r} is trained as a whole: tune=all")
        return super().trainable()

    def encode(self, contents: Contents) -> Store:
        raise ModelError(
            f"encoder {self.called!r} has learned nothing yet, its vectors would mean nothing; "
            "let it learn with a method: tune=all"
        )
