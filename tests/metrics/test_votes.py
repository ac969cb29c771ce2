from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dissensus.errors import DataError
from dissensus.metrics import METRICS, scores, smoothed_votes
from tests.metrics.crowds import SCALES, people, predicted

cross_entropy = METRICS["cross-entropy"]
members_cross_entropy = METRICS["cross-entropy of members"]


def test_one_half_is_added_to_every_value() -> None:
    result = smoothed_votes(np.array([[5, 0, 0], [2, 2, 1]]))
    expected = np.array([[5.5, 0.5, 0.5], [2.5, 2.5, 1.5]]) / 6.5
    np.testing.assert_allclose(result, expected)
    np.testing.assert_allclose(smoothed_votes(np.zeros((1, 4))), 0.25)


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
def test_votes_are_judged_as_a_distribution(kind: str) -> None:
    annotations, prediction = people(SCALES[kind]), predicted(SCALES[kind])
    assert prediction.members is not None
    votes = np.array([np.bincount(answers, minlength=4) for answers in prediction.members.T])
    as_mass = replace(prediction, distribution=smoothed_votes(votes))
    expected = cross_entropy(as_mass, annotations)
    assert members_cross_entropy(prediction, annotations) == pytest.approx(expected)
    raw = replace(prediction, distribution=votes / 5)
    assert cross_entropy(raw, annotations) > 5 * expected  # why votes are smoothed


def test_votes_for_sets_are_smoothed_value_by_value() -> None:
    annotations, prediction = people(SCALES["multi-label"]), predicted(SCALES["multi-label"])
    assert prediction.members is not None
    chosen = [[sum((a >> v) & 1 for a in item) for v in range(3)] for item in prediction.members.T]
    as_mass = replace(prediction, distribution=(np.array(chosen) + 0.5) / 6)
    expected = cross_entropy(as_mass, annotations)
    assert members_cross_entropy(prediction, annotations) == pytest.approx(expected)


def test_without_members_there_are_no_votes() -> None:
    annotations, prediction = people(SCALES["nominal"]), predicted(SCALES["nominal"])
    alone = replace(prediction, members=None)
    with pytest.raises(DataError) as error:
        members_cross_entropy(alone, annotations)
    assert str(error.value) == (
        "the votes of members need an ensemble; these predictions have no members"
    )
    name = "cross-entropy of members"
    assert list(scores(prediction, annotations, metrics=[name])) == [name]
    assert scores(alone, annotations, metrics=[name]) == {}
