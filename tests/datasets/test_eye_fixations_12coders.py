"""Sequences: a sample in its trial, twelve coders, and those who were absent."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.corpus import LeftOut
from dissensus.datasets import eye_fixations_12coders
from dissensus.encoders.features import FeaturesEncoder
from dissensus.errors import DataError
from dissensus.scales import Nominal
from tests.datasets.folders import CODERS, FIXATIONS, SAMPLES, write

SampleFolder = Callable[[str], Path]
NAME = "samples_with_12_labels.csv.gz"


def refusal(folder: Path, content: str, name: str = NAME) -> str:
    """The message for a folder with this file in it, without the folder's path."""
    write(folder, name, content)
    with pytest.raises(DataError) as caught:
        eye_fixations_12coders.load(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{folder}/", "")


def test_samples_are_items_with_a_focus_in_their_trial(sample_folder: SampleFolder) -> None:
    corpus = eye_fixations_12coders.load(sample_folder("eye_fixations_12coders"))
    assert list(corpus.items) == [
        "adult_2-0",
        "adult_2-1",
        "infant_1-0",
        "infant_1-1",
        "infant_1-2",
    ]
    assert corpus.focus is not None and corpus.focus.role == "gaze"
    assert corpus.focus.start.tolist() == [[0], [1], [0], [1], [2]]
    assert corpus.focus.stop.tolist() == [[1], [2], [1], [2], [3]]
    assert corpus.content["gaze"].tolist() == [0, 0, 1, 1, 1]
    assert corpus.item_attributes["time"].to_pylist() == [0.0, 3.333, 0.0, 3.333, 6.667]
    assert corpus.item_attributes["subject"].to_pylist() == ["adult"] * 2 + ["infant"] * 3
    assert corpus.group == "trial" and corpus.units().tolist() == [0, 0, 1, 1, 1]


def test_a_trial_is_a_sequence_of_vectors_without_gaps(sample_folder: SampleFolder) -> None:
    corpus = eye_fixations_12coders.load(sample_folder("eye_fixations_12coders"))
    gaze = corpus.contents["gaze"]
    assert gaze.kind == "features" and len(gaze) == 2
    assert np.allclose(gaze[0], [[966.1, 543.6, 595, 1, 1], [967.3, 546.8, 0, 1, 0]])
    assert gaze[1][0] == [0, 0, 0, 0, 0]
    store = FeaturesEncoder().encode(gaze)  # which takes no nan
    assert store.vectors.shape == (5, 5)
    assert store.places[:, 0].tolist() == [[0, 1], [1, 2], [0, 1], [1, 2], [2, 3]]


def test_a_coder_who_marked_nothing_is_missing_and_not_zero(sample_folder: SampleFolder) -> None:
    corpus = eye_fixations_12coders.load(sample_folder("eye_fixations_12coders"))
    answers = corpus["fixation"]
    assert list(corpus.annotators) == list(CODERS) and answers.scale == Nominal(("0", "1"))
    assert answers.per_item().tolist() == [12, 12, 11, 11, 11]
    assert answers.per_annotator().tolist() == [5] * 11 + [2]
    assert answers.counts().tolist() == [[2, 10], [1, 11], [0, 11], [1, 10], [11, 0]]
    assert answers.select_items(np.array([0]), corpus.items.take(np.array([0]))).answers() == (
        "1 1 1 1 1 0 1 0 1 1 1 1".split()
    )
    assert corpus.notes == (
        "1 pairs of coder and trial are without any fixation and taken as missing, not as 0 "
        "(3 cells): 'TC in infant_1'",
        "gaze: a sample is x, y (pixels), v (speed), 1 if the place is known else 0, 1 if the "
        "speed is known else 0; what is not known is 0",
    )


def test_the_events_are_left_out_and_counted_by_trial_and_coder(
    sample_folder: SampleFolder,
) -> None:
    folder = sample_folder("eye_fixations_12coders")
    again = "infant_1,DN,5.0,6.667,2\n"  # another event of a pair that has one
    write(folder, "fixation_events.csv", FIXATIONS + again)
    assert eye_fixations_12coders.load(folder).left_out == (
        LeftOut(
            "fixation events, per trial",
            "a list of time intervals for each trial, which the samples follow",
            23,
        ),
    )


def test_wrong_samples_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("eye_fixations_12coders")
    assert refusal(folder, SAMPLES.replace("fix_DN", "fix_dn").replace("subject", "who")) == (
        f"{NAME}: no column ['subject', 'fix_DN']; the file has ['trial', 'time', 'x', 'y', 'v', "
        "'fix_dn', 'fix_IH', 'fix_JB', 'fix_JF', 'fix_JV', 'fix_KH', 'fix_MN', 'fix_MS', 'fix_PZ', "
        "'fix_RA', 'fix_RH', 'fix_TC', 'who']"
    )
    assert refusal(folder, SAMPLES.replace("595.0,1,1", "595.0,2,1")) == (
        f"{NAME}: row 1: fix_DN must be 0 or 1, found 2"
    )
    assert refusal(folder, SAMPLES.replace("966.1", "left")) == (
        f"{NAME}: 'x' must contain numbers (Failed to parse string: 'left' as a scalar of type "
        "double)"
    )
    assert refusal(folder, SAMPLES.replace("infant_1,3.333", "infant_1,0.0")) == (
        f"{NAME}: the samples of a trial must follow one another in time"
    )
    assert refusal(folder, SAMPLES.replace("infant_1,6.667", "adult_2,6.667")) == (
        f"{NAME}: the samples of a trial must follow one another in time"
    )


def test_events_that_contradict_the_samples_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("eye_fixations_12coders")
    events = "fixation_events.csv"
    assert refusal(folder, FIXATIONS.replace("adult_2,TC,0.0,3.333,3\n", ""), events) == (
        f"{NAME}: row 1: fix_TC is 1, but {events} has no fixation of TC in this trial"
    )
    assert refusal(folder, FIXATIONS + "infant_9,DN,0,1,1\n", events) == (
        f"{events}: no trial 'infant_9'; there are 2: 'adult_2', 'infant_1'"
    )
    assert refusal(folder, FIXATIONS + "infant_1,XX,0,1,1\n", events) == (
        f"{events}: no coder 'XX'; there are 12: 'DN', 'IH', 'JB', 'JF', 'JV', 'KH', 'MN', 'MS', "
        "..."
    )


def test_a_truncated_gzip_file_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("eye_fixations_12coders")
    (folder / NAME).write_bytes(gzip.compress(SAMPLES.encode())[:-60])
    with pytest.raises(DataError) as caught:
        eye_fixations_12coders.load(folder)
    assert str(caught.value).startswith(
        f"{folder / NAME}: damaged gzip (Compressed file ended before "
    )


def kappa(answers: np.ndarray) -> float:
    """Cohen's kappa of two people who say 0 or 1, over what both answered."""
    a, b = answers[~np.isnan(answers).any(axis=1)].T
    chance = a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean())
    return float(((a == b).mean() - chance) / (1 - chance))


@pytest.mark.data
def test_the_real_coders(data_folder: Path) -> None:
    corpus = eye_fixations_12coders.load(data_folder / "eye_fixations_12coders")
    answers = corpus["fixation"]
    counts = answers.counts()
    assert (counts > 0).all(axis=1).mean() == pytest.approx(0.194, abs=5e-4)
    table = np.full((corpus.n_items, 12), np.nan)
    table[answers.item, answers.annotator_codes("")] = answers.answer
    pairs = [kappa(table[:, [a, b]]) for a in range(12) for b in range(a)]
    values = (np.mean(pairs), min(pairs), max(pairs))
    assert values == pytest.approx((0.854, 0.736, 0.919), abs=5e-4)  # the card's, four missing
    assert "(4815 cells)" in corpus.notes[0] and corpus.notes[0].startswith("4 pairs")
    gaze = corpus.contents["gaze"]
    assert len(gaze) == 70
    vectors = FeaturesEncoder().encode(gaze).vectors
    assert (vectors[:, 3:] == 0).sum(axis=0).tolist() == [17_150, 18_777]
    assert corpus.focus is not None
    lengths = np.bincount(corpus.content["gaze"])
    np.testing.assert_array_equal(lengths, gaze.values.value_lengths().to_numpy())
    assert corpus.focus.stop.max() == lengths.max() == 4504
