"""JSON of files and saved folders: what is wrong in it is refused in one line."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dissensus as ds
from dissensus import Corpus, Predictions
from dissensus.errors import DataError, DissensusError, ModelError
from dissensus.evaluation import Results, compare
from dissensus.files.checked_json import parse_json
from dissensus.methods import AnnotatorMajority, Single
from dissensus.methods.framework.model_folder import checksum
from dissensus.training import Training
from tests.crowds import feature_crowd
from tests.error_texts import error_text, refusal
from tests.saved_folders import altered_config

WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    1.5,
    "x",
    [],
    {},
    [[1.0], [1.0, 2.0]],
    10**30,
    "a\ud800",
    {"a": [2]},
)


def crowd() -> Corpus:
    return ds.simulate.text(n_items=12, n_annotators=3, labels_per_item=2)


def fitted() -> AnnotatorMajority:
    return AnnotatorMajority().fit(crowd())


FOLDERS: dict[str, tuple[Callable[[Path], object], Callable[[Path], Any]]] = {
    "corpus": (lambda path: crowd().save(path), lambda path: str(ds.describe(ds.read(path)))),
    "predictions": (
        lambda path: fitted().predict(crowd()).save(path),
        lambda path: Predictions.load(path)["emotion"].to_pandas(),
    ),
    "config": (lambda path: fitted().save(path), lambda path: ds.load(path).predict(crowd())),
    "results": (lambda path: compare(crowd(), ["prior"], folds=2, out=path), Results.load),
}


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value, in lists the first one."""
    if place:
        yield place
    inside = value.items() if isinstance(value, dict) else enumerate(value[:1])
    for key, one in inside if isinstance(value, dict | list) else ():
        if isinstance(one, dict | list):
            yield from places(one, (*place, key))
        else:
            yield (*place, key)


def changed(content: Any, place: tuple[Any, ...], value: Any) -> Any:
    content = copy.deepcopy(content)
    inside = content
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    return content


@pytest.mark.parametrize(
    "kind", ["corpus", "predictions", "config", pytest.param("results", marks=pytest.mark.slow)]
)
def test_wrong_types_anywhere_in_a_saved_folder(kind: str, tmp_path: Path) -> None:
    write, use = FOLDERS[kind]
    write(tmp_path)
    path = tmp_path / f"{kind}.json"
    whole = json.loads(path.read_text(encoding="utf-8"))
    weights = (tmp_path / "model.safetensors").read_bytes() if kind == "config" else b""
    n_refused = 0
    for number, place in enumerate(places(whole)):
        content = changed(whole, place, WRONG[number % len(WRONG)])
        content.pop("checksums", None)  # so that the value is looked at
        if kind == "config":
            content["checksum"] = checksum(content, weights)
        path.write_text(json.dumps(content), encoding="utf-8")
        try:
            use(tmp_path)  # some values are allowed, such as another name
        except DissensusError as error:
            assert "\n" not in str(error)
            n_refused += 1
    assert n_refused > number / 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 100_000, "damaged JSON, nested too deeply"),
        ('{"format": ' + "9" * 5000 + "}", "damaged JSON, an integer has more than 4,300 digits"),
        ('{"format": 1', "line 1: damaged JSON, the file may be truncated"),
        (b"\xff", "damaged JSON, not UTF-8"),
    ],
)
def test_json_that_cannot_be_parsed(text: str | bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "corpus.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    message = error_text(Corpus.load, tmp_path)
    assert message.startswith(str(path)) and reason in message
    assert message.endswith("; make the folder again")


def test_a_setting_of_another_type(tmp_path: Path) -> None:
    fitted().save(tmp_path)
    path = tmp_path / "config.json"
    with altered_config(tmp_path) as config:
        config["settings"]["smoothing"] = [1.0]
    assert error_text(ds.load, tmp_path) == (
        f"{path}: damaged ('settings.smoothing' must be a number, found a list)"
    )


def test_a_repeated_key_among_many_is_found_at_once() -> None:
    """In linear time: 200,000 keys would take an hour otherwise."""
    keys = [f'"{number}": 0' for number in range(200_000)]
    with pytest.raises(DataError, match="^a.json: key '199999' occurs twice in one object$"):
        parse_json("{" + ",".join([*keys, '"199999": 1']) + "}", "a.json", refuse_repeated=True)


def test_a_network_that_is_larger_than_its_weights_is_not_built(tmp_path: Path) -> None:
    corpus = feature_crowd()
    Single(encoder="features", training=Training(epochs=1)).fit(corpus).save(tmp_path / "m")
    with altered_config(tmp_path / "m") as config:
        config["widths"] = dict.fromkeys(config["widths"], 10**10)
    assert refusal(ModelError, ds.load, tmp_path / "m") == (
        f"{tmp_path / 'm'}: damaged (its network would be larger than its weights); train again"
    )
