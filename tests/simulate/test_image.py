"""The preset `image`: frozen pixels, objects where the corpus says, any number of shapes."""

from __future__ import annotations

import hashlib
import io

import numpy as np
import pytest
from PIL import Image

from dissensus.corpus import Corpus
from dissensus.simulate import image, truth
from dissensus.simulate.pictures import COLOURS, GREYS, SHAPES, SIDE, shape_of
from tests.simulate.looking import blind_auroc


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return image()


def pixels(corpus: Corpus, item: int) -> np.ndarray:
    """A picture as Pillow reads it, (SIDE, SIDE, 3)."""
    file = corpus.contents["image"].bytes_of(corpus.content["image"][item])
    with Image.open(io.BytesIO(file)) as picture:
        picture.load()  # checks every sum in the file
        return np.asarray(picture.convert("RGB"))


def fingerprint(corpus: Corpus) -> str:
    """SHA-256 over pixels, strings and integers."""
    answers, spans = corpus["shape"], corpus.rationales
    assert spans is not None
    strings = [*corpus.items, *corpus.annotators, *answers.scale.to_dict()["values"]]
    digest = hashlib.sha256("\n".join(strings).encode())
    for column in (
        answers.item,
        answers.annotator_codes("test"),
        answers.answer,
        spans.start,
        spans.stop,
    ):
        digest.update(column.astype("<i8").tobytes())
    for item in range(corpus.n_items):
        digest.update(pixels(corpus, item).tobytes())
    return digest.hexdigest()


def test_the_preset_is_frozen(corpus: Corpus) -> None:
    assert fingerprint(corpus) == "63e98bf4b044b823ef9edc0e7dbf8928023a64046de91e45cea66f21d7cc4680"


def test_other_sizes_are_frozen_too() -> None:
    built = image(n_items=77, n_annotators=13, labels_per_item=6, n_values=11, seed=9)
    assert fingerprint(built) == "56e52154e855fba1fdf378a45c553b8141dad4fcaf4899a7b41264d694e2200e"


def test_the_file_itself_is_frozen(corpus: Corpus) -> None:
    file = corpus.contents["image"].bytes_of(0)  # not compressed, so zlib has no say
    wanted = "ccef82b34840501f0da60a6780c0aee6fbcd41c3105f4a8140cd1697cd563716"
    assert hashlib.sha256(file).hexdigest() == wanted


def test_objects_lie_where_the_corpus_says(corpus: Corpus) -> None:
    known, values = truth(corpus), list(SHAPES)
    for item in range(100):
        shown = pixels(corpus, item)
        background = np.array(np.isin(shown, GREYS).all(axis=2))
        for part in np.flatnonzero(known.parts.there[item]):
            (top, left), (bottom, right) = known.start[item, part], known.stop[item, part]
            assert 0 <= top < bottom <= SIDE and 0 <= left < right <= SIDE
            box = shown[top:bottom, left:right]
            shape = SHAPES[values[known.parts.value[item, part]]]
            assert np.array_equal(~np.isin(box, GREYS).all(axis=2), shape)
            colour = tuple(box[shape][0].tolist())
            assert colour in COLOURS[known.aspects[known.parts.aspect[item, part]]]
            assert (box[shape] == colour).all()
            background[top:bottom, left:right] = True
        assert background.all()  # nothing lies elsewhere


def test_two_objects_share_a_shape_and_none_a_colour(corpus: Corpus) -> None:
    parts = truth(corpus).parts
    n_parts = parts.there.sum(axis=1)
    assert set(n_parts.tolist()) == {3, 4}
    for codes, fewer in ((parts.aspect, 0), (parts.value, 1)):
        distinct = [len(set(row) - {-1}) for row in codes.tolist()]
        assert np.array_equal(np.array(distinct), n_parts - fewer)


def test_what_can_be_reached(corpus: Corpus) -> None:
    answers, known = corpus["shape"], truth(corpus)
    assert known.best(answers.item, answers.annotator) == pytest.approx((0.828, 0.509), abs=0.001)
    guess = known.distribution(answers.item, answers.annotator).argmax(axis=1)
    assert (guess == answers.answer).mean() == pytest.approx(0.828, abs=0.02)
    assert corpus.rationales is not None
    looked = (known.start[answers.item] == corpus.rationales.start[:, None]).all(axis=2)
    assert blind_auroc(known, answers.item, looked.argmax(axis=1)) <= 0.65


def test_any_number_of_shapes_and_no_two_alike() -> None:
    built = image(n_items=300, n_values=40)
    assert set(np.unique(built["shape"].answer)) == set(range(40))
    drawn = [shape_of(value).tobytes() for value in range(5000)]
    assert len(set(drawn)) == 5000


def test_very_many_pictures_are_held_as_large_binary(monkeypatch: pytest.MonkeyPatch) -> None:
    small = image(n_items=20).contents["image"]
    monkeypatch.setattr("dissensus.simulate.pictures.LARGE", 10)
    large = image(n_items=20).contents["image"]
    assert str(large.values.type) == "large_binary"
    assert large.values.to_pylist() == small.values.to_pylist()
