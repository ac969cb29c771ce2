"""A paper that compares methods by the densities of ratings: readings, figures, claims."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dissensus import datasets, simulate
from dissensus.corpus import Corpus
from dissensus.evaluation import k_fold
from dissensus.methods.framework.settings import settings_of
from dissensus_papers import individual
from dissensus_papers.framework.comparison import ComparisonPaper
from dissensus_papers.framework.declared import BetterThan, ComparisonCondition, Model, Source
from dissensus_papers.individual.corpora import OTHERS, figures_of, folds_by

QUESTIONS = ("valence", "activation")
SOFT, PLAIN = (f"valence x activation ({kind})" for kind in ("soft", "plain"))
FIGURES = partial(figures_of, QUESTIONS, ("soft",), lambda corpus: k_fold(corpus, 2))
PAPER = ComparisonPaper(
    name="tiny",
    title="A tiny paper",
    sources={"crowd": Source("crowd")},
    models={
        "mean": Model("Mean", "prior"),
        "each": Model("Mean of each annotator", "annotator-majority"),
    },
    blocks=(
        ComparisonCondition(
            "crowd",
            "A crowd",
            "crowd",
            ("mean", "each"),
            ("CCC",),
            (0,),
            "mean",
            folds=lambda corpus: k_fold(corpus, 2),
            densities=("soft", "plain"),
            printed_in={SOFT: {"each": {"density TVD": 0.503}}},
            figures=FIGURES,
        ),
    ),
    claims=(
        BetterThan(
            "The soft density is better", "each", "each", (), "density TVD", SOFT, PLAIN
        ),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return simulate.ratings(n_items=24, n_annotators=5, labels_per_item=5, seed=1)


@pytest.fixture(scope="module")
def report(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out: Path = tmp_path_factory.mktemp("paper") / "out"
    PAPER.run({"crowd": corpus}, PAPER.blocks, out, processes=1)
    return PAPER.report(out)


def test_a_reading_has_a_table_with_the_papers_figures(report: dict[str, Any]) -> None:
    assert report["conditions"]["crowd"]["questions"] == [*QUESTIONS, SOFT, PLAIN]
    tables = PAPER.shown(report).split("\n\n")
    soft, plain = (next(t for t in tables if f": {name}," in t) for name in (SOFT, PLAIN))
    assert "density TVD: paper" in soft and "0.503" in soft
    assert "density TVD: paper" not in plain and "constant density" in plain


def test_figures_of_the_corpus_are_rows(report: dict[str, Any], corpus: Corpus) -> None:
    floors = report["conditions"]["crowd"]["floors"]["valence"]
    figures = FIGURES(corpus)["valence"]
    assert floors[OTHERS]["CCC"]["mean"] == pytest.approx(figures[OTHERS]["CCC"])


def test_a_claim_compares_two_readings_of_one_model(report: dict[str, Any]) -> None:
    models = report["conditions"]["crowd"]["models"]["each"]
    means = [models[name]["density TVD"]["mean"] for name in (SOFT, PLAIN)]
    (claim,) = report["claims"]
    assert claim["tests"]["crowd"]["effect"] == pytest.approx(means[0] - means[1])
    assert claim["tests"]["crowd"]["score"] == "density TVD"


# ---- the paper itself ----


def test_models_are_built_with_the_published_settings() -> None:
    built = {name: model.built({}) for name, model in individual.PAPER.models.items()}
    settings = settings_of(built["mt-both"])
    assert settings["common"] is False and settings["objective"] == "both"
    assert settings["training.optimiser"] == "sgd" and settings["training.plateau_factor"] == 0.1
    comparisons = individual.PAPER.conditions.values()
    names = {name for condition in comparisons for name in condition.models}
    assert names <= set(built)


def test_claims_name_models_and_tables_that_exist() -> None:
    conditions = individual.PAPER.conditions
    for claim in individual.PAPER.claims:
        assert isinstance(claim, BetterThan)
        for condition in (conditions[name] for name in claim.conditions):
            assert {claim.first, claim.second} <= set(condition.models)
            names = condition.questions or ()
            readings = [f"({text})" for text in condition.densities]
            full = (f"{' x '.join(names)} {r}" for r in readings)
            tables = {None, *range(len(names)), *names, *readings, *full}
            assert {claim.question, claim.second_question or claim.question} <= tables
    texts = [claim.claim for claim in individual.PAPER.claims if isinstance(claim, BetterThan)]
    assert len(set(texts)) == len(texts)


def test_no_speaker_is_in_two_parts_of_a_fold(data_folder: Path) -> None:
    corpus = datasets.read(data_folder / "speechocean762", corpus="sentences")
    speakers = corpus.units("speaker")
    folds = folds_by("speaker", corpus)
    for fold in folds:
        assert fold.validation is not None
        parts = [set(speakers[part]) for part in (fold.train, fold.validation, fold.test)]
        assert sum(map(len, parts)) == len(set.union(*parts)) == 125
    assert sum(len(fold.test) for fold in folds) == corpus.n_items
