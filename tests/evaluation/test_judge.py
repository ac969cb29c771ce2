"""The alternative annotator test, against the paper's text followed step by step."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests

from dissensus import Interval, MultiLabel, Nominal, Ordinal
from dissensus.annotations import Annotations
from dissensus.evaluation import judge
from dissensus.prediction import Prediction
from dissensus.scales import Scale

EMOTIONS = ("anger", "joy", "none")
Rows = list[tuple[str, str, Any]]
SCALES: dict[str, tuple[Scale, list[Any]]] = {
    "nominal": (Nominal(EMOTIONS), list(EMOTIONS)),
    "ordinal": (Ordinal(("1", "2", "3", "4", "5")), ["1", "2", "3", "4", "5"]),
    "interval": (Interval(0, 10), [0.0, 1.5, 4.0, 7.25, 10.0]),
    "multi-label": (MultiLabel(EMOTIONS), [[], ["joy"], ["anger"], ["anger", "joy"], ["none"]]),
}


def crowd(values: list[Any], n_items: int, right: dict[str, float], seed: int = 0) -> Rows:
    """Rows of annotators who give the item's value with a probability, else any."""
    draw = np.random.default_rng(seed)
    rows: Rows = []
    for item in range(n_items):
        truth = draw.integers(len(values))
        for annotator, skill in right.items():
            answer = truth if draw.random() < skill else draw.integers(len(values))
            if annotator == "llm" or draw.random() < 0.7:
                rows.append((f"t{item}", annotator, values[answer]))
    return rows


def split(rows: Rows, scale: Scale) -> tuple[Annotations, Annotations]:
    """The answers of annotators and those of the LLM."""
    people = [row for row in rows if row[1] != "llm"]
    system = [row for row in rows if row[1] == "llm"]
    return Annotations.from_rows(people, scale=scale), Annotations.from_rows(system, scale=scale)


def step_by_step(
    rows: Rows, similarity: Callable[[Any, Any], float], mean_root: bool, margin: float
) -> dict[str, tuple[float, ...]]:
    """Each annotator's (agreement, the system's, advantage, corrected p), by plain loops."""
    answers: dict[str, dict[str, Any]] = {}
    for item, annotator, answer in rows:
        answers.setdefault(annotator, {})[item] = answer
    system = answers.pop("llm")
    scores = {}
    for annotator, given in answers.items():
        own: list[float] = []
        of_system: list[float] = []
        for item, answer in given.items():
            others = [a[item] for name, a in answers.items() if name != annotator and item in a]
            if not others or item not in system:
                continue
            one, two = (
                float(np.mean([similarity(x, other) for other in others]))
                for x in (answer, system[item])
            )
            own.append(-math.sqrt(-one) if mean_root else one)
            of_system.append(-math.sqrt(-two) if mean_root else two)
        wins = np.array(of_system) >= np.array(own) - 1e-9
        loses = np.array(own) >= np.array(of_system) - 1e-9
        p = ttest_1samp(loses * 1.0 - wins, margin, alternative="less").pvalue
        scores[annotator] = [np.mean(own), np.mean(of_system), wins.mean(), p]
    corrected = multipletests([one[3] for one in scores.values()], method="fdr_by")[1]
    return {name: (*one[:3], p) for (name, one), p in zip(scores.items(), corrected, strict=True)}


def similarity_of(kind: str) -> Callable[[Any, Any], float]:
    if kind == "nominal":
        return lambda a, b: float(a == b)
    if kind == "multi-label":
        return lambda a, b: len({*a} & {*b}) / len({*a} | {*b}) if {*a} | {*b} else 1.0
    return lambda a, b: -((float(a) - float(b)) ** 2)


@pytest.mark.parametrize("kind", SCALES)
def test_as_the_paper_says(kind: str) -> None:
    scale, values = SCALES[kind]
    skills = {"llm": 0.8, "a": 0.9, "b": 0.5, "c": 0.7, "d": 0.1}
    rows = crowd(values, 90, skills, seed=3)
    people, system = split(rows, scale)
    result = judge(system, people, margin=0.15)
    expected = step_by_step(rows, similarity_of(kind), kind in ("ordinal", "interval"), 0.15)
    assert {one.annotator for one in result.annotators} == {"a", "b", "c", "d"}
    for one in result.annotators:
        found = (one.agreement, one.system_agreement, one.advantage, one.p)
        assert found == pytest.approx(expected[one.annotator], abs=1e-9)
        assert one.replaced == (expected[one.annotator][3] < 0.05)
    assert result.winning_rate == np.mean([one.replaced for one in result.annotators])
    assert "alternative annotator test, margin 0.15: not worse than" in result.sentences()[2]


def test_a_prediction_is_judged_by_its_consensus() -> None:
    scale, values = SCALES["nominal"]
    people, system = split(crowd(values, 60, {"llm": 0.8, "a": 0.9, "b": 0.6, "c": 0.7}), scale)
    prediction = Prediction(scale, system.items, scale.one_hot(system.answer), system.answer)
    assert judge(prediction, people) == judge(system, people)


def test_a_good_system_passes_and_a_random_one_does_not() -> None:
    scale, values = SCALES["nominal"]
    skills = {"a": 0.7, "b": 0.7, "c": 0.7, "d": 0.7}
    verdicts = {}
    for skill in (0.95, 0.0):
        people, system = split(crowd(values, 150, {"llm": skill, **skills}), scale)
        verdicts[skill] = judge(system, people)
    assert verdicts[0.95].passed and verdicts[0.95].winning_rate == 1.0
    assert verdicts[0.95].low > 0
    assert not verdicts[0.0].passed and verdicts[0.0].winning_rate == 0.0
    assert verdicts[0.0].high < 0


def test_few_items_are_compared_but_not_tested() -> None:
    scale, values = SCALES["nominal"]
    people, system = split(crowd(values, 20, {"llm": 0.9, "a": 0.7, "b": 0.7}), scale)
    result = judge(system, people)
    assert result.tested == [] and math.isnan(result.winning_rate) and not result.passed
    assert result.sentences()[2] == (
        "alternative annotator test: not possible, 0 of 2 annotators have 30 items that the "
        "system and another annotator answered"
    )
    assert result.to_dict()["winning_rate"] is None


def test_a_system_that_always_ties_may_replace_everybody() -> None:
    rows = [(f"t{n}", who, "yes") for n in range(40) for who in ("llm", "a", "b")]
    people, system = split(rows, Nominal(("no", "yes")))
    result = judge(system, people)
    assert [one.p for one in result.annotators] == [0.0, 0.0]
    assert result.passed


def test_answers_that_hardly_vary_decide_nothing() -> None:
    draw = np.random.default_rng(0)
    rows = [
        (f"t{n}", who, "yes" if draw.random() < 0.04 else "no")
        for n in range(80)
        for who in ("llm", "a", "b", "c")
    ]
    people, system = split(rows, Nominal(("no", "yes")))
    result = judge(system, people)
    assert result.passed and result.constant == "no" and result.constant_winning_rate == 1.0
    assert result.sentences()[3].startswith("but a system that always answers 'no' passes, too")
