"""Results: written and read back, the same bytes each time, refused where they are not ours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dissensus import Names
from dissensus.errors import DataError
from dissensus.evaluation import results as results_module
from dissensus.evaluation.fit import Fit, folder_name, item_table
from dissensus.evaluation.protocols import k_fold
from dissensus.evaluation.results import Results
from tests.evaluation.comparisons import comparison, corpus, fit
from tests.saved_folders import without_checksums

# ---- one fit ----


def test_a_fit_is_read_back(tmp_path: Path) -> None:
    crowd = corpus()
    fold = k_fold(crowd, 2)[0]
    model = fit(crowd, "single", 1, fold)
    model.save(tmp_path)
    read = Fit.load(tmp_path / folder_name(model.key))
    assert read.to_dict() == model.to_dict() and read.seconds == model.seconds
    assert read.items.equals(model.items)
    assert read.score("hate", "accuracy") == model.scores["hate"]["accuracy"]
    assert np.isnan(read.score("hate", "TVD"))


def test_the_scores_of_items_by_question_and_metric() -> None:
    names, other = Names(["t1", "t2"]), Names(["t3"])
    table = item_table(
        {
            "q": {"TVD": (names, np.array([0.1, 0.2])), "accuracy": (names, np.array([1.0, 0.0]))},
            "r": {"accuracy": (names, np.array([0.0, 0.5]))},
        }
    )
    more = item_table({"q": {"TVD": (other, np.array([0.3]))}})
    fit = Fit("prior", 0, "fold 1", items=pa.concat_tables([table, more]))
    assert fit.rows("q", "TVD").to_pydict() == {
        "item": ["t1", "t2", "t3"],
        "score": [0.1, 0.2, 0.3],
    }
    assert fit.rows("q", "accuracy")["score"].to_pylist() == [1.0, 0.0]
    assert fit.rows("r", "accuracy")["score"].to_pylist() == [0.0, 0.5]
    assert fit.rows("r", "TVD").num_rows == Fit("prior", 0, "f").rows("q", "TVD").num_rows == 0
    assert fit.to_dict()["item_scores"] == 7 and "_parts" not in fit.to_dict()


def test_undefined_and_infinite_scores_are_kept(tmp_path: Path) -> None:
    built = Fit("single", 0, "fold 1", scores={"q": {"CCC": float("nan"), "KL": float("inf")}})
    built.save(tmp_path)
    read = Fit.load(tmp_path / "single@0@fold%201")
    assert np.isnan(read.score("q", "CCC")) and read.score("q", "KL") == np.inf
    text = (tmp_path / "single@0@fold%201" / "fit.json").read_text()
    assert '"CCC": null' in text and "NaN" not in text


# ---- the whole ----


def test_results_are_read_back(tmp_path: Path) -> None:
    built = comparison(broken=True)
    built.save(tmp_path / "out")
    read = Results.load(tmp_path / "out")
    assert read.equals(built) and built.equals(read)
    assert read.about == built.about and read.when == built.when
    assert [f.seconds for f in read.fits if f.status == "ok"] == [
        f.seconds for f in built.fits if f.status == "ok"
    ]
    assert read.counts("soft_label") == {"ok": 5, "failed": 0, "diverged": 1}


def test_the_same_results_are_the_same_bytes_whatever_order_fits_ended_in(tmp_path: Path) -> None:
    built = comparison()
    folds = k_fold(corpus(), 2)
    shuffled = [built.fits[k] for k in np.random.default_rng(0).permutation(len(built.fits))]
    again = Results.assemble(built.about, folds, shuffled, when=built.when)
    later = replace(built, when={"date": "2027-01-01 00:00", "machine": "another"})
    for name, results in (("one", built), ("two", again), ("three", later)):
        results.save(tmp_path / name)
    for file in ("results.json", "items.parquet"):
        texts = [(tmp_path / name / file).read_bytes() for name in ("one", "two", "three")]
        assert texts[0] == texts[1]
        assert (texts[0] == texts[2]) == (file == "items.parquet")
    assert built.equals(later)
    Results.load(tmp_path / "one").save(tmp_path / "one", overwrite=True)
    for file in ("results.json", "items.parquet"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_groups_are_kept(tmp_path: Path) -> None:
    built = replace(comparison(), groups={"t1": "x", "t0": "x"})
    built.save(tmp_path / "out")
    assert Results.load(tmp_path / "out").groups == {"t0": "x", "t1": "x"}
    comparison().save(tmp_path / "out", overwrite=True)
    assert Results.load(tmp_path / "out").groups == {}
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["items.parquet", "results.json"]


# ---- bad input ----


def test_damaged_results_are_refused_in_one_line(tmp_path: Path) -> None:
    built = comparison()
    built.save(tmp_path / "out")
    short = comparison(n_seeds=1)
    short.save(tmp_path / "short")
    (tmp_path / "short" / "items.parquet").replace(tmp_path / "out" / "items.parquet")
    with pytest.raises(DataError, match=r"out/items.parquet: damaged \(its checksum in results"):
        Results.load(tmp_path / "out")
    without_checksums(tmp_path / "out" / "results.json")
    with pytest.raises(DataError) as caught:
        Results.load(tmp_path / "out")
    rows = sum(f.items.num_rows for f in short.fits)
    assert str(caught.value) == (
        f"{tmp_path / 'out'}: damaged ({rows} scores of items do not match the fits); "
        "make the folder again"
    )


def test_results_are_saved_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*given: object) -> None:
        raise KeyboardInterrupt

    built = comparison()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(results_module, "write_json", stopped)
        built.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    built.save(tmp_path / "out")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(results_module, "write_json", stopped)
        comparison(n_seeds=1).save(tmp_path / "out", overwrite=True)
    assert Results.load(tmp_path / "out").equals(built)
