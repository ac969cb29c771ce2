"""What a test answers, and Holm's correction."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus.agreement import holm
from dissensus.evaluation.significance.difference import Difference, corrected


def test_undefined_comparisons_stay_undefined_and_do_not_count() -> None:
    result = holm([0.02, float("nan"), 0.03])
    np.testing.assert_allclose(result, [0.04, np.nan, 0.04])
    assert holm([]).shape == (0,)


def test_all_comparisons_are_corrected_at_once() -> None:
    examples = [Difference("items", 0.1, 0.0, 0.2, p) for p in (0.01, 0.2)]
    assert [result.adjusted for result in corrected(examples)] == pytest.approx([0.02, 0.2])
    assert [result.p for result in corrected(examples)] == [0.01, 0.2]


def test_effect_with_interval_comes_first_and_p_second() -> None:
    result = Difference("items", -0.0204, -0.04, -0.001, 0.0393)
    assert str(result) == "-0.020 [-0.040, -0.001], p = 0.039"
    assert str(corrected([result, result])[0]) == "-0.020 [-0.040, -0.001], p = 0.079 (Holm)"


def test_what_is_undefined_says_why() -> None:
    assert str(Difference("seeds", 0.02).undefined("one seed")) == "+0.020, no p: one seed"
    nothing = Difference("items", float("nan")).undefined("no items to compare")
    assert str(nothing) == "undefined: no items to compare"
