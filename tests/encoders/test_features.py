"""Arrays as they are, and pixels."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from dissensus.contents import Contents
from dissensus.encoders import FeaturesEncoder


def _jpeg(size: tuple[int, int], colour: tuple[int, int, int], mode: str = "RGB") -> bytes:
    data = io.BytesIO()
    Image.new("RGB", size, colour).convert(mode).save(data, format="PNG")
    return data.getvalue()


def test_vectors_are_kept_as_they_are() -> None:
    vectors = np.arange(12, dtype=np.float32).reshape(4, 3)
    store = FeaturesEncoder().encode(Contents.distinct("features", vectors)[0])
    np.testing.assert_array_equal(store.pooled(), vectors)


def test_sequences_of_vectors_have_frames_as_places() -> None:
    sequences = [np.ones((2, 3)), np.zeros((1, 3))]
    store = FeaturesEncoder().encode(Contents.distinct("features", sequences)[0])
    assert store.offsets.tolist() == [0, 2, 3]
    assert store.places[:, 0].tolist() == [[0, 1], [1, 2], [0, 1]]
    np.testing.assert_array_equal(store.pooled(), [[1, 1, 1], [0, 0, 0]])


def test_pictures_become_pixels_from_0_to_1() -> None:
    contents = Contents.distinct("image", [_jpeg((2, 1), (255, 0, 51)), _jpeg((2, 1), (0, 0, 0))])
    store = FeaturesEncoder().encode(contents[0])
    np.testing.assert_allclose(store.vectors[0], [1, 0, 0.2, 1, 0, 0.2], atol=1e-6)
