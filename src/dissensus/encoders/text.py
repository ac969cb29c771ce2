"""Text encoders: MiniLM, installed with dissensus, or any model that transformers supports."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor, nn

from dissensus.contents import Contents, Kind
from dissensus.encoders.framework.base import EncoderNetwork, NeuralEncoder
from dissensus.encoders.framework.pretrained import (
    layers,
    load_pretrained,
    minilm_folder,
    pretrained_network,
    revision,
)
from dissensus.encoders.framework.store import Prepared
from dissensus.errors import ModelError, cut

SHORTEST = 8  # tokens: the model's special tokens need room


class TextNetwork(EncoderNetwork):
    """A transformer over token numbers and the number of the sequence that each is in."""

    def __init__(self, model: nn.Module, first: bool = False, width: int = 0) -> None:
        super().__init__()
        self.model = model
        self.first = first
        config: Any = getattr(model, "config", None)
        self.width = width or config.hidden_size
        self.n_types = getattr(config, "type_vocab_size", 0)

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        tokens, part = units[..., 0].long(), units[..., 1].long()
        mask = torch.arange(units.shape[1], device=units.device) < lengths[:, None]
        types = {"token_type_ids": part.clamp(max=self.n_types - 1)} if self.n_types > 1 else {}
        outputs = self.model(tokens, attention_mask=mask, **types)
        vectors: Tensor = getattr(outputs, "last_hidden_state", outputs)
        vectors = vectors[:, None] if vectors.ndim == 2 else vectors
        return vectors[:, :1] if self.first else vectors

    @property
    def blocks(self) -> list[nn.Module]:
        return layers(self.model)


@dataclass(frozen=True)
class TextEncoder(NeuralEncoder):
    """The last hidden state of a transformer, one vector per token.

    Texts that are read together (a premise and its hypothesis, the turns of a dialogue) are one
    sequence, with the model's separators between them; a place is then the number of the text, and
    characters in it.

    Args:
        name: "minilm" (all-MiniLM-L6-v2, 384 wide), a folder, or a name on the hub.
        max_length: the most tokens that are read, if the model can read as many; longer texts are
            truncated, the longest first.
        positions: "all" tokens, or only the "first" ([CLS]), which BERT uses to represent a text.
    """

    name: str = "minilm"
    max_length: int = 256
    positions: str = "all"
    kinds: ClassVar[tuple[Kind, ...]] = ("text",)
    units_per_batch: ClassVar[int] = 1024  # 4,096 took a tenth longer on a CPU
    _revision = cached_property(revision)

    def __post_init__(self) -> None:
        if self.max_length < SHORTEST:
            raise ModelError(
                f"max_length must be at least {SHORTEST} tokens, found {self.max_length}"
            )
        if self.positions not in ("all", "first"):
            raise ModelError(f"positions must be 'all' or 'first', found {self.positions!r}")

    @property
    def identity(self) -> str:
        parts = ["text", self.name, self._revision, self.max_length]
        return json.dumps(parts if self.positions == "all" else [*parts, self.positions])

    @cached_property
    def _source(self) -> str:
        return str(minilm_folder()) if self.name == "minilm" else self.name

    @cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        return load_pretrained(AutoTokenizer, self._source, self.name)

    def load(self) -> EncoderNetwork:
        model = pretrained_network(self._source, self.name)
        return TextNetwork(model.float(), self.positions == "first")

    def prepare(self, contents: Contents) -> Prepared:
        together = pa.types.is_list(contents.values.type)
        texts = contents.values.to_pylist()
        sequences = [texts]
        if together:
            rest = [self._separator.join(parts[1:]) for parts in texts]
            sequences = [[parts[0] for parts in texts], rest]
        tokens = self._tokenizer(*sequences, truncation=True, max_length=self._length)
        encodings = tokens.encodings
        offsets = np.r_[0, np.cumsum([len(of_text.ids) for of_text in encodings])]
        units = np.zeros((int(offsets[-1]), 2), np.int32)
        units[:, 0] = np.concatenate([of_text.ids for of_text in encodings])
        units[:, 1] = np.concatenate([of_text.type_ids for of_text in encodings])
        places = np.concatenate([np.asarray(of_text.offsets, np.float32) for of_text in encodings])
        places = places[:, None]
        if together:
            every = zip(texts, encodings, np.split(places[:, 0], offsets[1:-1]), strict=True)
            length = len(self._separator)
            places = np.concatenate([_in_parts(*of_text, length) for of_text in every])
        cut = np.array([bool(of_text.overflowing) for of_text in encodings], dtype=bool)
        if self.positions == "all":
            return Prepared(units, offsets, places, offsets, cut)
        each = np.arange(len(texts) + 1)
        return Prepared(units, offsets, places[offsets[:-1]], each, cut)

    @property
    def _separator(self) -> str:
        """The separator between the second text and those after it."""
        return f" {self._tokenizer.sep_token or self._tokenizer.eos_token} "

    @cached_property
    def _length(self) -> int:
        """The most tokens that are read: not more than the model has positions."""
        model: Any = self.network.model
        config = getattr(model, "config", None)
        n_positions = getattr(config, "max_position_embeddings", None) or self.max_length
        first = getattr(getattr(model, "embeddings", None), "padding_idx", None)
        unused = 0 if first is None else first + 1  # RoBERTa numbers positions after its padding
        most = self._tokenizer.model_max_length
        if not isinstance(most, int | float) or not most >= SHORTEST:
            raise ModelError(
                f"encoder {self.name!r}: its tokenizer reads at most {cut(most)!r} tokens, fewer "
                f"than {SHORTEST}; choose an undamaged copy"
            )
        return int(min(self.max_length, n_positions - unused, most))


def _in_parts(parts: list[str], encoding: Any, places: np.ndarray, separator: int) -> np.ndarray:
    """Places (n, 2) in the first text, or in all others joined, as (n, 2, 2): number of the text,
    and characters in it; separators have an empty place.

    Args:
        encoding: says which tokens are in the joined texts, the second of the tokenizer's two.
        separator: the length of the separator between joined texts.
    """
    in_second = np.array([number == 1 for number in encoding.sequence_ids])
    lengths = np.array([len(part) for part in parts[1:]])
    starts = np.cumsum(lengths + separator) - lengths - separator  # of each joined text
    by_text = np.zeros((len(places), 2, 2), np.float32)
    inside = places[:, 1] > places[:, 0]
    by_text[inside, 0, 1] = 1
    by_text[inside, 1] = places[inside]
    later = np.flatnonzero(inside & in_second)
    number = np.searchsorted(starts, places[later, 0], side="right") - 1
    by_text[later, 0] = np.stack([number + 1, number + 2], axis=1)
    by_text[later, 1] = places[later] - starts[number][:, None]
    by_text[later[places[later, 1] > (starts + lengths)[number]]] = 0
    return by_text
