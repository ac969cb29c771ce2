"""The spelling of words, and two encoders for one role."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from dissensus.contents import Contents
from dissensus.encoders import encoder, encodings
from dissensus.errors import ModelError
from dissensus.methods import Single, SoftLabel, load
from dissensus.training import Training
from tests.error_texts import refusal
from tests.methods.framework.test_fine_tuning import corpus_of, texts

ONCE = Training(epochs=2, batch_size=8)


def test_a_word_is_a_position_whatever_stands_around_it() -> None:
    reader = encoder("spelling:channels=4", "text")
    contents, _ = Contents.distinct("text", ["Oh no !", "no", "", "x" * 10 + "é" * 30])
    ready = reader.prepare(contents)  # type: ignore[attr-defined]
    assert ready.places[:3, 0].tolist() == [[0, 2], [3, 5], [6, 7]]
    inputs = ready.inputs(np.arange(4))
    with torch.inference_mode():
        vectors = reader.network(inputs.units, inputs.lengths)  # type: ignore[attr-defined]
    assert vectors.shape == (4, 3, 12)
    assert torch.allclose(vectors[0, 1], vectors[1, 0])
    assert not torch.allclose(vectors[0, 0], vectors[0, 1])
    assert ready.units[ready.offsets[3]].tolist() == [ord("x")] * 10 + [ord("é")] * 10


def test_it_has_nothing_to_say_before_it_learned() -> None:
    contents, _ = Contents.distinct("text", ["no"])
    assert refusal(ModelError, encoder("spelling", "text").encode, contents) == (
        "encoder 'spelling' is not pretrained, so its vectors would be random; train it with the "
        "method: set tune=all"
    )


def test_two_encoders_read_one_role() -> None:
    corpus = corpus_of(text=texts(1))
    result = encodings(corpus, "characters&spelling:channels=4")
    assert list(result) == ["text", "text&spelling:channels=4"]
    assert result["text"].contents is result["text&spelling:channels=4"].contents
    assert list(encodings(corpus, {"text": "characters&spelling"})) == ["text", "text&spelling"]


@pytest.mark.parametrize("method", [Single, SoftLabel])
def test_methods_learn_from_both_and_are_saved(
    tmp_path: Path, method: type[Single] | type[SoftLabel]
) -> None:
    corpus = corpus_of(text=texts(1))
    built = method(encoder="characters&spelling:channels=4", tune="all", training=ONCE)
    built.fit(corpus)
    assert built.sizes_.widths == {"text": 64, "text&spelling:channels=4": 12}
    assert not any("does not read" in note for note in built.notes_)
    built.save(tmp_path / "model")
    question = next(iter(corpus.questions))
    output = load(tmp_path / "model").predict(corpus)[question].distribution
    assert np.allclose(output, built.predict(corpus)[question].distribution)
    raw = load(tmp_path / "model").predict(corpus.contents["text"].values.to_pylist())
    assert len(raw[question].distribution) == len(corpus.contents["text"])


def test_a_role_may_be_named_as_it_likes() -> None:
    corpus = corpus_of(**{"R&D": texts(1)})
    assert list(encodings(corpus, "characters")) == ["R&D"]
    Single(encoder="characters", training=ONCE).fit(corpus).predict(corpus)


@pytest.mark.parametrize("name", ["&spelling", "spelling&", "characters&spelling&spelling"])
def test_names_beside_one_another_are_whole_and_differ(name: str) -> None:
    assert refusal(ModelError, encodings, corpus_of(text=texts(1)), name) == (
        f"encoder {name!r}: the names on both sides of '&' must be of encoders, each once"
    )
