"""The paper `individual`: corpora and folds, perfect predictions, and its methods."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dissensus import Corpus, simulate
from dissensus.densities import rating_densities
from dissensus.errors import DataError
from dissensus.methods import AnnotatorHeads, Job, fit_many
from dissensus.training import Training
from dissensus_papers import individual
from dissensus_papers.framework.declared import Source, read_sources
from dissensus_papers.individual.corpora import (
    HALVES,
    ORACLES,
    OTHERS,
    PART,
    figures_of,
    first_to_second,
    folds_by,
    joined,
    oracles,
)
from dissensus_papers.individual.methods import Consensus, Heads, Ratings, temperature_of
from dissensus_papers.individual.protocol import CONSENSUS, MODELS
from papers.tests.licensed_folders import FOLDERS, msp_podcast

QUESTIONS = ("valence", "activation")
QUICK = Training(epochs=4, batch_size=16, device="cpu", learning_rate=3e-3)
TVD = "density TVD"


def with_speakers(corpus: Corpus, n: int = 10) -> Corpus:
    speakers = pa.array([f"s{item % n}" for item in range(corpus.n_items)])
    return replace(corpus, item_attributes={"speaker": speakers})


@pytest.fixture(scope="module")
def crowd() -> Corpus:
    """Texts that four of six annotators rated on valence and activation."""
    return simulate.ratings(n_items=60, n_annotators=6, labels_per_item=4, seed=1)


def heads(method: type[Heads] = Heads, **settings: Any) -> Heads:
    known: dict[str, Any] = {"encoder": "characters", "training": QUICK}
    return method(**known | settings)


# ---- corpora and folds ----


def test_folds_have_a_validation_part(crowd: Corpus) -> None:
    folds = folds_by(None, crowd)
    assert len(folds) == 5 and sum(len(fold.test) for fold in folds) == crowd.n_items
    for fold in folds:
        assert fold.validation is not None
        parts = np.concatenate([fold.train, fold.validation, fold.test])
        assert sorted(parts) == list(range(crowd.n_items))


def test_joined_corpora_share_questions_and_no_annotator(crowd: Corpus) -> None:
    """Nobody of the second one is in training: neither its annotators nor its speakers."""
    first, second = with_speakers(crowd), with_speakers(crowd.select(items=range(8)), n=2)
    both = joined({"first": first, "second": second})
    assert both.n_items == 68 and both.n_annotators == 12 and list(both.questions) == [*QUESTIONS]
    assert both["valence"].n_rows == crowd["valence"].n_rows + 32
    assert both.text_of(60) == crowd.text_of(0)
    (fold,) = first_to_second(both)
    assert np.array(both.item_attributes[PART].to_pylist())[fold.test].tolist() == ["second"] * 8
    assert fold.validation is not None
    learned = np.r_[fold.train, fold.validation]
    assert not {item % 10 for item in learned.tolist()} & {0, 1} and len(learned) == 48


def test_corpora_that_are_simulated_or_joined_need_no_folder(tmp_path: Path, crowd: Corpus) -> None:
    with_speakers(crowd).save(tmp_path / "first")
    sources = {
        "first": Source("first"),
        "second": Source("", simulated=lambda: with_speakers(crowd)),
        "both": Source("", parts=("first", "second"), joined=joined),
        "neither": Source("", parts=("first", "third"), joined=joined),
    }
    corpora = read_sources(tmp_path, sources)
    assert list(corpora) == ["first", "second", "both"] and corpora["both"].n_items == 120
    with pytest.raises(DataError, match="none of third is in it"):
        read_sources(tmp_path, {"third": Source("third"), "second": sources["second"]})


# ---- perfect predictions ----


def test_true_ratings_are_blurred_by_the_published_temperature_alone() -> None:
    """Ratings that differ little: 8 smooths them far too much, a temperature by spread does not."""
    crowd = simulate.ratings(n_items=24, n_annotators=5, labels_per_item=5, seed=1)
    answers = crowd["valence"]
    calm = replace(
        crowd.select(questions=("valence",)),
        questions={"valence": replace(answers, answer=0.6 + 0.1 * answers.answer)},
    )
    true, halved, _ = ORACLES
    given = rating_densities(calm, ("valence",))
    rows = {text: oracles(calm, ("valence",), text, given) for text in ("soft", "method", "plain")}
    assert rows["plain"][true][TVD] < rows["method"][true][TVD] < 0.15 < rows["soft"][true][TVD]
    assert rows["method"][halved][TVD] < rows["soft"][halved][TVD]


def test_figures_stand_in_the_tables_of_readings(crowd: Corpus) -> None:
    few = crowd.select(items=range(20))
    figures = figures_of(("valence",), ("soft", "soft@all"), lambda c: folds_by(None, c), few)
    assert OTHERS in figures["valence"]
    assert figures["valence (soft)"] == figures["valence (soft@all)"]
    assert list(figures["valence (soft)"]) == [HALVES, *ORACLES]


def test_the_spread_is_that_within_items(crowd: Corpus) -> None:
    ratings = Ratings.of(crowd, QUESTIONS)
    table = crowd["valence"], crowd["activation"]
    each = [a.answer[a.item == item].var(ddof=1) for a in table for item in range(crowd.n_items)]
    assert ratings.spread == pytest.approx(np.sqrt(np.mean(each)))
    assert temperature_of(2 * ratings.spread) == pytest.approx(temperature_of(ratings.spread) / 2)


# ---- methods ----

LEARNED: dict[str, dict[str, Any]] = {
    "spread": {"objective": "both", "own_temperature": True},
    "temperature": {"objective": "both", "learn": "temperature"},
    "bandwidth": {"objective": "density", "learn": "bandwidth"},
    "published": {"published": True, "question_hidden": (8,), "dropout": 0.2},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNED)
def test_methods_are_fitted_in_a_stack_as_alone(crowd: Corpus, name: str) -> None:
    parts = [crowd.split(test_share=share, seed=0)[0] for share in (0.2, 0.4)]

    def fresh() -> list[Heads]:
        return [heads(init_seed=seed, **LEARNED[name]) for seed in (0, 1)]

    alone = [method.fit(part) for method, part in zip(fresh(), parts, strict=True)]
    stacked = fresh()
    fit_many([Job(method, part) for method, part in zip(stacked, parts, strict=True)], stack=True)
    for one, other in zip(alone, stacked, strict=True):
        assert not any("one after another" in note for note in other.notes_), other.notes_
        # Small masses are sums of cosines in float32, so that rounding decides their gradients.
        predictions = [method.predict(crowd) for method in (one, other)]
        for question in QUESTIONS:
            expected, found = (each[question].distribution for each in predictions)
            np.testing.assert_allclose(found, expected, atol=2e-3, err_msg=question)


def test_without_further_settings_it_is_annotator_heads(crowd: Corpus) -> None:
    plain = AnnotatorHeads(encoder="characters", training=QUICK).fit(crowd)
    own = heads().fit(crowd)
    for name, weight in plain.weights().items():
        np.testing.assert_array_equal(own.weights()[name], weight, err_msg=name)
    assert own.kde_ is not None
    spread = Ratings.of(crowd, QUESTIONS).spread
    assert own.kde_.temperature == pytest.approx(temperature_of(spread))


def test_a_learned_temperature_and_bandwidth_change(crowd: Corpus) -> None:
    few = crowd.select(items=range(30))
    interleaved = replace(QUICK, losses="interleaved", epochs=2)
    start = temperature_of(Ratings.of(few, QUESTIONS).spread)
    for learn in ("temperature", "bandwidth"):
        fitted = heads(objective="both", loss="ccc", learn=learn, training=interleaved).fit(few)
        kde = fitted.kde_
        assert kde is not None
        changed = kde.temperature / start if learn == "temperature" else kde.factor
        assert abs(changed - 1) > 1e-3
        assert (kde.factor == 1) == (learn == "temperature")


def test_the_consensus_is_learned_by_one_head(crowd: Corpus) -> None:
    """It is as if one annotator had given the mean ratings."""
    fitted = heads(Consensus, common=False, loss="mse").fit(crowd, ("valence",))
    predicted = fitted.predict(crowd, annotators="all")["valence"]
    assert predicted.by_annotator is not None
    values = predicted.by_annotator.value.reshape(crowd.n_items, -1)
    np.testing.assert_allclose(values, values[:, :1].repeat(6, axis=1))
    shuffled = crowd["valence"].consensus()
    mean = replace(crowd.select(questions=("valence",)), questions={"valence": shuffled})
    assert fitted.rows(crowd).answer["valence"].tolist() == pytest.approx(
        mean["valence"].answer.tolist()
    )


def test_the_published_network_has_dropout_of_vectors_only(crowd: Corpus) -> None:
    trunks = {"mt-answers": "trunk", CONSENSUS: "trunk", "oh-answers": "vectors", "grid": "trunk"}
    for name, trunk in trunks.items():
        built: Any = MODELS[name].built({"encoder": "characters"}, [("training.epochs", "1")])
        network: Any = built.fit(crowd).network_
        shares = [part.p for part in network.modules() if hasattr(part, "p")]
        assert shares[0] == 0.2 and not any(shares[1:]) and len(shares) > 1
        assert not getattr(network, trunk).standardises and not getattr(network, trunk).mean.any()


# ---- the paper ----


LICENSED = ("improv", "podcast", "improv-podcast", "improv-iemocap", "improv-muse")


@pytest.fixture(scope="module")
def licensed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders in the layouts of the four licensed corpora."""
    root: Path = tmp_path_factory.mktemp("licensed")
    for name, write in FOLDERS.items():
        write(root / name)
    return root


def test_licensed_corpora_are_joined_as_the_paper_splits_them(licensed: Path) -> None:
    corpora = individual.PAPER.read(licensed)
    sizes = {}
    for name in LICENSED:
        condition = individual.PAPER.conditions[name]
        corpus = individual.PAPER.sources[condition.corpus].prepared(corpora[condition.corpus])
        folds: Any = condition.folds
        (fold,) = folds(corpus.select(questions=condition.questions))
        sizes[name] = tuple(map(len, (fold.train, fold.validation, fold.test)))
    assert sizes == {
        "improv": (32, 8, 8),
        "podcast": (24, 12, 12),
        "improv-podcast": (32, 8, 12),
        "improv-iemocap": (32, 8, 48),
        "improv-muse": (32, 8, 48),
    }
    assert corpora["muse"].n_annotators == 6  # those of the authors' loader
    (licensed / "muse" / "muse_annotators.csv").rename(licensed / "muse" / "elsewhere.csv")
    anonymous = individual.PAPER.read(licensed)
    assert anonymous["muse"].n_annotators == 0
    assert anonymous["improv-muse"].n_annotators == 10  # four responses to each clip
    assert anonymous["improv-muse"]["valence"].n_rows == corpora["improv-muse"]["valence"].n_rows


def test_a_copy_without_its_test_part_is_tested_on_the_validation_part(tmp_path: Path) -> None:
    msp_podcast(tmp_path / "msp_podcast", third="Train")
    corpus = individual.PAPER.read(tmp_path)["msp_podcast"]
    folds: Any = individual.PAPER.conditions["podcast"].folds
    (fold,) = folds(corpus)
    assert fold.test.tolist() == np.flatnonzero(corpus.in_part("dev", "official")).tolist()
    speakers = np.array(corpus.item_attributes["speaker"].to_pylist())
    parts = (fold.train, fold.validation, fold.test)
    assert sum(map(len, parts)) == corpus.n_items and len(set(speakers)) == sum(
        len(set(speakers[part])) for part in parts
    )


@pytest.mark.slow
def test_every_claim_is_judged_on_licensed_corpora(licensed: Path, tmp_path: Path) -> None:
    paper = individual.PAPER
    conditions = paper.named(",".join(LICENSED), tuple(corpora := paper.read(licensed)))
    settings = [("training.epochs", "1"), ("encoder", "characters")]
    paper.run(corpora, conditions, tmp_path, runs=1, processes=1, settings=settings)
    report = paper.report(tmp_path)
    assert list(report["conditions"]) == [*LICENSED]
    tests = [test for entry in report["claims"] for test in entry["tests"].values()]
    assert len(tests) > 50 and all(np.isfinite(test["effect"]) for test in tests)
    text = paper.shown(report)
    assert "0.515" in text and "0.601" in text and "too few items, in 2 groups" in text


def test_every_condition_has_every_model_and_the_oracle() -> None:
    for condition in individual.PAPER.conditions.values():
        assert condition.models == tuple(MODELS) and condition.figures is not None
        assert {"soft", "method", "plain"} <= set(condition.densities)
