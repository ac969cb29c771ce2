"""The four corpora of LeWiDi 2023, both parts together."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus.datasets import lewidi2023
from dissensus.errors import DataError
from tests.datasets.folders import conversation_item, lewidi_item, write

SampleFolder = Callable[[str], Path]


def test_both_parts_are_one_corpus(sample_folder: SampleFolder) -> None:
    corpus = lewidi2023.load(sample_folder("lewidi2023"), "HS-Brexit")
    assert corpus.name == "HS-Brexit"
    assert list(corpus.items) == ["train-1", "dev-1"]  # keys restart in every file
    assert corpus.parts() == ["train", "dev"]
    assert list(corpus.questions) == ["hate", "aggressive", "offensive"]
    assert corpus.part("dev")["hate"].answers() == ["0", "1"]
    assert len(corpus.contents["text"]) == 1  # the same text in both parts


def test_facts_about_annotators_and_items(sample_folder: SampleFolder) -> None:
    folder = sample_folder("lewidi2023")
    brexit = lewidi2023.load(folder, "HS-Brexit")
    assert list(brexit.annotators) == ["Ann1", "Ann10"]
    assert brexit.annotator_attributes["group"].to_pylist() == ["target group", "control group"]
    armis = lewidi2023.load(folder, "ArMIS")
    profiles = armis.annotator_attributes["profile"].to_pylist()
    assert list(armis.questions) == ["misogyny"]
    assert profiles == ["Moderate_Female", "Conservative_Male"]
    agreement = lewidi2023.load(folder, "MD-Agreement")
    assert list(agreement.questions) == ["offensive"]
    assert agreement.item_attributes["domain"].to_pylist() == ["tea", "tea"]


def test_items_that_share_a_conversation_stay_together(sample_folder: SampleFolder) -> None:
    corpus = lewidi2023.load(sample_folder("lewidi2023"), "ConvAbuse")
    ids = corpus.item_attributes["conversation_ids"].to_pylist()
    assert ids == ["7.0", "2.4E+15,8.0", "8.0", "9.0"]
    assert corpus.group == "conversation"
    assert corpus.item_attributes["conversation"].to_pylist() == [
        "7.0",
        "2.4E+15",
        "2.4E+15",
        "9.0",
    ]
    assert corpus.units().tolist() == [0, 1, 1, 2]


def test_a_key_that_two_files_share_within_a_split_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("lewidi2023")
    write(folder, "HS-Brexit_dev.json", json.dumps({"1": lewidi_item(split="train")}))
    with pytest.raises(DataError) as caught:
        lewidi2023.load(folder, "HS-Brexit")
    assert str(caught.value) == (
        f"{folder / 'HS-Brexit_train.json'}, {folder / 'HS-Brexit_dev.json'}: "
        "names occur twice: 'train-1'"
    )


def test_a_damaged_id_joins_all_that_bear_it(sample_folder: SampleFolder) -> None:
    folder = sample_folder("lewidi2023")
    items = {str(key): conversation_item("2.45945E+15") for key in range(3)}
    write(folder, "ConvAbuse_train.json", json.dumps(items))
    corpus = lewidi2023.load(folder, "ConvAbuse")
    assert corpus.units()[:3].tolist() == [0, 0, 0]
    assert any("damaged to the form 2.45945E+15" in note for note in corpus.notes)


# ---- the real files ----


def raw(data_folder: Path, name: str) -> dict[str, dict[str, Any]]:
    """The items of both files under our names."""
    results: dict[str, dict[str, Any]] = {}
    for part in ("train", "dev"):
        path = data_folder / "lewidi2023" / f"{name}_{part}.json"
        items = json.loads(path.read_text(encoding="utf-8"))
        results |= {f"{part}-{key}": item for key, item in items.items()}
    return results


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "question", "digits"),
    [
        ("HS-Brexit", "hate", 2),
        ("ArMIS", "misogyny", 2),
        ("ConvAbuse", "abusive", 3),
        ("MD-Agreement", "offensive", 2),
    ],
)
def test_the_official_labels_agree(
    name: str, question: str, digits: int, data_folder: Path
) -> None:
    corpus = lewidi2023.load(data_folder / "lewidi2023", name)
    items = raw(data_folder, name)
    assert list(corpus.items) == list(items)
    soft = np.array([item["soft_label"]["1"] for item in items.values()])
    share = corpus[question].distribution()[:, 1]
    assert np.abs(share - soft).max() <= 0.5 * 10**-digits + 1e-9
    labels = [str(item["hard_label"]) for item in items.values()]
    assert corpus.gold[question].answers() == labels
    untied = share != 0.5
    assert ((share > 0.5) == (corpus.gold[question].answer == 1))[untied].all()


@pytest.mark.data
def test_the_real_words_for_zero(data_folder: Path) -> None:
    corpus = lewidi2023.load(data_folder / "lewidi2023", "HS-Brexit")
    assert corpus.notes == ("offensive: 2 answers 'No' are taken to mean '0'",)
    assert corpus.annotator_attributes["group"].to_pylist() == (
        ["target group"] * 3 + ["control group"] * 3
    )
    share = corpus["hate"].distribution()[:, 1]
    gold = corpus.gold["hate"].answer
    assert ((share == 0.5).sum(), gold[share == 0.5].sum()) == (71, 36)


@pytest.mark.data
def test_the_real_conversations(data_folder: Path) -> None:
    corpus = lewidi2023.load(data_folder / "lewidi2023", "ConvAbuse")
    assert Counter(corpus["severity"].answers()) == {
        "-3": 220,
        "-2": 690,
        "-1": 617,
        "0": 519,
        "1": 7512,
    }
    assert list(corpus.contents) == ["prev_agent", "prev_user", "agent", "user"]
    flags = [q for q in corpus.questions if q not in ("severity", "abusive")]
    joint = corpus.joint("abusive", *flags).answers
    odd = (joint["abusive"] == 0) & np.any([joint[flag] for flag in flags], axis=0)
    assert (len(flags), odd.sum()) == (12, 13)
    dev = corpus.in_part("dev")
    ids = [text.split(",") for text in corpus.item_attributes["conversation_ids"].to_pylist()]
    trained = {one for row in np.flatnonzero(~dev) for one in ids[row]}
    assert sum(not trained.isdisjoint(ids[row]) for row in np.flatnonzero(dev)) == 283
    assert sum("E+" in one for parts in ids for one in parts) == 189
    units = corpus.units()
    of = {one: units[row] for row, parts in enumerate(ids) for one in parts}
    assert all(of[one] == units[row] for row, parts in enumerate(ids) for one in parts)
    assert np.bincount(units).max() < 0.02 * corpus.n_items  # no giant group
