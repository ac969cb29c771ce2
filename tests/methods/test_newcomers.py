"""Annotators come after the training, and go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import binom, t

from dissensus import Corpus, Names
from dissensus.methods import build, load
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.enrolment import expected
from dissensus.methods.framework.settings import changed, settings_of
from dissensus.testing import example_corpus
from tests.crowds import SCALES, others_slow

ROWS = ("annotator-heads", "annotator-embedding", "annotator-onehot", "annotator-queries",
        "annotator-logistic", "base-heads", "padl", "d-lema", "crowd-layer", "conal", "union-net",
        "annotator-confusions", "joint-em", "madl", "annot-mix", "method-ensemble")  # fmt: skip
QUICK = {"encoder": "features", "training.epochs": 6, "training.device": "cpu"}
LONG = {"training.epochs": 40, "training.learning_rate": 1e-2}
NAME = "Zoë-42"


def fitted(name: str, corpus: Corpus, **settings: Any) -> Method:
    method = build(name)
    known = settings_of(method)
    quick = {key: value for key, value in (QUICK | settings).items() if key in known}
    return changed(method, quick).fit(corpus)


def renamed(corpus: Corpus, name: str = NAME) -> Corpus:
    """The corpus with another name of its last annotator."""
    names = Names([*corpus.annotators[:-1], name])
    questions = {"q": replace(corpus["q"], annotators=names)}
    return replace(corpus, annotators=names, questions=questions)


def crowd(kind: str = "nominal") -> tuple[Corpus, Corpus]:
    """A corpus of five annotators, and one of a sixth, called `NAME`."""
    corpus = renamed(example_corpus(kind, n_annotators=6))
    return corpus.without(annotators=[NAME]), corpus.select(annotators=[NAME])


def shares(method: Method, corpus: Corpus, **given: Any) -> np.ndarray:
    pairs = method.predict(corpus, **given)["q"].by_annotator
    assert pairs is not None and pairs.distribution is not None
    return pairs.distribution


@pytest.mark.parametrize("name", others_slow(ROWS))
def test_a_newcomer_is_added_and_nothing_else_changes(name: str, tmp_path: Path) -> None:
    old, new = crowd()
    before = fitted(name, old)
    after = before.enrol(new.select(items=np.arange(40)))
    assert list(after.learned_.annotators) == [*old.annotators, NAME]
    np.testing.assert_allclose(shares(after, old), shares(before, old), atol=1e-6)
    after.save(tmp_path / "model")
    np.testing.assert_array_equal(shares(load(tmp_path / "model"), new), shares(after, new))
    undone = after.forget(NAME)
    np.testing.assert_array_equal(shares(undone, old), shares(before, old))
    assert undone.config() == before.config()


@pytest.mark.parametrize(
    ("name", "kind"),
    [("annotator-heads", kind) for kind in SCALES] + [(n, "nominal") for n in ROWS[1:5]],
)
def test_newcomers_are_predicted_better_than_the_mean(name: str, kind: str) -> None:
    """The last annotator of the crowd answers higher than all others."""
    old, new = crowd(kind)
    before, late = fitted(name, old, **LONG), new.select(items=np.arange(40, 60))
    after = before.enrol(new.select(items=np.arange(40)))
    given = late["q"].scale.one_hot(late["q"].answer)
    of_mean = (shares(before, late, unknown="mean") * given).sum()
    assert (shares(after, late) * given).sum() > of_mean


def test_several_newcomers_do_not_depend_on_one_another() -> None:
    corpus = example_corpus(n_annotators=7)
    before = fitted("annotator-heads", corpus.without(annotators=["p1", "p6"]))
    both = corpus.select(annotators=["p1", "p6"], items=np.arange(12))
    together, alone = before.enrol(both), before.enrol(both.select(annotators=["p6"]))
    wanted = {"annotators": ["p6"]}
    np.testing.assert_array_equal(
        shares(together, corpus, **wanted), shares(alone, corpus, **wanted)
    )
    assert [one.name for one in together.newcomers_] == ["p1", "p6"]
    again = together.enrol(both.select(annotators=["p6"]))
    assert again.config()["annotators"] == together.config()["annotators"]
    assert again.notes_[0] == "enrolled before, learned again from these answers: 'p6'"


def test_without_answers_a_newcomer_is_the_mean() -> None:
    old, new = crowd()
    before = fitted("annotator-heads", old)
    nobody = replace(new, questions={"q": new["q"].take(np.zeros(0, np.int64))})
    after = before.enrol(nobody)
    assert after.notes_ == [
        f"{NAME}, q: from 0 answers, predicted as the mean of the annotators who gave one"
    ]
    np.testing.assert_array_equal(shares(after, new), shares(before, new, unknown="mean"))


def test_the_row_of_a_linear_model_is_the_mean_of_its_posterior() -> None:
    """Ratings, a normal prior and normal errors: the solution has a closed form."""
    old, new = crowd("interval")
    before = fitted("annotator-logistic", old)
    few = new.select(items=np.arange(5))
    after: Any = before.enrol(few)
    known, spread = before.weights()["annotators_0"], after.spread_["q"]
    weights = after.weights_["q"]
    vectors = np.stack([few.contents["x"][code] for code in few.content["x"]])
    vectors = (vectors - after.standard_[0]) / after.standard_[1]
    scale: Any = few["q"].scale
    rest = scale.to_unit(few["q"].answer) - (vectors @ weights.items + weights.start)[:, 0]
    precision, own = 1 / (0.5 * known.var()), len(rest) / spread**2
    row = (precision * known.mean() + rest.sum() / spread**2) / (precision + own)
    assert weights.annotators[-1, 0] == pytest.approx(row, abs=1e-5)


def test_expected_scores_have_exact_intervals() -> None:
    outcomes = np.array([1.0, 0, 1, 1, 0, 1, 1, 1, 0, 1])
    share, interval = expected(outcomes, is_error=False)
    assert share == 0.7  # as many or more right with the lower bound, or fewer, in 2.5 %
    assert binom.sf(6, 10, interval[0]) == pytest.approx(0.025, abs=1e-6)
    assert binom.cdf(7, 10, interval[1]) == pytest.approx(0.025, abs=1e-6)
    errors = np.random.default_rng(0).exponential(size=12)
    mean, interval = expected(errors, is_error=True)
    both = t.interval(0.95, 11, errors.mean(), errors.std(ddof=1) / np.sqrt(12))
    assert mean == errors.mean() and interval == pytest.approx(both)
    assert np.isnan(expected(outcomes[:1], is_error=False)[0])


def test_the_nearest_annotator_is_the_one_who_answered_alike() -> None:
    corpus = example_corpus(n_annotators=4)
    twin = renamed(corpus, "same")
    after = fitted("annotator-heads", corpus, **LONG).enrol(
        replace(twin.select(annotators=["same"]), name="other")
    )
    assert after.newcomers_[0].nearest == "p3"


@pytest.mark.parametrize("name", ["annotator-heads", "annotator-median", "single"])
def test_nothing_of_a_forgotten_annotator_is_in_the_folder(name: str, tmp_path: Path) -> None:
    corpus = renamed(example_corpus(n_annotators=5))
    before = fitted(name, corpus)
    after = before.forget(NAME)
    after.save(tmp_path / "model")
    contents = b"".join(path.read_bytes() for path in (tmp_path / "model").iterdir())
    assert NAME.encode() not in contents and NAME.encode("unicode-escape") not in contents
    for table in before.annotator_rows():
        row = before.weights()[table][4]
        assert row.size < 2 or row.tobytes() not in contents, table
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert after.learned_.n_forgotten == 1 and "1 annotator removed on request" in card
    if before.individual:
        rest = corpus.without(annotators=[NAME])
        np.testing.assert_array_equal(shares(after, rest), shares(before, rest))


def test_a_corpus_and_predictions_forget(tmp_path: Path) -> None:
    from dissensus.description import leave_out
    from dissensus.workflow.forgetting import forget_in

    corpus = renamed(example_corpus(n_items=12, n_annotators=6))
    old = corpus.without(annotators=[NAME])
    corpus.save(tmp_path / "all" / "corpus")
    leave_out(corpus, NAME).save(tmp_path / "all" / "less")  # whose notes have the name
    queries = fitted("annotator-queries", corpus)
    queries.predict(corpus, attention=True).save(tmp_path / "all" / "predictions")
    (tmp_path / "all" / "report.html").write_text(f"<p>{NAME} answered", encoding="utf-8")
    lines = forget_in(tmp_path / "all", [NAME])
    assert lines[-1].endswith(f"delete: {tmp_path / 'all' / 'report.html'}")
    (tmp_path / "all" / "report.html").unlink()
    for path in (tmp_path / "all").rglob("*"):
        if path.suffix == ".parquet":
            assert NAME not in str(pq.read_table(path).to_pylist()), path
        elif path.is_file():
            assert NAME not in path.read_text(encoding="utf-8"), path
    assert list(Corpus.load(tmp_path / "all" / "corpus").annotators) == list(old.annotators)
    from dissensus import Predictions

    fewer = Predictions.load(tmp_path / "all" / "predictions")["q"]
    whole = queries.predict(corpus, annotators=list(old.annotators), attention=True)["q"]
    assert fewer.by_annotator is not None and len(fewer.by_annotator) == 60
    np.testing.assert_array_equal(fewer.attention[0].weight, whole.attention[0].weight)
