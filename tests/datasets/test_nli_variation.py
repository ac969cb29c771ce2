"""Sliders from 0 to 100, those that do not apply, and people who answered twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.corpus import LeftOut
from dissensus.datasets import nli_variation
from dissensus.errors import DataError
from dissensus.scales import Interval, Nominal
from tests.datasets.crowd_folders import PREMISES, SLIDERS
from tests.datasets.writing import write

SampleFolder = Callable[[str], Path]


def refusal(folder: Path, name: str, text: str) -> str:
    write(folder, name, text)
    with pytest.raises(DataError) as caught:
        nli_variation.load(folder)
    return str(caught.value)


def test_a_slider_that_does_not_apply_is_no_rating(sample_folder: SampleFolder) -> None:
    corpus = nli_variation.load(sample_folder("nli_variation"))
    rating, applies = corpus["rating"], corpus["not applicable"]
    assert rating.scale == Interval(0, 100) and applies.scale == Nominal(("no", "yes"))
    assert rating.answer.tolist() == [100, 0, 7, 0]
    assert applies.answers() == ["no", "no", "yes", "no", "no"]
    assert rating.response is not None and rating.response.tolist() == [0, 1, 3, 4]
    joint = corpus.joint("rating", "not applicable")
    assert joint.item.tolist() == [1, 1, 0, 2]
    assert joint.answers["not applicable"].tolist() == [0, 0, 0, 0]


def test_both_answers_of_one_annotator_are_kept(sample_folder: SampleFolder) -> None:
    rating = nli_variation.load(sample_folder("nli_variation"))["rating"]
    assert rating.repeats
    assert rating.annotator_codes("a test").tolist() == [1, 1, 1, 0]  # "9" comes before "10"
    assert rating.extra["batch"].to_pylist() == [1, 3, 2, 1]
    assert rating.extra["status"].to_pylist() == ["Approved", "Rejected", "Submitted", "Approved"]


def test_what_is_left_out_is_counted(sample_folder: SampleFolder) -> None:
    assert nli_variation.load(sample_folder("nli_variation")).left_out == (
        LeftOut("rating", "marked as not applicable: a second question", 1),
        LeftOut(
            "labels (preprocessed file)",
            "the authors' selection of these ratings, without annotators",
            3,
        ),
    )


def test_items_with_one_premise_stay_together(sample_folder: SampleFolder) -> None:
    corpus = nli_variation.load(sample_folder("nli_variation"))
    assert corpus.text_of(0) == "Tea, again. | She drinks."
    assert corpus.group == "premise"
    assert corpus.item_attributes["premise"].to_pylist() == ["snli:1", "joci:2", "snli:1"]
    assert corpus.units().tolist() == [0, 1, 0]


def test_wrong_files_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("nli_variation")
    answers, items = folder / "annotations_raw.csv.gz", folder / "items.csv"
    assert refusal(folder, answers.name, SLIDERS.replace("9,50", "9,101")) == (
        f"{answers}: row 3: 101 lies outside 0 to 100 (1 such answers); "
        "declare other ends or leave the row out"
    )
    assert refusal(folder, answers.name, SLIDERS.replace("joci:3", "joci:4")) == (
        f"{answers}: no item 'joci:4'; there are 3: 'snli:1', 'joci:2', 'joci:3'"
    )
    assert refusal(folder, answers.name, SLIDERS.replace(",na,", ",NA,")) == (
        f"{answers}: no column ['na']; the file has ['item_id', 'annotator_id', 'rating_0_100', "
        "'NA', 'batch', 'status']"
    )
    write(folder, answers.name, SLIDERS)
    assert refusal(folder, items.name, PREMISES.replace("joci:3", "joci:2")) == (
        f"{items}: names occur twice: 'joci:2'"
    )


def test_a_truncated_file_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("nli_variation")
    answers = folder / "annotations_raw.csv.gz"
    answers.write_bytes(answers.read_bytes()[:-10])
    with pytest.raises(DataError) as caught:
        nli_variation.load(folder)
    assert str(caught.value).startswith(f"{answers}: damaged gzip (Compressed file ended before ")


@pytest.mark.parametrize("line", ['{"labels": [1', '{"label": []}', "[]", '{"labels": 3}'])
def test_a_damaged_line_of_labels_is_named(line: str, sample_folder: SampleFolder) -> None:
    folder = sample_folder("nli_variation")
    labels = folder / "preprocessed-data.jsonl"
    message = refusal(folder, labels.name, '{"labels": []}\n' + line + "\n")
    assert message == f"{labels}, line 2: not a JSON object with a list 'labels'"


@pytest.mark.data
def test_the_real_ratings(data_folder: Path) -> None:
    corpus = nli_variation.load(data_folder / "nli_variation")
    rating, applies = corpus["rating"], corpus["not applicable"]
    sums = np.bincount(rating.item, rating.answer, minlength=500)
    others = (sums[rating.item] - rating.answer) / (rating.per_item()[rating.item] - 1)
    assert np.corrcoef(rating.answer, others)[0, 1] == pytest.approx(0.699, abs=5e-4)
    pairs = np.stack([applies.item, applies.annotator_codes("a test")])
    distinct, times = np.unique(pairs, axis=1, return_counts=True)
    assert (times == 2).sum() == 720 and times.max() == 2
    assert {corpus.annotators[who] for who in distinct[1, times == 2]} == {"335", "448", "79"}
    assert len(np.unique(corpus.units())) == 494
