"""Experts' scores of speech: sound and text, sentences and the words in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.corpus import LeftOut
from dissensus.datasets import speechocean762
from dissensus.errors import DataError
from dissensus.scales import Interval, Nominal
from tests.datasets.folders import SENTENCE_SCORES, UTTERANCES, WORD_SCORES, write
from tests.datasets.test_pos_tweets import focused

SampleFolder = Callable[[str], Path]


def test_sentences_have_sound_and_text(sample_folder: SampleFolder) -> None:
    corpus = speechocean762.load(sample_folder("speechocean762"))
    assert list(corpus.items) == ["007", "010"]
    speech = corpus.contents["speech"]
    assert speech.kind == "audio"
    assert [speech.bytes_of(code) for code in corpus.content["speech"]] == [b"OggS1", b"OggS2"]
    assert corpus.text_of(0) == "<audio> | IT'S TEA"
    attributes = {key: values.to_pylist() for key, values in corpus.item_attributes.items()}
    assert attributes == {
        "speaker": ["1", "2"],
        "age": [6, 30],
        "gender": ["m", "f"],
        "seconds": [1.5, 2.5],
    }
    assert corpus.group == "speaker" and corpus.parts() == ["train"]


def test_three_questions_are_linked_by_response(sample_folder: SampleFolder) -> None:
    corpus = speechocean762.load(sample_folder("speechocean762"))
    assert list(corpus.questions) == ["accuracy", "fluency", "prosodic"]
    assert corpus["fluency"].scale == Interval(0, 10)
    joint = corpus.joint("accuracy", "prosodic")
    assert joint.item.tolist() == [0, 0, 1]
    assert joint.answers["accuracy"].tolist() == [7, 9, 0]
    assert joint.answers["prosodic"].tolist() == [9, 9, 2]


def test_what_sentences_leaves_out_is_counted(sample_folder: SampleFolder) -> None:
    again = "redefined in the later release: --corpus sentences-all"
    words = "words are other items: --corpus words"
    corpus = speechocean762.load(sample_folder("speechocean762"))
    assert corpus.left_out == (
        LeftOut("completeness", again, 3),
        LeftOut("total", again, 3),
        LeftOut("word accuracy", words, 4),
        LeftOut("word stress", words, 4),
        LeftOut("word total", words, 4),
    )


def test_all_sentence_scores_on_request(sample_folder: SampleFolder) -> None:
    corpus = speechocean762.load(sample_folder("speechocean762"), "sentences-all")
    assert corpus["completeness"].answer.tolist() == [1, 0.5, 0]
    assert corpus["total"].answer.tolist() == [7.6, 9, 3.5]


def test_words_have_a_focus_in_their_text(sample_folder: SampleFolder) -> None:
    corpus = speechocean762.load(sample_folder("speechocean762"), "words")
    assert list(corpus.items) == ["007-0", "007-1", "010-0"]
    assert focused(corpus) == ["IT'S", "TEA", "MORE"]
    assert corpus.item_attributes["word"].to_pylist() == ["itˈs", "tea", "more"]
    assert corpus.item_attributes["sentence"].to_pylist() == ["007", "007", "010"]
    assert corpus.content["speech"].tolist() == [0, 0, 1]
    assert corpus.units().tolist() == [0, 0, 1]


def test_word_questions_keep_what_each_expert_heard(sample_folder: SampleFolder) -> None:
    corpus = speechocean762.load(sample_folder("speechocean762"), "words")
    assert list(corpus.questions) == ["word accuracy", "word stress", "word total"]
    assert corpus["word stress"].scale == Nominal(("5", "10"))
    assert corpus["word stress"].answers() == ["10", "5", "5", "10"]
    assert corpus["word total"].answer.tolist() == [10, 5, 1, 8.4]
    assert corpus["word accuracy"].item.tolist() == [0, 0, 1, 2]
    heard = corpus["word accuracy"].extra["phones"].to_pylist()
    assert heard == ["IH T S", "IH {T} S", "T IY", "M AO R"]
    assert corpus["word accuracy"].response is not None


def test_a_score_outside_the_scale_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("speechocean762")
    write(folder, "sentence_scores.csv.gz", SENTENCE_SCORES.replace("9.0,0.5,9.0", "9.0,0.5,11"))
    with pytest.raises(DataError) as caught:
        speechocean762.load(folder)
    assert str(caught.value) == (
        f"{folder / 'sentence_scores.csv.gz'}: row 2: 11 lies outside 0 to 10 (1 such answers); "
        "declare other ends or leave the row out"
    )


def test_an_empty_score_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("speechocean762")
    write(folder, "sentence_scores.csv.gz", SENTENCE_SCORES.replace("9.0,0.5,9.0", "9.0,0.5,"))
    with pytest.raises(DataError, match=r"sentence_scores.csv.gz, row 2: 'fluency' is empty$"):
        speechocean762.load(folder)


def test_a_score_that_is_no_number_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("speechocean762")
    write(folder, "sentence_scores.csv.gz", SENTENCE_SCORES.replace("9.0,0.5,9.0", "9.0,0.5,good"))
    with pytest.raises(DataError, match=r"sentence_scores.csv.gz: damaged \(.*'good'.*\)$"):
        speechocean762.load(folder)


def test_an_utterance_without_sound_is_named(sample_folder: SampleFolder) -> None:
    folder = sample_folder("speechocean762")
    write(folder, "utterances.csv", UTTERANCES + "011,train,2,30,f,TEA,c.wav\n")
    with pytest.raises(DataError, match=r"audio_opus.parquet: no sound for item '011'$"):
        speechocean762.load(folder)


def test_words_must_match_the_text(sample_folder: SampleFolder) -> None:
    folder = sample_folder("speechocean762")
    write(folder, "word_scores.csv.gz", WORD_SCORES + "010,1,tea,1,1,5,1.8,T\n")
    with pytest.raises(DataError, match=r"gz, row 5: utterance '010' has no word 1$"):
        speechocean762.load(folder, "words")
    write(folder, "word_scores.csv.gz", WORD_SCORES.replace("007,1", "007,0").replace("a,1", "a,3"))
    with pytest.raises(DataError, match=r"word_scores.csv.gz: 1 of 3 words have no scores$"):
        speechocean762.load(folder, "words")


@pytest.mark.data
def test_the_real_sentences(data_folder: Path) -> None:
    corpus = speechocean762.load(data_folder / "speechocean762")
    speech = corpus.contents["speech"]
    assert corpus.items[0] == "000010011"
    assert all(speech.bytes_of(code)[:4] == b"OggS" for code in range(len(speech)))
    assert len(np.unique(corpus.units())) == 125
    published = {
        "accuracy": [8.13, 7.85, 8.20, 6.98, 7.56],
        "fluency": [8.27, 7.98, 8.52, 6.68, 6.61],
        "prosodic": [8.14, 7.62, 7.98, 6.28, 6.56],
    }
    for question, means in published.items():
        answers = corpus[question]
        total = np.bincount(answers.annotator_codes("a mean"), answers.answer)
        np.testing.assert_allclose(total / answers.per_annotator(), means, atol=5.1e-3)


@pytest.mark.data
def test_every_real_word_is_found_in_its_text(data_folder: Path) -> None:
    corpus = speechocean762.load(data_folder / "speechocean762", "words")
    table = corpus.item_attributes["word"].to_pylist()
    letters = [re.sub(r"\W|ˈ", "", word).upper() for word in table]
    assert [re.sub(r"\W", "", word) for word in focused(corpus)] == letters
    accuracy, stress, total = (corpus[f"word {q}"] for q in ("accuracy", "stress", "total"))
    sums = 0.8 * accuracy.answer + 0.2 * np.array([5, 10])[stress.answer]
    assert (np.abs(sums - total.answer) > 0.01).sum() == 1  # all rows but one, says the card
