"""ds.run: what it returns, which model it saves, and what it leaves out at its deadline."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import dissensus as ds
from dissensus import Corpus, simulate
from dissensus.methods import Single
from dissensus.within import TimeIsUp
from dissensus.workflow.budget import Budget
from dissensus.workflow.models import to_save
from tests.evaluation.comparisons import comparison
from tests.tiny import tiny_bert


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return simulate.text(n_items=60, n_annotators=4, labels_per_item=3, seed=0)


def test_a_result_says_in_plain_words_what_was_done(corpus: Corpus, tmp_path: Path) -> None:
    lines: list[str] = []
    encoder, out = str(tiny_bert(tmp_path / "bert")), tmp_path / "out"
    options: dict[str, Any] = {"methods": ["prior", "single"], "seeds": 1, "encoder": encoder}
    result = ds.run(corpus, out, message=lines.append, **options)
    assert result.best is not None and result.results is not None and result.left_out == ()
    assert (
        str(result)
        == repr(result)
        == (
            "simulated-text: prior, single were compared on all 60 items with answers\n"
            f"best method: {result.best}\n"
            f"model: {out / 'model'}, single\n"
            f"report: {out / 'report.html'}"
        )
    )
    assert "training single, the best of the comparison" in lines
    assert result.report.is_file() and ds.load(out / "model").predict(["a text"])
    assert result.summary[0].startswith("simulated-text has 180 answers by 4 annotators")


def test_of_many_questions_one_is_learned_and_all_are_reported(
    corpus: Corpus, tmp_path: Path
) -> None:
    (name, answers), *_ = corpus.questions.items()
    names = [name, "b", "c", "d"]
    several = replace(corpus, questions=dict.fromkeys(names, answers), gold={})
    lines: list[str] = []
    run = partial(ds.run, several, methods=["prior", "logistic"], seeds=1, message=lines.append)
    one = run(tmp_path / "one", encoder=str(tiny_bert(tmp_path / "bert")))
    assert lines[0].startswith(f"question: {name}, the one of 4 with most answers; name others")
    assert list(ds.load(tmp_path / "one" / "model").predict(["a text"])) == [name]
    assert len(list((tmp_path / "one").glob("consensus-*.csv"))) == 4
    assert "4 questions" in one.summary[0]
    run(tmp_path / "two", questions=["b", "d"], encoder=str(tmp_path / "bert"))
    assert list(ds.load(tmp_path / "two" / "model").predict(["a text"])) == ["b", "d"]


def test_a_model_that_cannot_be_trained_in_time_is_replaced_by_a_floor(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, out = str(tiny_bert(tmp_path / "bert")), tmp_path / "out"
    options: dict[str, Any] = {"methods": ["prior", "single"], "seeds": 1, "encoder": encoder}
    ds.run(corpus, out, 600.0, **options)

    def slow(self: Single, corpus: Corpus) -> None:
        raise TimeIsUp

    monkeypatch.setattr(Single, "fit", slow)
    result = ds.run(corpus, out, 600.0, **options)
    assert result.saved is not None and result.saved.method == "prior"
    assert result.best is not None and result.best.method == "single"
    assert result.left_out == (
        "time limit reached: training single is not finished; give a longer budget",
        "the model is prior, which ignores the content, because no other method was fitted within "
        "the time; give a longer budget",
    )
    assert type(ds.load(out / "model")).__name__ == "Prior"
    assert "left out: the model is prior" in str(result)


def test_the_best_method_is_not_trained_if_there_is_no_time_for_it() -> None:
    results = comparison(n_seeds=1, k=2)
    slow = [replace(fit, seconds=30.0 if fit.method == "soft_label" else 0.1)
            for fit in results.fits]  # fmt: skip
    results = replace(results, fits=tuple(slow))
    methods = ("single", "soft-label")
    best, note = to_save(results, Budget(600, time.monotonic()), methods)
    assert best is not None and best.method == "soft_label" and not note
    best, note = to_save(results, Budget(20, time.monotonic()), methods)
    assert best is not None and best.method == "single"
    assert note == (
        "the model is single, because training soft_label would take about 60 s, longer than is "
        "left; give a longer budget"
    )


def test_a_path_is_read(tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("item,annotator,answer\na,ann,yes\nb,ann,no\n", encoding="utf-8")
    result = ds.run(table, tmp_path / "out")
    assert str(result).startswith("labels: no method was compared\nreport: ")
    assert result.model is None and result.best is None and result.n_compared == 0
