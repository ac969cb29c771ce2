"""Texts, pictures and clips: parts lie where the corpus says, and nothing lies elsewhere."""

from __future__ import annotations

import io
import re

import numpy as np
from PIL import Image

from dissensus.corpus import Corpus
from dissensus.simulate import image, sequence, text, truth
from dissensus.simulate.image import COLOURS, GREYS, SHAPES, SIDE
from dissensus.simulate.sequence import ASPECTS as CHANNELS
from dissensus.simulate.text import ASPECTS, FEELINGS, events

KEYS = ("aspect", "value", "start", "stop")


def test_clauses_lie_where_the_corpus_says() -> None:
    corpus = text(n_items=200)
    shown = {name: column.to_pylist() for name, column in corpus.item_attributes.items()}
    for item in range(200):
        written = corpus.text_of(item)
        clauses = list(zip(*(shown[f"parts.{key}"][item] for key in KEYS), strict=True))
        assert len(clauses) in (3, 4)
        assert clauses[0][2] == 0 and clauses[-1][3] == len(written) - 1
        assert written[0].isupper() and written[-1] == "."
        for aspect, value, start, stop in clauses:
            assert states(written[start:stop], aspect, value)
        gaps = [written[a[3] : b[2]] for a, b in zip(clauses, clauses[1:], strict=False)]
        assert set(gaps) <= {"; ", ", but ", ", and ", ", while "}


def states(clause: str, aspect: str, value: str) -> bool:
    """Whether a clause tells an event of the aspect and names a feeling of the value."""
    place = 3 * ASPECTS.index(aspect)
    wordings = [wording for event in events(value)[place : place + 3] for wording in event]
    low = clause.lower()
    happened = [event for event in wordings if event.lower() in low]
    rest = low.replace(max(happened, key=len).lower(), "") if happened else ""
    return any(re.search(rf"\b{word}\b", rest) for word in FEELINGS[value])


def test_objects_lie_where_the_corpus_says() -> None:
    corpus, values = image(n_items=100), list(SHAPES)
    known = truth(corpus)
    for item in range(100):
        file = corpus.contents["image"].bytes_of(corpus.content["image"][item])
        with Image.open(io.BytesIO(file)) as picture:
            picture.load()  # checks every sum in the file
            shown = np.asarray(picture.convert("RGB"))
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


def test_events_lie_where_the_corpus_says() -> None:
    corpus = sequence(n_items=200)
    known = truth(corpus)
    for item in range(200):
        clip = frames(corpus, item)
        left = clip.copy()
        assert 16 <= len(clip) <= 43 and clip.shape[1] == 12
        last = 0
        for part in np.flatnonzero(known.parts.there[item]):
            start, stop = known.start[item, part], known.stop[item, part]
            assert 1 <= start - last <= 3 and 4 <= stop - start <= 7
            last = stop
            channel = known.parts.aspect[item, part]
            value = len(CHANNELS) + known.parts.value[item, part]
            assert (clip[start:stop, [channel, value]] > 0.1).all()
            middle = (start + stop - 1) // 2
            rest = np.delete(clip[middle], [channel, value])
            assert clip[middle, [channel, value]].min() > rest.max() + 0.2
            left[start:stop, [channel, value]] = 0
        assert 1 <= len(clip) - last <= 3
        assert np.abs(left).max() < 0.2  # nothing happens elsewhere


def frames(corpus: Corpus, item: int) -> np.ndarray:
    return np.array(corpus.contents["clip"][corpus.content["clip"][item]])
