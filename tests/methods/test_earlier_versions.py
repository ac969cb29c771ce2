"""Models and comparisons that an earlier version saved: read, or refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus import load
from dissensus.errors import ModelError
from dissensus.evaluation import compare, k_fold
from dissensus.methods import AnnotatorHeads, AnnotatorQueries, Method, build
from dissensus.methods.framework.model_folder import plain
from dissensus.testing import example_corpus, quick
from tests.error_texts import error_text, refusal
from tests.saved_folders import altered_config


def older_folder(fitted: Method, folder: Path, name: str, **settings: Any) -> Path:
    """A model as the version before wrote it: with settings that no longer exist."""
    fitted.save(folder)
    retired = {key: plain(value) for key, value in fitted.retired.items()}
    with altered_config(folder) as config:
        config |= {"method": name, "settings": retired | config["settings"] | settings}
    return folder


@pytest.mark.parametrize("name", ["annotator-heads", "base-heads", "annotator-queries"])
def test_models_are_loaded(name: str, tmp_path: Path) -> None:
    corpus = example_corpus("nominal")
    fitted = quick(build(name)).fit(corpus)
    loaded = load(older_folder(fitted, tmp_path / "model", name))
    assert type(loaded) is type(fitted) and loaded.get_params() == fitted.get_params()
    expected = fitted.predict(corpus)["q"].distribution
    np.testing.assert_array_equal(loaded.predict(corpus)["q"].distribution, expected)


@pytest.mark.parametrize(
    ("cls", "setting", "value"), [(AnnotatorHeads, "rank", 2), (AnnotatorQueries, "projection", 8)]
)
def test_settings_that_are_gone_are_named(
    cls: type[Method], setting: str, value: int, tmp_path: Path
) -> None:
    fitted = quick(cls()).fit(example_corpus("nominal"))
    folder = older_folder(fitted, tmp_path / "model", cls.name, **{setting: value})
    assert refusal(ModelError, load, folder) == (
        f"{folder}: trained by an earlier version with {setting}={value}, a setting that is gone; "
        "train again without it, or load it with that version"
    )


def test_comparisons_are_refused_in_one_line(tmp_path: Path) -> None:
    corpus, methods = example_corpus("nominal"), {"base-heads": quick(build("base-heads"))}
    options: dict[str, Any] = {"folds": k_fold(corpus, 2), "seeds": 1, "processes": 1}
    compare(corpus, methods, out=tmp_path, **options)
    path = tmp_path / "comparison.json"
    begun = json.loads(path.read_text())
    begun["facts"] |= {"base-heads's rank": 0}
    begun.pop("checksums", None)
    path.write_text(json.dumps(begun))
    assert error_text(compare, corpus, methods, out=tmp_path, **options) == (
        f"{tmp_path}: contains another comparison: base-heads's rank: 0 there, None here. It was "
        "begun by another version: resume it with that version, or choose another folder"
    )
