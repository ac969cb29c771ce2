"""One LeWiDi file by itself, of 2023 or 2025, and what can be wrong with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dissensus.errors import DataError
from dissensus.readers import read, recognise
from dissensus.readers.formats.lewidi import conversations
from tests.datasets.folders import item

OLD, NEW = "lewidi2023", "lewidi2025"
NAMES = {OLD: "HS-Brexit_train.json", NEW: "MP_dev.json"}
ITEMS = {OLD: item("lewidi2023/HS-Brexit_train.json"), NEW: item("lewidi2025/MP_dev.json")}


def written(folder: Path, content: Any, name: str) -> Path:
    path = folder / name
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


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
    one = ITEMS[edition]
    whole = json.dumps({"1": one, "2": one})
    for content in (whole, json.dumps({"1": one}, indent=4), "\ufeff" + whole, whole[:-50]):
        assert recognise(written(tmp_path, content, "unnamed")) == edition
    others: list[Any] = [[one], one, {"1": {"text": "a"}}, {"Ann1": {"Age": "26"}}]
    for content in others:
        assert recognise(written(tmp_path, content, "other.json")) not in (OLD, NEW)


# ---- reading ----


def test_conversations_are_joined_through_others() -> None:
    assert conversations(["1", "2", "3,4", "2,3", "5", None]) == ["1", "2", "2", "2", "5", None]


def test_options_name_the_corpus_the_encoding_and_a_rule_on_repeats(tmp_path: Path) -> None:
    repeated = ITEMS[OLD] | {"annotators": "Ann1,Ann1", "text": "Grüße"}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"1": repeated}, ensure_ascii=False), encoding="latin-1")
    corpus = read(path, name="mine", repeats="last", encoding="latin-1")
    assert corpus.name == "mine" and corpus["hate"].answers() == ["1"]
    assert corpus.text_of(0) == "Grüße"
    with pytest.raises(DataError, match=r"a.json, line 1: byte 0xfc at position \d+ is not UTF-8"):
        read(path)


# ---- bad input ----


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
