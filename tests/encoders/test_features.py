"""Arrays as they are, and pixels."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from dissensus.contents import Contents
from dissensus.encoders import FeaturesEncoder
from dissensus.errors import DataError


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


def test_pictures_of_two_sizes_are_refused() -> None:
    contents = Contents.distinct("image", [_jpeg((2, 1), (0, 0, 0)), _jpeg((1, 1), (0, 0, 0))])[0]
    message = "picture 1 is 1 x 1, the first is 1 x 2; as features they must have the same size"
    with pytest.raises(DataError, match=message):
        FeaturesEncoder().encode(contents)


def test_vectors_of_two_widths_are_refused() -> None:
    contents = Contents.distinct("features", [np.ones(2), np.ones(3)])[0]
    with pytest.raises(DataError, match="feature vectors must have the same width, found 2, 3"):
        FeaturesEncoder().encode(contents)


def test_nan_is_refused() -> None:
    contents = Contents.distinct("features", np.array([[1.0, np.nan]]))[0]
    with pytest.raises(DataError, match="features contain nan or infinite numbers"):
        FeaturesEncoder().encode(contents)
