"""One LeWiDi 2025 file by itself, and what can be wrong with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dissensus import readers
from dissensus.corpus import Corpus, LeftOut
from dissensus.errors import DataError
from dissensus.readers.formats import lewidi2023
from dissensus.readers.formats.lewidi2025 import read, recognise
from dissensus.readers.head import Head
from dissensus.readers.layout import Layout
from dissensus.scales import MultiLabel, Nominal, Ordinal
from tests.datasets.folders import (
    inference_item,
    irony_item,
    lewidi_item,
    paraphrase_item,
    sarcasm_item,
)


def written(folder: Path, content: Any, name: str = "MP_dev.json") -> Path:
    path = folder / name
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def corpus_of(folder: Path, **items: Any) -> Corpus:
    """The corpus in a file of these items, whose keys are k1, k2, ..."""
    return read(written(folder, items), Layout())


def refusal(folder: Path, content: Any, **options: Any) -> str:
    """The message for a file, without the path of its folder."""
    with pytest.raises(DataError) as caught:
        read(written(folder, content), Layout(**options))
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(f"{folder}/", "")


# ---- recognising ----


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"1": irony_item()}),
        json.dumps({"1": inference_item()}, indent=4),
        "\ufeff" + json.dumps({"1": sarcasm_item()}),
        json.dumps({"1": irony_item(), "2": irony_item()})[:-50],  # truncated
    ],
)
def test_a_file_is_recognised_by_its_content(content: str, tmp_path: Path) -> None:
    path = written(tmp_path, content, "unnamed")
    assert recognise(Head.of(path)) and not lewidi2023.recognise(Head.of(path))
    assert readers.recognise(path) == "lewidi2025"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "item,annotator,answer\n",
        json.dumps([irony_item()]),
        json.dumps(irony_item()),  # one item a line is another format
        json.dumps({"1": lewidi_item()}),  # LeWiDi 2023
        json.dumps({"Ann1": {"Age": "26"}}),  # what is known of the annotators
    ],
)
def test_other_files_are_not_recognised(content: str, tmp_path: Path) -> None:
    assert not recognise(Head.of(written(tmp_path, content)))


# ---- reading ----


def test_one_file_by_itself(tmp_path: Path) -> None:
    other = irony_item(annotators="Ann3,Ann2", annotations={"Ann3": "0", "Ann2": "1"})
    corpus = corpus_of(tmp_path, k1=irony_item(), k2=other)
    assert corpus.name == "MP"
    assert list(corpus.items) == ["dev-k1", "dev-k2"]
    assert list(corpus.annotators) == ["Ann2", "Ann3", "Ann10"]
    irony = corpus["irony"]
    assert irony.annotator_codes("").tolist() == [0, 2, 1, 0]
    assert irony.answers() == ["0", "1", "0", "1"]
    assert irony.scale == Nominal(("0", "1")) and irony.extra == {}
    assert corpus.text_of(0) == "More tea? | oh, sure"
    assert corpus.parts() == ["dev"] and corpus.gold == {}
    facts = {key: values.to_pylist()[0] for key, values in corpus.item_attributes.items()}
    assert facts == {
        "lang": "en",
        "source": "reddit",
        "level": "1.0",
        "language_variety": "in",
        "post": "dev-k1",
    }
    assert corpus.group == "post" and corpus.units().tolist() == [0, 0]
    assert corpus.notes == (
        "MP_dev.json: LeWiDi 2025 JSON; questions irony; items 2, annotators 3",
    )


def test_an_answer_can_be_a_set_with_an_explanation_for_each_value(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, k1=inference_item())
    answers = corpus["inference"]
    assert answers.scale == MultiLabel(("contradiction", "entailment", "neutral"))
    assert answers.answers() == [("neutral",), ("entailment", "neutral")]
    assert answers.marginals().tolist() == [[0, 1, 2]]
    assert answers.extra["explanations"].to_pylist() == [
        ["not said"],
        ["one must be awake", "or not"],
    ]
    assert corpus.group == "context"


def test_levels_and_their_explanations(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, k1=paraphrase_item())
    answers = corpus["paraphrase"]
    assert answers.scale == Ordinal(tuple(str(level) for level in range(-5, 6)))
    assert answers.answers() == ["-5", "4"]
    assert answers.extra["explanations"].to_pylist() == [["word order"], ["the same"]]
    assert corpus.group is None and list(corpus.contents) == ["Question1", "Question2"]
    assert corpus_of(tmp_path, k1=sarcasm_item())["sarcasm"].answers() == ["6", "1"]


def test_what_was_read_is_saved_whole(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, k1=inference_item())
    corpus.save(tmp_path / "saved")
    assert Corpus.load(tmp_path / "saved").equals(corpus)


def test_an_unknown_task_names_its_own_question_and_scale(tmp_path: Path) -> None:
    task = {"annotation task": "mood detection"}
    moods = {"Ann2": "glad", "Ann10": "sad"}
    corpus = corpus_of(tmp_path, k1=irony_item(**task, annotations=moods, text="tea"))
    assert corpus["mood"].scale == Nominal(("glad", "sad"))
    assert corpus.group is None and corpus.text_of(0) == "tea"
    several = {"Ann2": "glad,calm", "Ann10": "sad"}
    corpus = corpus_of(tmp_path, k1=irony_item(**task, annotations=several))
    assert corpus["mood"].scale == MultiLabel(("calm", "glad", "sad"))
    assert refusal(tmp_path, {"1": irony_item(**task, annotations={})}) == (
        "MP_dev.json: 'mood' has no answers; a scale cannot be inferred"
    )


def test_items_whose_answers_are_held_back_are_legal(tmp_path: Path) -> None:
    hidden = irony_item(annotations={}, soft_label=None, split="test")
    corpus = corpus_of(tmp_path, k1=irony_item(), k2=hidden)
    assert corpus["irony"].per_item().tolist() == [2, 0]
    assert corpus_of(tmp_path, k1=hidden)["irony"].n_rows == 0


def test_an_empty_answer_is_left_out_and_counted(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, k1=irony_item(annotations={"Ann2": 1, "Ann10": ""}))
    assert corpus["irony"].answers() == ["1"]
    assert corpus.left_out == (LeftOut("irony", "the answer is empty", 1),)


# ---- bad input ----


def test_options_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    content = {"1": irony_item()}
    assert refusal(tmp_path, content, item="task", scale="nominal") == (
        "MP_dev.json: in LeWiDi 2025 JSON the meaning of every key is fixed; leave out 'item', "
        "'scale'"
    )
    assert refusal(tmp_path, content, corpus="CSC") == (
        "MP_dev.json: no corpus 'CSC'; the file has 'MP'"
    )


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    text = json.dumps({"1": irony_item()}, indent=1)
    assert refusal(tmp_path, text[:60]) == (
        "MP_dev.json, line 4: damaged JSON, the file may be truncated (Expecting value)"
    )
    assert refusal(tmp_path, "") == "MP_dev.json: the file is empty"
    assert refusal(tmp_path, "[1]") == (
        "MP_dev.json: expected an object of items by key, found a list"
    )
    assert refusal(tmp_path, "{}") == "MP_dev.json: no items"
    assert refusal(tmp_path, {"1": {"text": "a", "split": "dev", "annotators": ""}}) == (
        "MP_dev.json, item '1': no key 'annotation task', 'annotations'; "
        "it has 'text', 'split', 'annotators'"
    )
    assert refusal(tmp_path, '{"1": {}, "1": {}}') == (
        "MP_dev.json: key '1' occurs twice in one object"
    )


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (
            irony_item(annotations={"Ann2": "0", "Ann10": "2"}),
            ": 'Ann10' answered '2'; irony is one of '0', '1'",
        ),
        (
            inference_item(annotations={"Ann1": "neutral", "Ann2": "maybe,neutral"}),
            ": 'Ann2' answered 'maybe'; inference is some of 'contradiction', "
            "'entailment', 'neutral'",
        ),
        (
            irony_item(annotations={"Ann2": ["0"], "Ann10": "1"}),
            ": the answer of 'Ann2' must be a text, found a list",
        ),
        (
            irony_item(annotations={"Ann2": "0"}),
            ": 'annotators' names 'Ann2', 'Ann10' but 'annotations' has 'Ann2'",
        ),
        (
            irony_item(**{"number of annotations": 3}),
            ": 'number of annotations' is 3 but there are 2",
        ),
        (
            irony_item(annotations="0,1"),
            ", 'annotations': expected an object of answers by annotator, found a text",
        ),
        (irony_item(annotators=["Ann2"]), ": 'annotators' must be a text, found a list"),
        (irony_item(text={"post": 7}), ", 'text': 'post' must be a text, found a number"),
        (irony_item(text=7), ": 'text' must be a text, found a number"),
        (irony_item(other_info="x"), ", 'other_info': expected an object of texts, found a text"),
        (
            paraphrase_item(other_info={"explanations": ["one"]}),
            ": 'explanations' has 1 entries but 'annotators' has 2",
        ),
        (
            paraphrase_item(other_info={"explanations": "one"}),
            ": 'explanations' must be a list of texts",
        ),
    ],
)
def test_a_wrong_item_is_refused_with_file_and_key(
    item: dict[str, Any], message: str, tmp_path: Path
) -> None:
    content = {"1": irony_item(), "2": item}
    assert refusal(tmp_path, content) == f"MP_dev.json, item '2'{message}"


@pytest.mark.data
def test_every_real_file_is_recognised_and_no_other(data_folder: Path) -> None:
    results = {path.name for path in data_folder.glob("*/*.json*") if recognise(Head.of(path))}
    assert results == {
        "CSC_dev.json",
        "MP_dev.json",
        *(
            f"{name}_{part}.json"
            for name in ("Paraphrase", "VariErrNLI")
            for part in ("train", "dev")
        ),
    }


@pytest.mark.data
def test_a_real_file_by_itself(data_folder: Path) -> None:
    corpus = read(data_folder / "lewidi2025" / "VariErrNLI_dev.json", Layout())
    assert (corpus.n_items, corpus.n_annotators, corpus.parts()) == (50, 4, ["dev"])
