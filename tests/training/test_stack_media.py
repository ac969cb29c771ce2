"""Pictures and speech side by side: frozen they stack, and where they cannot there is a reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dissensus import Annotations, Names, Nominal
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.methods import Job, Single, fit_many
from dissensus.methods.framework.trained import TrainedMethod
from dissensus.training import Training
from dissensus.training.stacking.groups import obstacle
from tests.media import picture, recording

N_ITEMS = 6


def _pictures() -> Any:
    return Contents.distinct("image", [picture(seed, side=32) for seed in range(N_ITEMS)])


def _clips() -> Any:
    return Contents.distinct("audio", [recording(seed, seconds=0.2) for seed in range(N_ITEMS)])


SHOWN = {"image": _pictures, "speech": _clips}


def _corpus(role: str) -> Corpus:
    items = Names.range(N_ITEMS)
    codes = np.arange(N_ITEMS)
    answers = Annotations.from_arrays(
        codes, np.zeros(N_ITEMS, np.int64), codes % 2, Nominal(("no", "yes")), items=items
    )
    return Corpus.build("shown", items, {"q": answers}, contents={role: SHOWN[role]()})


def _jobs(corpus: Corpus, method: Single) -> list[Job]:
    return [
        Job(replace(method, init_seed=s, training=replace(method.training, seed=s)), corpus)
        for s in (0, 1)
    ]


def _obstacle(method: TrainedMethod, corpus: Corpus) -> str:
    method.begin_fit(corpus, None, None)
    return obstacle(method.trainer(corpus, None))


@pytest.mark.parametrize("role", SHOWN)
@pytest.mark.parametrize("tune", ["nothing", pytest.param(1, marks=pytest.mark.slow)])
def test_together_as_one_by_one(role: str, tune: str | int) -> None:
    """Features are stacked; an encoder that learns is trained one by one, and says why."""
    corpus = _corpus(role)
    method = Single(tune=tune, training=Training(epochs=2, batch_size=4, device="cpu"))
    together, alone = (
        [
            fitted.predict(corpus)["q"].distribution
            for fitted in fit_many(_jobs(corpus, method), stack=way)
        ]
        for way in (None, False)
    )
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert not np.allclose(together[0], together[1], atol=1e-5)
    why = f"positions of {role!r} are not its units, as for images and speech"
    assert _obstacle(replace(method), corpus) == ("" if tune == "nothing" else why)
