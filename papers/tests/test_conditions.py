"""The paper's protocol, rule by rule, against direct reimplementations and its own figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from dissensus import Corpus, datasets
from dissensus.errors import DataError
from dissensus.metrics import excess_kurtosis
from dissensus_papers.soft_labels import PAPER
from dissensus_papers.soft_labels.outcomes import Items
from dissensus_papers.soft_labels.protocol import CONDITIONS, folds, labels, tied, with_automatic
from papers.tests.tiny import stems, tweets


@pytest.fixture(scope="module")
def crowd() -> Corpus:
    return with_automatic(tweets())


def test_token_folds_are_scikit_learns(crowd: Corpus) -> None:
    inside = np.flatnonzero(crowd.in_part("train") | crowd.in_part("dev"))
    gold = labels(crowd, "tag", "gold")[inside]
    expected = StratifiedKFold(5, shuffle=True, random_state=0).split(np.zeros(len(gold)), gold)
    for fold, (rest, test) in zip(folds(crowd, CONDITIONS["pos-cv"]), expected, strict=True):
        assert fold.test.tolist() == inside[test].tolist()
        assert fold.validation is not None and len(fold.validation) == len(inside) // 5
        both = np.sort(np.r_[fold.train, fold.validation])
        assert both.tolist() == inside[rest].tolist()


def test_tweet_folds_cut_through_no_tweet(crowd: Corpus) -> None:
    units = crowd.units("content")
    tested = []
    for fold in folds(crowd, CONDITIONS["pos-cv-tweets"]):
        assert fold.validation is not None
        sides = [set(units[part]) for part in (fold.train, fold.validation, fold.test)]
        assert not (sides[0] & sides[1] or sides[0] & sides[2] or sides[1] & sides[2])
        assert len(fold.validation) >= 240 // 5
        tested += fold.test.tolist()
    inside = np.flatnonzero(crowd.in_part("train") | crowd.in_part("dev"))
    assert sorted(tested) == inside.tolist()
    leaking = folds(crowd, CONDITIONS["pos-cv"])[0]
    assert set(units[leaking.train]) & set(units[leaking.test])


def test_the_separate_test_set(crowd: Corpus) -> None:
    (fold,) = folds(crowd, CONDITIONS["pos-test"])
    assert fold.test.tolist() == np.flatnonzero(crowd.in_part("test")).tolist()
    assert fold.validation is not None
    assert fold.validation.tolist() == np.flatnonzero(crowd.in_part("dev")).tolist()


def test_stems_are_dealt_out_by_fold10() -> None:
    corpus = stems()
    number = np.arange(corpus.n_items) % 10
    for at, fold in enumerate(folds(corpus, CONDITIONS["stemming"])):
        assert fold.validation is not None
        assert set(number[fold.test]) == {at}
        assert set(number[fold.validation]) == {(at + 1) % 10}
        assert len(fold.train) == 64


def test_ties_are_dropped_from_every_part_of_silver_stems() -> None:
    corpus = stems()
    counts = corpus["is the stem"].counts()
    even = {k for k, (no, yes) in enumerate(counts) if no == yes}
    assert even == set(np.flatnonzero(tied(corpus, "is the stem"))) and even
    tested: set[int] = set()
    for fold in folds(corpus, CONDITIONS["stemming-silver"]):
        assert fold.validation is not None
        parts = [set(part.tolist()) for part in (fold.train, fold.validation, fold.test)]
        assert not any(part & even for part in parts)
        tested |= parts[2]
    assert tested == set(range(corpus.n_items)) - even


def test_automatic_tokens_are_unanimous_nouns() -> None:
    plain = tweets()
    crowd = with_automatic(plain)
    automatic = np.asarray(plain.item_attributes["auto_labelled"])
    noun = 5
    assert crowd["tag"].counts()[automatic].tolist() == [
        [0.0] * noun + [6.0] + [0.0] * 6 for _ in range(automatic.sum())
    ]
    same = ~automatic
    assert (crowd["tag"].counts()[same] == plain["tag"].counts()[same]).all()
    assert (labels(crowd, "tag", "consensus")[automatic] == noun).all()
    assert with_automatic(crowd)["tag"].n_rows == crowd["tag"].n_rows
    assert with_automatic(stems())["is the stem"].n_rows == stems()["is the stem"].n_rows


def test_kurtosis_of_the_papers_data(data_folder: Path) -> None:  # SPEC: computed on its files
    from dissensus.aggregation import SoftmaxVote

    corpus = with_automatic(datasets.read(data_folder / "pos_tweets"))
    soft = SoftmaxVote().fit(corpus["tag"]).distribution_
    means = [excess_kurtosis(soft[corpus.in_part(part)]).mean() for part in ("train", "dev")]
    assert np.round(means, 3).tolist() == [6.478, 6.456]
    assert np.isnan(excess_kurtosis(soft[corpus.in_part("test")])).all()


def test_folds_of_the_papers_data(data_folder: Path) -> None:
    crowd = with_automatic(datasets.read(data_folder / "pos_tweets"))
    sizes = [(len(f.train), len(f.test)) for f in folds(crowd, CONDITIONS["pos-cv"])]
    assert sizes == [(8664, 2888)] * 4 + [(8665, 2887)]
    right = labels(crowd, "tag", "consensus") == labels(crowd, "tag", "gold")
    shares = [float(right[crowd.in_part(part)].mean()) for part in ("train", "dev")]
    assert shares == pytest.approx([0.7995, 0.7894], abs=5e-5)  # .7995 and .789 in the paper's file
    pairs = datasets.read(data_folder / "stemming")
    tested = sum(len(fold.test) for fold in folds(pairs, CONDITIONS["stemming-silver"]))
    assert tested == 6679 - 526
    known = Items.of(pairs, CONDITIONS["stemming-silver"], {})
    assert round(float((known.gold == known.consensus).mean()), 4) == 0.9165  # the paper's file


def test_conditions_by_name() -> None:
    assert [c.name for c in PAPER.named(None, ("stemming",))] == ["stemming", "stemming-silver"]
    assert [c.name for c in PAPER.named("pos-cv, pos-cv-fresh", ("pos_tweets",))] == [
        "pos-cv",
        "pos-cv-fresh",
    ]
    with pytest.raises(DataError) as caught:
        PAPER.named("nlp", ("pos_tweets",))
    assert str(caught.value) == f"no condition 'nlp'; there are {', '.join(CONDITIONS)}"
    with pytest.raises(DataError) as caught:
        PAPER.named("stemming", ("pos_tweets",))
    assert str(caught.value) == "stemming needs the corpus 'stemming'; it is not in DATA"


def test_items_of_other_data_are_refused(tmp_path: Path, crowd: Corpus) -> None:
    known = Items.of(crowd, CONDITIONS["pos-cv"], {"stl": {"dropout": 0.1}})
    known.keep(tmp_path)
    known.keep(tmp_path)
    again = Items.load(tmp_path, "pos-cv")
    assert again.gold.tolist() == known.gold.tolist()
    np.testing.assert_array_equal(again.measure, known.measure)
    with pytest.raises(DataError) as caught:
        Items.of(crowd, CONDITIONS["pos-cv"], {"stl": {"dropout": 0.2}}).keep(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: holds pos-cv with other settings; give the data and settings that it was "
        "begun with, or another folder"
    )


def test_too_few_tokens_for_folds() -> None:
    with pytest.raises(DataError) as caught:
        folds(with_automatic(tweets(6, 1)), CONDITIONS["pos-cv"])
    assert str(caught.value) == "pos_tweets: no tag has 5 tokens, one for each fold"
