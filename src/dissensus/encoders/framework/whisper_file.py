"""Whisper's encoder out of a CTranslate2 file, as a module of transformers.

The file holds, little-endian: version, name and revision of the layout, the number of tensors;
for each its name, shape, type and bytes; then names that are other names of a tensor. A string is
its length with a closing zero byte in 16 bits, and its bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dissensus.errors import ModelError

LAYOUT = (6, "WhisperSpec", 3)  # version of the format, the model's layout and its revision
TYPES = ("<f4", "<i1", "<i2", "<i4", "<f2")  # by their number in the file

# what a layer's parts are called here, and in transformers
PARTS = {
    "self_attention/layer_norm": "self_attn_layer_norm",
    "self_attention/linear_1": "self_attn.out_proj",
    "ffn/layer_norm": "final_layer_norm",
    "ffn/linear_0": "fc1",
    "ffn/linear_1": "fc2",
}


def whisper_encoder(path: Path) -> Any:
    """The encoder that a CTranslate2 file of a Whisper model holds, as float32."""
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    tensors = read_tensors(path)
    state = _state(tensors)
    width, n_mel_bins = state["conv1.weight"].shape[:2]
    config = WhisperConfig(
        d_model=width,
        num_mel_bins=n_mel_bins,
        encoder_layers=_n_layers(tensors),
        encoder_attention_heads=int(tensors["encoder/num_heads"]),
        encoder_ffn_dim=len(state["layers.0.fc1.weight"]),
        max_source_positions=len(state["embed_positions.weight"]),
    )
    with torch.device("meta"):  # no random weights: the generator stays as it is
        encoder = WhisperEncoder(config)
    encoder.load_state_dict(state, assign=True)
    return encoder


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """Every tensor of a CTranslate2 file by its name, read from the disk when it is used."""
    way_out = "pip install --force-reinstall 'dissensus[speech]'"
    try:
        file = _File(np.memmap(path, dtype=np.uint8, mode="r"))
        found = file.number("I"), file.string(), file.number("I")
        tensors, others = _body(file) if found == LAYOUT else ({}, {})
    except (OSError, ValueError, IndexError):
        raise ModelError(f"{path} is truncated or not a CTranslate2 file; {way_out}") from None
    if found != LAYOUT:
        raise ModelError(f"{path} is laid out as {found}, expected {LAYOUT}; {way_out}")
    return tensors | {other: tensors[name] for other, name in others.items()}


def _body(file: _File) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The tensors, and other names of theirs."""
    tensors = dict(file.tensor() for _ in range(file.number("I")))
    return tensors, {file.string(): file.string() for _ in range(file.number("I"))}


class _File:
    """A place in the bytes of a file, which moves on with everything that is read."""

    def __init__(self, data: np.ndarray) -> None:
        self.data, self.at = data, 0

    def bytes(self, n: int) -> np.ndarray:
        if self.at + n > len(self.data):
            raise ValueError("behind the end")
        self.at += n
        return self.data[self.at - n : self.at]

    def number(self, code: str) -> int:
        return int(struct.unpack(f"<{code}", self.bytes(struct.calcsize(code)).tobytes())[0])

    def string(self) -> str:
        return self.bytes(self.number("H")).tobytes().rstrip(b"\0").decode()

    def tensor(self) -> tuple[str, np.ndarray]:
        name = self.string()
        shape = [self.number("I") for _ in range(self.number("B"))]
        dtype = np.dtype(TYPES[self.number("B")])
        return name, self.bytes(self.number("I")).view(dtype).reshape(shape)


def _n_layers(tensors: Mapping[str, np.ndarray]) -> int:
    names = [name for name in tensors if name.startswith("encoder/layer_")]
    return sum(name.endswith("/ffn/linear_0/bias") for name in names)


def _state(tensors: Mapping[str, np.ndarray]) -> dict[str, torch.Tensor]:
    """The encoder's tensors under the names that transformers gives them."""
    state = {"embed_positions.weight": tensors["encoder/position_encodings/encodings"]}
    for conv in ("conv1", "conv2"):
        state |= _pair(tensors, f"encoder/{conv}", conv)
    state |= _pair(tensors, "encoder/layer_norm", "layer_norm")
    for number in range(_n_layers(tensors)):
        mine, theirs = f"encoder/layer_{number}", f"layers.{number}"
        for part, of_theirs in PARTS.items():
            state |= _pair(tensors, f"{mine}/{part}", f"{theirs}.{of_theirs}")
        together = _pair(tensors, f"{mine}/self_attention/linear_0", "")
        for kind, values in together.items():  # queries, keys and values below one another
            for name, third in zip("qkv", np.split(values, 3), strict=True):
                state[f"{theirs}.self_attn.{name}_proj{kind}"] = third
        del state[f"{theirs}.self_attn.k_proj.bias"]  # zeros: Whisper's keys have none
    return {name: torch.from_numpy(held.astype(np.float32)) for name, held in state.items()}


def _pair(tensors: Mapping[str, np.ndarray], mine: str, theirs: str) -> dict[str, np.ndarray]:
    weight, bias = ("gamma", "beta") if mine.endswith("norm") else ("weight", "bias")
    return {
        f"{theirs}.weight": tensors[f"{mine}/{weight}"],
        f"{theirs}.bias": tensors[f"{mine}/{bias}"],
    }
