"""The interface of every encoder, and what encoders with a network share."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.contents import Contents, Kind
from dissensus.encoders.framework.store import Inputs, Prepared, Store, Unreadable, usable
from dissensus.errors import ModelError
from dissensus.progress import progress
from dissensus.within import check_deadline

ON_GPU = 4  # times as many units in a batch
AT_ONCE = 1 << 28  # bytes that stay in memory: 5,000 pictures, 2 hours of speech, any texts
PIECE = 128  # contents read at a time, to measure how large they are


class Encoder(ABC):
    """Turns contents into sequences of vectors; those of a frozen encoder are cached on disk."""

    kinds: ClassVar[tuple[Kind, ...]]  # of contents that it can read
    cached: ClassVar[bool] = True
    piece: ClassVar[int] = 4096  # contents encoded, and written to the cache, at a time

    @property
    @abstractmethod
    def identity(self) -> str:
        """Everything that its vectors depend on besides contents: name, revision, length limit."""

    @abstractmethod
    def encode(self, contents: Contents) -> Store:
        """One sequence per content, in order."""

    def check(self, contents: Contents) -> None:
        """Read contents; one that cannot be read is an error."""
        self.encode(contents)

    def unknown_note(self, contents: Contents) -> str | None:
        """A note on parts of the contents that it does not know, if there are any."""
        return None


class EncoderNetwork(nn.Module):
    """The network of an encoder: units of contents in, a vector per position out."""

    width: int
    pretrained: ClassVar[bool] = True  # if not, it has the learning rate of new weights
    stackable: ClassVar[bool] = True  # whether it runs under vmap

    @abstractmethod
    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        """The vectors of all positions, (n_contents, n_positions, width); those after the last
        position of a content are ignored.

        Args:
            units: (n_contents, length, ...), padded.
            lengths: the number of units of each content.
        """

    @property
    @abstractmethod
    def blocks(self) -> list[nn.Module]:
        """Its layers, in order; weights outside of them come before the first."""

    def initialise(self) -> None:
        """Draw new weights, from torch's generator, if the network is not pretrained."""


def copied(network: EncoderNetwork) -> EncoderNetwork:
    """A deep copy in half the time: most objects to copy are the empty lists of hooks of each
    layer."""
    values = (value for part in network.modules() for value in vars(part).values())
    empty = [value for value in values if type(value) is OrderedDict and not value]
    known: dict[int, Any] = {id(value): OrderedDict() for value in empty}
    return copy.deepcopy(network, known)


class NeuralEncoder(Encoder):
    """An encoder with a network: frozen, or fine-tuned as part of a method's network."""

    units_per_batch: ClassVar[int]  # on a CPU

    @abstractmethod
    def prepare(self, contents: Contents) -> Prepared:
        """Contents in the form that the network expects; an unreadable content is an error."""

    def check(self, contents: Contents) -> None:
        self.prepare(contents)

    @abstractmethod
    def load(self) -> EncoderNetwork:
        """The pretrained network."""

    @cached_property
    def network(self) -> EncoderNetwork:
        """The pretrained network, loaded once; do not change it."""
        return self.load().eval().requires_grad_(False)

    def trainable(self, n_blocks: int | None = None) -> EncoderNetwork:
        """A copy to fine-tune, as a whole or only its last blocks."""
        network = copied(self.network).requires_grad_(n_blocks is None)
        if n_blocks is not None:
            if not 1 <= n_blocks <= len(network.blocks):
                raise ModelError(
                    f"the encoder has {len(network.blocks)} blocks to train, found {n_blocks}"
                )
            for block in network.blocks[-n_blocks:]:
                block.requires_grad_(True)
        return network

    def encode(self, contents: Contents) -> Store:
        prepared = self.prepare(contents)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        network = self.network.to(device)
        offsets = prepared.place_offsets
        vectors = np.empty((int(offsets[-1]), network.width), dtype=np.float16)
        with progress(f"encoding {contents.kind}", len(contents)) as advance:
            for codes in self._batches(np.diff(prepared.offsets)):
                check_deadline()
                inputs = prepared.inputs(codes).to(device)
                with torch.inference_mode():
                    outputs = network(inputs.units, inputs.lengths).half().cpu().numpy()
                for padded, code in zip(outputs, codes, strict=True):
                    first, last = offsets[code], offsets[code + 1]
                    vectors[first:last] = padded[: last - first]
                advance(len(codes))
        return Store(vectors, prepared.places, offsets, prepared.cut)

    def _batches(self, lengths: np.ndarray) -> list[np.ndarray]:
        """Batches of contents of similar length, to avoid padding; the longest contents first."""
        n_units = self.units_per_batch * (ON_GPU if torch.cuda.is_available() else 1)
        order = np.argsort(-lengths, kind="stable")
        batches, first = [], 0
        while first < len(order):
            size = max(1, n_units // max(1, int(lengths[order[first]])))
            batches.append(order[first : first + size])
            first += size
        return batches


class UntrainedEncoder(NeuralEncoder):
    """An encoder that is not pretrained: it must be trained together with a method."""

    cached: ClassVar[bool] = False
    encoder_name: ClassVar[str]  # in errors

    @abstractmethod
    def build(self) -> EncoderNetwork:
        """The network, with any first weights."""

    def load(self) -> EncoderNetwork:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return self.build()

    def trainable(self, n_blocks: int | None = None) -> EncoderNetwork:
        if n_blocks is not None:
            raise ModelError(f"encoder {self.encoder_name!r} is trained as a whole: set tune=all")
        return super().trainable()

    def encode(self, contents: Contents) -> Store:
        raise ModelError(
            f"encoder {self.encoder_name!r} is not pretrained, so its vectors would be random; "
            "train it with the method: set tune=all"
        )


# ---- inputs of an encoder that is fine-tuned ----


@dataclass(frozen=True, eq=False)
class ByBatch:
    """Contents that are read again for every batch."""

    encoder: NeuralEncoder
    contents: Contents
    cut: np.ndarray  # (n_contents,) booleans: longer than is read

    def inputs(self, codes: np.ndarray) -> Inputs:
        """The contents at these codes as one padded batch of torch tensors."""
        return _part(self.encoder, self.contents, codes).inputs(np.arange(len(codes)))


def prepared(
    encoder: NeuralEncoder, contents: Contents, at_once: int | None = None
) -> Prepared | ByBatch:
    """Contents in the form that the encoder's network expects.

    All of them are read once here, so that a content that cannot be read is an error before the
    training starts.

    Args:
        at_once: bytes (AT_ONCE if left out); if contents take more, they are read again for every
            batch, and stay compressed or on disk in between.
    """
    at_once = AT_ONCE if at_once is None else at_once
    if not len(contents):
        raise ModelError("all contents are blank; there is nothing to encode")
    parts: list[Prepared] = []
    cut, n_bytes = [], 0
    with progress(f"reading {contents.kind}", len(contents)) as advance:
        for first in range(0, len(contents), PIECE):
            codes = np.arange(first, min(first + PIECE, len(contents)))
            part = _part(encoder, contents, codes)
            cut.append(part.cut)
            n_bytes += part.units.nbytes
            parts = [*parts, part] if n_bytes <= at_once else []
            advance(len(codes))
    if n_bytes <= at_once:
        return Prepared.joined(parts)
    return ByBatch(encoder, contents, np.concatenate(cut))


def _part(encoder: NeuralEncoder, contents: Contents, codes: np.ndarray) -> Prepared:
    try:
        with usable(encoder):
            return encoder.prepare(contents.take(codes))
    except Unreadable as error:
        raise error.among(contents, codes) from None
