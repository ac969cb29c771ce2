"""Words by their vectors, from a made-up file of a handful."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch

from dissensus.contents import Contents
from dissensus.encoders import NeuralEncoder, encoder
from dissensus.encoders.words import WordsEncoder, read_vectors
from dissensus.errors import DataError

WORDS = ["so", "good", "!", "café", "n't", "do", "U.S.", "10,000", ". . .", "👍", "हिन्दी"]
WIDTH = 3
VECTORS = np.arange(len(WORDS) * WIDTH, dtype=np.float32).reshape(-1, WIDTH) / 8 - 1
LINES = [f"{word} {' '.join(map(str, row))}" for word, row in zip(WORDS, VECTORS, strict=True)]


def written(folder: Path, lines: list[str], name: str = "made.txt") -> Path:
    text = "".join(f"{line}\n" for line in lines)
    if name.endswith(".gz"):
        (folder / name).write_bytes(gzip.compress(text.encode()))
    else:
        (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.fixture
def words(tmp_path: Path) -> WordsEncoder:
    return WordsEncoder(str(written(tmp_path, LINES)))


def _texts(*texts: str) -> Contents:
    return Contents.distinct("text", list(texts))[0]


def _pieces(words: WordsEncoder, text: str) -> list[str]:
    """What the places of a text point at."""
    places = words.prepare(_texts(text)).places[:, 0].astype(int)
    return [text[first:last] for first, last in places]


# ---- texts ----


def test_a_text_is_the_vectors_of_its_words(words: WordsEncoder) -> None:
    store = words.encode(_texts("so good!", "good café"))
    np.testing.assert_array_equal(store.vectors, VECTORS[[0, 1, 2, 1, 3]])
    assert store.offsets.tolist() == [0, 3, 5]
    np.testing.assert_allclose(store.pooled()[0], VECTORS[:3].mean(axis=0), atol=1e-6)
    assert store.n_cut == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  So   GOOD!\n", ["So", "GOOD", "!"]),
        ("don't do", ["do", "n't", "do"]),
        ("DON’T", ["DO", "N’T"]),
        ("it's", ["it", "'s"]),
        ("In the U.S. 10,000 ($)", ["In", "the", "U.S.", "10,000", "(", "$", ")"]),
        ("@ann_b #so_good...", ["@", "ann_b", "#", "so_good", ".", ".", "."]),
        ("naïve cafe\u0301 हिन्दी", ["naïve", "cafe\u0301", "हिन्दी"]),
        ("👍👍🏽 👩‍🚀☕️!", ["👍", "👍🏽", "👩‍🚀", "☕️", "!"]),
        ("\u0301so", ["\u0301", "so"]),
    ],
)
def test_places_are_characters_of_the_text(
    words: WordsEncoder, text: str, expected: list[str]
) -> None:
    assert _pieces(words, text) == expected


def test_a_word_is_looked_up_as_it_is_then_in_lower_case(tmp_path: Path) -> None:
    built = WordsEncoder(str(written(tmp_path, ["Polish 1 2", "polish 3 4", "café 5 6"])))
    store = built.encode(_texts("Polish POLISH Cafe\u0301"))
    assert store.vectors.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_unknown_words_are_zero_and_counted(words: WordsEncoder) -> None:
    contents = _texts("so bad bad", "bad, good")
    store = words.encode(contents)
    assert store.vectors.any(axis=1).tolist() == [True, False, False, False, False, True]
    assert words.unknown(contents) == {"bad": 3, ",": 1}


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_text_without_words_has_one_position_and_an_empty_place(
    words: WordsEncoder, text: str
) -> None:
    store = words.encode(_texts("so", text))
    assert store.offsets.tolist() == [0, 1, 2]
    assert store.places[1].tolist() == [[0, 0]]
    assert store.pooled()[1].tolist() == [0, 0, 0]


def test_a_long_text_is_cut_and_counted(words: WordsEncoder) -> None:
    short = WordsEncoder(words.name, max_length=2)
    store = short.encode(_texts("so good!", "so good"))
    assert store.offsets.tolist() == [0, 2, 4]
    assert store.cut is not None and store.cut.tolist() == [True, False]
    assert short.identity != words.identity


def test_texts_read_together_know_their_number(words: WordsEncoder) -> None:
    import pyarrow as pa

    pairs = pa.array([["so good", "do!"], ["", ""], ["", "so"]], pa.list_(pa.string()))
    prepared = words.prepare(Contents("text", pairs))
    assert prepared.offsets.tolist() == [0, 4, 5, 6]
    assert prepared.places[:, 0].tolist() == [[0, 1], [0, 1], [1, 2], [1, 2], [0, 0], [1, 2]]
    assert prepared.places[:, 1].tolist() == [[0, 2], [3, 7], [0, 2], [2, 3], [0, 0], [0, 2]]
    assert words.unknown(Contents("text", pairs)) == {}


# ---- training ----


def test_the_unknown_word_learns_as_a_word_of_its_own(words: WordsEncoder) -> None:
    network = words.trainable(1)
    inputs = words.prepare(_texts("bad so worse")).inputs(np.array([0]))
    network(inputs.units, inputs.lengths).sum().backward()
    gradient = network.blocks[0].weight.grad
    assert isinstance(gradient, torch.Tensor)
    assert gradient[:, 0].tolist() == [1, *[0] * (len(WORDS) - 1), 2]


# ---- the file ----


def test_a_word2vec_header_spaces_at_the_end_and_gzip_change_nothing(tmp_path: Path) -> None:
    expected = read_vectors(written(tmp_path, LINES))
    header = [f"{len(WORDS)} {WIDTH}", *(f"{line} " for line in LINES)]
    for lines, name in ((header, "made.vec"), (LINES, "made.txt.gz"), (header, "made.gz")):
        result = read_vectors(written(tmp_path, lines, name))
        assert result[0] == expected[0] == WORDS
        np.testing.assert_array_equal(result[1], expected[1])
    np.testing.assert_array_equal(expected[1], [*VECTORS, [0, 0, 0]])


def test_more_lines_than_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dissensus.encoders.words.LINES", 2)
    result = read_vectors(written(tmp_path, LINES))
    np.testing.assert_array_equal(result[1][:-1], VECTORS)
    with pytest.raises(DataError, match=r"made\.txt, line 12: 'x' is not a number$"):
        read_vectors(written(tmp_path, [*LINES, "bad 1 x 2"]))


# ---- by name ----


@pytest.mark.parametrize("entry", ["words:", "tagger:"])
def test_the_option_that_allows_a_file_to_unpack_to_more_works(
    entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "vectors.gz"
    path.write_bytes(gzip.compress(b"so 1 2\n" * 10**5))
    monkeypatch.setattr("dissensus.files.plain.MOST_UNPACKED", 10**5)
    monkeypatch.setattr("dissensus.files.plain.MOST_RATIO", 2)
    pairs = Contents("text", pa.array([["so", "so"]], pa.list_(pa.string())))

    def read(name: str) -> None:
        reads = encoder(name, "text")
        if isinstance(reads, NeuralEncoder):
            _ = reads.network
        else:
            reads.encode(pairs)

    with pytest.raises(DataError) as refused:
        read(f"{entry}{path}")
    times = 10**5 // path.stat().st_size
    message, _, option = str(refused.value).partition("allow more: ")
    assert message == (
        f"{path}: unpacks to more than 0 MB, {times} times its size; if that is right, "
    )
    assert option == f"{path}:max_unpacked=8GB"
    read(f"{entry}{option}")
