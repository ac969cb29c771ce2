"""Texts through MiniLM and through any folder that transformers can load."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from dissensus.contents import Contents
from dissensus.encoders import TextEncoder
from dissensus.encoders.framework.catalogue import encoder
from dissensus.encoders.framework.pretrained import hub_answers, minilm_folder
from dissensus.errors import InstallError

TEXTS = ["So good!", "Nothing to see here, move along.", "naïve café ☕", ""]


@pytest.fixture(scope="module")
def minilm() -> TextEncoder:
    return TextEncoder("minilm")


def test_minilm_pools_as_a_plain_transformers_run_does(minilm: TextEncoder) -> None:
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = (
        AutoTokenizer.from_pretrained(minilm_folder()),
        AutoModel.from_pretrained(minilm_folder()),
    )
    pooled = minilm.encode(Contents("text", Contents.distinct("text", TEXTS)[0].values)).pooled()
    for text, result in zip(TEXTS, pooled, strict=True):
        with torch.inference_mode():  # one text at a time: no padding, no batching
            hidden = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        np.testing.assert_allclose(result, hidden.mean(dim=0).numpy(), atol=2e-3)  # float16 store


def test_places_are_characters_of_the_text(minilm: TextEncoder) -> None:
    store = minilm.encode(Contents.distinct("text", TEXTS)[0])
    words = {
        text: [
            text[int(a) : int(b)]
            for a, b in store.places[store.offsets[i] : store.offsets[i + 1], 0]
            if b > a
        ]
        for i, text in enumerate(TEXTS)
    }
    assert words["So good!"] == ["So", "good", "!"]
    assert "".join(words["naïve café ☕"]) == "naïvecafé☕"
    assert words[""] == []


def test_a_long_text_is_cut_and_counted() -> None:
    short = TextEncoder("minilm", max_length=8)
    contents = Contents.distinct("text", ["one two three four five six seven eight nine", "one"])[0]
    assert np.diff(short.encode(contents).offsets).tolist() == [8, 3]
    assert short.encode(contents).n_cut == 1


def test_an_encoder_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    missing = TextEncoder(str(tmp_path / "nothing"))
    with pytest.raises(InstallError, match="cannot be loaded .*; choose an installed one"):
        missing.encode(Contents.distinct("text", ["so good!"])[0])


def test_a_hub_that_cannot_be_reached_is_tried_once(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("dissensus.encoders.framework.pretrained.getproxies", dict)
    hub_answers.cache_clear()
    try:
        assert not hub_answers()
        with pytest.raises(InstallError, match="a model on a hub that can be reached"):
            TextEncoder("nobody/nothing").encode(Contents.distinct("text", ["so good!"])[0])
    finally:
        hub_answers.cache_clear()
    assert capfd.readouterr().err == ""  # huggingface_hub says each time that it tries again


def test_the_first_position_alone_sums_up_a_text(minilm: TextEncoder) -> None:
    contents = Contents.distinct("text", TEXTS)[0]
    built = encoder("minilm:positions=first", "text")
    first, every = built.encode(contents), minilm.encode(contents)
    assert np.diff(first.offsets).tolist() == [1] * len(TEXTS)
    np.testing.assert_allclose(first.vectors, every.vectors[every.offsets[:-1]], atol=2e-3)
    assert first.places[:, 0].tolist() == [[0, 0]] * len(TEXTS)  # no character of the text
    assert built.identity != minilm.identity
