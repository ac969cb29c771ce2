"""One LeWiDi 2023 file by itself, and what can be wrong with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dissensus.corpus import Corpus, LeftOut
from dissensus.errors import DataError
from dissensus.readers.formats.lewidi2023 import conversations, read, recognise
from dissensus.readers.head import Head
from dissensus.readers.layout import Layout
from dissensus.scales import Nominal, Ordinal
from tests.datasets.folders import conversation_item, lewidi_item


def written(folder: Path, content: Any, name: str = "HS-Brexit_train.json") -> Path:
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
        json.dumps({"1": lewidi_item()}),
        json.dumps({"1": lewidi_item()}, indent=4),
        "\ufeff" + json.dumps({"1": lewidi_item()}),
        json.dumps({"1": lewidi_item(), "2": lewidi_item()})[:-50],  # truncated
    ],
)
def test_a_file_is_recognised_by_its_content(content: str, tmp_path: Path) -> None:
    assert recognise(Head.of(written(tmp_path, content, "unnamed")))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "item,annotator,answer\n",
        json.dumps([lewidi_item()]),
        json.dumps(lewidi_item()),  # one item a line is another format
        json.dumps({"1": lewidi_item(annotations={"Ann1": "0"})}),  # LeWiDi 2025
        json.dumps({"1": {"text": "a"}}),
    ],
)
def test_other_files_are_not_recognised(content: str, tmp_path: Path) -> None:
    assert not recognise(Head.of(written(tmp_path, content)))


def test_what_is_no_file_is_not_recognised(tmp_path: Path) -> None:
    assert not recognise(Head.of(tmp_path)) and not recognise(Head.of(tmp_path / "none.json"))
    (tmp_path / "bytes").write_bytes(b"\x80\x81{")
    assert not recognise(Head.of(tmp_path / "bytes"))


# ---- reading ----


def test_one_file_by_itself(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, k1=lewidi_item(), k2=lewidi_item(annotators="Ann2,Ann1"))
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


def test_the_questions_of_one_person_are_linked(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, k1=lewidi_item(), k2=lewidi_item())
    joint = corpus.joint("hate", "offensive")
    assert joint.answers["hate"].tolist() == [0, 1, 0, 1]
    assert joint.answers["offensive"].tolist() == [0, 1, 0, 1]
    assert joint.item.tolist() == [0, 0, 1, 1]


def test_a_word_for_zero_is_said(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, k1=lewidi_item())
    assert corpus["offensive"].answers() == ["0", "1"]
    assert corpus.notes == (
        "HS-Brexit_train.json: LeWiDi 2023 JSON; questions hate, aggressive, offensive; "
        "items 1, annotators 2",
        "offensive: 1 answers 'No' are taken to mean '0'",
    )


def test_conversations_have_roles_and_two_readings_of_severity(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, k1=conversation_item("7.0"))
    assert corpus.text_of(0) == "Hello. | hi | Go on. | no"
    assert list(corpus.questions) == ["severity", "abusive", "sexist", "target.system"]
    assert corpus["severity"].scale == Ordinal(("-3", "-2", "-1", "0", "1"))
    assert corpus["severity"].answers() == ["-2", "0"]
    assert corpus["abusive"].answers() == ["1", "0"]
    assert list(corpus.gold) == ["abusive"] and corpus.gold["abusive"].answers() == ["1"]
    assert corpus.item_attributes["bot"].to_pylist() == ["A.B."]
    assert corpus.joint("abusive", "sexist").answers["sexist"].tolist() == [0, 1]


def test_an_unknown_task_names_its_own_question(tmp_path: Path) -> None:
    item = lewidi_item(other_info=None, annotations="mild, hot", hard_label="hot")
    item["annotation task"] = "irony detection"
    corpus = corpus_of(tmp_path, k1=item)
    assert list(corpus.questions) == ["irony"]
    assert corpus["irony"].answers() == ["mild", "hot"]
    assert corpus.gold["irony"].answers() == ["hot"]


def test_items_without_answers_and_labels_are_legal(tmp_path: Path) -> None:
    hidden = lewidi_item(annotations="", hard_label="", other_info={}, split="test")
    corpus = corpus_of(tmp_path, k1=lewidi_item(), k2=hidden)
    assert corpus["hate"].per_item().tolist() == [2, 0]
    assert corpus["offensive"].per_item().tolist() == [2, 0]
    assert corpus.gold["hate"].item.tolist() == [0]
    assert corpus.left_out == (LeftOut("hate", "the answer is empty", 2),)


def test_an_empty_answer_is_left_out_and_counted(tmp_path: Path) -> None:
    item = lewidi_item(annotations="0,")
    corpus = corpus_of(tmp_path, k1=item)
    assert corpus["hate"].n_rows == 1
    assert corpus.left_out == (LeftOut("hate", "the answer is empty", 1),)
    assert corpus.joint("hate", "aggressive").item.tolist() == [0]


def test_a_text_that_only_looks_like_json_stays_a_text(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, k1=lewidi_item(text="{tea}"))
    assert corpus.text_of(0) == "{tea}"


def test_options_name_the_corpus_and_rule_on_repeats(tmp_path: Path) -> None:
    path = written(tmp_path, {"1": lewidi_item(annotators="Ann1,Ann1")})
    corpus = read(path, Layout(name="mine", repeats="last"))
    assert corpus.name == "mine" and corpus["hate"].answers() == ["1"]


def test_conversations_are_joined_through_others() -> None:
    assert conversations(["1", "2", "3,4", "2,3", "5", None]) == ["1", "2", "2", "2", "5", None]


# ---- bad input ----


def test_options_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    content = {"1": lewidi_item()}
    assert refusal(tmp_path, content, item="task", scale="nominal") == (
        "HS-Brexit_train.json: in LeWiDi 2023 JSON the meaning of every key is fixed; leave out "
        "'item', 'scale'"
    )
    assert refusal(tmp_path, content, corpus="ArMIS") == (
        "HS-Brexit_train.json: no corpus 'ArMIS'; the file has 'HS-Brexit'"
    )


def test_truncated_json_is_refused(tmp_path: Path) -> None:
    text = json.dumps({"1": lewidi_item()}, indent=1)
    assert refusal(tmp_path, text[:100]) == (
        "HS-Brexit_train.json, line 5: damaged JSON, the file may be truncated "
        "(Unterminated string starting at)"
    )
    assert refusal(tmp_path, "") == "HS-Brexit_train.json: the file is empty"


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"1": "\xff"}')
    with pytest.raises(DataError, match=r"a.json, line 1: byte 0xff at position 7 is not UTF-8; "):
        read(path, Layout())
    with pytest.raises(DataError, match=r"none.json: cannot be read: No such file or directory$"):
        read(tmp_path / "none.json", Layout())


def test_a_file_in_another_encoding_is_read_when_told(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    text = json.dumps({"1": lewidi_item(text="Grüße")}, ensure_ascii=False)
    path.write_text(text, encoding="latin-1")
    assert read(path, Layout(encoding="latin-1")).text_of(0) == "Grüße"


def test_json_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    deep = '{"1": ' * 100_000
    assert refusal(tmp_path, deep) == "HS-Brexit_train.json: damaged JSON, nested too deeply"


@pytest.mark.parametrize(
    ("content", "message"),
    [
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
def test_what_is_no_such_object_is_refused(content: Any, message: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, content) == f"HS-Brexit_train.json{message}"


OTHERS = {"other annotations": {"offensive language detection": "1,0,1"}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"annotations": "0,1,1"}, "'annotations' has 3 entries but 'annotators' has 2"),
        (
            {"other_info": OTHERS},
            "'offensive language detection' has 3 entries but 'annotators' has 2",
        ),
        (
            {"other_info": {"annotators group": "group1"}},
            "'annotators group' has 1 entries but 'annotators' has 2",
        ),
        ({"number of annotations": 3}, "'number of annotations' is 3 but there are 2"),
        ({"annotators": "Ann1,"}, "'annotators' has an empty name"),
        ({"annotators": ["Ann1", "Ann2"]}, "'annotators' must be a text, found a list"),
        ({"annotations": 1}, "'annotations' must be a text, found a number"),
        ({"text": 7}, "'text' must be a text, found a number"),
        ({"annotations": "0,2"}, "'annotations' has '2'; hate is one of '0', '1'"),
        ({"hard_label": "maybe"}, "'hard_label' has 'maybe'; hate is one of '0', '1'"),
        ({"other_info": "x"}, "'other_info': expected an object of texts, found a text"),
    ],
)
def test_a_wrong_item_is_refused_with_file_and_key(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    content = {"1": lewidi_item(), "2": lewidi_item(**changes)}
    joint = ", " if message.startswith("'other_info'") else ": "
    assert refusal(tmp_path, content) == f"HS-Brexit_train.json, item '2'{joint}{message}"


def test_a_word_is_no_severity(tmp_path: Path) -> None:
    content = {"1": conversation_item("7.0", annotations="No,1")}
    assert refusal(tmp_path, content) == (
        "HS-Brexit_train.json, item '1': 'annotations' has 'No'; severity is one of "
        "'-3', '-2', '-1', '0', '1'"
    )


def test_an_annotator_who_answers_twice_is_refused(tmp_path: Path) -> None:
    content = {"1": lewidi_item(annotators="Ann1,Ann1")}
    assert refusal(tmp_path, content) == (
        "HS-Brexit_train.json: annotator 'Ann1' answered item 'train-1' 2 times (1 such pairs); "
        "keep one row each, or say what to do with repeats (--repeats): keep, first, last"
    )


@pytest.mark.data
def test_a_real_file_by_itself(data_folder: Path) -> None:
    path = data_folder / "lewidi2023" / "HS-Brexit_dev.json"
    assert recognise(Head.of(path))
    corpus = read(path, Layout())
    assert (corpus.n_items, corpus["hate"].n_rows, corpus.parts()) == (168, 1008, ["dev"])


@pytest.mark.data
def test_every_real_file_is_recognised_and_no_other(data_folder: Path) -> None:
    results = {path.name for path in data_folder.glob("*/*.json*") if recognise(Head.of(path))}
    corpora = ("HS-Brexit", "ArMIS", "ConvAbuse", "MD-Agreement")
    assert results == {f"{name}_{part}.json" for name in corpora for part in ("train", "dev")}
