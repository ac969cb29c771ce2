"""Predictions of other systems are rows of a comparison, scored as our own methods are."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import numpy as np
import pytest

from dissensus import Corpus, Prediction
from dissensus.errors import DataError, Unfinished
from dissensus.evaluation import Results, k_fold, over_items, table
from dissensus.methods import AnnotatorMajority
from dissensus.methods.prior import Prior
from dissensus.prediction import ByAnnotator, Predictions
from tests.error_texts import error_text
from tests.evaluation.faulty import Blended
from tests.evaluation.test_compare import crowd as crowd
from tests.evaluation.test_compare import run

MISSING = 3


def floor_of_every_fold(crowd: Corpus) -> Predictions:
    """What `annotator-majority` predicts for the test items of each fold, as one file would."""
    parts = []
    for fold in k_fold(crowd, 2, stratify="q"):
        train, test, _ = fold.parts(crowd)
        parts.append(AnnotatorMajority().fit(train).predict(test)["q"])
    items = crowd.items.take(crowd.items.codes([name for p in parts for name in p.items]))
    shift = np.cumsum([0, len(parts[0].items)])
    pairs = [part.by_annotator for part in parts]
    joined = {
        name: np.concatenate([getattr(each, name) for each in pairs])
        for name in ("annotator", "value", "distribution")
    }
    of_items = np.concatenate(
        [each.item + first for each, first in zip(pairs, shift, strict=True) if each is not None]
    )
    assert pairs[0] is not None
    by_annotator = ByAnnotator(of_items, annotators=pairs[0].annotators, **joined)
    prediction = Prediction(
        parts[0].scale,
        items,
        np.concatenate([part.distribution for part in parts]),
        np.concatenate([part.consensus for part in parts]),
        by_annotator,
    )
    return Predictions({"q": prediction}, "elsewhere", crowd.name)


def labels(crowd: Corpus, path: Path, skipped: int = 0) -> Path:
    """A table with the first annotator's answer for every item, except some."""
    answers = crowd["q"]
    first = dict(zip(answers.item.tolist()[::-1], answers.answers()[::-1], strict=True))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "why", "label"])
        for code, name in list(enumerate(crowd.items))[skipped:]:
            writer.writerow([name, "the model\nexplains itself", first[code]])
    return path


def test_a_copy_of_a_method_has_its_scores_intervals_and_differences(
    crowd: Corpus, tmp_path: Path
) -> None:
    methods = {"annotator-majority": AnnotatorMajority(), "blended": Blended()}
    copy = {"copy": floor_of_every_fold(crowd)}
    results = run(crowd, tmp_path / "out", methods, predictions=copy)
    shown = table(results, reference="blended")
    own, other = shown["annotator-majority"].cells, shown["copy"].cells
    assert own.keys() == other.keys() and "annotator accuracy" in own
    for metric, cell in own.items():
        assert other[metric].mean == pytest.approx(cell.mean), metric
        assert other[metric].low == pytest.approx(cell.low), metric
        assert (cell.against is None) == (other[metric].against is None)
        assert other[metric].against.p == pytest.approx(cell.against.p)  # type: ignore[union-attr]
    assert results.about.outside == {"copy": "copy"}


def test_a_file_is_scored_on_the_test_items_and_tested_over_items(
    crowd: Corpus, tmp_path: Path
) -> None:
    path = labels(crowd, tmp_path / "llm.csv")
    results = run(crowd, tmp_path / "out", {"prior": Prior()}, predictions=[path])
    assert Results.load(tmp_path / "out").equals(results)
    shown = table(results, reference="llm")
    prediction = {row["id"]: row["label"] for row in csv.DictReader(io.StringIO(path.read_text()))}
    majority = dict(zip(crowd.items, crowd["q"].consensus(ties="first").answers(), strict=True))
    right = np.array([prediction[name] == majority[name] for name in crowd.items])
    single = crowd["q"].distribution().max(axis=1) > 0.5  # without a tie
    assert shown["llm"].cells["macro-F1"].n_fits == 2
    difference = shown["prior"].cells["accuracy"].against
    assert difference is not None and difference.test == "items" and difference.n_runs == 1
    rows = results.runs("q", "accuracy", "llm")
    order = [rows.items.to_pylist().index(name) for name in crowd.items]
    np.testing.assert_array_equal(rows.scores[0][order][single], right[single])
    other = results.runs("q", "accuracy", "prior").on(rows.keys, rows.items)
    assert difference.p == over_items(other, rows.scores, resamples=2000).p
    assert not math.isnan(shown["llm"].cells["accuracy"].low)
    assert results.about.notes[-1] == (
        "llm: predictions from elsewhere, without seeds: intervals and tests are over items, and "
        "over the seeds of a method that is compared with them"
    )


def test_rows_are_added_to_a_comparison_that_is_done_or_stopped(
    crowd: Corpus, tmp_path: Path
) -> None:
    path, out = labels(crowd, tmp_path / "llm.csv"), tmp_path / "out"
    with pytest.raises(Unfinished):
        run(crowd, out, predictions=[path], budget=0)
    with pytest.raises(DataError, match="no fit is done yet"):
        Results.load(out, unfinished=True)
    before = run(crowd, out, command="without")
    times = {file: file.stat().st_mtime_ns for file in out.glob("fits/*/fit.json")}
    added = run(crowd, out, predictions=[path], command="with")
    assert (before.about.command, added.about.command) == ("without", "with")
    assert [*before.about.methods, "llm"] == list(added.about.methods)
    assert {file: file.stat().st_mtime_ns for file in out.glob("fits/*/fit.json")} == times
    again = run(crowd, out, predictions=[path], command="with --processes 1")
    assert again.equals(added)


def test_predictions_must_cover_the_test_items(crowd: Corpus, tmp_path: Path) -> None:
    path = labels(crowd, tmp_path / "llm.csv", skipped=MISSING)
    first = ", ".join(repr(name) for name in list(crowd.items)[:MISSING])
    assert error_text(lambda: run(crowd, tmp_path / "out", predictions=[path])) == (
        f"{path}: q: 3 of 40 test items have no prediction ({first}); predict them too, or score "
        "the others with `dissensus evaluate`"
    )
