"""The character CNN against loops over windows, and its networks side by side."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from dissensus import Annotations, Corpus, Names, Nominal
from dissensus.contents import Contents
from dissensus.methods import Single, SoftLabelMtl
from dissensus.training import Training
from dissensus.training.loop import Trainer
from dissensus_papers.encoders.characters import CharacterCnnEncoder, CharacterCnnNetwork
from tests.training.test_stack import assert_same, run_of

WORDS = ("running", "be", "a", "", "unbelievable")


def _texts(*texts: str) -> Contents:
    return Contents.distinct("text", list(texts))[0]


def _found(convolution: torch.nn.Conv1d, rows: Tensor) -> Tensor:
    """What a window finds where it begins, by a loop, (length, channels)."""
    size, bias = convolution.kernel_size[0], convolution.bias
    assert bias is not None
    beyond = torch.cat([rows, torch.zeros(size - 1, rows.shape[1], dtype=rows.dtype)])
    windows = [beyond[first : first + size] for first in range(len(rows))]
    return torch.stack(
        [
            (torch.einsum("oiw,wi->o", convolution.weight, window) + bias).clamp(min=0)
            for window in windows
        ]
    )


def _plain(network: CharacterCnnNetwork, characters: list[int]) -> Tensor:
    """The vector of one text by itself."""
    rows = network.table.weight[characters]  # (length, 300)
    pooled = []
    for number, convolution in enumerate(network.convolutions):
        assert isinstance(convolution, torch.nn.Conv1d)
        read = rows
        if len(network.narrow):
            first = network.narrow[number]
            assert isinstance(first, torch.nn.Conv1d)
            read = _found(first, rows)
            after = torch.cat([read[1:], torch.zeros_like(read[:1])])
            read = torch.maximum(read, after)
        pooled.append(_found(convolution, read).max(dim=0).values)
    vector: Tensor = network.block(torch.cat(pooled)[None])[0]
    return vector


@pytest.mark.parametrize("form", ["code", "text"])
def test_it_is_windows_over_characters(form: str) -> None:
    cnn = CharacterCnnEncoder(form=form)
    network = cnn.trainable().double().eval()
    assert isinstance(network, CharacterCnnNetwork)
    inputs = cnn.prepare(_texts(*WORDS)).inputs(np.arange(5))
    result = network(inputs.units, inputs.lengths)
    assert result.shape == (5, 1, 384)
    for number, word in enumerate(WORDS):
        expected = _plain(network, [ord(c) for c in word] or [0])
        torch.testing.assert_close(result[number, 0], expected, rtol=0, atol=1e-10)


def test_its_one_place_is_the_whole_text() -> None:
    prepared = CharacterCnnEncoder(max_length=4).prepare(_texts("abc", "", "abcdef"))
    assert prepared.places[:, 0].tolist() == [[0, 3], [0, 0], [0, 4]]
    assert prepared.place_offsets.tolist() == [0, 1, 2, 3]
    assert prepared.offsets.tolist() == [0, 3, 4, 8]
    assert prepared.cut.tolist() == [False, False, True]
    assert prepared.one_position and not prepared.unit_by_unit


def _pairs(n_pairs: int = 14) -> Corpus:
    """Words with a stem: is it the right one?"""
    words = [f"{'ab' * (1 + n % 3)}ing{n}" for n in range(n_pairs)]
    answers = Annotations.from_arrays(
        np.arange(n_pairs), np.zeros(n_pairs, int), np.arange(n_pairs) % 2, Nominal(("no", "yes"))
    )
    roles = {"word": words, "stem": [word[: 2 + n % 4] for n, word in enumerate(words)]}
    contents = {role: Contents.distinct("text", shown) for role, shown in roles.items()}
    return Corpus.build("stems", Names.range(n_pairs), {"q": answers}, contents=contents)


OWN = {"word": "character-cnn", "stem": "character-cnn:copy=2"}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["code", "text"])
def test_seeds_stack(form: str) -> None:
    corpus = _pairs()
    names = {role: f"{name}:form={form}" for role, name in OWN.items()}

    def make() -> list[Trainer]:
        training = Training(epochs=2, batch_size=5, device="cpu")
        return [
            run_of(
                SoftLabelMtl(
                    encoder=names, tune="all", dropout=0.1, init_seed=s, training=training
                ),
                corpus,
            )
            for s in range(2)
        ]

    assert_same(make)


@pytest.mark.slow
def test_roles_share_a_network_unless_their_copies_differ() -> None:
    training = Training(epochs=1, device="cpu")
    for names, n_networks in (("character-cnn", 1), (OWN, 2)):
        fitted = Single(encoder=names, tune="all", training=training).fit(_pairs())
        tables = [key for key in fitted.weights() if key.endswith("table.weight")]
        assert len(tables) == n_networks
        assert fitted.sizes_.widths == {"word": 384, "stem": 384}
    first, second = (fitted.weights()[f"encoders.{n}.block.layers.1.scale"] for n in (0, 1))
    assert not np.array_equal(first, second)
