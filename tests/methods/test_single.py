"""Label smoothing of `single`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from dissensus.errors import ModelError
from dissensus.methods import Single
from dissensus.methods.losses import label_losses
from dissensus.training import Outputs, Sizes, Training
from tests.crowds import SCALES, feature_crowd


def _loss(kind: str, target: torch.Tensor, raw: torch.Tensor, smoothing: float) -> torch.Tensor:
    made = label_losses(Sizes({"q": SCALES[kind]}, 0, {}), smoothing)[0]
    batch: Any = SimpleNamespace(targets={"q": target})
    return made.function(Outputs(items={"q": raw}), batch)


def test_a_smoothed_loss_is_torchs() -> None:
    generator = torch.manual_seed(0)
    raw = torch.randn(7, 3, dtype=torch.float64, generator=generator)
    target = torch.tensor([0, 1, 2, 0, 1, 2, 0])
    for smoothing in (0.0, 0.1, 0.7):
        expected = F.cross_entropy(raw, target, reduction="none", label_smoothing=smoothing)
        np.testing.assert_allclose(_loss("nominal", target, raw, smoothing), expected)
    chosen = torch.randint(0, 2, (7, 3), generator=generator).double()
    smooth = F.binary_cross_entropy_with_logits(raw, 0.9 * chosen + 0.05, reduction="none")
    np.testing.assert_allclose(_loss("multi-label", chosen, raw, 0.1), smooth.mean(dim=1))


@pytest.mark.parametrize(("kind", "sure"), [("nominal", 0.8), ("ordinal", 0.775)])
def test_it_is_never_surer_than_the_smoothing_lets_it(kind: str, sure: float) -> None:
    crowd = feature_crowd(kind)
    crowd["q"].answer[:] = 1
    training = Training(epochs=200, learning_rate=0.02, device="cpu")
    fitted = Single(encoder="features", dropout=0, label_smoothing=0.3, training=training)
    found = fitted.fit(crowd).predict(crowd)["q"].distribution
    np.testing.assert_allclose(found[:, 1], sure, atol=0.01)


def test_smoothing_that_makes_no_sense() -> None:
    for share in (1.0, -0.1):
        with pytest.raises(ModelError) as caught:
            Single(encoder="features", label_smoothing=share).fit(feature_crowd())
        expected = f"label_smoothing is a share from 0 to below 1, found {share:g}"
        assert str(caught.value) == expected
    with pytest.raises(ModelError) as caught:
        Single(encoder="features", label_smoothing=0.1).fit(feature_crowd("interval"))
    assert str(caught.value) == (
        "made-up: label smoothing spreads a label over values; 'q' has interval answers"
    )
