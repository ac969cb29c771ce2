"""Fits that are trained side by side are the fits that are made one by one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from dissensus import Corpus
from dissensus.evaluation import Results, compare, k_fold
from dissensus.evaluation.execution import schedule
from dissensus.evaluation.execution.schedule import jobs_of
from dissensus.evaluation.execution.task import Task
from dissensus.evaluation.fit import Key
from dissensus.methods.annotator_heads import AnnotatorHeads
from dissensus.methods.framework.base import Method
from dissensus.methods.prior import Prior
from dissensus.methods.single import Single
from dissensus.training import Training
from tests.crowds import feature_crowd

QUICK = Training(epochs=3, batch_size=8, device="cpu")


@dataclass(eq=False)
class Unlucky(Single):
    """Fails with one seed before it begins."""

    name: ClassVar[str] = "unlucky"

    def learns(self, corpus: Corpus) -> np.ndarray:
        if self.init_seed == 1:
            raise RuntimeError("no luck")
        return super().learns(corpus)


def task_of(crowd: Corpus, methods: dict[str, Method], **changes: Any) -> Task:
    given: dict[str, Any] = {"seeds": (0, 1, 2), "trials": 0, "choices": {}}
    given |= {"questions": ("q",), "metrics": ("accuracy",), "inner_folds": 2, "by": None}
    given |= {"folds": tuple(k_fold(crowd, 2)), "unfinished": Path("unfinished")}
    return Task(methods=methods, **(given | changes))


def run(crowd: Corpus, out: Path, methods: dict[str, Method], **options: Any) -> Results:
    given: dict[str, Any] = {"folds": k_fold(crowd, 2), "seeds": 3, "processes": 1}
    return compare(crowd, methods, out=out, **(given | options))


def test_seeds_and_folds_of_a_method_are_one_job(monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = feature_crowd(n_items=40)
    methods: dict[str, Method] = {
        "prior": Prior(),
        "single": Single(training=QUICK),
        "tuned": Single(training=QUICK, tune="all"),
    }
    built = jobs_of(task_of(crowd, methods), crowd)
    assert [len(job) for job in built] == [1, 6, *[1] * 7]  # by when their first fit comes
    assert built[1] == tuple(Key("single", s, f) for f in ("fold 1", "fold 2") for s in (0, 1, 2))
    assert sorted(key for job in built for key in job) == sorted(task_of(crowd, methods).keys())
    monkeypatch.setitem(schedule.MEMBERS, "cpu", 4)
    assert [len(job) for job in jobs_of(task_of(crowd, methods), crowd)][1:3] == [3, 1]


def test_long_trainings_and_chosen_settings_are_jobs_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crowd = feature_crowd(n_items=40)
    long = {"long": Single(training=Training(epochs=10**6, device="cpu"))}
    assert {len(job) for job in jobs_of(task_of(crowd, dict(long)), crowd)} == {1}
    searched = {"single": Single(training=QUICK)}
    choices = {"single": {"dropout": (0.0, 0.2)}}
    task = task_of(crowd, dict(searched), trials=2, choices=choices)
    assert {len(job) for job in jobs_of(task, crowd)} == {1}
    monkeypatch.setitem(schedule.TRIALS, "cpu", 12)  # 4 for each fit
    assert [len(job) for job in jobs_of(task, crowd)] == [3, 3]


SEARCHED = [pytest.param(2, n, marks=pytest.mark.slow) for n in (1, 96)]


@pytest.mark.parametrize(("trials", "in_a_job"), [(0, 1), *SEARCHED])
def test_together_they_find_what_they_find_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trials: int, in_a_job: int
) -> None:
    monkeypatch.setitem(schedule.TRIALS, "cpu", in_a_job)
    monkeypatch.setattr("dissensus.training.stacking.groups.MOST_MEMBERS", 7)
    crowd = feature_crowd(n_items=40)
    methods: dict[str, Method] = {
        "single": Single(training=QUICK, hidden=(4,)),
        "annotator-heads": AnnotatorHeads(training=QUICK),
        "unlucky": Unlucky(training=QUICK),
        "wild": Single(training=Training(epochs=3, learning_rate=1e30, device="cpu"), hidden=(4,)),
    }
    tried: dict[str, tuple[Any, ...]] = {"training.learning_rate": (1e-3, 1e-2), "dropout": (0.0,)}
    choices = {name: {**tried, "hidden": ((4,), (8,))} for name in methods}
    options: dict[str, Any] = {"trials": trials, "choices": choices, "inner_folds": 2}
    together = run(crowd, tmp_path / "together", methods, **options)
    with monkeypatch.context() as patch:
        patch.setitem(schedule.MEMBERS, "cpu", 1)
        patch.setattr("dissensus.training.stacking.groups.stackable", lambda run: False)
        alone = run(crowd, tmp_path / "alone", methods, **options)
    for one, other in zip(together.fits, alone.fits, strict=True):
        assert one.key == other.key and one.notes == other.notes
        assert (one.status, one.reason, one.settings) == (
            other.status,
            other.reason,
            other.settings,
        )
        assert one.items.select(["metric", "item"]).equals(other.items.select(["metric", "item"]))
        np.testing.assert_allclose(one.items["score"], other.items["score"], atol=1e-5)
        assert len(one.tried) == len(other.tried) == trials
        for mine, theirs in zip(one.tried, other.tried, strict=True):
            assert (mine["settings"], mine["reason"]) == (theirs["settings"], theirs["reason"])
            assert mine["scores"]["q"] == pytest.approx(theirs["scores"]["q"], abs=1e-5)
    reasons = {fit.key: fit.reason for fit in together.of("unlucky") if fit.status == "failed"}
    assert reasons == {
        Key("unlucky", 1, "fold 1"): "RuntimeError: no luck",
        Key("unlucky", 1, "fold 2"): "RuntimeError: no luck",
    }
    assert together.counts("single")["ok"] == 6
    assert together.counts("wild")["diverged"] == (0 if trials else 6)  # another rate is chosen


def test_processes_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU serves one process; two where frozen features are trained on for more than a minute. On
    a CPU, short trainings on frozen features are not worth a second one."""
    crowd = feature_crowd(n_items=40)
    quick, long = Training(epochs=1), Training(epochs=1_000_000)
    frozen: dict[str, Method] = {"prior": Prior(), "single": Single(training=quick)}
    arguments: list[dict[str, Method]] = [
        frozen,
        {"prior": Prior(), "single": Single(training=long)},
        {"single": Single(training=long), "tuned": Single(training=quick, tune="all")},
    ]
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(5), raising=False)
    results = {}
    for gpu in (False, True):
        monkeypatch.setattr("torch.cuda.is_available", lambda gpu=gpu: gpu)
        results[gpu] = [schedule.default_processes(task_of(crowd, m), crowd) for m in arguments]
    assert results == {False: [1, 5, 5], True: [1, 2, 1]}
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    tuned: dict[str, Method] = {"tuned": Single(training=quick, tune="all")}
    assert schedule.default_processes(task_of(crowd, tuned), crowd) == 5  # time unknown
    assert schedule.default_processes(task_of(crowd, arguments[1]), crowd, left=20) == 1
