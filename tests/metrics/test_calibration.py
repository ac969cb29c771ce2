from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dissensus.metrics.calibration import expected_calibration_error
from tests.metrics.crowds import SCALES, people, perfect, predicted
from tests.metrics.pairs import share_by_share


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "multi-label"])
@pytest.mark.parametrize("n_bins", [4, 15])
def test_gaps_bin_by_bin(kind: str, n_bins: int) -> None:
    annotations, prediction = people(SCALES[kind]), predicted(SCALES[kind])
    pairs = share_by_share(prediction, annotations)
    sure = np.array([q.max() for _, q in pairs])
    share = np.array([p[q.argmax()] for p, q in pairs])
    expected = 0.0
    for low in np.arange(n_bins) / n_bins:
        inside = (low <= sure) & (sure < low + 1 / n_bins)
        if inside.any():
            expected += inside.mean() * abs(sure[inside].mean() - share[inside].mean())
    result = expected_calibration_error(prediction, annotations, n_bins)
    assert result == pytest.approx(expected)


def test_people_themselves_and_their_mean_are_calibrated() -> None:
    annotations = people(SCALES["nominal"])
    own = perfect(annotations)
    assert expected_calibration_error(own, annotations) == 0
    mean = np.tile(own.distribution.mean(axis=0), (len(own.items), 1))
    prior = replace(own, distribution=mean)
    assert expected_calibration_error(prior, annotations) == pytest.approx(0, abs=1e-12)
