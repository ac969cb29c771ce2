"""The report against direct reimplementations: pooled scores, the paper's test, cells, gaps."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, ttest_rel
from sklearn.metrics import accuracy_score, f1_score

from dissensus import Corpus
from dissensus.errors import DataError
from dissensus.evaluation.execution.folder import locked_folder
from dissensus_papers.soft_labels import PAPER
from dissensus_papers.soft_labels.outcomes import Items, Outcome
from dissensus_papers.soft_labels.protocol import CELLS, CONDITIONS, MODELS, folds, with_automatic
from papers.tests.tiny import stems, tweets, vectors
from tests.error_texts import error_text
from tests.saved_folders import without_checksums

SHARE = {"stl": 0.70, "kl": 0.75, "inverse-kl": 0.95, "ce": 0.70}  # of right answers
SEEDS = (1000, 2000, 3000, 4000, 5000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Outcomes of two conditions, with answers that are right more or less often."""
    out = tmp_path_factory.mktemp("papers") / "out"
    generator = np.random.default_rng(0)
    corpora = {"pos_tweets": with_automatic(tweets()), "stemming": stems()}
    with locked_folder(out) as place:
        place.begin({"paper": "soft-labels"}, "the command", "abc")
        for name in ("pos-cv", "stemming-silver"):
            condition = CONDITIONS[name]
            items = Items.of(corpora[condition.corpus], condition, {})
            items.keep(out)
            for seed in SEEDS:
                for model, share in SHARE.items():
                    n_values = 12 if condition.corpus == "pos_tweets" else 2
                    wrong = generator.integers(0, n_values, len(items.gold))
                    right = generator.random(len(items.gold)) < share
                    predicted = np.where(right, items.gold, wrong)
                    losses = generator.random((2, 5, 2)).cumsum(axis=2).tolist()
                    Outcome(
                        model, seed, name, predicted, [2] * 5, [], [], *losses,
                        machine="a machine", seconds=1.5,
                    ).save(place.fits)  # fmt: skip
    return out


@pytest.fixture(scope="module")
def whole_report(folder: Path) -> dict[str, Any]:
    return PAPER.report(folder)


def answers(folder: Path, condition: str, model: str) -> np.ndarray:
    """(n_runs, n_items)"""
    every = [Outcome.load(folder / "fits" / f"{model}@{seed}@{condition}") for seed in SEEDS]
    return np.stack([one.predicted for one in every])


def test_scores_are_scikit_learns_over_all_predictions(
    folder: Path, whole_report: dict[str, Any]
) -> None:
    for condition, kinds in (("pos-cv", ["gold"]), ("stemming-silver", ["gold", "consensus"])):
        items = Items.load(folder, condition)
        for model in MODELS:
            predicted = answers(folder, condition, model)
            of_model = whole_report["conditions"][condition]["models"][model]
            assert list(of_model["pooled"]) == sorted(kinds)
            for kind in kinds:
                label = items.gold if kind == "gold" else items.consensus
                pooled = np.tile(label, len(SEEDS)), predicted.ravel()
                assert of_model["pooled"][kind] == {
                    "accuracy": pytest.approx(accuracy_score(*pooled), abs=1e-6),
                    "f1": pytest.approx(f1_score(*pooled, average="macro"), abs=1e-6),
                }
                for run, fit in zip(predicted, of_model["fits"], strict=True):
                    f1 = f1_score(label, run, average="macro")
                    assert fit["scores"][kind]["f1"] == pytest.approx(f1, abs=1e-6)


@pytest.mark.slow
def test_the_papers_bootstrap_against_a_direct_one(
    folder: Path, whole_report: dict[str, Any]
) -> None:
    items = Items.load(folder, "pos-cv")
    label = np.tile(items.gold, len(SEEDS))
    generator = np.random.default_rng(7)
    for model in ("kl", "ce"):
        mine, theirs = (answers(folder, "pos-cv", m).ravel() for m in (model, "stl"))
        tests = whole_report["conditions"]["pos-cv"]["against"][model]["tests"]["gold"]["published"]

        def lead(at: np.ndarray, score: Any, mine: Any = mine, theirs: Any = theirs) -> float:
            return round(score(label[at], mine[at]) - score(label[at], theirs[at]), 4)

        def f1(a: np.ndarray, b: np.ndarray) -> float:
            return float(f1_score(a, b, average="macro", zero_division=0))

        n = len(label)
        for metric, score in (("accuracy", accuracy_score), ("f1", f1)):
            whole = lead(np.arange(n), score)
            drawn = [lead(generator.integers(0, n, int(n * 0.33)), score) for _ in range(400)]
            expected = np.mean([one > 2 * whole + 1e-12 for one in drawn])
            assert tests[metric] == pytest.approx(expected, abs=0.09)


def test_cells_and_their_test_against_counting(folder: Path, whole_report: dict[str, Any]) -> None:
    items = Items.load(folder, "pos-cv")
    mine, theirs = (answers(folder, "pos-cv", model) for model in ("ce", "stl"))
    stored: dict[str, list[float]] = {cell: [] for cell in CELLS}
    for a, b in zip(mine, theirs, strict=True):
        for at, gold in enumerate(items.gold):
            right = a[at] == gold, b[at] == gold
            cell = {
                (True, True): "both right",
                (False, True): "only STL right",
                (True, False): "only MTL right",
                (False, False): "both wrong",
            }[right]
            stored[cell].append(items.measure[at])
    cells = whole_report["conditions"]["pos-cv"]["against"]["ce"]["cells"]
    assert cells["n"] == {cell: len(values) for cell, values in stored.items()}
    for cell, values in stored.items():
        assert cells["mean"][cell] == pytest.approx(np.mean(values), abs=1e-5)
    p = mannwhitneyu(stored["only MTL right"], stored["only STL right"]).pvalue
    assert cells["mann_whitney"] == pytest.approx(p)


def test_gaps_are_compared_over_seeds(folder: Path, whole_report: dict[str, Any]) -> None:
    gaps = {}
    for model in ("kl", "stl"):
        every = [Outcome.load(folder / "fits" / f"{model}@{seed}@pos-cv") for seed in SEEDS]
        gaps[model] = [np.mean([dev - train for train, dev in one.last]) for one in every]
    gap = whole_report["conditions"]["pos-cv"]["against"]["kl"]["gap"]["last"]
    assert gap["effect"] == pytest.approx(np.mean(gaps["kl"]) - np.mean(gaps["stl"]))
    assert gap["p"] == pytest.approx(ttest_rel(gaps["kl"], gaps["stl"]).pvalue)


def test_what_is_shown(whole_report: dict[str, Any], tmp_path: Path) -> None:
    text = PAPER.shown(whole_report)
    assert "5 runs, seeds 1000, 2000, 3000" in text and "commit abc: the command" in text
    claims, _, tables = text.partition("\n\nTable 1")
    inverse = next(line for line in tables.splitlines() if line.startswith("  MTL + KL inverse"))
    of_model = whole_report["conditions"]["pos-cv"]["models"]["inverse-kl"]
    ours = 100 * of_model["pooled"]["gold"]["accuracy"]
    assert f"{ours:.2f}**" in inverse and f"{ours - 86.55:+.2f}" in inverse and " yes " in inverse
    assert "paper, MTL + Cross-Entropy        6.614" in tables
    tests = [line for line in claims.splitlines() if line.startswith("  KL inverse: pos-cv")]
    assert len(tests) == 1 and tests[0].endswith("  found")
    assert "GloVe" not in text  # no tagger was trained
    path = tmp_path / "kept.json"
    path.write_text(json.dumps(whole_report))
    assert PAPER.shown(PAPER.report(path)) == text


def test_losses_are_compared_over_seeds(folder: Path, whole_report: dict[str, Any]) -> None:
    gold = Items.load(folder, "pos-cv").gold
    inverse, ce = (
        (answers(folder, "pos-cv", m) == gold).mean(axis=1) for m in ("inverse-kl", "ce")
    )
    low, high = ttest_rel(inverse, ce).confidence_interval()
    row = f"{(inverse - ce).mean():+.3f} [{low:+.3f}, {high:+.3f}]"
    lines = PAPER.shown(whole_report).splitlines()
    assert (
        sum("KL inverse less Cross-Entropy: pos-cv" in line and row in line for line in lines) == 1
    )


def test_a_folder_without_outcomes(tmp_path: Path) -> None:
    with locked_folder(tmp_path) as place:
        place.begin({"paper": "soft-labels"}, "the command", "abc")
    expected = f"{tmp_path}: nothing is trained yet; resume with: the command"
    assert error_text(PAPER.report, tmp_path) == expected


def test_only_runs_that_every_model_has_are_counted(folder: Path, tmp_path: Path) -> None:
    some = tmp_path / "some"
    shutil.copytree(folder, some)
    for name in ("ce@2000@pos-cv", "stl@4000@pos-cv"):
        shutil.rmtree(some / "fits" / name)
    whole_report = PAPER.report(some)
    of_condition = whole_report["conditions"]["pos-cv"]
    assert of_condition["seeds"] == [1000, 3000, 5000] and whole_report["left_out"] == 6
    assert all(len(of_model["fits"]) == 3 for of_model in of_condition["models"].values())
    label = np.tile(Items.load(some, "pos-cv").gold, 3)
    predicted = answers(folder, "pos-cv", "kl")[[0, 2, 4]].ravel()
    expected = pytest.approx((predicted == label).mean(), abs=1e-6)
    assert of_condition["models"]["kl"]["pooled"]["gold"]["accuracy"] == expected
    assert of_condition["against"]["kl"]["tests"]["gold"]["ours"]["accuracy"]["n_runs"] == 3
    text = PAPER.shown(whole_report)
    assert "POS tag, 5-fold CV (pos-cv), 3 of 5 runs so far" in text
    assert "6 more fits are done, but not with every model; they are not counted." in text


def test_words_with_and_without_a_vector(folder: Path, tmp_path: Path) -> None:
    some = tmp_path / "some"
    shutil.copytree(folder, some)
    file = vectors(tmp_path / "vectors.txt")
    lines = [line for line in file.read_text().splitlines() if not line.startswith("tea ")]
    file.write_text("\n".join(lines) + "\n")
    crowd = with_automatic(tweets())
    kept = some / "items" / "pos-cv.npz"
    kept.unlink()
    items = Items.of(crowd, CONDITIONS["pos-cv"], {}, file)
    items.keep(some)
    tea = np.array([word == "tea" for text in _texts(crowd) for word in text.split()])
    tested = np.concatenate([fold.test for fold in folds(crowd, CONDITIONS["pos-cv"])])
    assert items.known.tolist() == (~tea[tested]).astype(int).tolist()
    of_condition = PAPER.report(some)["conditions"]["pos-cv"]
    assert of_condition["with_vector"] == pytest.approx(items.known.mean())
    right = answers(folder, "pos-cv", "ce") == items.gold
    assert of_condition["models"]["ce"]["words"] == {
        "with": pytest.approx(right[:, items.known == 1].mean(), abs=1e-6),
        "without": pytest.approx(right[:, items.known == 0].mean(), abs=1e-6),
    }
    text = PAPER.shown(PAPER.report(some))
    assert f"{100 * items.known.mean():.1f} % of 250 words have a vector" in text
    assert "words without a vector explain the gap to the paper: if they were tagged" in text


def _texts(corpus: Corpus) -> list[str]:
    """The text of each tweet, in the order of tokens."""
    code = corpus.content["text"][::5]
    every: list[str] = corpus.contents["text"].values.to_pylist()
    return [every[c] for c in code]


# ---- what is not ours, or damaged ----


@pytest.mark.parametrize("content", ["[]", '{"paper": "soft-labels"}', '{"paper": "another"}'])
def test_a_file_that_is_no_report(content: str, tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    path.write_text(content)
    expected = f"{path}: not a report on soft-labels written by dissensus"
    assert error_text(PAPER.report, path) == expected


def test_the_folder_of_a_comparison(tmp_path: Path) -> None:
    with locked_folder(tmp_path) as place:
        place.begin({"methods": ["single"]}, "the command", "abc")
    assert error_text(PAPER.report, tmp_path) == (
        f"{tmp_path}: holds a comparison, not outcomes of soft-labels; show it with: dissensus "
        f"compare --show {tmp_path}"
    )


def test_damaged_folders_are_refused_in_one_line(folder: Path, tmp_path: Path) -> None:
    some = tmp_path / "some"
    shutil.copytree(folder, some)
    fit = some / "fits" / "kl@1000@pos-cv"
    with np.load(fit / "answers.npz") as arrays:
        predicted = arrays["predicted"]
    np.savez(fit / "answers.npz", predicted=predicted[:200])
    without_checksums(fit / "fit.json")
    assert error_text(PAPER.report, some) == (
        "pos-cv, kl, seed 1000: 200 answers to 250 items; take its folder away and run the paper "
        "again"
    )
    items = some / "items" / "pos-cv.npz"
    items.write_bytes(items.read_bytes()[:99])
    with pytest.raises(DataError, match="damaged .*; make the folder again"):
        PAPER.report(some)
    content = (fit / "fit.json").read_text()
    (fit / "fit.json").write_text(content.replace('"model": "kl"', '"model": "bert"'))
    expected = f"{some / 'fits'}: bert@1000@pos-cv is not of this paper"
    assert error_text(PAPER.report, some) == expected
