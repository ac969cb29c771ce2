"""The four corpora of LeWiDi 2025, their parts together and their people beside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus.corpus import Corpus
from dissensus.datasets import lewidi2025
from dissensus.errors import DataError
from dissensus.scales import MultiLabel
from tests.datasets.folders import sarcasm_item, write

SampleFolder = Callable[[str], Path]


def refusal(folder: Path, name: str, content: str) -> str:
    """The message for CSC with this file in the folder, without the folder's path."""
    write(folder, name, content)
    with pytest.raises(DataError) as caught:
        lewidi2025.load(folder, "CSC")
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{folder}/", "")


def test_a_key_of_both_parts_stands_for_two_items(sample_folder: SampleFolder) -> None:
    corpus = lewidi2025.load(sample_folder("lewidi2025"), "VariErrNLI")
    assert list(corpus.items) == ["train-1", "dev-1"]
    assert corpus.parts() == ["train", "dev"]
    assert corpus.group == "context"
    assert corpus.item_attributes["context"].to_pylist() == ["train-1", "train-1"]


def test_a_part_that_need_not_be_there_is_read_where_it_is(sample_folder: SampleFolder) -> None:
    folder = sample_folder("lewidi2025")
    assert lewidi2025.load(folder, "CSC").parts() == ["dev"]
    write(folder, "CSC_train.json", json.dumps({"1": sarcasm_item(split="train")}))
    corpus = lewidi2025.load(folder, "CSC")
    assert corpus.parts() == ["train", "dev"]
    assert list(corpus.items) == ["train-1", "dev-1", "dev-2"]


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("CSC", {"Gender": ["Female", None], "Age": [None, None]}),  # nan; nothing of Ann7
        ("MP", {"Age": [19, 34], "Student status": [None, "Yes"]}),  # "2" is Ann2
        ("Paraphrase", {"Gender": ["Male", None], "Age": [26, 30]}),  # a comma too many
        ("VariErrNLI", {"Education": ["a,}", "b"], "Age": [22, None]}),
    ],
)
def test_facts_about_people(
    name: str, facts: dict[str, list[Any]], sample_folder: SampleFolder
) -> None:
    corpus = lewidi2025.load(sample_folder("lewidi2025"), name)
    tables = {key: values.to_pylist() for key, values in corpus.annotator_attributes.items()}
    assert tables == facts


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"Ann0": {"Age": "5', ", line 1: damaged JSON, the file may be truncated "),
        ("[1]", ": expected an object of annotators by name, found a list"),
        ('{"Ann0": "5"}', ", annotator 'Ann0': expected an object of facts, found a text"),
        ('{"Ann0": {}, "Ann0": {}}', ": key 'Ann0' occurs twice in one object"),
        ("", ": the file is empty"),
    ],
)
def test_wrong_facts_are_refused(content: str, message: str, sample_folder: SampleFolder) -> None:
    name = "CSC_annotators_meta.json"
    ending = "(Unterminated string starting at)" if message.endswith("truncated ") else ""
    assert refusal(sample_folder("lewidi2025"), name, content) == f"{name}{message}{ending}"


def test_wrong_items_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("lewidi2025")
    item = sarcasm_item(annotations={"Ann0": "7", "Ann7": "1"})
    assert refusal(folder, "CSC_dev.json", json.dumps({"1": item})) == (
        "CSC_dev.json, item '1': 'Ann0' answered '7'; sarcasm is one of "
        "'1', '2', '3', '4', '5', '6'"
    )


# ---- the real files ----


def raw(data_folder: Path, name: str) -> dict[str, dict[str, Any]]:
    """The items of all files of a corpus, under our names."""
    results: dict[str, dict[str, Any]] = {}
    for part in lewidi2025.NEEDED[name]:
        path = data_folder / "lewidi2025" / f"{name}_{part}.json"
        items = json.loads(path.read_text(encoding="utf-8"))
        results |= {f"{part}-{key}": item for key, item in items.items()}
    return results


def real(data_folder: Path, name: str) -> Corpus:
    return lewidi2025.load(data_folder / "lewidi2025", name)


@pytest.mark.data
@pytest.mark.parametrize("name", lewidi2025.CORPORA)
def test_the_official_soft_labels_agree(name: str, data_folder: Path) -> None:
    corpus = real(data_folder, name)
    items = raw(data_folder, name)
    assert list(corpus.items) == list(items)
    ((_, requested),) = corpus.questions.items()
    official = [item["soft_label"] for item in items.values()]
    if isinstance(requested.scale, MultiLabel):
        soft = [[label[value]["1"] for value in requested.scale.values] for label in official]
    else:
        soft = [[shares[key] for key in sorted(shares, key=float)] for shares in official]
    assert np.abs(requested.distribution() - np.array(soft)).max() <= 5.1e-4


@pytest.mark.data
def test_the_marginals_of_real_sets_are_the_three_questions_of_the_card(data_folder: Path) -> None:
    corpus = real(data_folder, "VariErrNLI")
    labels = corpus["inference"]
    assert labels.scale == MultiLabel(("contradiction", "entailment", "neutral"))
    chosen = [item["annotations"].values() for item in raw(data_folder, "VariErrNLI").values()]
    for column, value in enumerate(("contradiction", "entailment", "neutral")):
        yes = [sum(value in answer.split(",") for answer in answers) for answers in chosen]
        assert labels.marginals()[:, column].tolist() == yes
    assert (labels.marginals().sum(), labels.n_rows) == (1692, 1624)
    assert np.bincount(labels.per_item()).tolist() == [0, 3, 29, 61, 345]
    texts = labels.extra["explanations"]  # one for each value chosen
    assert [len(text) for text in texts.to_pylist()] == [len(a) for a in labels.answers()]
    names = [f"{part}-{key}" for key in (111338, 129081, 32754, 84781) for part in ("train", "dev")]
    units = corpus.units()[corpus.items.codes(names)]
    assert (units[::2] == units[1::2]).all() and len(np.unique(units)) == 4
    assert len(np.unique(corpus.units())) == 434


@pytest.mark.data
def test_the_real_people(data_folder: Path) -> None:
    irony = real(data_folder, "MP")
    missing = {key: values.null_count for key, values in irony.annotator_attributes.items()}
    assert (missing["Employment status"], missing["Student status"], len(missing)) == (109, 81, 8)
    sarcasm = real(data_folder, "CSC")
    assert sarcasm.annotator_attributes["Gender"].null_count >= 850 - 818
    assert set(sarcasm.annotator_attributes["Gender"].unique().to_pylist()) == {
        "Female",
        "Male",
        None,
    }
    assert len(np.unique(sarcasm.units())) == 71  # contexts


@pytest.mark.data
def test_real_explanations_stay_with_their_answers(data_folder: Path) -> None:
    requested = real(data_folder, "Paraphrase")["paraphrase"]
    items = list(raw(data_folder, "Paraphrase").values())
    told = [[text] for item in items for text in item["other_info"]["explanations"]]
    assert requested.extra["explanations"].to_pylist() == told
    assert requested.annotator_codes("").tolist() == [0, 1, 2, 3] * 450
