"""Parts with gold labels and without answers: fit, choose epochs and settings, predict, compare."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dissensus import Corpus
from dissensus.errors import DataError
from dissensus.evaluation import choose_protocol, compare, evaluate, tables
from dissensus.evaluation.predicted_consensus import predicted_consensus
from dissensus.methods import AnnotatorHeads, Single
from dissensus.training import Training
from tests.crowds import confused_crowd
from tests.error_texts import error_text

QUICK = Training(epochs=3)


@pytest.fixture
def crowd() -> Corpus:
    """60 items to train on, 30 for validation and 30 to test on; only the first have answers."""
    corpus, _ = confused_crowd(n_items=120)
    parts = pa.array(["train"] * 60 + ["validation"] * 30 + ["test"] * 30)
    answers = corpus["q"].take(corpus["q"].item < 60)
    return replace(corpus, questions={"q": answers}, splits={"official": parts})


def test_a_comparison_by_gold_labels(crowd: Corpus, tmp_path: Path) -> None:
    chosen = choose_protocol(crowd)
    assert chosen.description == (
        "official split: training on 60 items, testing on 30 (test: gold labels, no answers), "
        "validation on 30 (gold labels, no answers)"
    )
    methods = {"single": Single(training=QUICK), "heads": AnnotatorHeads(training=QUICK)}
    results = compare(crowd, methods, out=tmp_path, seeds=2, processes=1)
    assert results.about.metrics == ("macro-F1 (gold)", "accuracy (gold)")
    assert "The validation part has gold labels but no answers" in " ".join(results.about.notes)
    [table] = tables(results, reference="single")
    cells = table["heads"].cells
    assert all(np.isfinite([cell.low, cell.high]).all() for cell in cells.values())
    assert all(cell.against and cell.against.test == "seeds and items" for cell in cells.values())


def test_epochs_and_settings_are_chosen_on_gold_labels(crowd: Corpus, tmp_path: Path) -> None:
    training = replace(QUICK, learning_rate=1e-30)
    results = compare(
        crowd,
        {"single": Single(training=training)},
        out=tmp_path,
        seeds=1,
        processes=1,
        trials=2,
        choices={"single": {"training.learning_rate": (0.01,)}},
        scoring="Accuracy (Gold)",
        metrics=["accuracy (gold)"],
    )
    [fit] = results.fits
    assert fit.settings["training.choose_by"] == "accuracy (gold)"
    assert fit.settings["training.learning_rate"] == 0.01  # 1e-30 learns nothing
    assert [one["by_fold"]["q"].keys() for one in fit.tried] == [{"accuracy (gold)"}] * 2
    assert len(fit.tried[0]["by_fold"]["q"]["accuracy (gold)"]) == 1  # one validation part


def test_the_consensus_for_gold_is_of_all_annotators(tmp_path: Path) -> None:
    corpus, _ = confused_crowd(n_items=80)
    train, test = corpus.split(0.5)
    heads = AnnotatorHeads(training=QUICK).fit(train)
    of_own, of_all = (heads.predict(test, annotators="all", consensus=c) for c in ("own", "all"))
    both, notes = predicted_consensus(of_own["q"], test["q"], None)
    assert not notes
    assert both.of_answers is of_own["q"]
    np.testing.assert_allclose(both.of_gold.distribution, of_all["q"].distribution, atol=1e-6)
    [again] = {predicted_consensus(of_all["q"], test["q"], "own")[0]}
    np.testing.assert_allclose(again.of_gold.distribution, of_own["q"].distribution, atol=1e-6)
    only_own = heads.predict(test)
    assert "own annotators" in evaluate(only_own, test, metrics=["accuracy"]).notes[0]
    with pytest.raises(DataError, match="predict with --annotators all"):
        evaluate(only_own, test, consensus="all")


def test_scores_against_gold_alone(crowd: Corpus) -> None:
    test = crowd.part("test")
    predictions = Single(training=QUICK).fit(crowd.part("train")).predict(test)
    marked = {"q": replace(predictions["q"], trained=np.arange(30) < 3)}
    result = evaluate(type(predictions)(marked, "single", "confused"), test)
    assert list(result.results[0].scores) == ["macro-F1 (gold)", "accuracy (gold)"]
    assert result.notes == (
        "q, test: gold labels but no answers; only metrics against gold labels are shown",
        "single: 3 of 30 items were trained on: their scores say nothing about new items",
    )
    assert "accuracy" in error_text(evaluate, predictions, test, metrics=["accuracy"])
