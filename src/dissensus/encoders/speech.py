"""Speech encoders: Whisper-tiny and -base, from packages; wav2vec2, HuBERT, WavLM, Whisper."""

from __future__ import annotations

import json
import operator
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from dissensus.contents import Contents, Kind
from dissensus.encoders.framework import hub
from dissensus.encoders.framework.base import EncoderNetwork, NeuralEncoder
from dissensus.encoders.framework.carriers import WEIGHTS, weights_file
from dissensus.encoders.framework.inputs import Prepared
from dissensus.encoders.framework.media import Unreadable
from dissensus.encoders.framework.sound import sound
from dissensus.encoders.framework.whisper_file import whisper_encoder
from dissensus.errors import DataError, ModelError
from dissensus.progress import progress


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
        outputs = self.processor(
            samples,
            sampling_rate=self.rate,
            padding="do_not_pad",
            truncation=False,
            return_tensors="np",
        )
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
        name: "whisper-tiny" (the encoder of Whisper-tiny.en, 384 wide), "whisper-base" (many
            languages, 512 wide), or a folder or a name on the hub of a wav2vec2, HuBERT, WavLM
            or Whisper.
        seconds: how much of a clip is read; the rest is cut off. Whisper reads up to 30.
    """

    name: str = "whisper-tiny"
    seconds: float = 30.0
    kinds: ClassVar[tuple[Kind, ...]] = ("audio",)
    piece: ClassVar[int] = 512  # 500 MB of frames if clips have 30 seconds
    units_per_batch: ClassVar[int] = 4000  # hundredths of a second

    def __post_init__(self) -> None:
        if not self.seconds > 0:
            raise ModelError(f"seconds must be above 0, found {self.seconds}")

    @property
    def identity(self) -> str:
        return json.dumps(["speech", self.name, self._revision, self.seconds])

    @cached_property
    def _revision(self) -> str:
        if self.name in WEIGHTS:
            return WEIGHTS[self.name].sha256
        return hub.revision(self.name, lambda: self.network)

    def load(self) -> EncoderNetwork:
        carried = self.name in WEIGHTS
        model = whisper_encoder(weights_file(self.name)) if carried else self._of_hub()
        if hasattr(model, "embed_positions"):
            return _Whisper(model)
        if not hasattr(model, "feature_extractor"):
            raise ModelError(
                f"encoder {self.name!r} is a {type(model).__name__}, which does not read samples; "
                "choose a wav2vec2, HuBERT, WavLM or Whisper"
            )
        return _Waves(model)

    def _of_hub(self) -> Any:
        from transformers import AutoConfig

        config = hub.pretrained(AutoConfig, self.name)
        config.layerdrop = 0.0
        config.apply_spec_augment = False  # numpy would draw it, regardless of the seed
        config.add_adapter = False  # for a decoder, which is not used
        part = operator.methodcaller("get_encoder") if config.model_type == "whisper" else None
        return hub.pretrained_network(self.name, part=part, config=config)

    @cached_property
    def _extractor(self) -> _Extractor:
        from transformers import AutoFeatureExtractor, WhisperFeatureExtractor

        if self.name in WEIGHTS:
            return _LogMel(WhisperFeatureExtractor())  # type: ignore[no-untyped-call]
        processor = hub.pretrained(AutoFeatureExtractor, self.name)
        if isinstance(self.network, _Whisper):
            return _LogMel(processor)
        return _Samples(processor, self.network.model)

    def prepare(self, contents: Contents) -> Prepared:
        self._check_seconds()
        clips, n_samples, cut = [], [], []
        with progress("decoding sound", len(contents)) as advance:
            for code in range(len(contents)):
                samples, longer = self._samples(contents, code)
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

    def _check_seconds(self) -> None:
        if isinstance(self.network, _Whisper):
            most = len(self.network.positions) * self._extractor.hop / self._extractor.rate
            if self.seconds > most:
                raise ModelError(
                    f"encoder {self.name!r} reads at most {most:g} seconds, found {self.seconds:g}"
                )

    def _samples(self, contents: Contents, code: int) -> tuple[np.ndarray, bool]:
        data = contents.bytes_of(code)
        try:
            return sound(data, self.seconds, self._extractor.rate)
        except DataError as error:
            raise Unreadable(contents, code, str(error)) from None

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
