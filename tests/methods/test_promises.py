"""Every method keeps every promise of `dissensus.testing`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus import Predictions
from dissensus.errors import DataError, ModelError
from dissensus.evaluation.execution.task import drawn
from dissensus.methods import METHODS, PRESETS, method
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.settings import changed
from dissensus.testing import CHECKS, quick
from tests.crowds import FAMILIES, KINDS, SMALL, QuickEnsemble, feature_crowd, others_slow


def make(name: str) -> Method:
    """A method with few epochs, reading features."""
    cls = QuickEnsemble if name == QuickEnsemble.name else method(name)
    return quick(cls().set_params(**SMALL.get(name, {})))


CLASSES = [name for name in METHODS if name not in PRESETS]
WITHOUT_FIT = ("settings", "not fitted", "unknown question")
OF_ANSWERS = ("every scale", "save and load")  # what a method answers matters most to these


def _promises() -> list[Any]:
    """Every method with every promise; those that train are quick tests for one method of each
    family, or of each kind."""
    return [
        pytest.param(name, promise, marks=() if name in quick else pytest.mark.slow)
        for name in CLASSES
        for promise in CHECKS
        for quick in (_quick(promise),)
    ]


def _quick(promise: str) -> Sequence[str]:
    if promise in WITHOUT_FIT:
        return CLASSES
    if promise == "stacked equals alone":  # the slowest one
        return FAMILIES[:1]
    return KINDS if promise in OF_ANSWERS else FAMILIES


@pytest.mark.parametrize(("name", "promise"), _promises())
def test_a_promise_is_kept(name: str, promise: str) -> None:
    CHECKS[promise](make(name))


# ---- what is said where something is refused ----


@pytest.fixture(params=CLASSES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_what_is_said_before_fitting(name: str, tmp_path: Path) -> None:
    built = make(name)
    with pytest.raises(ModelError, match=f"{name} has no setting 'hiden'.*; it has "):
        built.set_params(hiden=1)
    with pytest.raises(ModelError, match=f"^{name} is not fitted yet; call fit first$"):
        built.predict(feature_crowd())
    with pytest.raises(ModelError, match=f"^{name} is not fitted yet; there is nothing to save$"):
        built.save(tmp_path / "model")
    with pytest.raises(DataError, match="^made-up: no question 'mood'; it has 'q'$"):
        built.fit(feature_crowd(), "mood")


def test_settings_go_through_clone(name: str) -> None:
    from sklearn.base import clone

    built = make(name)
    assert clone(built).get_params() == built.get_params()


@pytest.mark.parametrize(
    "name", others_slow([n for n in CLASSES if not make(n).shows_attention], KINDS)
)
def test_attention_is_refused_where_there_is_none(name: str) -> None:
    crowd = feature_crowd(method(name).scales[0])
    fitted = make(name).fit(crowd)
    with pytest.raises(ModelError, match=f"^{re.escape(name)} has no attention to show$"):
        fitted.predict(crowd, attention=True)


@pytest.mark.parametrize("name", [n for n in CLASSES if method(n).choices])
def test_trials_of_the_search_space_can_be_fitted(name: str) -> None:
    """On every scale that the method learns with its default settings."""
    trials = drawn(make(name), method(name).choices, 8, seed=0)
    assert len({str(settings) for settings in trials}) == 8
    for kind in method(name).scales:
        for settings in trials:
            changed(make(name), settings).check(feature_crowd(kind))


# ---- the floors ----


def test_order_of_rows_and_names_does_not_matter_to_the_floors() -> None:
    crowd = feature_crowd()
    rows = np.random.default_rng(0).permutation(crowd["q"].n_rows)
    shuffled = replace(crowd, questions={"q": crowd["q"].take(rows)})
    for name in ("prior", "annotator-majority"):
        _assert_same(*(make(name).fit(given).predict(crowd) for given in (crowd, shuffled)))


def _assert_same(first: Predictions, second: Predictions) -> None:
    np.testing.assert_array_equal(first["q"].distribution, second["q"].distribution)
    mine, others = first["q"].by_annotator, second["q"].by_annotator
    assert mine is not None and others is not None
    np.testing.assert_array_equal(mine.value, others.value)
