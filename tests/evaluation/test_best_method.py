"""Which method of a comparison is best, and whether one for each annotator is worth saving."""

from __future__ import annotations

from dataclasses import replace

from dissensus import Annotations, Corpus
from dissensus.evaluation import Results
from dissensus.evaluation.best_method import (
    best_floor,
    best_method,
    best_of_annotators,
    comparison_tables,
)
from dissensus.report.summary import summary_of
from tests.evaluation.comparisons import comparison


def _corpus(*answers: str) -> Corpus:
    """One item, answered by several annotators."""
    rows = [("t1", f"a{number}", answer) for number, answer in enumerate(answers)]
    annotations = Annotations.from_rows(rows)
    return Corpus.build("c", annotations.items, {"q": annotations})


def test_the_best_method_is_no_floor() -> None:
    best = best_method(comparison(n_seeds=2))
    assert best is not None and best.method in ("single", "soft_label")
    assert str(best).startswith(f"{best.method} (highest ") or "(lowest " in str(best)


def test_the_best_of_some_methods_and_the_best_floor() -> None:
    results = _scored({"prior": (0.3, 0.1), "single": (0.1, 0.8), "soft-label": (0.2, 0.9)})
    best, other = best_method(results), best_method(results, ["soft-label", "prior"])
    assert best is not None and best.method == "single"
    assert other is not None and other.method == "soft-label"
    assert best_method(results, ["prior"]) is None
    floor = best_floor(results)
    assert floor is not None and (floor.method, floor.score) == ("prior", 0.3)
    assert best_floor(_scored({"single": (0.1, 0.8)})) is None


def test_summary_table_and_model_name_the_same_method_of_an_unfinished_comparison() -> None:
    results = comparison(n_seeds=1, k=3)
    first = results.fits[0].fold
    kept = [f for f in results.fits if f.method != "soft_label" or f.fold == first]
    unfinished = replace(results, fits=tuple(kept))
    best = best_method(unfinished)
    assert best is not None and best.method == "single"  # soft_label is better, on fewer folds
    sentence = summary_of(None, None, unfinished, {})[0]
    assert "single, the only method to compare with floors, predicts hate with cross" in sentence
    marked = [row.name for t in comparison_tables(unfinished) for row in t.rows
              if any(cell.best for cell in row.cells.values())]  # fmt: skip
    assert "soft_label" not in marked


def test_floors_do_not_decide_how_many_folds_are_needed() -> None:
    results = comparison(n_seeds=1, k=3)
    first = results.fits[0].fold
    kept = [f for f in results.fits if f.method == "prior" or f.fold == first]
    best = best_method(replace(results, fits=tuple(kept)))
    assert best is not None and best.method == "soft_label"


def _scored(scores: dict[str, tuple[float, float]]) -> Results:
    """Methods with their cross-entropy and annotator accuracy, the same on both folds."""
    results = comparison(n_seeds=1, k=2, methods=("prior",))
    fits = [
        replace(
            fit,
            method=name,
            scores={"hate": {"cross-entropy": entropy, "annotator accuracy": accuracy}},
            items=fit.items.slice(0, 0),
        )
        for name, (entropy, accuracy) in scores.items()
        for fit in results.fits
    ]
    metrics = ("cross-entropy", "annotator accuracy")
    about = replace(results.about, methods=tuple(scores), metrics=metrics)
    return replace(results, about=about, fits=tuple(fits))


def test_a_model_of_each_annotator_must_gain_something() -> None:
    disputed = _corpus("yes", "no")
    gain = _scored({"single": (0.1, 0.8), "annotator-heads": (0.2, 0.9)})
    own, why = best_of_annotators(gain, disputed)
    assert own is not None and own.method == "annotator-heads" and not why
    tied = _scored({"single": (0.1, 0.9), "annotator-heads": (0.2, 0.9)})
    own, why = best_of_annotators(tied, disputed)
    assert own is None and why.startswith("single predicts annotators as well as annotator-heads")
    both = _scored({"annotator-heads": (0.2, 0.9), "annotator-queries": (0.1, 0.9)})
    own, why = best_of_annotators(both, disputed)
    assert own is not None and own.method == "annotator-queries"  # the best method itself
    own, why = best_of_annotators(gain, _corpus("yes", "yes"))
    assert own is None and why.startswith("annotators never disagree")
