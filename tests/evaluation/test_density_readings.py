"""Comparisons and evaluations of joint densities, from fits to tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dissensus as ds
from dissensus.corpus import Corpus
from dissensus.densities import RatingKde, rating_densities
from dissensus.evaluation import compare, k_fold, tables
from dissensus.methods import AnnotatorHeads, GridDensity, Prior
from dissensus.training import Training

QUICK = Training(epochs=2, batch_size=16, device="cpu")
READINGS = ["plain:bins=3,observations=40", "soft:bins=3,observations=40@all"]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return ds.simulate.ratings(n_items=30, n_annotators=5, labels_per_item=3, seed=2)


def test_a_comparison_scores_densities(corpus: Corpus, tmp_path: Path) -> None:
    methods = {
        "prior": Prior(),
        "heads": AnnotatorHeads(encoder="characters", training=QUICK),
        "grid": GridDensity(encoder="characters", training=QUICK, bins=3),
    }
    folds = k_fold(corpus, 2)
    results = compare(
        corpus, methods, folds=folds, seeds=1, densities=READINGS, processes=1, out=tmp_path / "a"
    )
    names = [f"valence x activation ({reading})" for reading in READINGS]
    assert list(results.about.questions) == ["valence", "activation", *names]
    fit = results.of("heads")[0]
    assert fit.status == "ok", fit.reason
    rows = fit.rows(names[0], "density TVD")
    assert rows.num_rows == 15
    assert fit.score(names[0], "density TVD") == pytest.approx(np.mean(rows["score"].to_numpy()))
    (table,) = tables(results, [names[0]], reference="prior")
    by_name = {row.name: row.cells for row in table.rows}
    assert table.metrics == ("density TVD", "density JSD", "density UAR")
    against = by_name["heads"]["density TVD"].against
    assert against is not None and "items" in against.test
    constant = by_name["constant density"]["density TVD"].mean
    observed = rating_densities(corpus, ["valence", "activation"], 3)
    expected = np.abs(observed.cells - observed.cells.mean(axis=0)).sum(axis=1).mean() / 2
    assert constant == pytest.approx(expected)
    assert ds.evaluation.Results.load(tmp_path / "a").equals(results)


def test_an_evaluation_has_a_table_of_densities(corpus: Corpus) -> None:
    train, test = corpus.split(0.4, seed=0)
    heads = AnnotatorHeads(encoder="characters", training=QUICK).fit(train)
    predictions = heads.predict(test, density="plain:bins=3")
    evaluation = ds.evaluate(predictions, test, intervals=True)
    result = evaluation.results[-1]
    assert (result.question, result.items) == ("valence x activation (density)", test.n_items)
    assert list(result.scores) == ["density TVD", "density JSD", "density UAR"]
    low, high = result.intervals["density TVD"]
    assert low < result.scores["density TVD"] < high
    assert result.bounds["density TVD"].perfect == 0 < result.bounds["density TVD"].constant
    assert "density TVD" in str(evaluation)
    only = ds.evaluate(predictions, test, metrics=["density-jsd"])
    assert [list(result.scores) for result in only.results] == [["density JSD"]]


@pytest.mark.slow
def test_a_reading_of_the_method_is_its_own(corpus: Corpus, tmp_path: Path) -> None:
    soft, kde = "soft:bins=3,observations=40", RatingKde(bins=3, observations=40)
    settings = {"encoder": "characters", "training": QUICK, "objective": "both", "kde": kde}
    heads = {"heads": AnnotatorHeads(**settings)}  # type: ignore[arg-type]
    results = compare(
        corpus,
        heads,
        folds=k_fold(corpus, 2),
        seeds=1,
        densities=["method:bins=3", soft],
        processes=1,
        out=tmp_path / "a",
    )
    own, given = results.about.questions[2:]
    for fit in results.fits:
        assert fit.score(own, "density TVD") == fit.score(given, "density TVD")
