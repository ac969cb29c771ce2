"""One LeWiDi file by itself, of 2023 or 2025, and what can be wrong with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dissensus.corpus import Corpus, LeftOut
from dissensus.errors import DataError
from dissensus.readers import read, recognise
from dissensus.readers.formats.lewidi import conversations
from dissensus.scales import MultiLabel, Nominal, Ordinal, Scale
from tests.datasets.folders import (
    conversation_item,
    inference_item,
    irony_item,
    lewidi_item,
    paraphrase_item,
    sarcasm_item,
)

OLD, NEW = "lewidi2023", "lewidi2025"
NAMES = {OLD: "HS-Brexit_train.json", NEW: "MP_dev.json"}
ITEMS = {OLD: lewidi_item, NEW: irony_item}


def written(folder: Path, content: Any, name: str) -> Path:
    path = folder / name
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def corpus_of(folder: Path, edition: str, **items: Any) -> Corpus:
    """The corpus in a file of these items, whose keys are k1, k2, ..."""
    return read(written(folder, items, NAMES[edition]), format=edition)


def refusal(folder: Path, edition: str, content: Any, **options: Any) -> str:
    """The message for a file, without its path."""
    path = written(folder, content, NAMES[edition])
    with pytest.raises(DataError) as caught:
        read(path, format=edition, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(str(path), "")


# ---- recognising ----


@pytest.mark.parametrize("edition", [OLD, NEW])
def test_a_file_is_recognised_by_its_content(edition: str, tmp_path: Path) -> None:
    item = ITEMS[edition]()
    whole = json.dumps({"1": item, "2": item})
    for content in (whole, json.dumps({"1": item}, indent=4), "\ufeff" + whole, whole[:-50]):
        assert recognise(written(tmp_path, content, "unnamed")) == edition
    others: list[Any] = [[item], item, {"1": {"text": "a"}}, {"Ann1": {"Age": "26"}}]
    for content in others:
        assert recognise(written(tmp_path, content, "other.json")) not in (OLD, NEW)


# ---- reading ----


def test_one_file_of_2023(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, OLD, k1=lewidi_item(), k2=lewidi_item(annotators="Ann2,Ann1"))
    assert corpus.name == "HS-Brexit"
    assert list(corpus.items) == ["train-k1", "train-k2"]
    assert list(corpus.annotators) == ["Ann1", "Ann2", "Ann10"]
    hate = corpus["hate"]
    assert hate.annotator_codes("").tolist() == [0, 2, 1, 0]
    assert hate.answers() == ["0", "1", "0", "1"]
    assert hate.scale == Nominal(("0", "1"))
    assert corpus.gold["hate"].answers() == ["1", "1"]
    assert corpus.splits["official"].to_pylist() == ["train", "train"]
    assert corpus.item_attributes["lang"].to_pylist() == ["en", "en"]
    joint = corpus.joint("hate", "offensive")  # of one person
    assert joint.answers["offensive"].tolist() == [0, 1, 0, 1]
    assert joint.item.tolist() == [0, 0, 1, 1]
    assert corpus.notes == (
        "HS-Brexit_train.json: LeWiDi 2023 JSON; questions hate, aggressive, offensive; "
        "items 2, annotators 3",
        "offensive: 2 answers 'No' are taken to mean '0'",
    )


def test_one_file_of_2025(tmp_path: Path) -> None:
    other = irony_item(annotators="Ann3,Ann2", annotations={"Ann3": "0", "Ann2": "1"})
    corpus = corpus_of(tmp_path, NEW, k1=irony_item(), k2=other)
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


def test_conversations_have_roles_and_two_readings_of_severity(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, OLD, k1=conversation_item("7.0"))
    assert corpus.text_of(0) == "Hello. | hi | Go on. | no"
    assert list(corpus.questions) == ["severity", "abusive", "sexist", "target.system"]
    assert corpus["severity"].scale == Ordinal(("-3", "-2", "-1", "0", "1"))
    assert corpus["severity"].answers() == ["-2", "0"]
    assert corpus["abusive"].answers() == ["1", "0"]
    assert list(corpus.gold) == ["abusive"] and corpus.gold["abusive"].answers() == ["1"]
    assert corpus.item_attributes["bot"].to_pylist() == ["A.B."]
    assert corpus.joint("abusive", "sexist").answers["sexist"].tolist() == [0, 1]


def test_conversations_are_joined_through_others() -> None:
    assert conversations(["1", "2", "3,4", "2,3", "5", None]) == ["1", "2", "2", "2", "5", None]


def test_an_answer_can_be_a_set_with_an_explanation_for_each_value(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, NEW, k1=inference_item())
    answers = corpus["inference"]
    assert answers.scale == MultiLabel(("contradiction", "entailment", "neutral"))
    assert answers.answers() == [("neutral",), ("entailment", "neutral")]
    assert answers.marginals().tolist() == [[0, 1, 2]]
    texts = answers.extra["explanations"].to_pylist()
    assert texts == [["not said"], ["one must be awake", "or not"]]
    assert corpus.group == "context"
    corpus.save(tmp_path / "saved")
    assert Corpus.load(tmp_path / "saved").equals(corpus)


def test_levels_and_their_explanations(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, NEW, k1=paraphrase_item())
    answers = corpus["paraphrase"]
    assert answers.scale == Ordinal(tuple(str(level) for level in range(-5, 6)))
    assert answers.answers() == ["-5", "4"]
    assert answers.extra["explanations"].to_pylist() == [["word order"], ["the same"]]
    assert corpus.group is None and list(corpus.contents) == ["Question1", "Question2"]
    assert corpus_of(tmp_path, NEW, k1=sarcasm_item())["sarcasm"].answers() == ["6", "1"]


@pytest.mark.parametrize(
    ("edition", "annotations", "scale"),
    [
        (OLD, "mild, hot", Nominal(("hot", "mild"))),
        (NEW, {"Ann2": "glad", "Ann10": "sad"}, Nominal(("glad", "sad"))),
        (NEW, {"Ann2": "glad,calm", "Ann10": "sad"}, MultiLabel(("calm", "glad", "sad"))),
    ],
)
def test_an_unknown_task_names_its_own_question_and_scale(
    edition: str, annotations: Any, scale: Scale, tmp_path: Path
) -> None:
    changes = {"annotation task": "mood detection", "text": "tea", "hard_label": ""}
    item = ITEMS[edition](**changes, other_info=None, annotations=annotations)
    corpus = corpus_of(tmp_path, edition, k1=item)
    assert list(corpus.questions) == ["mood"] and corpus["mood"].scale == scale
    assert corpus.group is None and corpus.text_of(0) == "tea"


def test_items_without_answers_and_labels_are_legal(tmp_path: Path) -> None:
    hidden = lewidi_item(annotations="", hard_label="", other_info={}, split="test")
    corpus = corpus_of(tmp_path, OLD, k1=lewidi_item(), k2=hidden)
    assert corpus["hate"].per_item().tolist() == [2, 0]
    assert corpus["offensive"].per_item().tolist() == [2, 0]
    assert corpus.gold["hate"].item.tolist() == [0]
    assert corpus.left_out == (LeftOut("hate", "the answer is empty", 2),)
    hidden = irony_item(annotations={}, soft_label=None, split="test")
    corpus = corpus_of(tmp_path, NEW, k1=irony_item(), k2=hidden)
    assert corpus["irony"].per_item().tolist() == [2, 0]
    assert corpus_of(tmp_path, NEW, k1=hidden)["irony"].n_rows == 0


def test_an_empty_answer_is_left_out_and_counted(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, OLD, k1=lewidi_item(annotations="0,"))
    assert corpus["hate"].n_rows == 1
    assert corpus.left_out == (LeftOut("hate", "the answer is empty", 1),)
    assert corpus.joint("hate", "aggressive").item.tolist() == [0]
    corpus = corpus_of(tmp_path, NEW, k1=irony_item(annotations={"Ann2": 1, "Ann10": ""}))
    assert corpus["irony"].answers() == ["1"]
    assert corpus.left_out == (LeftOut("irony", "the answer is empty", 1),)


def test_a_text_that_only_looks_like_json_stays_a_text(tmp_path: Path) -> None:
    assert corpus_of(tmp_path, OLD, k1=lewidi_item(text="{tea}")).text_of(0) == "{tea}"


def test_options_name_the_corpus_the_encoding_and_a_rule_on_repeats(tmp_path: Path) -> None:
    item = lewidi_item(annotators="Ann1,Ann1", text="Grüße")
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"1": item}, ensure_ascii=False), encoding="latin-1")
    corpus = read(path, name="mine", repeats="last", encoding="latin-1")
    assert corpus.name == "mine" and corpus["hate"].answers() == ["1"]
    assert corpus.text_of(0) == "Grüße"
    with pytest.raises(DataError, match=r"a.json, line 1: byte 0xfc at position \d+ is not UTF-8"):
        read(path)


# ---- bad input ----


@pytest.mark.parametrize("edition", [OLD, NEW])
def test_options_that_make_no_sense_are_refused(edition: str, tmp_path: Path) -> None:
    content = {"1": ITEMS[edition]()}
    assert refusal(tmp_path, edition, content, item="task", scale="nominal") == (
        f": in LeWiDi {edition[-4:]} JSON the meaning of every key is fixed; leave out 'item', "
        "'scale'"
    )
    name = NAMES[edition].rpartition("_")[0]
    assert refusal(tmp_path, edition, content, corpus="CSC") == (
        f": no corpus 'CSC'; the file has '{name}'"
    )
    assert refusal(tmp_path, edition, content, repeats="set") == (
        ': repeats="set" (--repeats set) is for tables; leave it out'
    )


@pytest.mark.parametrize("edition", [OLD, NEW])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ": the file is empty"),
        (
            '{"1":\n {"text',
            ", line 2: damaged JSON, the file may be truncated (Unterminated string starting at)",
        ),
        ('{"1": ' * 100_000, ": damaged JSON, nested too deeply"),
        ([1], ": expected an object of items by key, found a list"),
        ({}, ": no items"),
        (
            {"1": "a"},
            ", item '1': expected an object of keys such as 'text' and 'annotations', found a text",
        ),
        (
            {"1": {"text": "a", "split": "dev", "annotators": "Ann1"}},
            ", item '1': no key 'annotation task', 'annotations'; "
            "it has 'text', 'split', 'annotators'",
        ),
        ('{"1": {}, "1": {}}', ": key '1' occurs twice in one object"),
    ],
)
def test_what_is_no_such_object_is_refused(
    edition: str, content: Any, message: str, tmp_path: Path
) -> None:
    assert refusal(tmp_path, edition, content) == message


OTHERS = {"other annotations": {"offensive language detection": "1,0,1"}}


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (
            lewidi_item(annotations="0,1,1"),
            ": 'annotations' has 3 entries but 'annotators' has 2",
        ),
        (
            lewidi_item(other_info=OTHERS),
            ": 'offensive language detection' has 3 entries but 'annotators' has 2",
        ),
        (
            lewidi_item(other_info={"annotators group": "group1"}),
            ": 'annotators group' has 1 entries but 'annotators' has 2",
        ),
        (
            lewidi_item(**{"number of annotations": 3}),
            ": 'number of annotations' is 3 but there are 2",
        ),
        (lewidi_item(annotators="Ann1,"), ": 'annotators' has an empty name"),
        (lewidi_item(annotators=["Ann1"]), ": 'annotators' must be a text, found a list"),
        (lewidi_item(annotations=1), ": 'annotations' must be a text, found a number"),
        (lewidi_item(text=7), ": 'text' must be a text, found a number"),
        (lewidi_item(annotations="0,2"), ": 'annotations' has '2'; hate is one of '0', '1'"),
        (lewidi_item(hard_label="so"), ": 'hard_label' has 'so'; hate is one of '0', '1'"),
        (lewidi_item(other_info="x"), ", 'other_info': expected an object of texts, found a text"),
        (
            conversation_item("7.0", annotations="No,1"),
            ": 'annotations' has 'No'; severity is one of '-3', '-2', '-1', '0', '1'",
        ),
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
        (irony_item(text={"post": 7}), ", 'text': 'post' must be a text, found a number"),
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
    edition = OLD if item["split"] == "train" else NEW
    content = {"1": ITEMS[edition](), "2": item}
    assert refusal(tmp_path, edition, content) == f", item '2'{message}"


def test_answers_that_make_no_question_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, OLD, {"1": lewidi_item(annotators="Ann1,Ann1")}) == (
        ": annotator 'Ann1' answered item 'train-1' 2 times (1 such pairs); "
        "keep one row each, or say what to do with repeats (--repeats): keep, first, last"
    )
    unknown = irony_item(**{"annotation task": "mood detection"}, annotations={})
    assert refusal(tmp_path, NEW, {"1": unknown}) == (
        ": 'mood' has no answers; a scale cannot be inferred"
    )


@pytest.mark.data
def test_every_real_file_is_recognised_and_no_other(data_folder: Path) -> None:
    names = [*((name, "train") for name in ("Paraphrase", "VariErrNLI"))]
    names += [(name, "dev") for name in ("CSC", "MP", "Paraphrase", "VariErrNLI")]
    corpora = ("HS-Brexit", "ArMIS", "ConvAbuse", "MD-Agreement")
    expected = {f"{name}_{part}.json": OLD for name in corpora for part in ("train", "dev")}
    expected |= {f"{name}_{part}.json": NEW for name, part in names}
    formats = {path.name: recognise(path) for path in data_folder.glob("*/*.json*")}
    assert {name: one for name, one in formats.items() if one in (OLD, NEW)} == expected
    corpus = read(data_folder / "lewidi2023" / "HS-Brexit_dev.json")
    assert (corpus.n_items, corpus["hate"].n_rows, corpus.parts()) == (168, 1008, ["dev"])
    corpus = read(data_folder / "lewidi2025" / "VariErrNLI_dev.json")
    assert (corpus.n_items, corpus.n_annotators, corpus.parts()) == (50, 4, ["dev"])
