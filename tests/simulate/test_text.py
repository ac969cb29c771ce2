"""The preset `text`: frozen, known through and through, and hard for who ignores the annotator."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.simulate import text, truth
from dissensus.simulate.crowd import Draws
from dissensus.simulate.text import ASPECTS, emotion_scale, write_texts
from dissensus.simulate.truth import Truth
from dissensus.simulate.words import EVENTS, FEELINGS, FIRST_CHOSEN, events, feelings, invented
from tests.simulate.looking import blind_auroc, every_pair


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return text()


@pytest.fixture(scope="module")
def known(corpus: Corpus) -> Truth:
    return truth(corpus)


# ---- frozen ----


def fingerprint(corpus: Corpus) -> str:
    """SHA-256 over strings and integers; no float enters, so no rounding can change it."""
    answers, spans = corpus["emotion"], corpus.rationales
    assert spans is not None
    texts = [corpus.text_of(item) for item in range(corpus.n_items)]
    strings = [*texts, *corpus.items, *corpus.annotators, *answers.scale.to_dict()["values"]]
    numbers = [
        answers.item,
        answers.annotator_codes("test"),
        answers.answer,
        spans.item,
        spans.annotator,
    ]
    numbers += [spans.start, spans.stop]
    digest = hashlib.sha256("\n".join(strings).encode())
    for column in numbers:
        digest.update(column.astype("<i8").tobytes())
    return digest.hexdigest()


def test_the_preset_is_frozen(corpus: Corpus) -> None:
    assert fingerprint(corpus) == "93e9ee466bf858137853cb5f89cd666658d5515390e20938a604a92e1ff7d907"


def test_other_sizes_are_frozen_too() -> None:
    built = text(n_items=77, n_annotators=13, labels_per_item=6, n_values=11, seed=9)
    assert fingerprint(built) == "109a0769075176f9ad8ade6e3ffa3f6e979223dbfa1a9703ef05945332a450a4"


def test_the_same_seed_gives_the_same_corpus_and_another_one_another(corpus: Corpus) -> None:
    assert text().equals(corpus)
    assert not text(seed=1).equals(corpus)
    assert not np.array_equal(text(seed=1)["emotion"].answer, corpus["emotion"].answer)


def test_writing_and_reading_is_the_identity(corpus: Corpus, tmp_path: Path) -> None:
    corpus.save(tmp_path / "corpus")
    again = Corpus.load(tmp_path / "corpus")
    assert again.equals(corpus)
    pairs = every_pair(corpus)
    assert np.array_equal(truth(again).distribution(*pairs), truth(corpus).distribution(*pairs))


# ---- the annotator matters ----


@pytest.mark.parametrize("n_annotators", [4, 5, 6, 8, 10, 13, 50])
@pytest.mark.parametrize("seed", [0, 1])
def test_looking_where_the_crowd_looks_says_little_about_one(n_annotators: int, seed: int) -> None:
    built = text(n_annotators=n_annotators, labels_per_item=4, seed=seed)
    known, (item, annotator) = truth(built), every_pair(built)
    preferred = known.focus(item, annotator).argmax(axis=1)
    assert blind_auroc(known, item, preferred) <= 0.65
    assert built.rationales is not None
    sampled = known.start[built.rationales.item] == built.rationales.start
    assert blind_auroc(known, built.rationales.item, sampled.argmax(axis=1)) <= 0.65


def test_who_knows_the_annotator_predicts_far_better(corpus: Corpus, known: Truth) -> None:
    best, blind = known.best(*every_pair(corpus))
    assert best == pytest.approx(0.828, abs=0.002)
    assert blind == pytest.approx(0.514, abs=0.002)
    guess = known.blind_distribution()
    assert blind == pytest.approx(guess.max(axis=1).mean())  # over all pairs they are one


def test_the_best_prediction_reaches_the_stored_accuracy() -> None:
    built = text(n_items=20_000, seed=4)
    requested, facts = built["emotion"], built.annotator_attributes["best_accuracy"].to_numpy()
    guess = truth(built).distribution(requested.item, requested.annotator).argmax(axis=1)
    right = (
        np.bincount(requested.annotator_codes("test"), guess == requested.answer)
        / requested.per_annotator()
    )
    np.testing.assert_allclose(right, facts, atol=0.015)  # 10,000 answers each: four errors


def test_answers_follow_the_stored_distributions() -> None:
    built = text(n_items=20_000, n_annotators=5, seed=2)
    requested = built["emotion"]
    stored = requested.extra["distribution"].flatten().to_numpy().reshape(-1, 6)
    for annotator in range(5):
        rows = requested.annotator == annotator
        surplus = np.eye(6)[requested.answer[rows]] - stored[rows]
        error = np.sqrt((stored[rows] * (1 - stored[rows])).sum(axis=0))
        assert np.abs(surplus.sum(axis=0) / error).max() < 4.5


# ---- the truth travels with the corpus ----


def test_rows_hold_their_true_distribution(corpus: Corpus, known: Truth) -> None:
    answers = corpus["emotion"]
    stored = answers.extra["distribution"]
    assert str(stored.type) == "fixed_size_list<item: float>[6]"
    result = known.distribution(answers.item, answers.annotator)
    np.testing.assert_allclose(stored.flatten().to_numpy().reshape(-1, 6), result, atol=1e-6)
    np.testing.assert_allclose(result.sum(axis=1), 1)


def test_the_truth_of_a_selection_is_that_of_the_whole(corpus: Corpus, known: Truth) -> None:
    items, people = np.array([17, 3, 500]), np.array([9, 0])
    chosen = truth(corpus.select(items=items, annotators=people))
    pairs = np.array([0, 1, 2, 2]), np.array([1, 0, 1, 0])
    whole = items[pairs[0]], people[pairs[1]]
    np.testing.assert_allclose(chosen.distribution(*pairs), known.distribution(*whole))
    width = chosen.parts.aspect.shape[1]
    np.testing.assert_allclose(chosen.focus(*pairs), known.focus(*whole)[:, :width])


def test_attributes_say_who_is_who(corpus: Corpus) -> None:
    facts = corpus.annotator_attributes
    emotions = ("joy", "surprise", "fear", "anger", "sadness", "calm")
    names = [f"lean.{value}" for value in emotions] + [f"focus.{aspect}" for aspect in ASPECTS]
    assert list(facts) == ["noise", *names, "best_accuracy"]
    assert sorted(set(facts["noise"].to_pylist())) == [0.02, 0.04, 0.06, 0.08, 0.1]
    assert list(corpus.annotators[:2]) == ["annotator-01", "annotator-02"]


def test_an_annotator_without_rows_has_no_best_accuracy() -> None:
    built = text(n_items=2, n_annotators=5, labels_per_item=2)
    assert built.annotator_attributes["best_accuracy"].null_count == 1
    assert built.equals(text(n_items=2, n_annotators=5, labels_per_item=2))


def test_a_corpus_that_was_not_simulated_has_no_known_truth(corpus: Corpus) -> None:
    bare = replace(corpus, item_attributes={}, name="mine")
    with pytest.raises(DataError) as error:
        truth(bare)
    assert str(error.value) == (
        "mine: is not a simulated corpus, so the truth about 'emotion' is not known; missing "
        "'parts.aspect', 'parts.value', 'parts.start', 'parts.stop'"
    )


# ---- texts ----


def test_clauses_lie_where_the_corpus_says(corpus: Corpus) -> None:
    shown = {name: column.to_pylist() for name, column in corpus.item_attributes.items()}
    for item in range(200):
        written = corpus.text_of(item)
        clauses = list(zip(*(shown[f"parts.{key}"][item] for key in KEYS), strict=True))
        assert len(clauses) in (3, 4)
        assert clauses[0][2] == 0 and clauses[-1][3] == len(written) - 1
        assert written[0].isupper() and written[-1] == "."
        for aspect, value, start, stop in clauses:
            assert says(written[start:stop], aspect, value)
        gaps = [written[a[3] : b[2]] for a, b in zip(clauses, clauses[1:], strict=False)]
        assert set(gaps) <= {"; ", ", but ", ", and ", ", while "}


KEYS = ("aspect", "value", "start", "stop")


def says(clause: str, aspect: str, value: str) -> bool:
    """Whether a clause tells an event of the aspect and names a feeling of the value."""
    place = 3 * ASPECTS.index(aspect)
    told = [wording for event in events(value)[place : place + 3] for wording in event]
    low = clause.lower()
    happened = [event for event in told if event.lower() in low]
    rest = low.replace(max(happened, key=len).lower(), "") if happened else ""
    return any(re.search(rf"\b{word}\b", rest) for word in feelings(value))


def test_two_clauses_share_an_emotion_and_no_two_an_aspect(known: Truth) -> None:
    parts = known.parts
    n_parts = parts.there.sum(axis=1)
    for codes, fewer in ((parts.aspect, 0), (parts.value, 1)):
        distinct = [len(set(row) - {-1}) for row in codes.tolist()]
        assert np.array_equal(np.array(distinct), n_parts - fewer)
    assert 0.4 < (n_parts == 3).mean() < 0.6
    assert np.bincount(parts.aspect[parts.there]).min() > 0.1 * parts.there.sum()


def test_rationales_are_clauses_and_follow_the_focus(corpus: Corpus, known: Truth) -> None:
    spans, answers = corpus.rationales, corpus["emotion"]
    assert spans is not None and len(spans) == answers.n_rows
    assert np.array_equal(spans.item, answers.item)
    assert np.array_equal(spans.annotator, answers.annotator_codes("test"))
    for column, word in ((spans.question, "emotion"), (spans.role, "text"), (spans.kind, "focus")):
        assert column.unique().to_pylist() == [word]
    here = known.start[spans.item] == spans.start
    assert (here.sum(axis=1) == 1).all()
    assert np.array_equal(known.stop[spans.item][here], spans.stop[:, 0])
    focus = known.focus(spans.item, spans.annotator)
    likely = focus.max(axis=1).mean()
    values = (focus.argmax(axis=1) == here.argmax(axis=1)).mean()
    assert values == pytest.approx(likely, abs=0.012)


def test_very_many_items_are_written_as_large_strings(monkeypatch: pytest.MonkeyPatch) -> None:
    parts, values = truth(text(n_items=50)).parts, emotion_scale(6).values
    small = write_texts(parts, values, Draws(0))[0]
    monkeypatch.setitem(text.__globals__, "LARGE", 10)
    large = write_texts(parts, values, Draws(0))[0]
    assert str(large.type) == "large_string"
    assert large.to_pylist() == small.to_pylist()
    assert text(n_items=50).n_items == 50


@pytest.mark.parametrize("n_values", [2, 3, 8, 9, 40])
def test_any_number_of_values(n_values: int) -> None:
    built = text(n_items=300, n_values=n_values)
    scale = built["emotion"].scale
    assert len(scale.to_dict()["values"]) == n_values
    assert set(np.unique(built["emotion"].answer)) == set(range(n_values))
    best, blind = truth(built).best(*every_pair(built))
    assert best > blind + 0.15


def test_words_are_there_for_every_aspect_and_emotion() -> None:
    assert sorted(FIRST_CHOSEN) == sorted(FEELINGS)
    for by_emotion in EVENTS.values():
        assert list(by_emotion) == list(FEELINGS)
        assert all(told.count("|") == 2 for told in by_emotion.values())
    assert all(len(feelings(value)) == 8 for value in (*FEELINGS, "tabal"))
    assert len({invented(number) for number in range(20_000)}) == 20_000
    assert emotion_scale(8).values == tuple(FEELINGS)


# ---- what cannot be ----


def test_one_emotion_is_too_few() -> None:
    with pytest.raises(DataError) as error:
        text(n_values=1)
    assert str(error.value) == "simulate: n_values must be at least 2, found 1"
