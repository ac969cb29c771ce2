"""Contents by batch are what they are at once, and take no memory in between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus import Annotations, Corpus, Names, Nominal
from dissensus.contents import Contents, Kind
from dissensus.encoders import ByBatch, NeuralEncoder, Prepared, encoder, prepared
from dissensus.encoders.framework import base
from dissensus.errors import ModelError
from dissensus.methods.single import Single
from dissensus.training import Training
from tests.error_texts import error_text
from tests.media import picture, recording
from tests.tiny import tiny_vit

N = 9


def shown(kind: Kind) -> tuple[NeuralEncoder, Contents]:
    examples: dict[Kind, tuple[str, list[Any]]] = {
        "text": ("characters:max_length=8", ["so good!" * k for k in range(N)]),
        "image": ("efficientnet-lite0", [picture(k, side=16) for k in range(N)]),
        "audio": (
            "whisper-tiny:seconds=0.5",
            [recording(k, seconds=0.19 + 0.04 * k) for k in range(N)],
        ),
    }
    name, contents = examples[kind]
    reader = encoder(name, kind)
    assert isinstance(reader, NeuralEncoder)
    return reader, Contents.distinct(kind, contents)[0]


@pytest.mark.parametrize("kind", ["text", "image", "audio"])
def test_by_batch_is_as_at_once(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "PIECE", 4)
    reader, contents = shown(kind)
    once, by_batch = prepared(reader, contents), prepared(reader, contents, at_once=1)
    assert isinstance(once, Prepared) and isinstance(by_batch, ByBatch)
    np.testing.assert_array_equal(once.cut, by_batch.cut)
    assert once.cut.any() == (kind != "image")
    for codes in (np.array([0, 3, 4]), np.array([8, 1]), np.array([5])):
        mine, other = once.inputs(codes), by_batch.inputs(codes)
        for part in ("units", "lengths", "n_positions", "places"):
            np.testing.assert_array_equal(getattr(mine, part), getattr(other, part))


def test_contents_stay_prepared_up_to_a_limit() -> None:
    reader, contents = shown("image")
    taken = N * 3 * 128 * 128
    assert isinstance(prepared(reader, contents, at_once=taken), Prepared)
    assert isinstance(prepared(reader, contents, at_once=taken - 1), ByBatch)


def test_training_by_batch_gives_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = Annotations.from_arrays(
        np.arange(N), None, np.arange(N) % 2, Nominal(("no", "yes")), items=Names.range(N)
    )
    images = Contents.distinct("image", [picture(k, side=16) for k in range(N)])
    corpus = Corpus.build("c", Names.range(N), {"q": answers}, contents={"see": images})
    tiny, quick = tiny_vit(tmp_path / "vit"), Training(epochs=2, batch_size=4, device="cpu")
    once = Single(encoder=tiny, tune="all", training=quick).fit(corpus)
    monkeypatch.setattr(base, "AT_ONCE", 0)
    by_batch = Single(encoder=tiny, tune="all", training=quick).fit(corpus)
    for name, weights in once.weights().items():
        np.testing.assert_array_equal(weights, by_batch.weights()[name])
    np.testing.assert_array_equal(
        once.predict(corpus)["q"].distribution, by_batch.predict(corpus)["q"].distribution
    )


@pytest.mark.parametrize("at_once", [0, None])
def test_what_cannot_be_read_is_found_before_the_first_batch(
    at_once: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "PIECE", 2)
    reader, _ = shown("image")
    contents = Contents.distinct("image", [picture(0), picture(1), picture(2), b"no picture"])[0]
    assert error_text(prepared, reader, contents, at_once) == (
        "picture 3 cannot be read: not a picture format that Pillow supports; leave it out with "
        "--skip-bad"
    )
    with pytest.raises(ModelError, match="^all contents are blank; there is nothing to encode$"):
        prepared(reader, contents.take(np.zeros(0, np.int64)), at_once)
