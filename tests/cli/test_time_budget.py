"""Which part of the items is compared within a budget, and when it is replaced."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dissensus import Corpus, simulate
from dissensus.cli.time_budget import TimeBudget, needs_encoder, plan_within
from dissensus.report import encoding_time
from tests.tiny import tiny_bert


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return simulate.text(n_items=400, seed=0)


def _budget(seconds: float) -> TimeBudget:
    return TimeBudget(seconds, time.monotonic())


def test_the_same_budget_resumes_the_same_part_and_another_one_replaces_it(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = str(tiny_bert(tmp_path / "bert"))
    monkeypatch.setattr(encoding_time, "encoding_time", lambda corpus, encoder: 100.0)
    part = plan_within(_budget(100), corpus, tmp_path, mine)
    assert 30 < part.n_items < 400
    fit = tmp_path / "comparison" / "fits" / "one"
    fit.mkdir(parents=True)
    monkeypatch.setattr(encoding_time, "encoding_time", lambda corpus, encoder: 0.0)  # cached
    assert plan_within(_budget(100), corpus, tmp_path, mine) == part and fit.exists()
    assert plan_within(None, corpus, tmp_path, mine).n_items == 400
    assert not fit.exists() and not (tmp_path / "part.json").exists()


def test_a_comparison_of_floors_alone_is_replaced_when_there_is_more_time(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding_time, "encoding_time", lambda corpus, encoder: 1e6)
    assert plan_within(_budget(60), corpus, tmp_path, "mine").n_items == 0
    fit = tmp_path / "comparison" / "fits" / "one"
    fit.mkdir(parents=True)
    assert plan_within(_budget(60), corpus, tmp_path, "mine").n_items == 0 and fit.exists()
    monkeypatch.setattr(encoding_time, "encoding_time", lambda corpus, encoder: 0.0)  # cached
    assert plan_within(_budget(60), corpus, tmp_path, "mine").n_items == 400
    assert not fit.exists()


def test_a_comparison_of_all_items_is_never_replaced(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding_time, "encoding_time", lambda corpus, encoder: 100.0)
    fit = tmp_path / "comparison" / "fits" / "one"
    fit.mkdir(parents=True)
    assert plan_within(_budget(20), corpus, tmp_path, "mine").n_items == 400 and fit.exists()


def test_the_reserve_is_a_part_of_the_budget() -> None:
    assert 5.9 < _budget(10).left_to_compare <= 6  # 40 % of a short one
    assert 87.9 < _budget(110).left_to_compare <= 88  # 20 % of a long one
    assert TimeBudget(10, time.monotonic() - 20).left_to_compare == 0


def test_floors_need_no_encoder() -> None:
    assert needs_encoder(()) and needs_encoder(("prior", "single"))
    assert not needs_encoder(("prior", "annotator-majority"))
