"""Read Whisper's encoder from a CTranslate2 file, as a module of transformers.

The file contains, little-endian: version, name and revision of the layout; the number of tensors;
name, shape, type and bytes of each tensor; then alternative names of tensors. A string is its
length in 16 bits, with a closing zero byte, and its bytes.
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
TYPES = ("<f4", "<i1", "<i2", "<i4", "<f2")  # by number in the file

# the names of a layer's parts in the file, and in transformers
PARTS = {
    "self_attention/layer_norm": "self_attn_layer_norm",
    "self_attention/linear_1": "self_attn.out_proj",
    "ffn/layer_norm": "final_layer_norm",
    "ffn/linear_0": "fc1",
    "ffn/linear_1": "fc2",
}


def whisper_encoder(path: Path) -> Any:
    """The encoder of a Whisper model in a CTranslate2 file, as float32."""
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
    with torch.device("meta"):  # no random weights are drawn
        encoder = WhisperEncoder(config)
    encoder.load_state_dict(state, assign=True)
    return encoder


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """Every tensor of a CTranslate2 file by name, memory-mapped."""
    hint = "pip install --force-reinstall 'dissensus[speech]'"
    try:
        file = _File(np.memmap(path, dtype=np.uint8, mode="r"))
        layout = file.number("I"), file.string(), file.number("I")
        tensors, others = _body(file) if layout == LAYOUT else ({}, {})
    except (OSError, ValueError, IndexError):
        raise ModelError(f"{path} is truncated or not a CTranslate2 file; {hint}") from None
    if layout != LAYOUT:
        raise ModelError(f"{path} has the layout {layout}, expected {LAYOUT}; {hint}")
    return tensors | {other: tensors[name] for other, name in others.items()}


def _body(file: _File) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The tensors, and their alternative names."""
    tensors = dict(file.tensor() for _ in range(file.number("I")))
    return tensors, {file.string(): file.string() for _ in range(file.number("I"))}


class _File:
    """A position in the bytes of a file, which advances with everything that is read."""

    def __init__(self, data: np.ndarray) -> None:
        self.data, self.at = data, 0

    def bytes(self, n: int) -> np.ndarray:
        if self.at + n > len(self.data):
            raise ValueError("after the end of the file")
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
    """The tensors of the encoder, by their names in transformers."""
    state = {"embed_positions.weight": tensors["encoder/position_encodings/encodings"]}
    for conv in ("conv1", "conv2"):
        state |= _pair(tensors, f"encoder/{conv}", conv)
    state |= _pair(tensors, "encoder/layer_norm", "layer_norm")
    for number in range(_n_layers(tensors)):
        source, target = f"encoder/layer_{number}", f"layers.{number}"
        for source_part, target_part in PARTS.items():
            state |= _pair(tensors, f"{source}/{source_part}", f"{target}.{target_part}")
        stacked = _pair(tensors, f"{source}/self_attention/linear_0", "")
        for kind, values in stacked.items():  # the rows of queries, then keys, then values
            for name, third in zip("qkv", np.split(values, 3), strict=True):
                state[f"{target}.self_attn.{name}_proj{kind}"] = third
        del state[f"{target}.self_attn.k_proj.bias"]  # zeros: Whisper's keys have none
    return {name: torch.from_numpy(values.astype(np.float32)) for name, values in state.items()}


def _pair(tensors: Mapping[str, np.ndarray], source: str, target: str) -> dict[str, np.ndarray]:
    weight, bias = ("gamma", "beta") if source.endswith("norm") else ("weight", "bias")
    return {
        f"{target}.weight": tensors[f"{source}/{weight}"],
        f"{target}.bias": tensors[f"{source}/{bias}"],
    }
