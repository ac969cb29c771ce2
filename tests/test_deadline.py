"""Work that is stopped at a deadline: between epochs and between batches of an encoder."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest

from dissensus import simulate
from dissensus.encoders import encodings
from dissensus.methods import Single
from dissensus.methods.framework.stacked_fits import Job, fit_many
from dissensus.training import Training
from dissensus.training.loop import Trainer
from dissensus.training.stacking.stack import Stack
from dissensus.within import TimeIsUp, check_deadline, current_deadline, deadline
from tests.crowds import feature_crowd
from tests.tiny import tiny_bert


def test_an_inner_block_ends_with_the_outer_one() -> None:
    with deadline(100.0):
        with deadline(math.inf):
            assert current_deadline() == 100.0
        with deadline(50.0):
            assert current_deadline() == 50.0
        assert current_deadline() == 100.0
    assert current_deadline() == math.inf
    check_deadline()


@pytest.mark.parametrize("n_fits", [1, 3], ids=["alone", "in a stack"])
def test_a_training_passes_its_deadline_by_one_epoch_at_most(
    n_fits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second epoch takes until after the deadline; it is the last one."""
    now, epochs = [0.0], [0]
    monkeypatch.setattr("dissensus.within.time.monotonic", lambda: now[0])
    kind = Stack if n_fits > 1 else Trainer
    train_epoch = kind.train_epoch

    def timed(*arguments: object) -> None:
        train_epoch(*arguments)  # type: ignore[arg-type]
        now[0] += 10
        epochs[0] += 1

    monkeypatch.setattr(kind, "train_epoch", timed)
    corpus, training = feature_crowd(n_items=20), Training(epochs=5, least_steps=0)
    jobs = [Job(Single(training=training, init_seed=seed), corpus) for seed in range(n_fits)]
    with pytest.raises(TimeIsUp), deadline(15.0):
        fit_many(jobs)
    assert epochs == [2]


def test_an_encoder_stops_between_batches(tmp_path: Path) -> None:
    corpus = simulate.text(n_items=40, seed=0)
    (encoding,) = encodings(corpus, str(tiny_bert(tmp_path / "bert"))).values()
    with pytest.raises(TimeIsUp), deadline(time.monotonic()):
        encoding.store()
    assert len(encoding.store()) == len(encoding.contents)
