"""Characters by a small table."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dissensus.contents import Contents
from dissensus_papers.encoders.characters import CharactersEncoder

FIRST = [0.0211267, -0.2023437, -0.0463399]
TEXT = "Aé! cafe\u0301 👍🏽☕"


def _texts(*texts: str) -> Contents:
    return Contents.distinct("text", list(texts))[0]


def test_a_position_per_character_and_its_place() -> None:
    store = CharactersEncoder().encode(_texts(TEXT))
    drawn = [TEXT[int(first) : int(last)] for first, last in store.places[:, 0]]
    assert drawn == list(TEXT)
    assert store.vectors.shape == (len(TEXT), 64)


def test_ascii_and_latin_have_rows_of_their_own_others_share() -> None:
    units = CharactersEncoder().prepare(_texts("aé\u0301👍ā")).units
    assert units.tolist() == [97, 233, 256 + 0x01, 256 + 0x4D, 256 + 0x01]  # code point % 256


def test_the_first_values_are_the_same_everywhere() -> None:
    table = CharactersEncoder().network.blocks[0].weight
    assert isinstance(table, torch.Tensor) and table.shape == (512, 64)
    np.testing.assert_allclose(table[0, :3], FIRST, atol=1e-6)
    assert float(table.var()) == pytest.approx(1 / 64, rel=0.02)
    assert len(torch.unique(table, dim=0)) == 512


def test_an_empty_text_has_one_position_and_an_empty_place() -> None:
    store = CharactersEncoder().encode(_texts("", "a"))
    assert store.offsets.tolist() == [0, 1, 2]
    assert store.places[0].tolist() == [[0, 0]]
    assert np.isfinite(store.pooled()).all()


def test_a_long_text_is_cut_and_counted() -> None:
    store = CharactersEncoder(max_length=4).encode(_texts("abcdefg", "ab"))
    assert store.offsets.tolist() == [0, 4, 6]
    assert store.n_cut == 1


def test_only_rows_of_characters_that_occur_learn() -> None:
    characters = CharactersEncoder()
    network = characters.trainable()
    inputs = characters.prepare(_texts("abba", "c")).inputs(np.array([0, 1]))
    mask = torch.arange(4) < inputs.lengths[:, None]
    network(inputs.units, inputs.lengths)[mask].sum().backward()
    gradient = network.blocks[0].weight.grad
    assert isinstance(gradient, torch.Tensor)
    assert gradient.any(dim=1).nonzero()[:, 0].tolist() == [ord(c) for c in "abc"]
    assert gradient[ord("b"), 0] == 2
