"""The preset `sequence`: frozen features, events where the corpus says."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from dissensus.corpus import Corpus
from dissensus.encoders import FeaturesEncoder
from dissensus.simulate import sequence, truth
from dissensus.simulate.sequence import ASPECTS, STEPS
from tests.simulate.looking import blind_auroc


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return sequence()


def frames(corpus: Corpus, item: int) -> np.ndarray:
    return np.array(corpus.contents["clip"][corpus.content["clip"][item]])


def fingerprint(corpus: Corpus) -> str:
    """SHA-256 over strings and integers; features are whole steps."""
    answers, spans = corpus["emotion"], corpus.rationales
    assert spans is not None
    strings = [*corpus.items, *corpus.annotators, *answers.scale.to_dict()["values"]]
    digest = hashlib.sha256("\n".join(strings).encode())
    steps = corpus.contents["clip"].values.flatten().flatten().to_numpy() * STEPS
    assert np.array_equal(steps, np.rint(steps))
    for column in (
        answers.item,
        answers.annotator_codes("test"),
        answers.answer,
        spans.start,
        spans.stop,
        steps,
    ):
        digest.update(column.astype("<i8").tobytes())
    return digest.hexdigest()


def test_the_preset_is_frozen(corpus: Corpus) -> None:
    assert fingerprint(corpus) == "708a54b17add60da11f48977ad07ebb69658caa5fc1e659e6451f44e5d4bfbf6"


def test_other_sizes_are_frozen_too() -> None:
    built = sequence(n_items=77, n_annotators=13, labels_per_item=6, n_values=11, seed=9)
    assert fingerprint(built) == "7daaf22f00f7191d7b1400074d77aa2070a6269b15d3fa1115cdbc089c9c5cc8"


def test_events_lie_where_the_corpus_says(corpus: Corpus) -> None:
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
            value = len(ASPECTS) + known.parts.value[item, part]
            assert (clip[start:stop, [channel, value]] > 0.1).all()
            middle = (start + stop - 1) // 2
            rest = np.delete(clip[middle], [channel, value])
            assert clip[middle, [channel, value]].min() > rest.max() + 0.2
            left[start:stop, [channel, value]] = 0
        assert 1 <= len(clip) - last <= 3
        assert np.abs(left).max() < 0.2  # nothing happens elsewhere


def test_clips_differ_and_can_be_encoded(corpus: Corpus) -> None:
    assert len({frames(corpus, item).tobytes() for item in range(corpus.n_items)}) == 1000
    store = FeaturesEncoder().encode(corpus.contents["clip"])
    assert store.vectors.shape[1] == 12 and len(store.offsets) == 1001
    chosen = corpus.select(items=np.array([7, 3]))
    shown = {tuple(map(tuple, frames(chosen, item))) for item in range(2)}
    assert shown == {tuple(map(tuple, frames(corpus, item))) for item in (3, 7)}


def test_what_can_be_reached(corpus: Corpus) -> None:
    answers, known = corpus["emotion"], truth(corpus)
    assert known.best(answers.item, answers.annotator) == pytest.approx((0.828, 0.520), abs=0.001)
    guess = known.distribution(answers.item, answers.annotator).argmax(axis=1)
    assert (guess == answers.answer).mean() == pytest.approx(0.828, abs=0.02)
    assert corpus.rationales is not None
    looked = known.start[answers.item] == corpus.rationales.start
    assert blind_auroc(known, answers.item, looked.argmax(axis=1)) <= 0.65


def test_any_number_of_emotions() -> None:
    built = sequence(n_items=300, n_values=40)
    assert set(np.unique(built["emotion"].answer)) == set(range(40))
    assert frames(built, 0).shape[1] == 46


def test_very_many_frames_are_held_as_large_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    small = sequence(n_items=20).contents["clip"]
    monkeypatch.setitem(sequence.__globals__, "LARGE", 10)
    large = sequence(n_items=20).contents["clip"]
    assert str(large.values.type).startswith("large_list<item: large_list<")
    assert large.values.to_pylist() == small.values.to_pylist()
