"""Multi-label answers, aggregated value by value."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation import BinaryRelevance, MajorityVote
from crowdkit.aggregation import DawidSkene as CrowdKit

from dissensus.aggregation import AGGREGATORS, DawidSkene, Majority, annotator_table
from dissensus.agreement import krippendorff_alpha, measured
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.scales import MultiLabel


def sets(n_values: int, n_items: int = 40, seed: int = 0) -> tuple[Annotations, np.ndarray]:
    """Answers of five annotators, from careful to careless, and the true sets."""
    generator = np.random.default_rng(seed)
    scale = MultiLabel(tuple(f"v{i}" for i in range(n_values)))
    truth = generator.random((n_items, n_values)) < 0.3
    noise = np.linspace(0.05, 0.45, 5)[:, None, None]
    given = truth ^ (generator.random((5, n_items, n_values)) < noise)
    answer = np.concatenate([scale.pack(chosen) for chosen in given])
    item, annotator = np.tile(np.arange(n_items), 5), np.repeat(np.arange(5), n_items)
    return Annotations.from_arrays(item, annotator, answer, scale), truth


def crowd_kit_frame(annotations: Annotations) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "task": annotations.item,
            "worker": annotations.annotator,
            "label": [list(one) for one in annotations.answers()],
        }
    )


@pytest.mark.filterwarnings("ignore")  # of pandas, in crowd-kit
@pytest.mark.parametrize("n_values", [4, 70])
def test_majority_equals_crowd_kits_binary_relevance(n_values: int) -> None:
    annotations, _ = sets(n_values)
    expected = BinaryRelevance(MajorityVote()).fit_predict(crowd_kit_frame(annotations))
    consensus = Majority().fit(annotations).consensus_
    assert [sorted(one) for one in consensus.answers()] == [
        sorted(expected[item]) for item in consensus.item
    ]


@pytest.mark.filterwarnings("ignore")  # of pandas, in crowd-kit
def test_dawid_skene_equals_crowd_kits_binary_relevance() -> None:
    annotations, truth = sets(4)
    reference = BinaryRelevance(CrowdKit(n_iter=100, tol=1e-9))
    expected = reference.fit_predict(crowd_kit_frame(annotations))
    fitted = DawidSkene().fit(annotations)
    assert [sorted(one) for one in fitted.consensus_.answers()] == [
        sorted(expected[item]) for item in fitted.consensus_.item
    ]
    right = (annotations.scale.one_hot(fitted.consensus_.answer) > 0) == truth
    plain = annotations.scale.one_hot(Majority().fit(annotations).consensus_.answer) > 0
    assert right.mean() > (plain == truth).mean()
    table = annotator_table(annotations, fitted, "q")
    assert table["right.chosen.v0"][0] > table["right.chosen.v0"][4]


@pytest.mark.parametrize("name", [n for n, a in AGGREGATORS.items() if "multi-label" in a.scales])
def test_every_aggregator_takes_sets(name: str) -> None:
    annotations, truth = sets(3, n_items=12)
    few = {"draws": 30, "warm_up": 10} if name == "bayesian-dawid-skene" else {}
    fitted = AGGREGATORS[name](**few).fit(annotations)
    assert fitted.distribution_.shape == truth.shape
    assert ((fitted.distribution_ >= 0) & (fitted.distribution_ <= 1)).all()
    answers = annotations.scale.consensus(fitted.calibrated_)
    if name != "dawid-skene":  # whose probabilities are calibrated
        answers = fitted.consensus_.answer
    assert fitted.prediction_.to_table()["answer"].to_pylist() == [
        list(one) for one in annotations.scale.decode(answers)
    ]


def test_gold_sets_teach_models() -> None:
    annotations, truth = sets(3)
    gold = Annotations.from_arrays(
        np.arange(40), None, MultiLabel(("v0", "v1", "v2")).pack(truth), annotations.scale
    )
    fitted = DawidSkene().fit(annotations, gold=gold)
    assert (annotations.scale.one_hot(fitted.consensus_.answer) > 0).tolist() == truth.tolist()


def test_empty_sets_and_items_without_answers() -> None:
    scale = MultiLabel(("joy", "fear"))
    rows = [("t1", "ann", ""), ("t1", "bob", ""), ("t2", "ann", "joy"), ("t2", "bob", "joy")]
    corpus = Corpus.build("mine", ["t0", "t1", "t2"], {"q": Annotations.from_rows(rows, scale)})
    fitted = Majority().fit(corpus["q"])
    assert fitted.consensus_.answers() == [(), ("joy",)]
    assert np.isnan(fitted.distribution_[0]).all()


def test_many_values_are_saved_and_measured_like_few(tmp_path: Path) -> None:
    few, _ = sets(5)
    wide = MultiLabel((*few.scale.values, *(f"w{i}" for i in range(70))))  # type: ignore[attr-defined]
    answer = np.array([int(mask) for mask in few.answer], dtype=object)
    many = Annotations.from_arrays(few.item, few.annotator, answer, wide)
    assert krippendorff_alpha(many) == pytest.approx(krippendorff_alpha(few))
    assert measured(many) == pytest.approx(measured(few), nan_ok=True)
    corpus = Corpus.build("many", [str(i) for i in range(40)], {"q": many})
    corpus.save(tmp_path / "many")
    assert Corpus.load(tmp_path / "many")["q"].answers() == few.answers()
