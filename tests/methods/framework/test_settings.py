"""Settings given to a method change what they name and nothing else."""

from __future__ import annotations

import copy
import pickle
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from dissensus.densities import RatingKde
from dissensus.errors import DissensusError
from dissensus.methods import METHODS, AnnotatorHeads, CrowdLayer, Madl, TrainedMethod, load, method
from dissensus.methods.framework.settings import configured
from dissensus.testing import example_corpus
from dissensus.training import Training
from tests.saved_folders import altered_config

TRAINED = [name for name in METHODS if "training" in method(name)().get_params()]


@pytest.fixture(params=TRAINED)
def cls(request: pytest.FixtureRequest) -> type[TrainedMethod]:
    found = method(request.param)
    assert issubclass(found, TrainedMethod)
    return found


def test_every_way_to_set_one_setting_leaves_the_others(cls: type[TrainedMethod]) -> None:
    default = cls().training
    expected = asdict(default) | {"seed": 7}
    assigned = cls()
    assigned.training = Training(seed=7)
    for built in (
        cls(training=Training(seed=7)),
        cls(training={"seed": 7}),  # type: ignore[arg-type]
        cls().set_params(training__seed=7),
        cls().set_params(training=Training(seed=7)),
        assigned,
        configured(cls, [("training.seed", "7")]),
    ):
        assert isinstance(built, cls)
        assert asdict(built.training) == expected
    assert cls(training=default).training is default  # as `clone` of scikit-learn requires


def test_chosen_epochs_are_exact_unless_steps_are_given_too() -> None:
    for training in (Training(epochs=3), {"epochs": 3}):
        built = Madl(training=training)  # type: ignore[arg-type]
        assert built.training == replace(Madl().training, epochs=3, least_steps=0)
    assert Madl().set_params(training__epochs=3).training == built.training
    both = Madl(training=Training(epochs=3, least_steps=9))
    assert (both.training.epochs, both.training.least_steps) == (3, 9)


def test_set_params_begins_with_the_whole_and_changes_all_or_nothing() -> None:
    built = CrowdLayer().set_params(training__seed=4, training=Training(clip=2.0), dropout=0.25)
    assert built.training == replace(CrowdLayer().training, seed=4, clip=2.0)
    assert built.dropout == 0.25
    with pytest.raises(DissensusError):
        built.set_params(dropout=0.75, training__seed="four")
    assert built.dropout == 0.25
    assert built.set_params(training__epochs=2).training.clip == 2.0
    assert AnnotatorHeads(kde={"bins": 8}).kde == RatingKde(bins=8)  # type: ignore[arg-type]
    assert AnnotatorHeads().set_params(kde__bins=8).kde == RatingKde(bins=8)


def test_get_params_lists_settings_within_a_setting() -> None:
    settings = AnnotatorHeads().get_params()
    assert settings["training__epochs"] == settings["training"].epochs == 20
    assert settings["kde__bins"] == 4
    assert not any("__" in name for name in AnnotatorHeads().get_params(deep=False))
    same = AnnotatorHeads().set_params(**settings)
    assert same.get_params() == settings


def test_a_training_alone_has_the_general_defaults_and_remembers_what_it_was_given() -> None:
    partial = Training(seed=1)
    assert partial == Training(epochs=30, seed=1) and repr(partial) == "Training(seed=1)"
    for other in (copy.deepcopy(partial), pickle.loads(pickle.dumps(partial)), eval(repr(partial))):
        assert other == partial and other.given == {"seed"}
    whole = CrowdLayer(training=partial).training
    assert eval(repr(whole)) == whole
    assert pickle.loads(pickle.dumps(CrowdLayer(training=partial))).training == whole
    assert Training(9, learning_rate=0.5).over(whole) == replace(whole, epochs=9, learning_rate=0.5)


def test_the_default_of_a_class_is_completed_by_that_of_its_base() -> None:
    @dataclass(eq=False)
    class Slow(CrowdLayer):
        training: Training = Training(clip=2.0)
        name: ClassVar[str] = "slow"

    @dataclass(eq=False)
    class Slower(Slow):
        training: Training = Training(epochs=40)

    assert Slow().training == replace(CrowdLayer().training, clip=2.0)
    assert Slower().training == replace(CrowdLayer().training, clip=2.0, epochs=40)


def test_a_saved_model_has_all_settings_and_an_old_one_those_of_its_time(tmp_path: Path) -> None:
    corpus = example_corpus("nominal", n_items=20)
    fitted = CrowdLayer(encoder="features", training=Training(epochs=1)).fit(corpus)
    fitted.save(tmp_path / "model")
    with altered_config(tmp_path / "model") as config:
        saved = config["settings"]["training"]
        assert Training(**saved) == fitted.training and saved.keys() == asdict(Training()).keys()
        for later in ("least_steps", "smallest_gain"):  # which old models do not have
            del saved[later]
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, CrowdLayer) and loaded.training == fitted.training
