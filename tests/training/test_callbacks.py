"""Functions that training calls after each step and each epoch."""

from __future__ import annotations

import numpy as np

from dissensus.methods import AnnotatorHeads, Job, fit_many
from dissensus.testing import example_corpus
from dissensus.training import Training, TrainingEvent, callbacks


def heads(seed: int, epochs: int) -> AnnotatorHeads:
    return AnnotatorHeads(training=Training(seed=seed, epochs=epochs))


def test_epochs_and_steps_are_those_of_the_log() -> None:
    corpus = example_corpus("nominal", n_items=80)
    train, validation = corpus.split(0.25, seed=0)
    steps: list[TrainingEvent] = []
    epochs: list[TrainingEvent] = []
    method = heads(4, 3)
    with callbacks(on_epoch=epochs.append, on_step=steps.append):
        method.fit(train, validation=validation)
    log = method.log_
    assert [event.loss for event in epochs] == log.train
    assert [event.score for event in epochs] == log.validation
    assert [event.learning_rate for event in epochs] == log.rate
    assert [event.step for event in steps] == list(range(1, epochs[-1].step + 1))
    assert {event.seed for event in steps} == {4}
    last = [event.loss for event in steps if event.epoch == 2]
    np.testing.assert_allclose(np.mean(last), log.train[-1], rtol=1e-6)
    without = heads(4, 3).fit(train, validation=validation)
    assert without.log_.train == log.train


def test_stacked_trainings_call_it_too() -> None:
    corpus = example_corpus("nominal", n_items=80)

    def losses(**called: bool) -> dict[int, list[float]]:
        events: list[TrainingEvent] = []
        jobs = [Job(heads(s, 2), corpus) for s in (1, 2)]
        steps: list[TrainingEvent] = []
        with callbacks(events.append, steps.append if called.get("on_step") else None):
            fit_many(jobs)
        assert bool(steps) == bool(called)
        return {seed: [e.loss for e in events if e.seed == seed] for seed in (1, 2)}

    stacked, alone = losses(), losses(on_step=True)
    assert [len(of_seed) for of_seed in stacked.values()] == [2, 2]
    for seed, of_seed in stacked.items():
        np.testing.assert_allclose(of_seed, alone[seed], rtol=1e-5)
