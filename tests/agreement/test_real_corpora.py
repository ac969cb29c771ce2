"""Agreement on real corpora, held against the figures that come with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dissensus.agreement import fleiss_kappa, icc, kappa_matrix, mean_kappa
from dissensus.datasets import read

pytestmark = pytest.mark.data


@pytest.mark.parametrize(("corpus", "kappa"), [("rte", 0.241), ("temp", 0.223), ("wsd", 0.937)])
def test_fleiss_kappa_of_snow(data_folder: Path, corpus: str, kappa: float) -> None:
    answers = read(data_folder / "snow2008", corpus=corpus)[corpus]
    assert fleiss_kappa(answers) == pytest.approx(kappa, abs=5e-4)


def test_icc_of_snow(data_folder: Path) -> None:
    expected = {
        "anger": 0.355,
        "disgust": 0.430,
        "fear": 0.287,
        "joy": 0.217,
        "sadness": 0.439,
        "surprise": 0.057,
        "valence": 0.328,
    }
    affect = read(data_folder / "snow2008", corpus="affect")
    results = {question: icc(affect[question], "icc1") for question in expected}
    assert results == pytest.approx(expected, abs=5e-4)


def test_kappa_of_twelve_coders(data_folder: Path) -> None:
    coders = read(data_folder / "eye_fixations_12coders")["fixation"]
    assert mean_kappa(coders) == pytest.approx(0.854, abs=5e-4)
    pairs = kappa_matrix(coders)[np.triu_indices(12, 1)]
    assert (pairs.min(), pairs.max()) == pytest.approx((0.736, 0.919), abs=5e-4)
