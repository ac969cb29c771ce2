"""repeated-label: soft-label with items that count as often as they were answered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dissensus import Interval
from dissensus.methods import RepeatedLabel, SoftLabel
from dissensus.training import Training
from tests.crowds import anonymous, feature_crowd, thinned

QUICK: dict[str, Any] = {
    "encoder": "features",
    "dropout": 0,
    "training": Training(epochs=5, batch_size=16, learning_rate=0.02, device="cpu"),
}


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "multi-label"])
@pytest.mark.parametrize("form", ["named", "anonymous", "counted"])
def test_its_loss_is_soft_labels_cross_entropy_weighted_by_votes(kind: str, form: str) -> None:
    crowd = thinned(feature_crowd(kind), 0.6)
    if form != "named":
        crowd = anonymous(crowd, counted=form == "counted")
    repeated = RepeatedLabel(**QUICK).fit(crowd)
    weighted = SoftLabel(weighted=True, **QUICK).fit(crowd)
    np.testing.assert_allclose(repeated.log_.train, weighted.log_.train, rtol=1e-5)
    result, expected = (m.predict(crowd)["q"].distribution for m in (repeated, weighted))
    np.testing.assert_allclose(result, expected, atol=1e-4)
    plain = SoftLabel(**QUICK).fit(crowd)
    assert not np.allclose(repeated.log_.train, plain.log_.train, rtol=1e-3)


def test_ratings_are_learned_without_the_grid() -> None:
    crowd = feature_crowd("interval")
    coarse = crowd["q"].to(Interval(0, 10, n_bins=4))
    corpus = replace(crowd, questions={"q": coarse})
    fine, rough = (RepeatedLabel(**QUICK).fit(c).predict(c)["q"].consensus for c in (crowd, corpus))
    np.testing.assert_array_equal(fine, rough)
    soft = SoftLabel(weighted=True, **QUICK).fit(crowd).predict(crowd)["q"].consensus
    np.testing.assert_allclose(fine, soft, atol=0.2)  # 20 bins are not a density, but nearly


def test_two_questions_of_which_an_item_may_have_one() -> None:
    one, other = thinned(feature_crowd("nominal"), 0.4), thinned(feature_crowd("interval"), 0.4, 1)
    both = replace(one, questions={"class": one["q"], "rating": other["q"]})
    fitted = RepeatedLabel(**QUICK).fit(both)
    assert len(fitted.learns(both)) > len(np.unique(one["q"].item))
    prediction = fitted.predict(both)
    assert list(prediction) == ["class", "rating"]
    assert np.isfinite(prediction["rating"].consensus).all()
