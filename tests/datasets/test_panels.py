"""Pictures, patterns, voices and music, rated by annotators who are known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.annotations import Annotations
from dissensus.datasets import ca_patterns216, cue_conflict16, nsc_voices, trompa_mer
from dissensus.errors import DataError
from dissensus.scales import Interval
from tests.datasets.media_folders import OBJECTS, VOICES
from tests.datasets.writing import write

SampleFolder = Callable[[str], Path]


def correlation_with_others(answers: Annotations) -> float:
    """The correlation of single answers with the mean of the others' answers to the item."""
    number, n = answers.answer.astype(float), answers.per_item()[answers.item]
    total = np.bincount(answers.item, number)[answers.item]
    several = n > 1
    others = (total - number)[several] / (n[several] - 1)
    return float(np.corrcoef(number[several], others)[0, 1])


def test_panels_of_pictures(sample_folder: SampleFolder) -> None:
    folder = sample_folder("cue_conflict16")
    corpus = cue_conflict16.load(folder)
    assert list(corpus.items) == ["cc0001", "cc0002"]
    assert list(corpus.annotators) == ["N01", "S01", "T01"]
    assert corpus.annotator_attributes["panel"].to_pylist() == ["neutral", "shape", "texture"]
    assert corpus["object"].answers() == ["bird", "bird", "bird", "clock", "bird"]
    assert [tuple(row) for row in corpus.left_out] == [("object", "no answer within 1.5 s", 1)]
    assert corpus.splits["source"].to_pylist() == ["test", "train"]
    edges = cue_conflict16.load(folder, "edges")
    assert list(edges.items) == ["ed0001"] and edges["object"].answers() == ["oven"]


def test_an_object_that_is_none_of_the_sixteen(sample_folder: SampleFolder) -> None:
    folder = sample_folder("cue_conflict16")
    write(folder, "answers.csv", OBJECTS.replace("T01,texture,clock", "T01,texture,tea"))
    with pytest.raises(DataError, match=r"answers.csv: row \d+: no value 'tea' on the nominal"):
        cue_conflict16.load(folder)


def test_two_ratings_of_patterns(sample_folder: SampleFolder) -> None:
    corpus = ca_patterns216.load(sample_folder("ca_patterns216"))
    assert corpus["complexity"].scale == Interval(0, 100)
    assert corpus["complexity"].answer.tolist() == [33, 0]
    assert corpus.joint("complexity", "beauty").item.tolist() == [0, 1]
    assert corpus["beauty"].seconds is not None
    assert corpus["beauty"].seconds.tolist() == [1.5, 2]
    assert [row.answers for row in corpus.left_out] == [1, 1]
    assert corpus.annotator_attributes["failed_checks"].to_pylist() == [0, 1]


def test_impressions_of_voices(sample_folder: SampleFolder) -> None:
    folder = sample_folder("nsc_voices")
    corpus = nsc_voices.load(folder)
    assert list(corpus.questions) == ["warm", "nicht_alt"] and list(corpus.items) == ["016", "296"]
    assert corpus["warm"].answer.tolist() == [0, 50]  # one is empty
    assert [tuple(row) for row in corpus.left_out] == [("warm", "empty", 1)]
    assert corpus.annotator_attributes["gender"].to_pylist() == ["male", "female"]
    telephone = nsc_voices.load(folder, "telephone")
    assert list(telephone.items) == ["w296_avarua_AMR.wav", "w296_avarua_G722.wav"]
    assert telephone.item_attributes["speaker"].to_pylist() == ["296", "296"]
    assert telephone["nicht_alt"].answer.tolist() == [87, 8]
    assert telephone["nicht_alt"].item.tolist() == [1, 0]
    write(folder, "SC_ratings.csv", VOICES.replace(",50,100", ",50,loud"))
    with pytest.raises(DataError, match=r"SC_ratings.csv: column 'nicht_alt': .*'loud'"):
        nsc_voices.load(folder)


def test_the_last_answer_to_music_counts(sample_folder: SampleFolder) -> None:
    corpus = trompa_mer.load(sample_folder("trompa_mer"))
    assert list(corpus.annotators) == ["9", "12"]
    pairs = zip(corpus["valence"].item, corpus["valence"].annotator_codes("test"), strict=True)
    answers = dict(zip(map(tuple, np.array(list(pairs)).tolist()), corpus["valence"].answers(),
                       strict=True))  # fmt: skip
    assert answers == {(0, 0): "1", (0, 1): "1", (1, 0): "-1"}
    assert {row.answers for row in corpus.left_out} == {1}
    assert corpus.annotator_attributes["birthplace"].to_pylist() == ["Italy", None]
    assert corpus.contents["sound"].kind == "features"


@pytest.mark.data
def test_figures_of_the_cards(data_folder: Path) -> None:
    conflict = cue_conflict16.load(data_folder / "cue_conflict16")
    assert conflict["object"].n_rows == 3 * 12_800 - 131 - 77 - 268
    edges = cue_conflict16.load(data_folder / "cue_conflict16", "edges")
    assert (edges.n_items, edges["object"].n_rows) == (160, 1_600 - 34)
    patterns = ca_patterns216.load(data_folder / "ca_patterns216")
    assert patterns["beauty"].n_rows == 4_320 and patterns["beauty"].per_item().min() == 18
    voices = nsc_voices.load(data_folder / "nsc_voices")
    assert len(voices.questions) == 34 and voices["herzlich"].n_rows == 4_519 - 162
    for question, expected in (("angenehm", 0.276), ("aktiv", 0.349), ("alt", 0.501)):
        measured = correlation_with_others(voices[question])
        assert measured == pytest.approx(expected, abs=5e-4), question
    telephone = nsc_voices.load(data_folder / "nsc_voices", "telephone")
    assert correlation_with_others(telephone["aktiv"]) == pytest.approx(0.507, abs=5e-4)
    music = trompa_mer.load(data_folder / "trompa_mer")
    for question, expected in (("valence", 0.493), ("arousal", 0.623)):
        measured = correlation_with_others(music[question])
        assert measured == pytest.approx(expected, abs=5e-4), question
