"""Every method goes the whole way on every scale and on everything that an encoder reads.

One small corpus has a question of each scale, an item that nobody answered and one that shows
nothing. A new method or encoder is tested by being listed in METHODS or ENCODERS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dissensus as ds
from dissensus import Corpus
from dissensus.contents import Contents, Kind
from dissensus.encoders import ENCODERS, TextEncoder
from dissensus.methods import METHODS, PRESETS, method
from dissensus.methods.framework.base import Method
from dissensus.metrics import scores
from dissensus.training import Training
from tests.crowds import FAMILIES, KINDS, SCALES, SMALL, QuickEnsemble, feature_crowd, others_slow
from tests.media import film, picture, recording
from tests.methods.test_seed_ensemble import tiny as tiny

N_ITEMS = 10
QUICK = Training(epochs=1, batch_size=4, device="cpu")
TUNED_ENCODER = "whisper-tiny"


# ---- what is shown ----


def _vectors(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=6).astype(np.float32)


def _sequence(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(2 + seed % 3, 6)).astype(np.float32)


def _text(seed: int) -> str:
    words = np.random.default_rng(seed).choice(["so", "good", "bad", "!"], size=3 + seed % 4)
    return " ".join(words)


def _clip(seed: int) -> bytes:
    return recording(seed, seconds=0.3 + 0.02 * seed)


def _film(seed: int) -> bytes:
    return film(seed, n_frames=2 + seed % 2)


@dataclass(frozen=True)
class Modality:
    kind: Kind
    made: Callable[[int], Any]  # a content from a seed
    encoder: str
    tune: str | int = "nothing"


def _modalities() -> dict[str, Modality]:
    """By name; "tiny" is a folder with a small random BERT."""
    results = {
        "features": Modality("features", _vectors, "features"),
        "sequences": Modality("features", _sequence, "features"),
        "text": Modality("text", _text, "tiny"),
        "text, tuned": Modality("text", _text, "tiny", "all"),
        "text, lora": Modality("text", _text, "tiny", "lora:2"),
    }
    media: dict[Kind, Callable[[int], Any]] = {"image": picture, "audio": _clip, "video": _film}
    for kind, built in media.items():
        for name in filter(None, ENCODERS[kind]):
            results[f"{kind} {name}"] = Modality(kind, built, name)
            if name != "features":  # which has no network
                results[f"{kind} {name}, tuned"] = Modality(kind, built, name, 1)
    return results


MODALITIES = _modalities()


def _shown(modality: Modality) -> list[Any]:
    """What each item shows; the first and the second the same, the last one nothing."""
    examples = [modality.made(seed) for seed in range(N_ITEMS - 2)]
    return [examples[0], *examples, None]


def _corpus(modality: Modality) -> Corpus:
    """Four questions, one of each scale; nobody answered item 4."""
    crowds = {kind: feature_crowd(kind, N_ITEMS, 3) for kind in SCALES}
    arguments = {kind: crowd["q"].take(crowd["q"].item != 4) for kind, crowd in crowds.items()}
    shown = Contents.distinct(modality.kind, _shown(modality))
    items = crowds["nominal"].items
    return Corpus.build("small", items, arguments, contents={"shown": shown})


def _method(name: str, modality: Modality, tiny: str) -> Method:
    built = QuickEnsemble() if name == QuickEnsemble.name else method(name)()
    if "encoder" not in built.get_params():
        return built
    reader = tiny if modality.encoder == "tiny" else modality.encoder
    if "tune" not in built.get_params():
        return built.set_params(encoder=reader)
    small = SMALL.get(name, {})
    return built.set_params(encoder=reader, tune=modality.tune, training=QUICK, **small)


def _cases() -> list[Any]:
    """The floors look at nothing: features will do. Texts are tried with one method of each family,
    media with one method and tuned with one encoder, and with all the others in the slow tests."""
    return [
        pytest.param(name, shown, marks=_marks(name, modality))
        for name in METHODS
        if name not in PRESETS
        for shown, modality in MODALITIES.items()
        if shown == "features"
        or ("encoder" if modality.tune == "nothing" else "tune") in method(name)().get_params()
    ]


def _marks(name: str, modality: Modality) -> Any:
    if modality.made is _vectors:
        return () if name in KINDS else pytest.mark.slow
    tunes_media = modality.kind != "text" and modality.tune != "nothing"
    if tunes_media and modality.encoder != TUNED_ENCODER:
        return pytest.mark.slow
    quick = FAMILIES if modality.kind in ("features", "text") else FAMILIES[:1]
    return () if name in quick else pytest.mark.slow


def _questions(name: str) -> list[str]:
    """The questions whose scales the method learns."""
    return [kind for kind in SCALES if kind in method(name).scales]


# ---- the whole way ----


@pytest.mark.parametrize(("name", "shown"), _cases())
def test_fit_predict_evaluate_save_and_load(
    name: str, shown: str, tiny: str, tmp_path: Path
) -> None:
    modality = MODALITIES[shown]
    corpus = _corpus(modality)
    requested = _questions(name)
    fitted = _method(name, modality, tiny).fit(corpus, requested)
    output = fitted.predict(corpus)
    assert list(output) == requested
    for question, prediction in output.items():
        assert prediction.distribution.shape == (N_ITEMS, SCALES[question].n_columns)
        assert np.isfinite(prediction.distribution).all()
        result = scores(prediction, corpus[question])
        leading = "Wasserstein" if question == "interval" else "cross-entropy"
        assert np.isfinite(result[leading])

    fitted.save(tmp_path / "model")
    output.save(tmp_path / "said")
    loaded = ds.load(tmp_path / "model")
    assert loaded.get_params() == fitted.get_params()
    _assert_same(output, loaded.predict(corpus))
    _assert_same(output, ds.Predictions.load(tmp_path / "said"))

    together = loaded.predict(corpus, consensus="all")
    raw = loaded.predict({"shown": _shown(modality)})  # contents that belong to no corpus
    for question in requested:
        np.testing.assert_allclose(
            raw[question].distribution, together[question].distribution, atol=1e-5
        )


def _assert_same(mine: ds.Predictions, others: ds.Predictions) -> None:
    assert list(mine) == list(others)
    for question in mine:
        np.testing.assert_array_equal(mine[question].distribution, others[question].distribution)
        np.testing.assert_array_equal(mine[question].consensus, others[question].consensus)


def test_what_an_encoder_reads_is_tried(tiny: str) -> None:
    """No kind of content that has an encoder is left out above."""
    tried = {modality.kind for modality in MODALITIES.values()}
    assert tried == {kind for kind, encoders in ENCODERS.items() if encoders}


TUNED = [name for name in METHODS if {"encoder", "tune"} <= set(method(name)().get_params())]


@pytest.mark.parametrize("name", others_slow(TUNED))
def test_tuning_moves_the_encoder(name: str, tiny: str) -> None:
    corpus = _corpus(MODALITIES["text"])
    frozen, tuned = (
        _method(name, MODALITIES[shown], tiny).fit(corpus, _questions(name)).weights()
        for shown in ("text", "text, tuned")
    )
    assert not any(key.startswith("encoders.") for key in frozen)
    before = TextEncoder(tiny).network.state_dict()
    changed = [
        not np.array_equal(moved := tuned[f"encoders.0.{key}"], np.broadcast_to(value, moved.shape))
        for key, value in before.items()  # an ensemble has several of each
    ]
    assert np.mean(changed) > 0.5  # not the pooler, nor words that do not occur


def test_lora_moves_what_it_adds_and_nothing_else(tiny: str) -> None:
    corpus = _corpus(MODALITIES["text"])
    fitted = _method("single", MODALITIES["text, lora"], tiny).fit(corpus, "nominal")
    tuned, before = fitted.weights(), TextEncoder(tiny).network.state_dict()
    added = [key for key in tuned if key.endswith((".up", ".down"))]
    assert added and all(tuned[key].any() and 2 in tuned[key].shape for key in added)
    for key, value in before.items():
        name, last = f"encoders.0.{key}".rsplit(".", 1)
        original = f"{name}.parametrizations.{last}.original"
        kept = tuned[original if original in tuned else f"{name}.{last}"]
        np.testing.assert_array_equal(kept, value)
