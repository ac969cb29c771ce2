"""Sound through Whisper-tiny, and through folders with wav2vec2, HuBERT, WavLM and Whisper."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import soundfile
import torch
import transformers as untyped

from dissensus.contents import Contents
from dissensus.encoders import EncoderNetwork, Prepared, encoder
from dissensus.encoders.framework.media import sound
from dissensus.encoders.framework.pretrained import weights_file
from dissensus.encoders.speech import SpeechEncoder, read_tensors, whisper_encoder
from dissensus.errors import DataError, ModelError
from tests.error_texts import error_text, refusal

RATE = 16_000
transformers: Any = untyped


def _tone(seconds: float, rate: int = RATE, frequency: float = 440) -> np.ndarray:
    at = np.arange(round(seconds * rate)) / rate
    return np.asarray(0.5 * np.sin(2 * np.pi * frequency * at), dtype=np.float32)


def _noise(seconds: float, seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(0, 0.1, round(seconds * RATE))
    return np.asarray(drawn, dtype=np.float32)


def _file(samples: np.ndarray, rate: int = RATE, subtype: str = "PCM_16") -> bytes:
    data = io.BytesIO()
    soundfile.write(data, samples, rate, subtype=subtype, format="WAV")
    return data.getvalue()


def _clips(*samples: np.ndarray) -> Contents:
    return Contents.distinct("audio", [_file(clip, subtype="FLOAT") for clip in samples])[0]


def _run(network: EncoderNetwork, prepared: Prepared, codes: list[int]) -> list[np.ndarray]:
    """The vectors of these contents, encoded in one batch."""
    inputs = prepared.inputs(np.array(codes))
    with torch.inference_mode():
        result = network(inputs.units, inputs.lengths)
    return [row[:n].numpy() for row, n in zip(result, inputs.n_positions.tolist(), strict=True)]


@pytest.fixture(scope="module")
def whisper() -> SpeechEncoder:
    return SpeechEncoder("whisper-tiny")


# ---- Whisper-tiny ----


@pytest.mark.slow
def test_half_a_minute_is_what_transformers_makes_of_it(whisper: SpeechEncoder) -> None:
    clip = np.concatenate([_noise(15), _tone(15)])
    extractor = transformers.WhisperFeatureExtractor()
    features = extractor(clip, sampling_rate=RATE, return_tensors="pt").input_features
    with torch.inference_mode():
        model = whisper_encoder(weights_file("whisper-tiny")).eval()
        expected = model(features).last_hidden_state[0].numpy()
    prepared = whisper.prepare(_clips(clip))
    result = _run(whisper.network, prepared, [0])[0]
    assert result.shape == (1500, 384)
    np.testing.assert_allclose(result, expected, atol=1e-4)
    assert not prepared.cut.any()


def test_a_clip_beside_longer_ones_is_what_it_is_alone(whisper: SpeechEncoder) -> None:
    prepared = whisper.prepare(_clips(_tone(1.43), _noise(2), _noise(0.5, 1), _noise(0.03, 2)))
    exact = whisper.trainable().double().eval()  # what float32 rounds away is not padding's work
    together = _run(exact, prepared, [0, 1, 2, 3])
    for code, vectors in enumerate(together):
        np.testing.assert_allclose(vectors, _run(exact, prepared, [code])[0], atol=1e-9)
    rounded = _run(whisper.network, prepared, [0, 1, 2, 3])
    for vectors, of_exact in zip(rounded, together, strict=True):
        np.testing.assert_allclose(vectors, of_exact, atol=1e-3)


def test_a_longer_clip_is_cut_and_counted() -> None:
    short = SpeechEncoder(seconds=0.5)
    clip = _noise(0.8)
    store = short.encode(_clips(clip, clip[: RATE // 2], clip[:4000]))
    assert np.diff(store.offsets).tolist() == [25, 25, 13]
    assert store.cut is not None and store.cut.tolist() == [True, False, False]
    np.testing.assert_allclose(store.vectors[:25], store.vectors[25:50], rtol=1e-3, atol=1e-3)


def test_silence_and_a_clip_of_ten_samples(whisper: SpeechEncoder) -> None:
    store = whisper.encode(_clips(np.zeros(RATE, np.float32), _tone(10 / RATE)))
    assert np.diff(store.offsets).tolist() == [50, 1]
    assert np.isfinite(store.vectors).all()
    np.testing.assert_allclose(store.places[-1, 0], [0, 10 / RATE], atol=1e-7)


def test_sound_is_read_by_whisper() -> None:
    assert encoder("auto", "audio") == SpeechEncoder("whisper-tiny")


def test_the_last_blocks_learn_and_nothing_before_them(whisper: SpeechEncoder) -> None:
    network = whisper.trainable(1).train()
    inputs = whisper.prepare(_clips(_tone(0.3), _noise(0.2))).inputs(np.arange(2))
    network(inputs.units, inputs.lengths).square().mean().backward()
    learned = {name for name, weight in network.named_parameters() if weight.grad is not None}
    starts = {name.split(".")[1] + "." + name.split(".")[2] for name in learned}
    assert starts == {"layers.3", "layer_norm.weight", "layer_norm.bias"}
    assert all(
        torch.isfinite(weight.grad).all()
        for weight in network.parameters()
        if weight.grad is not None
    )
    with pytest.raises(ModelError, match="the encoder has 4 blocks to train, found 5"):
        whisper.trainable(5)


# ---- the file of Whisper-tiny ----


def test_a_file_that_is_cut_off(tmp_path: Path) -> None:
    whole = (weights_file("whisper-tiny")).read_bytes()
    broken, other = tmp_path / "model.bin", b"\x06\0\0\0\x10\0TransformerSpec\0\x07\0\0\0"
    for part in (whole[:100_000], whole[:5], b"something else, and not a model", other):
        broken.write_bytes(part)
        with pytest.raises(ModelError, match="is truncated or not|has the layout") as error:
            read_tensors(broken)
        assert str(error.value).endswith("; pip install --force-reinstall 'dissensus[speech]'")
    layouts = "(6, 'TransformerSpec', 7), expected (6, 'WhisperSpec', 3)"
    assert str(error.value).startswith(f"{broken} has the layout {layouts}; ")


# ---- decoding ----


@pytest.mark.parametrize(
    ("subtype", "rate", "channels"),
    [
        ("PCM_U8", RATE, 1),
        ("DOUBLE", RATE, 2),
        ("FLOAT", 8_000, 1),
        ("PCM_16", 44_100, 2),
        ("PCM_24", 48_000, 6),
    ],
)
def test_every_kind_of_wav_is_one_tone(subtype: str, rate: int, channels: int) -> None:
    both = np.repeat(_tone(0.5, rate)[:, None], channels, axis=1)
    result, cut = sound(_file(both, rate, subtype), seconds=30)
    expected = _tone(0.5)
    assert len(result) == len(expected) and result.dtype == np.float32 and not cut
    middle = slice(800, -800)  # a filter rings at the ends
    np.testing.assert_allclose(result[middle], expected[middle], atol=0.01)


def test_a_cut_is_not_heard() -> None:
    long = _file(_tone(2, 44_100), 44_100)
    result, cut = sound(long, seconds=1)
    assert cut and len(result) == RATE
    np.testing.assert_allclose(result, sound(long, seconds=30)[0][:RATE], atol=1e-6)


def _film(codec: str, form: str, samples: np.ndarray | None) -> bytes:
    data = io.BytesIO()
    with av.open(data, "w", format=form) as container:
        stream: Any = container.add_stream(codec, rate=44_100 if samples is not None else 25)
        frame: Any
        if samples is None:
            stream.width, stream.height, stream.pix_fmt = 32, 32, "yuv420p"
            frame = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")
        else:
            frame = av.AudioFrame.from_ndarray(samples[None], format="fltp", layout="mono")
            frame.sample_rate = 44_100
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            container.mux(packet)
    return data.getvalue()


def test_sound_in_an_mp4() -> None:
    result, _ = sound(_film("aac", "mp4", _tone(1, 44_100)), seconds=30)
    assert abs(len(result) - RATE) < 2048  # whole frames of the codec
    spectrum = np.abs(np.fft.rfft(result[4000:12000]))
    assert np.argmax(spectrum) * RATE / 8000 == pytest.approx(440, abs=4)
    cut, longer = sound(_film("aac", "mp4", _tone(1, 44_100)), seconds=0.5)
    assert longer and len(cut) == 8000


def test_a_film_without_sound() -> None:
    with pytest.raises(DataError, match="^it is a video without sound$"):
        sound(_film("mpeg4", "mp4", None), seconds=30)


BROKEN = _tone(0.2)
BROKEN[7] = np.nan


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "Format not recognised"),
        (b"RIFF, but nothing else of a wav file", "Format not recognised"),
        (_file(np.zeros(0, np.float32)), "it has no samples"),
        (_file(BROKEN, subtype="FLOAT"), "it contains nan or infinite samples"),
    ],
)
def test_what_cannot_be_read_is_named(
    whisper: SpeechEncoder, tmp_path: Path, data: bytes, reason: str
) -> None:
    good = _file(_tone(0.2))
    message = error_text(whisper.encode, Contents.distinct("audio", [good, data])[0])
    out = "leave it out with --skip-bad"
    assert message == f"recording 1 cannot be read: {reason}; {out}"
    path = tmp_path / "bad.wav"
    path.write_bytes(data)
    assert (
        error_text(whisper.encode, Contents.distinct("audio", [str(path)])[0])
        == f"{path} cannot be read: {reason}; {out}"
    )


def test_without_av_the_error_says_what_it_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    film = _film("aac", "mp4", _tone(0.2, 44_100))
    monkeypatch.setitem(sys.modules, "av", None)
    assert error_text(sound, film, seconds=30) == (
        "Format not recognised (MP4, M4A, WEBM: pip install 'dissensus[video]')"
    )


# ---- any folder that transformers can load ----

SIZES: dict[str, Any] = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
TINY: dict[str, Any] = {
    **SIZES,
    "intermediate_size": 32,
    "conv_dim": (8,) * 7,
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 2,
}
MODELS: dict[str, Any] = {
    "wav2vec2": transformers.Wav2Vec2Config(**TINY, feat_extract_norm="group"),
    "wav2vec2-stable": transformers.Wav2Vec2Config(
        **TINY, feat_extract_norm="layer", do_stable_layer_norm=True, layerdrop=0.9
    ),
    "hubert": transformers.HubertConfig(**TINY),
    "wavlm": transformers.WavLMConfig(**TINY),
}


def _saved(folder: Path, config: Any, normalise: bool = True) -> str:
    torch.manual_seed(0)
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    extractor = transformers.Wav2Vec2FeatureExtractor(do_normalize=normalise)
    extractor.save_pretrained(folder)
    return str(folder)


@pytest.fixture(params=MODELS.values(), ids=list(MODELS))
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return _saved(tmp_path / "tiny", request.param)


def test_in_a_batch_as_a_plain_run_on_one_clip(folder: str) -> None:
    speech = SpeechEncoder(folder)
    clips = _noise(0.7), _tone(0.31), _noise(0.025, 3)
    prepared = speech.prepare(_clips(*clips))
    extractor = transformers.AutoFeatureExtractor.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder)
    for clip, result in zip(clips, _run(speech.network, prepared, [0, 1, 2]), strict=True):
        given = extractor(clip, sampling_rate=RATE, return_tensors="pt").input_values
        with torch.inference_mode():
            expected = model(given).last_hidden_state[0].numpy()
        np.testing.assert_allclose(result, expected, atol=1e-5)
    assert prepared.places[:2, 0].tolist() == [
        pytest.approx([0, 0.02], abs=1e-7),
        pytest.approx([0.02, 0.04], abs=1e-7),
    ]


def test_a_folder_learns_with_every_layer(folder: str) -> None:
    speech = SpeechEncoder(folder)
    inputs = speech.prepare(_clips(_noise(0.2), _tone(0.1))).inputs(np.arange(2))
    network = speech.trainable(1).train()
    for _ in range(5):  # of layers that are dropped at .9, one would have been
        network.zero_grad()
        network(inputs.units, inputs.lengths).square().mean().backward()
        for weight in network.blocks[-1].parameters():
            assert weight.grad is not None and torch.isfinite(weight.grad).all()
    assert all(weight.grad is None for weight in network.blocks[0].parameters())
    assert len(network.blocks) == 2


def test_a_whisper_in_a_folder(tmp_path: Path) -> None:
    config = transformers.WhisperConfig(
        d_model=16, encoder_layers=2, encoder_attention_heads=2, encoder_ffn_dim=32,
        decoder_layers=1, decoder_attention_heads=2, decoder_ffn_dim=32, max_source_positions=50,
        vocab_size=20, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    torch.manual_seed(0)
    transformers.AutoModel.from_config(config).save_pretrained(tmp_path / "tiny")
    transformers.WhisperFeatureExtractor().save_pretrained(tmp_path / "tiny")
    store = SpeechEncoder(str(tmp_path / "tiny"), seconds=1).encode(_clips(_noise(0.4), _tone(2)))
    assert np.diff(store.offsets).tolist() == [20, 50]
    assert store.width == 16 and store.n_cut == 1
    with pytest.raises(ModelError, match="reads at most 1 seconds, found 30$"):
        SpeechEncoder(str(tmp_path / "tiny")).encode(_clips(_noise(0.4)))


def test_a_model_that_does_not_hear(tmp_path: Path) -> None:
    config = transformers.BertConfig(**SIZES, intermediate_size=32, vocab_size=9)
    transformers.AutoModel.from_config(config).save_pretrained(tmp_path / "deaf")
    assert refusal(
        ModelError, SpeechEncoder(str(tmp_path / "deaf")).encode, _clips(_tone(0.1))
    ) == (
        f"encoder {str(tmp_path / 'deaf')!r} is a BertModel, which does not read samples; "
        "choose a wav2vec2, HuBERT, WavLM or Whisper"
    )
