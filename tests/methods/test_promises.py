"""What every method promises, on every scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dissensus as ds
from dissensus import Corpus, Predictions
from dissensus.errors import DataError, ModelError
from dissensus.methods import METHODS, method
from dissensus.methods.framework.base import Method
from dissensus.scales import MultiLabel
from dissensus.training import Training
from tests.crowds import SCALES, SMALL, feature_crowd

QUICK = Training(epochs=5, batch_size=16, device="cpu")


def make(name: str, **settings: object) -> Method:
    """A method with few epochs, reading features."""
    made = method(name)()
    known = made.get_params()
    if "training" in known:
        quick = {"encoder": "features", "training": QUICK} | SMALL.get(name, {})
        settings = quick | settings
    return made.set_params(**settings)


@pytest.fixture(params=METHODS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=SCALES)
def crowd(request: pytest.FixtureRequest) -> Corpus:
    return feature_crowd(str(request.param))


def _same(mine: Predictions, others: Predictions) -> bool:
    for question in mine:
        a, b = mine[question], others[question]
        assert a.by_annotator is not None and b.by_annotator is not None
        pairs = [
            (a.distribution, b.distribution),
            (a.consensus, b.consensus),
            (a.by_annotator.value, b.by_annotator.value),
            (a.by_annotator.distribution, b.by_annotator.distribution),
        ]
        if not all(np.array_equal(x, y) for x, y in pairs):  # type: ignore[arg-type]
            return False
    return True


def test_answers_are_answers(name: str, crowd: Corpus) -> None:
    prediction = make(name).fit(crowd).predict(crowd)["q"]
    scale, pairs = prediction.scale, prediction.by_annotator
    assert pairs is not None and len(pairs) == crowd["q"].n_rows
    for distribution in (prediction.distribution, pairs.distribution):
        assert distribution is not None and (distribution >= 0).all()
        if isinstance(scale, MultiLabel):
            assert (distribution <= 1).all()
        else:
            np.testing.assert_allclose(distribution.sum(axis=1), 1)
    scale.check(prediction.consensus)
    scale.check(pairs.value)


def test_a_saved_model_answers_the_same_to_the_bit(
    name: str, crowd: Corpus, tmp_path: Path
) -> None:
    fitted = make(name).fit(crowd)
    fitted.save(tmp_path / "model")
    loaded = ds.load(tmp_path / "model")
    assert loaded.get_params() == fitted.get_params()
    assert _same(fitted.predict(crowd), loaded.predict(crowd))
    files = {p.name for p in (tmp_path / "model").iterdir()}
    assert files - {"log.csv"} == {"README.md", "config.json", "model.safetensors"}
    assert ("log.csv" in files) == hasattr(fitted, "log_")


def test_the_same_seed_gives_the_same_numbers(name: str, crowd: Corpus) -> None:
    first, second = make(name).fit(crowd).predict(crowd), make(name).fit(crowd).predict(crowd)
    assert _same(first, second)


@pytest.mark.parametrize("name", [n for n in METHODS if "init_seed" in method(n)().get_params()])
def test_another_seed_gives_other_numbers(name: str) -> None:
    crowd = feature_crowd()
    first = make(name).fit(crowd).predict(crowd)
    assert not _same(first, make(name, init_seed=1).fit(crowd).predict(crowd))
    other = make(name, training=Training(epochs=5, batch_size=16, seed=1, device="cpu"))
    assert not _same(first, other.fit(crowd).predict(crowd))


def test_who_else_is_asked_changes_nothing(name: str, crowd: Corpus) -> None:
    fitted = make(name).fit(crowd)
    alone = fitted.predict(crowd, annotators=["p1"])["q"].by_annotator
    both = fitted.predict(crowd, annotators=["p3", "p1"])["q"].by_annotator
    everyone = fitted.predict(crowd, annotators="all")["q"].by_annotator
    assert alone is not None and both is not None and everyone is not None
    for others in (both, everyone):
        mine = others.annotator == list(others.annotators).index("p1")
        assert others.distribution is not None and alone.distribution is not None
        np.testing.assert_allclose(others.distribution[mine], alone.distribution, rtol=1e-5)
        np.testing.assert_allclose(others.value[mine], alone.value, rtol=1e-5)


def test_pairs_are_answered_in_the_order_asked(name: str) -> None:
    crowd = feature_crowd()
    fitted = make(name).fit(crowd)
    asked = [("7", "p2"), ("3", "p0"), ("7", "p0")]
    found = fitted.predict(crowd, annotators=asked)["q"].by_annotator
    assert found is not None
    codes = zip(found.item, found.annotator, strict=True)
    assert [(crowd.items[i], found.annotators[a]) for i, a in codes] == asked
    everyone = fitted.predict(crowd, annotators="all")["q"].by_annotator
    assert everyone is not None and everyone.distribution is not None
    expected = everyone.distribution.reshape(60, 4, -1)[[7, 3, 7], [2, 0, 0]]
    np.testing.assert_allclose(found.distribution, expected, rtol=1e-5)  # type: ignore[arg-type]


def test_order_of_rows_and_names_does_not_matter_to_the_floors() -> None:
    crowd = feature_crowd()
    rows = np.random.default_rng(0).permutation(crowd["q"].n_rows)
    shuffled = Corpus.build(
        crowd.name,
        crowd.items,
        {"q": crowd["q"].take(rows)},
        contents={"x": (crowd.contents["x"], crowd.content["x"])},
    )
    for name in ("prior", "annotator-majority"):
        assert _same(make(name).fit(crowd).predict(crowd), make(name).fit(shuffled).predict(crowd))


def test_settings_go_in_and_come_out(name: str) -> None:
    from sklearn.base import clone

    made = make(name)
    assert clone(made).get_params() == made.get_params()
    with pytest.raises(ModelError, match=f"{name} has no setting 'hiden'; it has "):
        made.set_params(hiden=1)


def test_asking_before_fitting(name: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=f"^{name} is not fitted yet; call fit first$"):
        make(name).predict(feature_crowd())
    with pytest.raises(ModelError, match=f"^{name} is not fitted yet; there is nothing to save$"):
        make(name).save(tmp_path / "model")


def test_a_question_that_was_not_asked(name: str) -> None:
    with pytest.raises(DataError, match="^made-up: no question 'mood'; it has 'q'$"):
        make(name).fit(feature_crowd(), "mood")


def test_one_annotator_one_value_and_one_item(name: str) -> None:
    one = feature_crowd(n_annotators=1)
    prediction = make(name).fit(one).predict(one)["q"]
    assert np.isfinite(prediction.distribution).all()
    constant = feature_crowd()
    constant["q"].answer[:] = 1
    prediction = make(name).fit(constant).predict(constant)["q"]
    assert (prediction.consensus == 1).all()
    single = feature_crowd(n_items=1)
    assert np.isfinite(make(name).fit(single).predict(single)["q"].distribution).all()


@pytest.mark.parametrize("name", [n for n in METHODS if not make(n).shows_attention])
def test_attention_is_refused_where_there_is_none(name: str) -> None:
    fitted = make(name).fit(feature_crowd())
    with pytest.raises(ModelError, match=f"^{name} has no attention to show$"):
        fitted.predict(feature_crowd(), attention=True)
