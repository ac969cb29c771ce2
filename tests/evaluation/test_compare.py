"""A comparison saves each fit, resumes where it was stopped, and gives the same results."""

from __future__ import annotations

import json
import os
import shutil
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dissensus import Annotations, Corpus, Ordinal
from dissensus.errors import DataError, ModelError, Unfinished
from dissensus.evaluation import Results, compare, k_fold, table, tables, to_text
from dissensus.evaluation.execution.folder import FitFolder, locked_folder
from dissensus.evaluation.execution.processes import fits_in_processes
from dissensus.evaluation.execution.task import best, drawn
from dissensus.evaluation.fit import Key
from dissensus.methods import method as method_class
from dissensus.methods.framework.base import Method
from dissensus.methods.prior import Prior
from dissensus.methods.single import Single
from dissensus.methods.soft_label import SoftLabel
from dissensus.training import Training
from dissensus.within import deadline
from tests.crowds import anonymous, feature_crowd
from tests.error_texts import error_text, refusal
from tests.evaluation.faulty import Blended, Broken, Dying, Endless, Faulting, Nowhere

QUICK = Training(epochs=2, device="cpu")


@pytest.fixture(scope="module")
def crowd() -> Corpus:
    return feature_crowd(n_items=40)


def run(crowd: Corpus, out: Path, methods: Any = None, **options: Any) -> Results:
    """Two folds, two seeds, in this process."""
    methods = methods or {"prior": Prior(), "blended": Blended()}
    given: dict[str, Any] = {"folds": k_fold(crowd, 2, stratify="q"), "seeds": 2, "processes": 1}
    return compare(crowd, methods, out=out, **(given | options))


def found(out: Path) -> tuple[dict[str, Any], bytes]:
    """Everything that must be the same each time."""
    front = json.loads((out / "results.json").read_text())
    front["when"] = front["about"]["commit"] = None
    return front, (out / "items.parquet").read_bytes()


# ---- what is fitted ----


def test_every_method_meets_every_fold_and_seed(crowd: Corpus, tmp_path: Path) -> None:
    methods: dict[str, Method] = {"prior": Prior(), "single": Single(training=QUICK)}
    results = run(crowd, tmp_path / "out", methods)
    assert [(fit.method, fit.seed, fit.fold, fit.status) for fit in results.fits] == [
        ("prior", 0, "fold 1", "ok"),  # it draws nothing, so one seed is all
        ("prior", 0, "fold 2", "ok"),
        *(("single", s, f, "ok") for s in (0, 1) for f in ("fold 1", "fold 2")),
    ]
    fit = results.of("single")[2]
    assert (fit.settings["init_seed"], fit.settings["training.seed"]) == (1, 1)
    assert results.about.metrics == (
        "cross-entropy", "macro-F1", "accuracy", "annotator accuracy",
    )  # fmt: skip
    assert Results.load(tmp_path / "out").equals(results)


def test_figures_are_those_of_fit_predict_and_scores(crowd: Corpus, tmp_path: Path) -> None:
    results = run(crowd, tmp_path / "out", {"single": Single(training=QUICK)})
    fold = k_fold(crowd, 2, stratify="q")[1]
    train, test, _ = fold.parts(crowd)
    own = Single(training=Training(epochs=2, device="cpu", seed=1), init_seed=1).fit(train)
    predicted = own.predict(test)["q"].distribution
    people = test["q"].distribution()
    by_hand = -(people * np.log(predicted)).sum(axis=1).mean()
    (fit,) = [fit for fit in results.fits if (fit.seed, fit.fold) == (1, "fold 2")]
    assert fit.score("q", "cross-entropy") == pytest.approx(by_hand, rel=1e-5)
    assert fit.rows("q", "cross-entropy")["item"].to_pylist() == list(test.items)


def test_each_metric_has_its_strongest_floor(tmp_path: Path) -> None:
    """On levels the error of an annotator's median is smaller than that of the mode, while the
    most probable level is the same; a method below either is named."""
    generator = np.random.default_rng(0)
    levels = generator.choice([0, 2, 3, 4], p=[0.4, 0.25, 0.25, 0.1], size=(90, 4))
    levels[:, 2:] = 4 - levels[:, 2:]
    item, annotator = np.divmod(np.arange(levels.size), 4)
    answers = Annotations.from_arrays(item, annotator, levels.ravel(), Ordinal(tuple("12345")))
    crowd = Corpus.build("levels", answers.items, {"q": answers})
    methods = {n: method_class(n)() for n in ("prior", "annotator-majority", "annotator-median")}
    metrics = ["annotator accuracy", "annotator error"]
    results = run(crowd, tmp_path / "out", methods | {"mine": Prior()}, metrics=metrics)
    shown = table(results)
    majority, median = shown["annotator-majority"].cells, shown["annotator-median"].cells
    assert majority["annotator accuracy"].mean == median["annotator accuracy"].mean
    assert majority["annotator error"].mean > median["annotator error"].mean + 0.05
    assert shown.notes[0].startswith("Strongest floor: annotator-m")
    assert shown.notes[1].startswith("Not better than the strongest floor: mine (annotator ")


def test_tables_of_several_questions_are_corrected_together(tmp_path: Path) -> None:
    crowd, other = feature_crowd(n_items=40), feature_crowd("interval", n_items=40)
    both = Corpus(**(vars(crowd) | {"questions": {"q": crowd["q"], "how much": other["q"]}}))
    results = run(both, tmp_path / "out")
    built = tables(results, reference="prior", resamples=200)
    assert [t.question for t in built] == ["q", "how much"]
    assert "CCC" in built[1].metrics and "CCC" not in built[0].metrics
    alone = table(results, "q", reference="prior", resamples=200)
    assert built[0].n_comparisons == built[1].n_comparisons > alone.n_comparisons


# ---- what does not end well ----


def test_a_failed_fit_is_kept_and_said(crowd: Corpus, tmp_path: Path) -> None:
    results = run(crowd, tmp_path / "out", {"prior": Prior(), "broken": Broken()})
    assert results.counts("broken") == {"ok": 2, "failed": 2, "diverged": 0}
    assert {fit.reason for fit in results.of("broken") if fit.status == "failed"} == {
        "RuntimeError: no luck"
    }
    text = to_text(table(results, reference="prior", resamples=200))
    assert "broken: 2 of 4 fits failed ('RuntimeError: no luck')" in text.splitlines()


def test_a_diverged_fit_is_kept_and_said(crowd: Corpus, tmp_path: Path) -> None:
    wild = Single(hidden=(8,), training=Training(epochs=3, learning_rate=1e30, device="cpu"))
    results = run(crowd, tmp_path / "out", {"wild": wild, "nowhere": Nowhere()}, seeds=1)
    assert [fit.status for fit in results.fits] == ["diverged"] * 4
    assert results.of("wild")[0].reason == (
        "training diverged in epoch 2: the loss is nan; lower the learning rate (1e+30)"
    )
    assert results.of("nowhere")[0].reason == (
        "training diverged: 21 of 21 answers to 'q' are nan; lower the learning rate, or rescale "
        "contents with large numbers"
    )


def test_a_method_that_cannot_learn_is_left_out_with_the_reason(tmp_path: Path) -> None:
    nobody = anonymous(feature_crowd(n_items=40))
    methods = {"prior": Prior(), "gold": Single(label="gold"), "odd": Single(encoder="minilm")}
    results = run(nobody, tmp_path / "out", methods)
    assert results.about.methods == ("prior",)
    assert results.about.left_out == {
        "gold": "made-up: no gold label for 'q'",
        "odd": "made-up: encoder 'minilm' does not read 'x' (features)",
    }
    assert error_text(lambda: run(nobody, tmp_path / "none", ["annotator-majority"])) == (
        "no method can learn from made-up: annotator-majority: annotator-majority needs known "
        "annotators; these answers are anonymous"
    )


# ---- going on ----


def test_what_is_missing_is_done_and_the_rest_is_left(crowd: Corpus, tmp_path: Path) -> None:
    run(crowd, tmp_path / "out", {"single": Single(training=QUICK), "prior": Prior()})
    whole = found(tmp_path / "out")
    fits = sorted((tmp_path / "out" / "fits").iterdir())
    kept = {path: (path / "fit.json").stat().st_mtime_ns for path in fits[::2]}
    for path in fits[1::2]:
        shutil.rmtree(path)
    left = tmp_path / "out" / "fits" / f".{fits[1].name}.new"  # as a killed process leaves it
    shutil.copytree(fits[0], left / "files" / "fit")
    (left / "lock").write_text("dissensus 1\n")
    (tmp_path / "out" / "results.json").unlink()
    run(crowd, tmp_path / "out", {"single": Single(training=QUICK), "prior": Prior()})
    assert found(tmp_path / "out") == whole
    assert {path: (path / "fit.json").stat().st_mtime_ns for path in kept} == kept
    assert not left.exists()


class Clock:
    """A minute passes whenever somebody looks."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 60
        return self.now


def test_a_budget_stops_and_the_same_again_goes_on(
    crowd: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    with monkeypatch.context() as patch:
        patch.setattr("dissensus.evaluation.comparison.time", clock)
        patch.setattr("dissensus.evaluation.execution.schedule.time", clock)
        patch.setattr("dissensus.within.time", clock)
        with pytest.raises(Unfinished) as caught:
            run(crowd, tmp_path / "out", budget=3.5 * 60)
    assert str(caught.value) == (
        "time limit reached: 2 of 6 fits done; run the same command again to resume"
    )
    assert not (tmp_path / "out" / "results.json").exists()
    assert len(run(crowd, tmp_path / "out").fits) == 6


def test_another_comparison_in_the_same_folder_is_refused(crowd: Corpus, tmp_path: Path) -> None:
    run(crowd, tmp_path / "out")

    def refused(corpus: Corpus, **options: Any) -> str:
        return error_text(run, corpus, tmp_path / "out", **options)

    start, end = (
        f"{tmp_path / 'out'}: contains another comparison: ",
        ". Run the command that it was started with to resume, or choose another folder",
    )
    assert refused(crowd, seeds=3) == f"{start}seeds: [0, 1] there, [0, 1, 2] here{end}"
    methods = {"prior": Prior(), "blended": Blended(even=0.2)}
    assert refused(crowd, methods=methods) == f"{start}blended's even: 0.5 there, 0.2 here{end}"
    other = feature_crowd(n_items=40, seed=1)
    folds = k_fold(crowd, 2, stratify="q")
    assert refused(other, folds=folds) == f"{start}answers or contents differ{end}"
    assert refused(crowd, folds=k_fold(crowd, 2, seed=9)) == f"{start}folds have other items{end}"
    assert len(run(crowd, tmp_path / "out").fits) == 6  # the same still resumes


def test_a_second_one_at_once_is_refused(crowd: Corpus, tmp_path: Path) -> None:
    with locked_folder(tmp_path / "out"):
        with pytest.raises(DataError) as caught:
            run(crowd, tmp_path / "out")
    assert str(caught.value) == (
        f"{tmp_path / 'out'}: another comparison is running in it (process {os.getpid()}); wait "
        "for it, or choose another folder"
    )
    assert (
        tmp_path / "out" / ".lock"
    ).read_text() == f"dissensus {os.getpid()}\n"  # stale, and no bar
    assert len(run(crowd, tmp_path / "out").fits) == 6


def test_other_format_numbers_are_refused(crowd: Corpus, tmp_path: Path) -> None:
    run(crowd, tmp_path / "out")
    for name, read in (("comparison", run), ("results", lambda _, out: Results.load(out))):
        path = tmp_path / "out" / f"{name}.json"
        path.write_text(path.read_text().replace('"format": 1', '"format": 9'))
        assert error_text(partial(read, crowd, tmp_path / "out")) == (
            f"{path}: format number 9, this version reads 1; read it with the version of "
            "dissensus that wrote it"
        )


# ---- the choice of settings ----


def test_settings_are_tried_within_the_training_part(crowd: Corpus, tmp_path: Path) -> None:
    methods = {"prior": Prior(), "blended": Blended(), "single": Single(training=QUICK)}
    own = {"single": {"dropout": (0.0, 0.1, 0.2), "training.learning_rate": (1e-3, 1e-2)}}
    results = run(crowd, tmp_path / "out", methods, trials=3, choices=own, inner_folds=2)
    assert [fit.tried for fit in results.of("prior")] == [[], []]
    for name in ("blended", "single"):
        for fit in results.of(name):
            assert len(fit.tried) == 3
            scores = [one["scores"]["q"]["cross-entropy"] for one in fit.tried]
            chosen = fit.tried[int(np.argmin(scores))]["settings"]
            assert {key: fit.settings[key] for key in chosen} == chosen
            each = fit.tried[0]["by_fold"]["q"]["cross-entropy"]
            assert len(each) == 2 and np.mean(each) == pytest.approx(scores[0])
    firsts = [fit.tried[0]["settings"] for fit in results.fits if fit.tried]
    assert firsts[0] == {"even": 0.5} and firsts[-1] == {
        "dropout": 0.5, "training.learning_rate": 0.001,
    }  # fmt: skip
    assert results.about.protocol == {"trials": 3, "inner folds": 2}
    assert not (tmp_path / "out" / "unfinished").exists()


def test_a_setting_that_fails_is_kept_and_never_chosen(crowd: Corpus, tmp_path: Path) -> None:
    own = {"single": {"training.learning_rate": (1e30,)}}
    methods = {"single": Single(hidden=(8,), training=QUICK)}
    results = run(crowd, tmp_path / "out", methods, trials=2, choices=own, seeds=1)
    fit = results.fits[0]
    assert (fit.status, fit.settings["training.learning_rate"]) == ("ok", 1e-3)
    assert fit.tried[1]["scores"] == {"q": {"cross-entropy": None}}
    assert fit.tried[1]["reason"].startswith("diverged: training diverged in epoch 2")
    shown = to_text(table(results))
    assert "single: 2 of 4 trials of settings diverged: training diverged in epoch 2" in shown


def test_tried_settings_are_not_tried_again(crowd: Corpus, tmp_path: Path) -> None:
    tally = tmp_path / "tally"
    options: dict[str, Any] = {"trials": 4, "seeds": 1, "inner_folds": 2}
    run(crowd, tmp_path / "whole", {"blended": Blended()}, **options)
    methods = {"blended": Blended(tally=str(tally), stop_at=7)}
    with pytest.raises(KeyboardInterrupt):  # in the last of 4 x 2 + 1 fits on the first fold
        run(crowd, tmp_path / "out", methods, **options)
    assert len(list((tmp_path / "out" / "unfinished").rglob("trial-*.json"))) == 3
    run(crowd, tmp_path / "out", methods, **options)
    assert int(tally.read_text()) == 7 + 3 + 9
    whole, again = (Results.load(tmp_path / name) for name in ("whole", "out"))
    assert [fit.tried for fit in again.fits] == [fit.tried for fit in whole.fits]
    assert [fit.scores for fit in again.fits] == [fit.scores for fit in whole.fits]


def test_drawn_settings_are_seeded_and_different() -> None:
    single = drawn(Single(), Single.choices, 20, seed=1)
    assert len({json.dumps(one) for one in single}) == 20
    assert single == drawn(SoftLabel(), SoftLabel.choices, 20, seed=1)
    assert single != drawn(Single(), Single.choices, 20, seed=2)
    assert single[0] == {
        "training.learning_rate": 1e-3, "training.epochs": 10, "training.weight_decay": 0.01,
        "dropout": 0.5, "hidden": (),
    }  # fmt: skip


def test_the_best_of_several_questions_has_the_best_mean_rank() -> None:
    metrics = {"a": "cross-entropy", "b": "CCC"}

    def scored(entropy: float | None, concordance: float) -> dict[str, Any]:
        return {"scores": {"a": {"cross-entropy": entropy}, "b": {"CCC": concordance}}}

    assert best([scored(0.9, 0.1), scored(0.5, 0.5), scored(0.4, 0.3)], metrics) == 1
    assert best([scored(0.5, 0.5), scored(0.5, 0.5)], metrics) == 0
    assert best([scored(None, 0.2), scored(0.9, 0.1)], metrics) == 0  # a tie of ranks
    assert best([scored(None, 0.1), scored(0.9, 0.1)], metrics) == 1


# ---- processes ----


@pytest.mark.slow
@pytest.mark.parametrize(("method", "cause"), [(Dying, "signal 9"), (Faulting, "error of the GPU")])
def test_a_process_that_dies_takes_only_its_fit_with_it(
    method: type[Dying] | type[Faulting], cause: str, crowd: Corpus, tmp_path: Path
) -> None:
    once = method(tally=str(tmp_path / "once"))
    always = method(tally=str(tmp_path / "always"), times=99)
    methods = {"once": once, "always": always, "blended": Blended()}
    results = run(crowd, tmp_path / "out", methods, processes=2, folds=k_fold(crowd, 2)[:1])
    assert results.counts("once") == {"ok": 1, "failed": 0, "diverged": 0}
    assert results.counts("blended") == {"ok": 2, "failed": 0, "diverged": 0}
    assert {fit.reason for fit in results.of("always")} == {
        f"its process died 2 times ({cause}); perhaps there was too little memory"
    }
    assert not (tmp_path / "out" / ".corpus").exists()


def test_a_lost_gpu_ends_a_comparison_in_this_process(
    crowd: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("is_initialized", "synchronize"):  # restored afterwards
        monkeypatch.setattr(torch.cuda, name, getattr(torch.cuda, name))
    faulting = Faulting(tally=str(tmp_path / "tally"))
    assert refusal(
        ModelError, run, crowd, tmp_path / "out", {"faulting": faulting}, processes=1
    ) == (
        "the GPU cannot be used by this process any more (CUDA error: an illegal memory access was "
        "encountered); run the same command again to resume"
    )
    monkeypatch.undo()
    again = run(crowd, tmp_path / "out", {"faulting": faulting}, processes=1)
    assert again.counts("faulting")["failed"] == 0


@pytest.mark.slow
def test_processes_are_stopped_at_the_deadline_but_not_before_the_first_fit(tmp_path: Path) -> None:
    jobs = [(Key(name, 0, "fold 1"),) for name in ("first", "second")]
    waited = tmp_path / "waited"
    endless = Endless("second", str(waited))
    assert list(fits_in_processes(endless, tmp_path, jobs, 1, until=time.monotonic())) == ["first"]
    assert waited.exists()  # for what its GPU was doing, before the process ended
    with deadline(time.monotonic()):  # of the caller, also for the first one
        assert list(fits_in_processes(Endless("first"), tmp_path, jobs, 1)) == []


@pytest.mark.slow
def test_two_processes_find_what_one_finds(crowd: Corpus, tmp_path: Path) -> None:
    methods = {"prior": Prior(), "single": Single(training=QUICK), "blended": Blended()}
    for n, out in ((1, tmp_path / "one"), (2, tmp_path / "two")):
        run(crowd, out, methods, processes=n, trials=2, inner_folds=2)
    assert found(tmp_path / "one") == found(tmp_path / "two")


def test_what_says_whose_a_folder_is_is_deleted_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "unfinished" / "results"
    results.mkdir(parents=True)
    for name in ("items.parquet", "results.json"):
        (results / name).touch()
    order: list[str] = []
    monkeypatch.setattr(Path, "unlink", lambda path, missing_ok: order.append(path.name))
    FitFolder(tmp_path).forget()
    assert order == ["items.parquet", "results.json"]
