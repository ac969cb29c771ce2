"""A damaged or hostile model folder makes no network that is larger than its weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import dissensus as ds
from dissensus.errors import ModelError
from dissensus.methods import METHODS, Single, SoftLabel, method
from dissensus.methods.framework.network_size import check_network_size
from dissensus.training import Training
from tests.crowds import SMALL, feature_crowd, others_slow
from tests.error_texts import refusal
from tests.saved_folders import altered_config

HUGE = 10**9
TOO_LARGE = "damaged (its network would be larger than its weights); train again"
OF_NETWORKS = (
    *("hidden", "question_hidden", "width", "layers", "inner", "projection", "panel"),
    *("frame_queries", "branch_hidden", "embedding", "confusion_hidden"),
)  # settings that every network with them has weights for
TRAINED = [name for name in METHODS if "training" in method(name)().get_params()]
QUICK = Training(epochs=1, device="cpu")


def _change(folder: Path, settings: dict[str, Any]) -> None:
    with altered_config(folder) as config:
        config["settings"] |= settings


@pytest.mark.parametrize("name", others_slow(TRAINED))
def test_a_huge_setting_is_refused_before_the_network_is_built(name: str, tmp_path: Path) -> None:
    kind = "nominal" if "nominal" in method(name).scales else "interval"
    fitted = method(name)(**SMALL.get(name, {})).set_params(encoder="features", training=QUICK)
    fitted.fit(feature_crowd(kind, 20)).save(tmp_path / "m")
    params = fitted.get_params()
    settings = [setting for setting in OF_NETWORKS if setting in params]
    assert settings
    for setting in settings:
        value = (HUGE,) if isinstance(params[setting], tuple) else HUGE
        _change(tmp_path / "m", {setting: value})
        assert refusal(ModelError, ds.load, tmp_path / "m") == f"{tmp_path / 'm'}: {TOO_LARGE}", (
            setting
        )
        _change(tmp_path / "m", {setting: params[setting]})
    ds.load(tmp_path / "m")


def test_more_members_than_weights_are_refused(tmp_path: Path) -> None:
    ensemble = ds.methods.SeedEnsemble(n_members=2, encoder="features", training=QUICK)
    ensemble.fit(feature_crowd()).save(tmp_path / "m")
    _change(tmp_path / "m", {"n_members": HUGE})
    with pytest.raises(ModelError, match=r"n_members is 1000000000, but its weights are of 2\)"):
        ds.load(tmp_path / "m")


def test_an_encoder_that_is_larger_than_its_weights_is_not_built(tmp_path: Path) -> None:
    rows = [(f"t{i}", "ann", "yes" if i % 2 else "no") for i in range(8)]
    answers = ds.Annotations.from_rows(rows)
    texts = {"text": [f"text {i}" for i in range(8)]}
    corpus = ds.Corpus.build("c", answers.items, {"q": answers}, contents=texts)
    fitted = Single(encoder="spelling:channels=4", tune="all", training=QUICK).fit(corpus)
    fitted.save(tmp_path / "m")
    ds.load(tmp_path / "m")
    _change(tmp_path / "m", {"encoder": f"spelling:channels={HUGE}"})
    assert refusal(ModelError, ds.load, tmp_path / "m") == f"{tmp_path / 'm'}: {TOO_LARGE}"


def test_loading_draws_no_random_number(tmp_path: Path) -> None:
    SoftLabel(encoder="features", training=QUICK).fit(feature_crowd()).save(tmp_path / "m")
    before = torch.get_rng_state()
    ds.load(tmp_path / "m")
    assert torch.equal(torch.get_rng_state(), before)


def test_what_is_registered_twice_or_reads_its_weights_is_not_refused() -> None:
    def normed() -> nn.Module:
        return nn.utils.parametrizations.weight_norm(nn.Linear(30, 20))

    check_network_size(normed, sum(values.numel() for values in normed().state_dict().values()))

    def reads() -> nn.Module:
        layer = nn.Linear(3, 2)
        layer.first = layer.bias.tolist()  # type: ignore[assignment]
        return layer

    check_network_size(reads, 8)
    with pytest.raises(ModelError, match="larger than its weights"):
        check_network_size(lambda: nn.Linear(10, 10), 20)
