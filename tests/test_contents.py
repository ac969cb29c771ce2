"""Contents: each distinct text, picture, clip or feature array once."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus import Corpus, read
from dissensus.contents import KINDS, Contents
from dissensus.errors import DataError
from dissensus.report import make_report
from tests.media import picture

EXAMPLES: dict[str, list[Any]] = {  # two distinct values of every kind
    "text": ["so good!", "ça va 😀"],
    "image": [b"\x89PNG 1", b"\x89PNG 2"],
    "audio": ["a.wav", "b.wav"],
    "video": [b"frame", b"frames"],
    "features": [np.array([1.0, 2.0]), np.array([1.0, 3.0])],
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


# ---- the promise of every kind ----


def test_distinct_values_stand_once_in_order_of_appearance(kind: Any) -> None:
    a, b = EXAMPLES[kind]
    contents, codes = Contents.distinct(kind, [b, a, None, b, b, a])
    assert (len(contents), contents.kind) == (2, kind)
    assert codes.tolist() == [0, 1, -1, 0, 0, 1] and codes.dtype == np.int32
    np.testing.assert_array_equal(contents[0], b)
    np.testing.assert_array_equal(contents[1], a)


def test_taking_and_comparing(kind: Any) -> None:
    contents, _ = Contents.distinct(kind, EXAMPLES[kind])
    turned = contents.take(np.array([1, 0]))
    np.testing.assert_array_equal(turned[0], contents[1])
    assert contents.equals(turned.take(np.array([1, 0])))
    assert not contents.equals(turned)
    assert not contents.equals(contents.take(np.array([0])))
    nothing, codes = Contents.distinct(kind, [])
    assert len(nothing) == 0 and codes.tolist() == []


# ---- texts ----


@given(st.lists(st.one_of(st.none(), st.sampled_from("abc ")), max_size=20))
def test_codes_agree_with_a_dict(values: list[str | None]) -> None:
    seen: dict[str, int] = {}
    expected = [-1 if v is None else seen.setdefault(v, len(seen)) for v in values]
    contents, codes = Contents.distinct("text", values)
    assert codes.tolist() == expected
    assert [contents[i] for i in range(len(contents))] == list(seen)


def test_columns_of_tables_are_taken_as_they_come() -> None:
    column = pa.chunked_array([["a", "b"], ["a", None]])
    contents, codes = Contents.distinct("text", column)
    assert codes.tolist() == [0, 1, 0, -1] and len(contents) == 2
    files = pa.chunked_array([[b"a"], [b"b", b"a"]])
    assert Contents.distinct("image", files)[1].tolist() == [0, 1, 0]


# ---- features ----


def test_feature_matrices_agree_with_numpy() -> None:
    rows = np.random.default_rng(0).integers(0, 2, (40, 3)).astype(np.float64)
    contents, codes = Contents.distinct("features", rows)
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    assert len(contents) == len(distinct)
    pairs = set(zip(codes.tolist(), inverse.reshape(-1).tolist(), strict=True))
    assert len(pairs) == len(distinct)
    np.testing.assert_array_equal([contents[code] for code in codes], rows)
    as_list, of_list = Contents.distinct("features", list(rows))
    assert as_list.equals(contents) and of_list.tolist() == codes.tolist()


def test_sequences_of_vectors_may_differ_in_length() -> None:
    short, long = np.ones((1, 2)), np.ones((3, 2))
    contents, codes = Contents.distinct("features", [short, long, short])
    assert codes.tolist() == [0, 1, 0]
    assert [len(contents[code]) for code in (0, 1)] == [1, 3]


def test_the_same_numbers_in_another_shape_are_another_content() -> None:
    contents, codes = Contents.distinct("features", np.ones((2, 3, 2)))
    assert codes.tolist() == [0, 0] and len(contents) == 1
    assert Contents.distinct("features", [np.ones((2, 3)), np.ones((3, 2))])[1].tolist() == [0, 1]


# ---- media ----


def test_bytes_come_from_memory_or_from_a_path(tmp_path: Path) -> None:
    path = tmp_path / "clip.wav"
    path.write_bytes(b"RIFF")
    assert Contents.distinct("audio", [b"RIFF"])[0].bytes_of(0) == b"RIFF"
    assert Contents.distinct("audio", [str(path)])[0].bytes_of(0) == b"RIFF"


@pytest.mark.parametrize("path", ["{}/secret.png", "../secret.png", "link.png", "link/secret.png"])
def test_media_outside_the_folder_of_a_table_are_not_opened(tmp_path: Path, path: str) -> None:
    inside, secret = tmp_path / "data", tmp_path / "secret.png"
    inside.mkdir()
    secret.write_bytes(picture(0))
    (inside / "own.png").write_bytes(picture(1))
    (inside / "link.png").symlink_to(secret)
    (inside / "link").symlink_to(tmp_path)
    shown = {"0": "own.png", "1": path.format(tmp_path)}
    rows = [f"{item},{who},{who},{shown[item]}" for item in shown for who in "ab"]
    (inside / "labels.csv").write_text("\n".join(["item,annotator,answer,image", *rows]))
    corpus = read(inside / "labels.csv")
    corpus.save(inside / "saved")
    for each in (corpus, Corpus.load(inside / "saved")):
        opened = []
        for code in range(2):
            with suppress(DataError):
                opened.append(each.contents["image"].bytes_of(code))
        assert opened in ([], [picture(1)])  # a saved corpus is in a folder of its own
    allowed = read(inside / "labels.csv", media_root=tmp_path)
    assert allowed.contents["image"].bytes_of(1) == picture(0)
    thumbnails = [make_report(one).to_html().count("data:image/") for one in (corpus, allowed)]
    assert 2 * thumbnails[0] == thumbnails[1] > 0  # that of `own.png`
