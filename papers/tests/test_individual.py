"""The conditions of `individual`: corpora, folds, figures and what they can decide."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dissensus import Annotations, Corpus, Interval, Names, datasets, simulate
from dissensus.datasets.clip_ratings import MEANS_AGREE
from dissensus.errors import DataError, Unfinished
from dissensus.tables import Table
from dissensus_papers import individual
from dissensus_papers.framework.declared import (
    ComparisonCondition,
    Source,
    read_sources,
)
from dissensus_papers.individual import measurements
from dissensus_papers.individual.claims import GAIN, power
from dissensus_papers.individual.conditions import CHOSEN, CONFIRMATION, CONSTRUCTION
from dissensus_papers.individual.corpora import (
    HALVES,
    OTHERS,
    PERSPECTIVE,
    SEEDS,
    adults_to_children,
    describe_notes,
    figures_of_crowd,
    item_folds,
    perspective,
    perspectives,
    tasks,
)
from dissensus_papers.individual.measurements import WAYS, some_ratings
from dissensus_papers.individual.measurements import measure_newcomers as measured


def of_tables(parts: Sequence[Table | str]) -> list[Table]:
    return [part for part in parts if isinstance(part, Table)]


@pytest.fixture(scope="module")
def crowd() -> Corpus:
    return simulate.ratings(n_items=30, n_annotators=12, labels_per_item=6, seed=1)


@pytest.fixture(scope="module")
def sentences() -> Corpus:
    """Six sentences, of two readers and two writers each, in an official split."""
    item = np.repeat(np.arange(6), 2)
    questions = {
        f"{side} {question}": Annotations.from_arrays(
            item,
            None,
            1.0 + (item + at + np.arange(12)) % 4,
            Interval(1, 5),
            items=Names([f"s{k}" for k in range(6)]),
            response=np.arange(12) * 2 + at,
        )
        for at, side in enumerate(("reader", "writer"))
        for question in ("V", "A", "D")
    }
    parts = {"official": ["train", "train", "dev", "test", "test", None]}
    return Corpus.build("emobank", [f"s{k}" for k in range(6)], questions, splits=parts)


# ---- corpora ----


def test_a_sentence_is_an_item_of_each_perspective(sentences: Corpus) -> None:
    both = perspectives(sentences)
    assert both.n_items == 12 and list(both.questions) == ["V", "A"]
    whose = both.item_attributes[PERSPECTIVE].to_pylist()
    answers, of_writers = both["V"], sentences["writer V"]
    inside = np.array([whose[item] == "writer" for item in answers.item])
    assert answers.answer[inside].tolist() == of_writers.answer.tolist()
    assert (answers.item[inside] - 6).tolist() == of_writers.item.tolist()
    assert len(both.joint("V", "A").item) == 24 and perspectives(both) is both


def test_notes_in_another_key_have_the_same_pitch_classes() -> None:
    generator = np.random.default_rng(0)
    notes = np.stack(
        [
            generator.random(40),
            generator.random(40) + 0.1,
            generator.integers(50, 70, 40),
            np.full(40, 80.0),
            np.zeros(40),
        ],
        axis=1,
    )
    higher = notes + np.array([0, 0, 5, 0, 0])
    first, second = describe_notes(notes, 60.0), describe_notes(higher, 60.0)
    differs = np.flatnonzero(~np.isclose(first, second))
    assert differs.tolist() == [2] and np.isfinite(first).all()


# ---- folds ----


def test_transfer_is_trained_on_one_part_and_tested_on_the_other(sentences: Corpus) -> None:
    both = perspectives(sentences)
    (fold,) = perspective("reader", "writer", both)
    assert fold.train.tolist() == [0, 1] and fold.test.tolist() == [9, 10]
    assert fold.validation is not None and fold.validation.tolist() == [2]


def test_folds_of_items_have_a_validation_part(crowd: Corpus) -> None:
    folds = item_folds("valence", crowd)
    assert len(folds) == 5 and sum(len(fold.test) for fold in folds) == crowd.n_items
    for fold in folds:
        assert fold.validation is not None
        parts = np.concatenate([fold.train, fold.validation, fold.test])
        assert sorted(parts) == list(range(crowd.n_items))


@pytest.mark.slow
def test_the_papers_own_corpus_is_run_with_its_clips_and_its_split(
    crowd: Corpus, tmp_path: Path
) -> None:
    """Ratings in the form of MSP-Improv: 1 to 5, a split by speaker, a clip with a wrong mean."""
    parts = np.resize(["train", "train", "validation", "test"], crowd.n_items)
    agree = [number != 3 for number in range(crowd.n_items)]  # a test clip
    clips = replace(
        crowd,
        name="msp_improv",
        item_attributes={MEANS_AGREE: pa.array(agree)},
        splits={"paper": pa.array(parts.tolist())},
    )
    improv = individual.PAPER.conditions["improv"]
    assert isinstance(improv, ComparisonCondition)
    few = replace(improv, models=("grid", "annotator-mean", "prior"), seeds=(0,))
    paper = replace(individual.PAPER, blocks=(few,), claims=(), summaries=())
    settings = [("training.epochs", "1"), ("encoder", "characters")]
    paper.run({"msp_improv": clips}, [few], tmp_path / "out", processes=1, settings=settings)
    reported = paper.report(tmp_path / "out")["conditions"]["improv"]
    assert reported["n_items"] == sum(parts == "test") - 1
    tables = paper.shown(paper.report(tmp_path / "out")).split("\n\n")
    soft = next(table for table in tables if ": activation x valence (soft)," in table)
    assert "density TVD: paper" in soft and "0.515" in soft


def test_no_speaker_and_no_task_is_on_both_sides(data_folder: Path) -> None:
    speech = datasets.read(data_folder / "speechocean762", corpus="sentences")
    (fold,) = adults_to_children(speech)
    age = speech.item_attributes["age"].to_numpy()
    assert age[fold.train].min() >= 18 > age[fold.test].max()
    assert fold.validation is not None and age[fold.validation].min() >= 18
    speakers = speech.units("speaker")
    assert not set(speakers[fold.train]) & set(speakers[fold.validation])
    pairs = datasets.read(data_folder / "nli_variation")
    (fold,) = tasks(("snli", "mnli"), ("dnc", "joci"), pairs)
    task = np.array(pairs.item_attributes["task"].to_pylist())
    assert set(task[fold.train]) == {"snli", "mnli"} and set(task[fold.test]) == {"dnc", "joci"}


# ---- figures ----


def test_figures_of_a_crowd_stand_in_the_tables_of_its_readings(crowd: Corpus) -> None:
    figures = figures_of_crowd(("valence",), ("soft", "plain:bins=8", "soft@all"), crowd)
    assert OTHERS in figures["valence"]
    four, eight = (figures[f"valence ({text})"][HALVES] for text in ("soft", "plain:bins=8"))
    assert figures["valence (soft@all)"][HALVES] == four
    assert 0 < four["density TVD"] < eight["density TVD"] < 1


# ---- newcomers ----


@pytest.mark.slow
def test_newcomers_are_measured_and_shown(crowd: Corpus, tmp_path: Path) -> None:
    quick = [("training.epochs", "2")]
    condition = individual.PAPER.measurements["newcomers-jokes"]
    condition = replace(condition, measured=partial(measured, "valence"))
    paper = replace(individual.PAPER, sources={"jester5k": Source("jester5k")}, blocks=(condition,))
    corpora = {"jester5k": crowd}
    paper.run(corpora, [condition], tmp_path / "out", runs=2, settings=quick)
    report = paper.report(tmp_path / "out")
    first, second = report["measurements"]["newcomers-jokes"]
    assert first["seed"] == 0 and first["n_newcomers"] == second["n_newcomers"] == 6
    assert set(first["scores"]["mt"]) == set(WAYS) and first != second
    assert "the nearest by all answers" in paper.shown(report)
    before = (tmp_path / "out" / "measurements" / "newcomers-jokes" / "0.json").stat().st_mtime_ns
    paper.run(corpora, [condition], tmp_path / "out", runs=2, settings=quick)
    after = (tmp_path / "out" / "measurements" / "newcomers-jokes" / "0.json").stat().st_mtime_ns
    assert before == after
    with pytest.raises(Unfinished, match="newcomers-jokes: Time limit reached: 2 of 3 seeds done"):
        paper.run(corpora, [condition], tmp_path / "out", runs=3, time_limit=-1)


@pytest.mark.slow
def test_each_expert_is_measured() -> None:
    crowd = simulate.ratings(n_items=40, n_annotators=3, labels_per_item=3, seed=1)
    speakers = {"speaker": [f"s{item % 10}" for item in range(crowd.n_items)]}
    renamed = replace(
        crowd.select(questions=("valence",)),
        questions={"accuracy": crowd["valence"]},
        item_attributes={name: pa.array(values) for name, values in speakers.items()},
    )
    by_seed = [
        measurements.measure_experts(renamed, seed, [("training.epochs", "2")]) for seed in (0, 1)
    ]
    rows = by_seed[0]["concordance"]["accuracy"]
    assert set(rows) == {*measurements.MODELS_OF_EXPERTS, measurements.OTHERS}
    assert all(len(by_expert) == crowd.n_annotators for by_expert in rows.values())
    assert rows[measurements.OTHERS] == by_seed[1]["concordance"]["accuracy"][measurements.OTHERS]
    (block,) = of_tables(measurements.expert_tables(by_seed))
    assert len(block.rows) == 4 and block.rows[-1][0] == measurements.OTHERS


# ---- ratings per item ----


def test_more_ratings_contain_the_fewer(crowd: Corpus) -> None:
    two, four = (some_ratings(crowd, "valence", n, 0)["valence"] for n in (2, 4))
    rows_of = [
        set(zip(each.item.tolist(), each.annotator_codes("x").tolist(), strict=True))
        for each in (two, four)
    ]
    assert rows_of[0] < rows_of[1]
    assert np.bincount(two.item).tolist() == [2] * crowd.n_items


def test_shares_of_all_ratings_are_reached(crowd: Corpus) -> None:
    quick = [("training.epochs", "2")]
    result = measurements.measure_raters("valence", crowd, 0, quick)
    by_number = result["given"]
    assert by_number[50]["shares"] == by_number[50]["mean"] == 0
    assert by_number[2]["shares"] > by_number[5]["shares"] > 0
    (block,) = of_tables(
        measurements.rater_tables("Ratings", "raters", [json.loads(json.dumps(result))])
    )
    assert [row[0] for row in block.rows[:2]] == ["Given", measurements.GIVEN["density"]]


def test_more_ratings_of_the_items_with_the_highest_spread_help_most() -> None:
    generator = np.random.default_rng(0)
    widths = np.repeat([0.02, 0.4], 20)
    ratings = [0.5 + width * generator.uniform(-1, 1, 30) for width in widths]
    signals = {"good": widths, "bad": -widths}
    for by_signal in measurements.simulated_errors(ratings, signals, 0).values():
        good, random, bad = (by_signal[name].mean() for name in ("good", "random", "bad"))
        assert good < random < bad


def test_all_rankings_are_measured_and_shown(crowd: Corpus) -> None:
    result = measurements.measure_more_ratings("valence", crowd, 0, [("training.epochs", "2")])
    assert set(result["errors"]["0.25"]) == set(measurements.SIGNALS)
    (block,) = of_tables(measurements.more_ratings_tables("More", "more", [result]))
    assert [row[0] for row in block.rows] == list(measurements.SIGNALS.values())


# ---- what conditions decide ----


def test_a_condition_says_whether_it_finds_the_difference_of_the_paper() -> None:
    def reported(width: float) -> dict[str, object]:
        test = {"low": 0.0, "high": width}
        mean = {"density TVD": {"mean": 0.3}}
        return {
            "questions": ["q", "q (soft)"],
            "n_items": 100,
            "models": {"grid": {"q (soft)": mean}},
            "floors": {"q (soft)": {"constant density": mean}},
            "against": {"mt-both": {"q (soft)": {"density TVD": test}}},
        }

    (block,) = of_tables([power({"conditions": {"wide": reported(0.1), "narrow": reported(GAIN)}})])
    assert [row[-1] for row in block.rows] == ["no", "yes"]
    assert power({"conditions": {}}) == ""


# ---- confirmation ----


def test_the_chosen_variant_is_confirmed_elsewhere_with_new_seeds() -> None:
    for condition in CONFIRMATION:
        assert not set(condition.seeds) & set(SEEDS)
        assert condition.corpus != "speechocean762" and condition.reference == CONSTRUCTION
        assert {CHOSEN, CONSTRUCTION} <= set(condition.models) and condition.not_counted
    assert individual.MODELS[CHOSEN].settings["calibrate_by"] == "jsd"


def test_simulated_corpora_need_no_folder(tmp_path: Path, crowd: Corpus) -> None:
    crowd.save(tmp_path / "first")
    sources = {"first": Source("first"), "second": Source("", simulated=lambda: crowd)}
    corpora = read_sources(tmp_path, sources)
    assert list(corpora) == ["first", "second"] and corpora["second"].name == "second"
    with pytest.raises(DataError, match="none of third is in it"):
        read_sources(tmp_path, {"third": Source("third"), "second": sources["second"]})
